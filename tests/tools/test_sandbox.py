"""The sandbox: what a command tries, and what it cannot do; and what people need that it can."""

import os
import shutil
import sys
from pathlib import Path

import anyio
import pytest

from tenuto.agent.tools.processes import landlock, scratch
from tenuto.agent.tools.processes.sandbox import Sandbox
from tenuto.agent.tools.processes.scratch import Scratch
from tenuto.core.sandbox import SandboxKind, SandboxWish
from tests.tools.desk import Desk, until

pytestmark = [
    pytest.mark.anyio,
    pytest.mark.skipif(landlock.version() < landlock.LEAST_ABI, reason="this kernel has none"),
]

SECRET = "the-key-of-a-provider"
PYTHON = sys.executable

# Each prints the key if it gets at it; {data} is the data folder, {out} one of somebody else's.
READS = {
    "plainly": "cat {data}/token",
    "by ..": "cat ../data/token",
    "by a link": "ln -s {data}/token link; cat link",
    "by a link to its folder": "ln -s {data} link; cat link/token",
    "by the root of a process": "cat /proc/self/root{data}/token",
    "by a folder of a process": "cat /proc/self/cwd/../data/token",
    "by a hard link": "ln {data}/token mine && cat mine",
    "by moving it here": "mv {data}/token mine && cat mine",
    "by moving its folder here": "mv {data} mine && cat mine/token",
    "by copying all of it": "cp -r {data} mine; cat mine/token",
    "by a grandchild on its own": "setsid bash -c 'cat {data}/token' & wait",
    "by a descriptor of its folder": f"{PYTHON} -c \"import os; d = os.open('{{data}}', os.O_PATH); "
    "print(os.read(os.open('token', os.O_RDONLY, dir_fd=d), 99))\"",
    "by the server's descriptors": "timeout 5 cat /proc/{server}/fd/* < /dev/null",
    "by the server's memory": "cat /proc/{server}/environ",
    "by a namespace of its own": "unshare -Urm cat {data}/token",
    "by mounting it elsewhere": "mkdir m; mount --bind {data} m; cat m/token",
    "by another root": "chroot {data} /token; chroot / cat {data}/token",
    "by its disk": "head -c 1000000 /dev/[a-z]d[a-z] /dev/nvme* /dev/vd*",
}
WRITES = {
    "plainly": "echo x > {out}/new",
    "over a file": "echo x > {out}/file",
    "at its end": "echo x >> {out}/file",
    "by emptying it": f"{PYTHON} -c \"import os; os.truncate('{{out}}/file', 0)\"",
    "by removing it": "rm -f {out}/file",
    "by removing all": "rm -rf {out}",
    "by ..": "echo x > ../outside/new",
    "through a link": "ln -s {out} link; echo x > link/file",
    "through a link to a file": "ln -s {out}/file link; echo x > link",
    "by moving a file there": "echo x > mine; mv -f mine {out}/file",
    "by moving a folder there": "mkdir mine; mv mine {out}/",
    "by moving one from there": "mv {out}/file mine",
    "by moving within": "mv {out}/file {out}/other",
    "by a hard link there": "echo x > mine; ln -f mine {out}/new",
    "by a hard link of it": "ln {out}/file mine && echo x > mine",
    "by a folder": "mkdir {out}/new",
    "by a link there": "ln -s mine {out}/new",
    "by a pipe there": "mkfifo {out}/new",
    "by a socket there": f'{PYTHON} -c "import socket; '
    "socket.socket(socket.AF_UNIX).bind('{out}/new')\"",
    "by the root of a process": "echo x > /proc/self/root{out}/file",
    "by a program without a file": f"{PYTHON} -c \"import os; d = os.memfd_create('m'); "
    "os.write(d, open('/bin/cp', 'rb').read()); "
    "os.execv(f'/proc/self/fd/{{{{d}}}}', ['cp', '/etc/hostname', '{out}/file'])\"",
    "by a grandchild on its own": "setsid bash -c 'echo x > {out}/file' & wait",
    "by the descriptor of its folder": f"{PYTHON} -c \"import os; d = os.open('{{out}}', os.O_PATH); "
    "os.open('new', os.O_CREAT | os.O_WRONLY, dir_fd=d)\"",
    "by mounting": "mount -t tmpfs none {out}",
    "by swapping": f"{PYTHON} -c \"import ctypes, os; open('mine', 'w').write('x'); "
    "ctypes.CDLL(None).renameat2(-100, b'mine', -100, b'{out}/file', 2)\"",
    "by its extended attributes' neighbour": "cp --preserve=all /etc/hostname {out}/file",
    "in the data folder": "echo x > {data}/token; rm -f {data}/token; touch {data}/new",
}


