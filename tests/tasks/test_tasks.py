"""Tasks that a person would really give: each leaves the tree that it should, byte for byte."""

import re
import socket

import pytest
from aiohttp import web

from tests.support.model_server import Exchange
from tests.tasks.person import Person, results, use
from tests.tasks.repository import FILES, changed, git

pytestmark = pytest.mark.anyio

TESTS = "PYTHONDONTWRITEBYTECODE=1 python3 -m unittest 2>&1"


async def test_summarise(person: Person) -> None:
    run = await person.ask("What is this?")
    first = await person.answers(("list_files", {}))
    assert "Run `python3 -m unittest` after each change." in str(first.messages[0]["content"])
    second = await person.answers(
        ("read_file", {"path": "README.md"}), ("read_file", {"path": "shop/cart.py"})
    )
    assert "shop/cart.py" in results(second)[0]
    third = await person.says("A shop, with a cart and prices.")
    assert ["A shop of three modules" in results(third)[0], "def total" in results(third)[1]]
    assert (await person.ended(run))["status"] == "completed"
    assert (await person.parts(run))[-1]["text"] == "A shop, with a cart and prices."
    assert await person.changes(run) == {}
    assert person.tree() == person.before


async def test_an_edit_of_several_files(person: Person) -> None:
    run = await person.ask("Call it sum_up, and say so in a changelog.")
    await person.answers(("search_files", {"pattern": "total"}))
    await person.answers(
        ("edit_file", {"path": "shop/cart.py", "old": "def total(", "new": "def sum_up("}),
        (
            "edit_file",
            {"path": "tests/test_cart.py", "old": "total(", "new": "sum_up(", "all": True},
        ),
    )
    await person.answers(
        (
            "edit_file",
            {"path": "tests/test_cart.py", "old": "import total", "new": "import sum_up"},
        ),
        ("write_file", {"path": "CHANGELOG.md", "content": "- `total` is `sum_up`.\n"}),
    )
    last = await person.model.next_request()
    await last.say("Done.")
    assert (await person.ended(run))["status"] == "completed"
    test = FILES["tests/test_cart.py"]
    renamed = test.replace("total(", "sum_up(").replace("import total", "import sum_up")
    # `test_total(` is a match too, and the model was told how many there were.
    assert person.tree() == changed(
        person.before,
        {
            "shop/cart.py": FILES["shop/cart.py"].replace("def total(", "def sum_up("),
            "tests/test_cart.py": renamed,
            "CHANGELOG.md": "- `total` is `sum_up`.\n",
        },
    )
    assert await person.changes(run) == {
        "shop/cart.py": "edited",
        "tests/test_cart.py": "edited",
        "CHANGELOG.md": "created",
    }


async def test_run_the_tests_and_mend(person: Person) -> None:
    broken = FILES["shop/cart.py"].replace("sum(", "max(")
    (person.folder / "shop/cart.py").write_text(broken)
    git(person.folder, "commit", "-qam", "Break it")
    run = await person.ask("The tests fail. Mend it.")
    await person.answers(("shell", {"command": TESTS}))
    failing = await person.answers(("read_file", {"path": "shop/cart.py"}))
    assert "FAILED (failures=1, errors=1)" in results(failing)[0]
    assert "[exit code 1]" in results(failing)[0]
    await person.answers(("edit_file", {"path": "shop/cart.py", "old": "max(", "new": "sum("}))
    await person.answers(("shell", {"command": TESTS}))
    passing = await person.says("It was max instead of sum.")
    assert "OK" in results(passing)[0]
    assert "exit code" not in results(passing)[0]
    assert (await person.ended(run))["status"] == "completed"
    codes = [p["details"]["exit_code"] for p in await person.parts(run) if p.get("name") == "shell"]
    assert codes == [1, 0]
    assert person.tree() == person.before
    assert await person.changes(run) == {"shop/cart.py": "edited"}


async def test_search(person: Person) -> None:
    run = await person.ask("What is left to do?")
    await person.answers(("search_files", {"pattern": "TODO", "context": 0}))
    found = await person.says("Two things.")
    assert [line.split(":")[0] for line in results(found)[0].splitlines()] == [
        "README.md",
        "shop/prices.py",
    ]
    assert (await person.ended(run))["status"] == "completed"
    assert person.tree() == person.before


async def test_fetch(person: Person) -> None:
    async def page(request: web.Request) -> web.Response:
        html = "<html><body><h1>Plums</h1><p>A plum costs <b>five</b>.</p></body></html>"
        return web.Response(text=html, content_type="text/html")

    app = web.Application()
    app.router.add_get("/plums", page)
    runner = web.AppRunner(app, access_log=None)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    try:
        url = f"http://127.0.0.1:{runner.addresses[0][1]}/plums"
        run = await person.ask(f"Add what {url} says.")
        await person.answers(("fetch_url", {"url": url}))
        new = '"pear": 4, "plum": 5}'
        fetched = await person.answers(
            ("edit_file", {"path": "shop/prices.py", "old": '"pear": 4}', "new": new})
        )
        assert "A plum costs five." in results(fetched)[0]
        await person.says("Plums are for sale.")
        assert (await person.ended(run))["status"] == "completed"
    finally:
        await runner.cleanup()
    assert person.tree() == changed(
        person.before, {"shop/prices.py": FILES["shop/prices.py"].replace('"pear": 4}', new)}
    )


