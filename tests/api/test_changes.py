"""What a run did to files: seen by everyone, and taken back where nobody else changed it since."""

import os
import subprocess
from pathlib import Path
from typing import Any

import anyio
import pytest

from tenuto.client import Client, RunHandle, SessionHandle
from tests.support.model_server import ModelServer
from tests.support.raw import RawApi
from tests.support.server import TenutoServer
from tests.support.talk import call_tool, start_shell

pytestmark = [pytest.mark.anyio, pytest.mark.guarantee("E8")]

Call = tuple[str, dict[str, Any]]


@pytest.fixture
def server_env() -> dict[str, str]:
    return {"TENUTO_PERMISSIONS": "allow"}


@pytest.fixture
async def folder(server: TenutoServer, raw: RawApi) -> Path:
    where = (await raw.get("/api/workspaces/default"))["path"]
    return server.folder_of(where)


async def do(model: ModelServer, session: SessionHandle, *calls: Call) -> RunHandle:
    """A run that makes these calls, one after the other, and ends well."""
    run = await session.prompt("Do it")
    for n, (tool, given) in enumerate(calls):
        await call_tool(await model.next_request(), tool, call_id=f"call_{n}", **given)
    await (await model.next_request()).say("Done")
    assert (await run.wait()).status == "completed"
    return run


def write(path: str, content: str) -> Call:
    return "write_file", {"path": path, "content": content}


def identity(path: Path) -> tuple[int, int, int]:
    found = os.lstat(path)
    return found.st_ino, found.st_mtime_ns, found.st_mode


async def changes(raw: RawApi, run: RunHandle) -> dict[str, dict[str, Any]]:
    found = (await raw.get(f"/api/runs/{run.id}/changes"))["changes"]
    return {change["path"]: change for change in found}


async def revert(raw: RawApi, run: RunHandle, **body: Any) -> tuple[list[str], dict[str, str]]:
    answer = await raw.post(f"/api/runs/{run.id}/revert", body)
    assert answer.status == 200, answer
    said = answer.body
    return said["reverted"], {one["path"]: one["why"] for one in said["conflicts"]}


async def test_a_run_is_taken_back_and_put_there_again(
    model: ModelServer, raw: RawApi, session: SessionHandle, folder: Path
) -> None:
    (folder / "old.py").write_bytes(b"one\ntwo\nthree\n")
    (folder / "old.py").chmod(0o755)
    run = await do(
        model,
        session,
        ("edit_file", {"path": "old.py", "old": "two", "new": "2"}),
        ("edit_file", {"path": "old.py", "old": "three", "new": "3"}),
        write("deep/er/new.txt", "made\n"),
    )
    found = await changes(raw, run)
    assert {p: (c["kind"], c["added"], c["removed"], c["state"]) for p, c in found.items()} == {
        "old.py": ("edited", 2, 2, "revertible"),
        "deep/er/new.txt": ("created", 1, 0, "revertible"),
    }
    assert "\n-two\n-three\n+2\n+3\n" in found["old.py"]["diff"]
    assert await revert(raw, run) == (["deep/er/new.txt", "old.py"], {})
    assert (folder / "old.py").read_bytes() == b"one\ntwo\nthree\n"
    assert (folder / "old.py").stat().st_mode & 0o7777 == 0o755
    assert not (folder / "deep").exists()
    assert {c["state"] for c in (await changes(raw, run)).values()} == {"reverted"}
    assert await revert(raw, run) == ([], {})
    assert await revert(raw, run, redo=True) == (["deep/er/new.txt", "old.py"], {})
    assert (folder / "old.py").read_bytes() == b"one\n2\n3\n"
    assert (folder / "old.py").stat().st_mode & 0o7777 == 0o755
    assert (folder / "deep/er/new.txt").read_bytes() == b"made\n"
    assert {c["state"] for c in (await changes(raw, run)).values()} == {"revertible"}