class Yard:
    """A workspace beside the data folder and somebody else's files."""

    def __init__(self, folder: Path, wish: SandboxWish = SandboxWish.ON) -> None:
        self.folder = folder
        self.workspace, self.data, self.out = (
            folder / name for name in ("workspace", "data", "outside")
        )
        for made in (self.workspace, self.data, self.out):
            made.mkdir()
        (self.data / "token").write_text(SECRET)
        (self.out / "file").write_text("as it was")
        self.sandbox = Sandbox(wish, closed=(self.data,), scratch=Scratch(self.data / "scratch"))
        self.desk = Desk(self.workspace, sandbox=self.sandbox, data=self.data)

    async def try_it(self, command: str) -> str:
        words = {"data": self.data, "out": self.out, "server": os.getpid()}
        return await self.desk.run("shell", command=command.format(**words))

    def is_untouched(self) -> bool:
        return (
            (self.data / "token").read_text() == SECRET
            and sorted(os.listdir(self.data)) == ["scratch", "token"]
            and (self.out / "file").read_text() == "as it was"
            and os.listdir(self.out) == ["file"]
        )


@pytest.fixture
def yard(tmp_path: Path) -> Yard:
    return Yard(tmp_path)


@pytest.mark.parametrize("way", READS)
async def test_no_way_leads_to_the_servers_keys(
    yard: Yard, way: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    held = os.open(yard.data / "token", os.O_RDONLY)
    try:
        said = await yard.try_it(READS[way])
    finally:
        os.close(held)
    assert SECRET not in said
    assert yard.is_untouched()


@pytest.mark.parametrize("way", WRITES)
async def test_no_way_leads_to_writing_outside(yard: Yard, way: str) -> None:
    await yard.try_it(WRITES[way])
    assert yard.is_untouched()


@pytest.mark.parametrize("way", ["plainly", "by a hard link", "by the root of a process"])
async def test_without_it_the_same_ways_do_lead_there(tmp_path: Path, way: str) -> None:
    yard = Yard(tmp_path, SandboxWish.OFF)
    assert SECRET in await yard.try_it(READS[way])


async def test_a_command_cannot_signal_the_server_or_its_own_watcher(yard: Yard) -> None:
    said = await yard.try_it("kill -TERM {server}; kill -TERM $PPID; echo still here")
    assert said.count("not permitted") == 2
    assert said.endswith("still here")


async def test_a_model_that_ran_into_it_is_told_where_it_may_write(yard: Yard) -> None:
    assert "only in the workspace and in the folder $TMPDIR" in await yard.try_it("touch {out}/new")
    # Not of every failure, nor of a command that went well all the same.
    assert "sandbox" not in await yard.try_it("exit 3")
    assert "sandbox" not in await yard.try_it("touch {out}/new; true")


async def test_without_it_nobody_is_told_of_one(tmp_path: Path) -> None:
    yard = Yard(tmp_path, SandboxWish.OFF)
    assert "sandbox" not in await yard.try_it("echo Permission denied; exit 1")


async def test_what_is_elsewhere_can_be_read_and_run(yard: Yard) -> None:
    said = await yard.try_it("cat {out}/file; ls {out}; ls / > /dev/null && /bin/echo yes")
    assert said == "as it wasfile\nyes"


async def test_the_workspace_may_be_inside_the_data_folder(tmp_path: Path) -> None:
    yard = Yard(tmp_path)
    inner = yard.data / "workspace"
    inner.mkdir()
    yard.desk.folder = inner
    assert await yard.try_it("echo hi > a; cat a; cat ../token 2>/dev/null; ls") == "hi\na"


async def test_a_temporary_folder_stays_for_the_session_and_is_nobody_elses(
    yard: Yard,
) -> None:
    await yard.try_it("echo mine > $TMPDIR/note; mktemp > /dev/null")
    assert await yard.try_it("cat $TMPDIR/note") == "mine"
    yard.desk.session_id = type(yard.desk.session_id)("ses_2")
    first = await yard.try_it("ls $TMPDIR; echo $TMPDIR; cat $TMPDIR/../*/note")
    assert first.startswith(str(yard.data / "scratch"))
    assert "mine" not in first
    yard.sandbox.clear()
    assert os.listdir(yard.data) == ["token"]


async def test_what_an_earlier_process_left_in_it_is_gone(tmp_path: Path) -> None:
    left = tmp_path / "data" / "scratch" / "left"
    yard = Yard(tmp_path)
    left.mkdir(parents=True)
    await yard.try_it("true")
    assert not left.exists()


async def test_a_scratch_folder_that_nobody_comes_back_to_goes_and_one_in_use_stays(
    yard: Yard, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(scratch, "IDLE_SECONDS", 0.05)
    async with anyio.create_task_group() as group:
        using = "echo mine > $TMPDIR/note; echo up; while [ -f $TMPDIR/note ]; do sleep 0.05; done"
        group.start_soon(yard.try_it, using)
        await yard.desk.hears("up")
        (kept,) = os.listdir(yard.data / "scratch")
        yard.desk.session_id = type(yard.desk.session_id)("ses_2")
        await yard.try_it("true")
        await until(lambda: os.listdir(yard.data / "scratch") == [kept])
        (yard.data / "scratch" / kept / "note").unlink()
    await until(lambda: os.listdir(yard.data / "scratch") == [])


DAILY = {
    "git": "git init -q r && cd r && git config user.name a && git config user.email b && echo x > f "
    "&& git add f && git commit -qm one && git mv f g && git commit -qm two && git gc -q "
    "&& git log --oneline | wc -l",
    "python": "python3 -m venv --without-pip v && v/bin/python -c 'print(2)'",
    "pipes": "(echo 1; echo 2) | tee >(cat > /dev/null) | wc -l",
    "shared memory": f"{PYTHON} -c \"import multiprocessing as m; q = m.get_context('spawn').Lock(); "
    "from multiprocessing import shared_memory as s; x = s.SharedMemory(create=True, size=9); "
    'x.close(); x.unlink(); print(2)"',
    "a terminal": f"{PYTHON} -c \"import pty; pty.spawn(['echo', '2'])\"",
    "its own output": "echo 2 > /dev/stdout; echo 2 >&2 > /dev/null",
    "moving about": "mkdir -p a/b c; echo 2 > a/b/f; mv a/b/f c/f; ln c/f a/g; cat a/g",
    "a temporary file": "f=$(mktemp) && echo 2 > $f && mv $f here && cat here",
    "here-documents": "cat <<END\n2\nEND",
    "a server on a socket": f'{PYTHON} -c "import socket, os; s = socket.socket(socket.AF_UNIX); '
    "s.bind('s'); s.listen(); c = socket.socket(socket.AF_UNIX); c.connect('s'); print(2)\"",
    "a device that is nobody's": "head -c 2 /dev/urandom | wc -c",
    "a child that is stopped": "sleep 100 & kill $!; wait; echo 2",
}


@pytest.mark.parametrize("what", DAILY)
async def test_daily_work_goes_on_in_it(yard: Yard, what: str) -> None:
    if what == "git" and shutil.which("git") is None:
        pytest.skip("there is no git here")
    said = await yard.desk.run("shell", command=DAILY[what])
    assert "2" in said.split()
    assert "denied" not in said


@pytest.mark.skipif(shutil.which("npm") is None, reason="there is no npm here")
async def test_npm_installs_a_package_with_its_cache(yard: Yard) -> None:
    package = yard.out / "package"
    package.mkdir()
    (package / "package.json").write_text('{"name": "tiny", "version": "1.0.0"}')
    said = await yard.try_it(
        "npm pack --silent {out}/package && npm install --offline --no-audit --no-fund "
        "./tiny-1.0.0.tgz && ls node_modules"
    )
    assert said.splitlines()[-1] == "tiny"


async def test_a_folder_that_the_settings_name_is_writable(tmp_path: Path) -> None:
    yard = Yard(tmp_path)
    sandbox = Sandbox(
        SandboxWish.ON,
        closed=(yard.data,),
        writable=(yard.out,),
        scratch=Scratch(yard.data / "scratch"),
    )
    yard.desk = Desk(yard.workspace, sandbox=sandbox)
    await yard.try_it("echo new > {out}/file")
    assert (yard.out / "file").read_text() == "new\n"


async def test_with_on_and_none_to_be_had_nothing_is_run(
    yard: Yard, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(landlock, "version", lambda: 2)
    monkeypatch.setenv("PATH", "/nowhere")
    said = await yard.desk.failure("shell", command="touch done")
    assert "only in a sandbox" in said
    assert "this system has none" in said
    assert os.listdir(yard.workspace) == []
    standing = yard.sandbox.standing()
    assert (standing.wanted, standing.kind, standing.abi) == ("on", "none", None)


async def test_with_auto_and_none_to_be_had_it_is_run_and_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(landlock, "version", lambda: 0)
    monkeypatch.setenv("PATH", "/usr/nowhere")
    yard = Yard(tmp_path, SandboxWish.AUTO)
    assert await yard.try_it("echo ran") == "ran"
    assert yard.sandbox.standing().kind is SandboxKind.NONE


async def test_a_data_folder_inside_the_workspace_cannot_be_closed_without_bubblewrap(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", "/usr/nowhere")
    yard = Yard(tmp_path)
    yard.desk.folder = tmp_path
    assert "data folder is inside it" in await yard.desk.failure("shell", command="true")


async def test_a_sandbox_that_the_kernel_refuses_runs_nothing(
    yard: Yard, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(landlock, "version", lambda: 7)
    broken = tmp_runner(yard.folder)
    monkeypatch.setattr("tenuto.agent.tools.processes.tree.RUNNER", broken)
    assert "no sandbox for it" in await yard.desk.failure("shell", command="touch done")
    assert os.listdir(yard.workspace) == []


def tmp_runner(folder: Path) -> Path:
    """The runner, with a Landlock that is refused."""
    from tenuto.agent.tools.processes import tree

    home = folder / "runner"
    home.mkdir()
    for name in ("runner.py", "landlock.py"):
        shutil.copy(tree.RUNNER.with_name(name), home / name)
    text = (home / "landlock.py").read_text()
    (home / "landlock.py").write_text(text.replace("444, 445, 446", "-1, -1, -1"))
    return home / "runner.py"


def bubblewrap() -> str | None:
    return shutil.which("bwrap")


@pytest.mark.skipif(bubblewrap() is None, reason="bubblewrap is not installed")
@pytest.mark.parametrize("way", READS)
async def test_bubblewrap_closes_the_same_ways_to_the_keys(
    yard: Yard, way: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(landlock, "version", lambda: 0)
    if yard.sandbox.standing().kind is not SandboxKind.BUBBLEWRAP:
        pytest.skip("bubblewrap does not work here")
    assert SECRET not in await yard.try_it(READS[way])
    assert yard.is_untouched()


@pytest.mark.skipif(bubblewrap() is None, reason="bubblewrap is not installed")
@pytest.mark.parametrize("way", WRITES)
async def test_bubblewrap_closes_the_same_ways_outside(
    yard: Yard, way: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(landlock, "version", lambda: 0)
    if yard.sandbox.standing().kind is not SandboxKind.BUBBLEWRAP:
        pytest.skip("bubblewrap does not work here")
    await yard.try_it(WRITES[way])
    assert yard.is_untouched()


@pytest.mark.skipif(bubblewrap() is None, reason="bubblewrap is not installed")
async def test_bubblewrap_closes_a_data_folder_inside_the_workspace(tmp_path: Path) -> None:
    yard = Yard(tmp_path)
    yard.desk.folder = tmp_path
    said = await yard.try_it("echo x > new; cat data/token; ls data; cat new")
    assert SECRET not in said
    assert said.splitlines()[-1] == "x"
    assert yard.is_untouched()
