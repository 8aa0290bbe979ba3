"""What a shell command gives back."""

import os
from pathlib import Path

import anyio
import pytest

from tests.tools.desk import Desk, until

pytestmark = pytest.mark.anyio


async def test_output_and_errors_come_together_in_order(desk: Desk) -> None:
    assert await desk.run("shell", command="echo a; echo b >&2; echo c") == "a\nb\nc"


async def test_it_runs_in_the_workspace_folder_without_input(desk: Desk) -> None:
    (desk.folder / "here").touch()
    assert await desk.run("shell", command="ls; cat; echo end") == "here\nend"


async def test_an_exit_code_that_is_not_zero_is_said(desk: Desk) -> None:
    assert await desk.run("shell", command="exit 3") == "(no output)\n[exit code 3]"


async def test_a_command_that_a_signal_ended_says_so(desk: Desk) -> None:
    assert await desk.run("shell", command="kill -9 $$") == "(no output)\n[ended by signal 9]"


async def test_a_pipe_closed_early_ends_its_writer_quietly(desk: Desk) -> None:
    assert await desk.run("shell", command="yes | head -n 2; echo ${PIPESTATUS[0]}") == "y\ny\n141"


async def test_long_output_keeps_its_beginning_and_its_end(tmp_path: Path) -> None:
    desk = Desk(tmp_path, output_characters=100)
    said = await desk.run("shell", command="echo first; seq 100000; echo last")
    assert said.startswith("first\n1\n2\n")
    assert said.endswith(
        "100000\nlast\n[the whole output: `output:call_1` as path of read_file or search_files]"
    )
    assert "left out here: output is capped at 100]" in said
    assert len(said) < 300
    whole = "\n".join(["first", *map(str, range(1, 100_001)), "last\n"])
    assert desk.kept is not None and (desk.kept.text, desk.kept.beyond) == (whole, 100)


async def test_output_without_end_stays_bounded_and_leaves_the_loop_to_others(
    tmp_path: Path,
) -> None:
    desk = Desk(tmp_path, output_characters=1000)
    turns = 0
    async with anyio.create_task_group() as group:

        async def work() -> None:
            said = await desk.run("shell", command="yes", timeout=1)
            assert len(said) < 1500
            group.cancel_scope.cancel()

        group.start_soon(work)
        while True:
            await anyio.sleep(0.001)
            turns += 1
            if group.cancel_scope.cancel_called:
                break
    assert turns > 20


@pytest.mark.failure(61)
async def test_a_character_split_over_two_writes_stays_whole(desk: Desk) -> None:
    said = await desk.run("shell", command=r"printf '\xe2\x82'; sleep 0.4; printf '\xac\xff.'")
    assert said == "€\ufffd."
    assert all("\ufffd" not in told for told in desk.told[:-1])


async def test_output_is_told_while_the_command_runs(desk: Desk) -> None:
    async with anyio.create_task_group() as group:

        async def work() -> None:
            await desk.run("shell", command="echo one; echo two; sleep 1000")

        group.start_soon(work)
        await desk.hears("one\ntwo")
        group.cancel_scope.cancel()


async def test_much_output_is_told_a_few_times_a_second(desk: Desk) -> None:
    await desk.run("shell", command="for i in $(seq 60); do echo $i; sleep 0.02; done")
    gaps = [b - a for a, b in zip(desk.told_at, desk.told_at[1:], strict=False)]
    # The last telling, at the end of the call, does not wait for its turn.
    assert all(gap > 0.2 for gap in gaps[:-1])
    assert desk.told[-1].endswith("60")


async def test_what_was_said_before_a_cancel_is_told(desk: Desk) -> None:
    async with anyio.create_task_group() as group:

        async def work() -> None:
            await desk.run("shell", command="echo first; echo second; touch said; sleep 1000")

        group.start_soon(work)
        await until((desk.folder / "said").exists)
        group.cancel_scope.cancel()
    assert desk.told[-1] == "first\nsecond"