async def test_what_others_changed_since_is_not_touched(
    model: ModelServer, raw: RawApi, session: SessionHandle, folder: Path
) -> None:
    for name in ("a", "b", "c", "d"):
        (folder / name).write_text(f"{name} before\n")
    edits = [
        ("edit_file", {"path": name, "old": "before", "new": "after"}) for name in ("a", "b", "c")
    ]
    run = await do(model, session, *edits, write("made", "new\n"))
    (folder / "a").write_text("mine\n")
    (folder / "b").chmod(0o600)
    (folder / "c").unlink()
    (folder / "c").symlink_to("d")
    (folder / "made").unlink()
    (folder / "made").mkdir()
    before = {name: identity(folder / name) for name in ("a", "b", "c", "d", "made")}
    reverted, conflicts = await revert(raw, run)
    assert reverted == []
    assert conflicts == dict.fromkeys(("a", "b", "c", "made"), "It was changed since.")
    assert (folder / "a").read_text() == "mine\n"
    assert (folder / "d").read_text() == "d before\n"
    assert before == {name: identity(folder / name) for name in before}
    assert {c["state"] for c in (await changes(raw, run)).values()} == {"conflict"}
    (folder / "a").write_text("a after\n")
    assert await revert(raw, run, paths=["a"]) == (["a"], {})
    assert (folder / "a").read_text() == "a before\n"


async def test_a_change_between_two_of_a_run_is_never_overwritten(
    model: ModelServer, raw: RawApi, session: SessionHandle, folder: Path
) -> None:
    (folder / "a").write_text("one\ntwo\n")
    run = await session.prompt("Do it")
    await call_tool(await model.next_request(), "edit_file", path="a", old="one", new="1")
    second = await model.next_request()
    (folder / "a").write_text("1\ntwo\nmine\n")
    await call_tool(second, "edit_file", path="a", old="two", new="2")
    await (await model.next_request()).say("Done")
    await run.wait()
    assert (await changes(raw, run))["a"]["state"] == "not_revertible"
    _, conflicts = await revert(raw, run)
    assert conflicts == {"a": "Something else changed it between two changes of this run."}
    assert (folder / "a").read_text() == "1\n2\nmine\n"


async def test_what_a_run_puts_back_itself_is_no_change(
    model: ModelServer, raw: RawApi, session: SessionHandle, folder: Path
) -> None:
    (folder / "a").write_text("one\n")
    run = await do(
        model,
        session,
        ("edit_file", {"path": "a", "old": "one", "new": "two"}),
        ("edit_file", {"path": "a", "old": "two", "new": "one"}),
        ("edit_file", {"path": "a", "old": "nowhere", "new": "two"}),
    )
    assert await changes(raw, run) == {}
    assert await revert(raw, run) == ([], {})


async def test_bytes_that_are_no_text_come_back_as_they_were(
    model: ModelServer, raw: RawApi, session: SessionHandle, folder: Path
) -> None:
    content = bytes(range(256)) * 5_000
    (folder / "picture").write_bytes(content)
    run = await session.prompt("Do it")
    for _ in range(2):
        # The first is told to read it first.
        request = await model.next_request()
        await call_tool(request, "write_file", path="picture", content="gone")
    await (await model.next_request()).say("Done")
    await run.wait()
    change = (await changes(raw, run))["picture"]
    assert (change["kind"], change["diff"], change["before"]["size"]) == ("edited", "", 1_280_000)
    assert await revert(raw, run) == (["picture"], {})
    assert (folder / "picture").read_bytes() == content


async def test_two_runs_are_taken_back_in_their_order_only(
    model: ModelServer, raw: RawApi, session: SessionHandle, folder: Path
) -> None:
    (folder / "a").write_text("zero\n")
    one = await do(model, session, ("edit_file", {"path": "a", "old": "zero", "new": "one"}))
    two = await do(model, session, ("edit_file", {"path": "a", "old": "one", "new": "two"}))
    assert await revert(raw, one) == ([], {"a": "It was changed since."})
    assert await revert(raw, two) == (["a"], {})
    assert await revert(raw, one) == (["a"], {})
    assert (folder / "a").read_text() == "zero\n"


async def test_a_run_at_work_is_not_taken_back(
    model: ModelServer, raw: RawApi, session: SessionHandle, folder: Path
) -> None:
    run = await session.prompt("Do it")
    await call_tool(await model.next_request(), "write_file", path="a", content="a\n")
    held = await model.next_request()
    assert (await changes(raw, run))["a"]["state"] == "revertible"
    said = await raw.post(f"/api/runs/{run.id}/revert", {})
    assert (said.status, said.body["code"]) == (409, "session_busy")
    assert (folder / "a").read_text() == "a\n"
    await held.say("Done")
    await run.wait()
    assert await revert(raw, run) == (["a"], {})