async def test_a_question(person: Person) -> None:
    run = await person.ask("Sell something more.")
    asked = {"question": "What?", "options": [{"label": "Plums"}, {"label": "Figs"}]}
    await person.answers(("ask_user", {"questions": [asked]}))
    async with person.raw.sse(f"/api/runs/{run['id']}/events") as stream:
        question = (await stream.until("question.asked")).data["question"]
    session = await person.raw.get(f"/api/sessions/{person.session}")
    assert session["state"] == "waiting"
    said = await person.raw.post(f"/api/questions/{question['id']}", {"answers": [["Figs"]]})
    assert said.status == 200
    new = '"pear": 4, "fig": 6}'
    told = await person.answers(
        ("edit_file", {"path": "shop/prices.py", "old": '"pear": 4}', "new": new})
    )
    assert "Figs" in results(told)[0]
    await person.says("Figs are for sale.")
    assert (await person.ended(run))["status"] == "completed"
    assert person.tree() == changed(
        person.before, {"shop/prices.py": FILES["shop/prices.py"].replace('"pear": 4}', new)}
    )


async def test_very_long_output(person: Person) -> None:
    run = await person.ask("Count.")
    await person.answers(("shell", {"command": "seq 1 300000 | tee numbers.log | cat"}))
    counted = await person.model.next_request()
    said = results(counted)[0]
    assert len(said) < 35_000
    assert said.startswith("1\n2\n3\n")
    assert "\n299999\n300000" in said
    call = (await person.parts(run))[-1]["call_id"]
    assert f"output:{call}" in said
    await use(counted, ("search_files", {"path": f"output:{call}", "pattern": "^123456$"}))
    found = await person.says("It is there.")
    assert "123456" in results(found)[0]
    assert (await person.ended(run))["status"] == "completed"
    whole = await person.raw.text(f"/api/sessions/{person.session}/outputs/{call}")
    assert whole == "".join(f"{n}\n" for n in range(1, 300_001))
    logged = (person.folder / "numbers.log").read_bytes()
    assert logged == whole.encode()
    # What .gitignore leaves out is nobody's change.
    assert await person.changes(run) == {}
    assert person.tree() == {**person.before, "numbers.log": person.tree()["numbers.log"]}


@pytest.mark.parametrize("server_env", [{"TENUTO_PERMISSIONS": "ask"}])
async def test_a_denied_permission(person: Person) -> None:
    run = await person.ask("Tidy up.")
    await person.answers(("shell", {"command": "rm -rf tests"}))
    async with person.raw.sse(f"/api/runs/{run['id']}/events") as stream:
        approval = (await stream.until("approval.requested")).data["approval"]
    word = {"decision": "deny", "note": "Those are needed."}
    assert (await person.raw.post(f"/api/approvals/{approval['id']}", word)).status == 200
    denied = await person.says("Then nothing is to be done.")
    assert results(denied) == ["The user did not allow this: Those are needed."]
    assert (await person.ended(run))["status"] == "completed"
    assert await person.tools(run) == [("shell", "denied")]
    assert person.tree() == person.before
    assert await person.changes(run) == {}


async def test_a_stop_in_the_middle_and_then_on(person: Person) -> None:
    run = await person.ask("Write two notes.")
    command = "echo one > one.txt; echo half; sleep 600; echo two > two.txt"
    await person.answers(("shell", {"command": command}))
    async with person.raw.sse(f"/api/runs/{run['id']}/events") as stream:
        while (await stream.until("part.delta", field="output")).data["text"].strip() != "half":
            continue
    stopped = await person.raw.post(f"/api/sessions/{person.session}/cancel", {})
    assert (stopped.status, stopped.body["settled"]) == (200, True)
    assert (await person.ended(run))["status"] == "cancelled"
    one = changed(person.before, {"one.txt": "one\n"})
    assert person.tree() == one
    assert await person.changes(run) == {"one.txt": "created"}
    going_on = await person.raw.post(f"/api/runs/{run['id']}/continue", {})
    assert going_on.status == 202
    write = await person.answers(("write_file", {"path": "two.txt", "content": "two\n"}))
    assert "echo half" in str(write.messages)
    await person.says("Both are written.")
    assert (await person.ended(going_on.body))["status"] == "completed"
    assert person.tree() == changed(one, {"two.txt": "two\n"})


@pytest.mark.guarantee("E8")
async def test_revert(person: Person) -> None:
    run = await person.ask("Make a mess.")
    await person.answers(
        ("edit_file", {"path": "README.md", "old": "Shop", "new": "Stall", "all": True}),
        ("write_file", {"path": "deep/down/note.txt", "content": "note\n"}),
    )
    mess = (
        "rm shop/prices.py; mv run.sh go.sh; chmod 600 README.md; ln -s go.sh link; mkdir -p a/b;"
    )
    await person.answers(("shell", {"command": f"{mess} echo x > a/b/c; git add -A; echo done"}))
    await person.says("It is a mess.")
    await person.ended(run)
    assert person.tree() != person.before
    said = await person.raw.post(f"/api/runs/{run['id']}/revert", {})
    assert said.body["conflicts"] == []
    assert set(said.body["reverted"]) == set(await person.changes(run))
    assert person.tree() == person.before