@pytest.mark.failure(47, 49)
async def test_no_secret_of_the_server_is_in_the_environment(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = [
        "TENUTO_TOKEN",
        "TENUTO_DATABASE",
        "OPENAI_API_KEY",
        "GITHUB_TOKEN",
        "app_secret",
        "PGPASSWORD",
        "AWS_ACCESS_KEY_ID",
        "GITHUB_PAT",
        "DB_PASS",
        "MYSQL_PWD",
        "SSH_AUTH_SOCK",
        "NPM_AUTH",
        "REGISTRY_AUTH_FILE",
        "SENTRY_DSN",
        "DBUS_SESSION_BUS_ADDRESS",
        "SOME_CREDENTIALS",
    ]
    for name in names:
        monkeypatch.setenv(name, "hush-hush")
    monkeypatch.setenv("DATABASE_URL", "postgres://me:hush-hush@db/x")
    for name in ("HARMLESS", "GIT_AUTHOR_NAME", "COMPASS", "LD_PATHS", "PATTERN"):
        monkeypatch.setenv(name, "shown")
    said = await desk.run("shell", command="env; cat /proc/$PPID/environ | tr '\\0' '\\n'")
    assert "hush-hush" not in said
    for name in ("HARMLESS", "GIT_AUTHOR_NAME", "COMPASS", "LD_PATHS", "PATTERN"):
        assert f"{name}=shown" in said


@pytest.mark.failure(47)
async def test_two_calls_share_neither_folder_nor_environment(tmp_path: Path) -> None:
    here, environment = Path.cwd(), dict(os.environ)
    answers: dict[str, str] = {}

    async def call(name: str) -> None:
        (tmp_path / name).mkdir()
        command = f"export WHO={name}; cd .; sleep 0.2; echo $WHO $(basename $PWD)"
        answers[name] = await Desk(tmp_path / name).run("shell", command=command)

    async with anyio.create_task_group() as group:
        group.start_soon(call, "one")
        group.start_soon(call, "two")
    assert answers == {"one": "one one", "two": "two two"}
    assert (Path.cwd(), dict(os.environ)) == (here, environment)


async def test_a_time_over_the_limit_is_cut_to_it(tmp_path: Path) -> None:
    desk = Desk(tmp_path, shell_seconds_max=0.5)
    said = await desk.run("shell", command="sleep 1000", timeout=900)
    assert "its 0.5 seconds were up" in said


@pytest.mark.parametrize("command", ["", "  ", "a\0b", "echo \ud83d", "x" * 200_000])
async def test_a_command_that_cannot_be_run_is_refused(desk: Desk, command: str) -> None:
    assert "command" in await desk.failure("shell", command=command)


async def test_a_workspace_folder_that_is_gone_is_said_without_its_path(tmp_path: Path) -> None:
    said = await Desk(tmp_path / "gone").failure("shell", command="true")
    assert said == "The workspace's folder: No such file or directory"


async def test_a_command_can_run_in_a_folder_of_the_workspace(desk: Desk) -> None:
    (desk.folder / "deep" / "er").mkdir(parents=True)
    said = await desk.run("shell", command="pwd; echo $PWD", cwd="deep/er")
    assert said == f"{desk.folder}/deep/er\n{desk.folder}/deep/er"


async def test_a_command_cannot_be_sent_out_of_the_workspace_by_its_folder(desk: Desk) -> None:
    (desk.folder / "out").symlink_to("/")
    assert "outside the workspace" in await desk.failure("shell", command="pwd", cwd="..")
    assert "outside the workspace" in await desk.failure("shell", command="pwd", cwd="out")
    assert "No such file" in await desk.failure("shell", command="pwd", cwd="gone")
    (desk.folder / "file").touch()
    assert "Not a directory" in await desk.failure("shell", command="pwd", cwd="file")


async def test_nothing_waits_for_an_editor_and_nothing_paints(desk: Desk) -> None:
    said = await desk.run("shell", command='"$EDITOR" file; "$GIT_EDITOR" file; echo $? $NO_COLOR')
    assert said == "1 1"


async def test_a_bar_and_colours_are_read_as_a_person_would(desk: Desk) -> None:
    command = r"printf '1 %%\r2 %%\r\033[32m3 %%\033[0m\ndone'"
    assert await desk.run("shell", command=command) == "3 %\ndone"


async def test_clients_are_told_the_exit_code(desk: Desk) -> None:
    assert (await desk.result("shell", command="exit 3")).details == {"exit_code": 3}