async def test_mistakes_are_said_and_nothing_is_done(
    model: ModelServer, raw: RawApi, session: SessionHandle, folder: Path
) -> None:
    run = await do(model, session, write("a", "a\n"))
    for body, status in (
        ({"paths": ["a", "../b"]}, 422),
        ({"paths": []}, 422),
        ({"paths": "a"}, 422),
        ({"path": ["a"]}, 422),
    ):
        said = await raw.post(f"/api/runs/{run.id}/revert", body)
        assert (said.status, said.body["code"]) == (status, "invalid_input")
    for method, call in (("GET", "changes"), ("POST", "revert")):
        said = await raw.call(method, f"/api/runs/run_none/{call}")
        assert said[0] == 404
    assert (folder / "a").read_text() == "a\n"


async def test_every_viewer_is_told_and_nothing_of_a_run_follows_its_end(
    model: ModelServer, raw: RawApi, session: SessionHandle, folder: Path
) -> None:
    (folder / "a").write_text("one\n")
    run = await do(model, session, ("edit_file", {"path": "a", "old": "one", "new": "two"}))
    await revert(raw, run)
    head = (await raw.get(f"/api/sessions/{session.id}"))["head"]
    async with raw.sse(f"/api/sessions/{session.id}/events") as stream:
        await stream.until_seq(head)
    events = [frame.data for frame in stream.frames]
    told = [e for e in events if e["type"].startswith("file.")]
    assert [(e["type"], e.get("run_id"), e["change"]["state"]) for e in told] == [
        ("file.changing", run.id, "revertible"),
        ("file.changed", run.id, "revertible"),
        ("file.changing", None, "revertible"),
        ("file.changed", None, "reverted"),
    ]
    assert all(e["change"]["path"] == "a" for e in told)
    assert told[1]["change"]["diff"].endswith("-one\n+two\n ")
    last = max(n for n, e in enumerate(events) if e["type"] == "run.finished")
    assert all(e.get("run_id") is None for e in events[last + 1 :])


def shell(command: str) -> Call:
    return "shell", {"command": command}


def git(folder: Path, *words: str) -> None:
    told = {
        "GIT_CONFIG_GLOBAL": "/dev/null",
        "GIT_CONFIG_NOSYSTEM": "1",
        "PATH": os.environ["PATH"],
    }
    who = [f"{role}.{what}=x@y" for role in ("author", "committer") for what in ("name", "email")]
    options = [word for one in who for word in ("-c", one)]
    subprocess.run(["git", *options, *words], cwd=folder, check=True, capture_output=True, env=told)


@pytest.mark.parametrize("tracked", ["by git", "by nobody"])
async def test_what_a_command_changed_is_taken_back_byte_for_byte(
    model: ModelServer, raw: RawApi, session: SessionHandle, folder: Path, tracked: str
) -> None:
    binary = bytes(range(256)) * 40
    (folder / "src").mkdir()
    (folder / "src/edited.py").write_text("one\ntwo\n")
    (folder / "src/gone.bin").write_bytes(binary)
    (folder / "run.sh").write_text("echo\n")
    (folder / "run.sh").chmod(0o755)
    (folder / "link").symlink_to("run.sh")
    (folder / ".gitignore").write_text("build/\n")
    if tracked == "by git":
        git(folder, "init", "-q")
        git(folder, "add", ".")
        git(folder, "commit", "-qm", "first")
        git(folder, "gc", "-q")
        (folder / "src/dirty.py").write_text("dirty\n")
    before = tree(folder)
    run = await do(
        model,
        session,
        shell(
            "printf 'one\\n2\\n' > src/edited.py; rm src/gone.bin; chmod 644 run.sh; rm link;"
            " ln -s src link; mkdir -p new/er build; echo made > new/er/file; echo o > build/out;"
            " rm -f src/dirty.py; ln -s nowhere src/dangling"
        ),
        shell("echo more >> new/er/file"),
    )
    found = await changes(raw, run)
    assert {path: change["kind"] for path, change in found.items() if path != "src/dirty.py"} == {
        "src/edited.py": "edited",
        "src/gone.bin": "deleted",
        "run.sh": "edited",
        "link": "edited",
        "new/er/file": "created",
        "src/dangling": "created",
    }
    assert "-two\n+2" in found["src/edited.py"]["diff"]
    assert found["new/er/file"]["added"] == 2
    after = tree(folder)
    reverted, conflicts = await revert(raw, run)
    assert conflicts == {}
    assert set(reverted) == set(found)
    assert tree(folder) == {**before, "build/out": after["build/out"]}
    assert (await revert(raw, run, redo=True))[1] == {}
    assert tree(folder) == after