async def test_three_sub_agents_side_by_side(person: Person) -> None:
    looked = {"cart": "shop/cart.py", "prices": "shop/prices.py", "tests": "tests/test_cart.py"}
    run = await person.ask("Look at all of it.")
    tasks = [("task", {"prompt": f"Look at {name}", "title": name}) for name in looked]
    await person.answers(*tasks)
    begun: dict[str, Exchange] = {}
    while len(begun) < len(looked):
        # All three have asked before any is answered.
        request = await person.model.next_request()
        begun[request.prompt.removeprefix("Look at ")] = request
    offered = [tool["function"]["name"] for tool in begun["cart"].body["tools"]]
    assert "read_file" in offered
    assert not {"write_file", "shell", "task"} & set(offered)
    for name, request in begun.items():
        await use(request, ("read_file", {"path": looked[name]}))
    for _ in looked:
        request = await person.model.next_request()
        name = request.prompt.removeprefix("Look at ")
        assert FILES[looked[name]].splitlines()[0] in results(request)[0]
        await request.say(f"{name} is well.")
    told = await person.says("All is well.")
    assert [name in said for name, said in zip(looked, results(told), strict=True)] == [True] * 3
    assert (await person.ended(run))["status"] == "completed"
    path = f"/api/sessions?parent={person.session}"
    children = (await person.raw.get(path))["sessions"]
    assert sorted(child["title"] for child in children) == ["cart", "prices", "tests"]
    assert await person.tools(run) == [("task", "done")] * 3
    assert person.tree() == person.before


@pytest.mark.guarantee("E8")
async def test_what_a_sub_agent_changes_is_its_parents_to_take_back(person: Person) -> None:
    run = await person.ask("Have it changed.")
    await person.answers(
        ("edit_file", {"path": "README.md", "old": "# Shop", "new": "# Stall"}),
        ("task", {"prompt": "Change it", "tools": "all"}),
    )
    await person.answers(
        ("edit_file", {"path": "README.md", "old": "# Stall", "new": "# Booth"}),
        ("write_file", {"path": "made.txt", "content": "made\n"}),
    )
    await person.answers(("shell", {"command": "echo more >> made.txt; rm run.sh"}))
    await person.says("Changed.")
    await person.says("It is changed.")
    assert (await person.ended(run))["status"] == "completed"
    changes = (await person.raw.get(f"/api/runs/{run['id']}/changes"))["changes"]
    assert {c["path"]: (c["kind"], c["state"]) for c in changes} == {
        "README.md": ("edited", "revertible"),
        "made.txt": ("created", "revertible"),
        "run.sh": ("deleted", "revertible"),
    }
    [child] = (await person.raw.get(f"/api/sessions?parent={person.session}"))["sessions"]
    [inner] = (await person.raw.get(f"/api/sessions/{child['id']}/runs"))["runs"]
    assert await person.changes(inner) == {}
    said = await person.raw.post(f"/api/runs/{run['id']}/revert", {})
    assert said.body["conflicts"] == []
    assert person.tree() == person.before


async def test_a_dev_server_as_a_job_and_a_request_against_it(person: Person) -> None:
    serve = (
        "import http.server, os; os.chdir('shop');"
        " server = http.server.HTTPServer(('127.0.0.1', 0), http.server.SimpleHTTPRequestHandler);"
        " print('Listening on', server.server_address[1], flush=True); server.serve_forever()"
    )
    run = await person.ask("Serve it and see.")
    command = f'PYTHONDONTWRITEBYTECODE=1 exec python3 -c "{serve}"'
    await person.answers(("start_job", {"command": command, "name": "dev server"}))
    started = await person.model.next_request()
    [job] = (await person.raw.get(f"/api/sessions/{person.session}/jobs"))["jobs"]
    assert (job["name"], job["state"]) == ("dev server", "running")
    await use(started, ("read_job", {"id": job["id"], "pattern": "Listening on", "wait": 20}))
    listening = await person.model.next_request()
    port = re.search(r"Listening on (\d+)", results(listening)[0])
    assert port is not None, results(listening)
    await use(listening, ("fetch_url", {"url": f"http://127.0.0.1:{port[1]}/prices.py"}))
    fetched = await person.model.next_request()
    assert '"apple": 3' in results(fetched)[0]
    await use(fetched, ("stop_job", {"id": job["id"]}))
    await person.says("It serves.")
    assert (await person.ended(run))["status"] == "completed"
    [job] = (await person.raw.get(f"/api/sessions/{person.session}/jobs"))["jobs"]
    assert job["state"] == "stopped"
    with socket.socket() as line:
        assert line.connect_ex(("127.0.0.1", int(port[1]))) != 0
    assert person.tree() == person.before