def tree(folder: Path) -> dict[str, tuple[int, bytes]]:
    """Every file and link, with its mode and content; git's own left out."""
    found = {}
    for path in sorted(folder.rglob("*")):
        name = str(path.relative_to(folder))
        if name.startswith((".git/", ".tenuto")):
            continue
        if path.is_symlink():
            found[name] = (0, os.fsencode(os.readlink(path)))
        elif path.is_file():
            found[name] = (path.stat().st_mode, path.read_bytes())
    return found


async def test_a_command_that_is_stopped_has_told_what_it_changed(
    model: ModelServer, raw: RawApi, session: SessionHandle, folder: Path
) -> None:
    (folder / "a").write_text("before\n")
    run, _ = await start_shell(
        model, session, "echo after > a; echo changed; sleep 60", says="changed"
    )
    await run.cancel()
    assert (await changes(raw, run))["a"]["kind"] == "edited"
    assert await revert(raw, run) == (["a"], {})
    assert (folder / "a").read_text() == "before\n"


async def test_what_two_runs_may_have_changed_at_once_is_nobodys_to_take_back(
    model: ModelServer, raw: RawApi, tenuto: Client, session: SessionHandle, folder: Path
) -> None:
    (folder / "a").write_text("before\n")
    os.mkfifo(folder / "go")
    other = await tenuto.create_session()
    one, _ = await start_shell(model, session, "echo one; read x < go; echo done", says="one")
    two = await other.prompt("Do it too")
    await call_tool(await model.next_request(), "shell", command="echo two > a; echo x > go")
    for _ in range(2):
        await (await model.next_request()).say("Done")
    await one.wait()
    await two.wait()
    for run in (one, two):
        assert (await changes(raw, run))["a"]["state"] == "not_revertible"
        assert await revert(raw, run) == (
            [],
            {"a": "Another run worked in the folder at the same time."},
        )
    assert (folder / "a").read_text() == "two\n"


async def test_a_large_file_can_be_deleted_again_and_a_lost_one_not_be_restored(
    model: ModelServer, raw: RawApi, session: SessionHandle, folder: Path
) -> None:
    (folder / "large").write_bytes(b"x" * 1_500_000)
    run = await do(
        model, session, shell("head -c 2000000 /dev/zero > made; echo >> large; echo ok")
    )
    assert {p: c["state"] for p, c in (await changes(raw, run)).items()} == {
        "made": "revertible",
        "large": "not_revertible",
    }
    reverted, conflicts = await revert(raw, run)
    assert reverted == ["made"]
    assert conflicts == {
        "large": "What was there is not known: it was too large, or there was too much to keep."
    }
    assert not (folder / "made").exists()
    assert (folder / "large").stat().st_size == 1_500_001


async def test_what_a_job_changed_is_told_when_it_ends_also_after_its_run(
    model: ModelServer, raw: RawApi, session: SessionHandle, folder: Path
) -> None:
    (folder / "a").write_text("before\n")
    os.mkfifo(folder / "go")
    job = ("start_job", {"command": "read x < go; echo after > a; echo made > b"})
    one = await do(model, session, job)
    assert await changes(raw, one) == {}
    # What another run changes meanwhile is its own.
    two = await do(model, session, shell("echo mine > c; echo x > go; sleep 1"))
    [ended] = (await raw.get(f"/api/sessions/{session.id}/jobs"))["jobs"]
    with anyio.fail_after(20):
        while ended["state"] == "running":
            ended = await raw.get(f"/api/jobs/{ended['id']}")
    first, second = await changes(raw, one), await changes(raw, two)
    assert "c" in second
    assert "c" not in first
    assert {*first, *second} == {"a", "b", "c"}
    for run in (one, two):
        assert (await revert(raw, run))[1] == {}
    assert (folder / "a").read_text() == "before\n"
    assert not (folder / "b").exists()
    assert not (folder / "c").exists()
