"""What histories have found, each as a small test of its own."""

import subprocess
import sys
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import cast

import pytest

from tenuto.clock import RandomIds, SystemClock
from tenuto.core import editing
from tenuto.core.editing import QueueEdit
from tenuto.core.error import Fenced, SessionBusy
from tenuto.core.event import MessageFinished, MessageStarted
from tenuto.core.message import Message
from tenuto.core.principal import OWNER
from tenuto.core.run import Run, WhenBusy
from tenuto.core.value import RunId, SessionId
from tenuto.engine.bell import Bell
from tenuto.engine.checking import Checking
from tenuto.engine.coordinator import Coordinator
from tenuto.engine.driver import Driver
from tenuto.engine.endings import Endings
from tenuto.engine.homes import Homes
from tenuto.engine.jobs import JobKeeper
from tenuto.engine.node import Node
from tenuto.engine.queue import Queue
from tenuto.engine.sessions import SessionKeeper
from tenuto.ports.job import NOTHING_RUN
from tenuto.ports.model import Models
from tenuto.storage.memory import MemoryStore
from tests.conformance.driven import NODE, DrivenSession, make_workspace, whole_log
from tests.conformance.listener import Listener

pytestmark = pytest.mark.anyio

HERE = Node(id=NODE, clock=SystemClock(), ids=RandomIds())


class StoreWithACancel(MemoryStore):
    """A cancel is committed right after the first look at a run."""

    def __init__(self) -> None:
        super().__init__(Listener())
        self.cancel: Callable[[], Awaitable[None]] | None = None

    async def run(self, run_id: RunId) -> Run:
        run = await super().run(run_id)
        cancel, self.cancel = self.cancel, None
        if cancel is not None:
            await cancel()
        return run


async def waiting_run() -> tuple[StoreWithACancel, Queue, RunId]:
    store = StoreWithACancel()
    await make_workspace(store)
    driven = await DrivenSession.begin(store)
    await driven.accept("one")
    await driven.start()
    run = await driven.accept("two")
    store.cancel = driven.cancel
    checking = Checking(store, cast("Models", None), HERE)
    return store, Queue(store, checking, HERE), run.id


async def test_a_prompt_that_ends_just_before_it_is_changed_is_no_longer_waiting() -> None:
    _, queue, run_id = await waiting_run()
    with pytest.raises(SessionBusy):
        await queue.change(run_id, QueueEdit(position=0), by=OWNER)


async def test_a_prompt_that_ends_just_before_it_is_taken_back_is_no_longer_waiting() -> None:
    _, queue, run_id = await waiting_run()
    with pytest.raises(SessionBusy):
        await queue.withdraw(run_id, by=OWNER)


class StoreThatGoesOn(MemoryStore):
    """The active run takes a steer right after anyone looked at what it has open."""

    def __init__(self) -> None:
        super().__init__(Listener())
        self.go_on: Callable[[], Awaitable[None]] | None = None

    async def open_message(self, session_id: SessionId) -> Message | None:
        message = await super().open_message(session_id)
        go_on, self.go_on = self.go_on, None
        if go_on is not None:
            with suppress(Fenced):
                await go_on()
        return message


async def assert_deleting_finishes_each_answer(
    store: StoreThatGoesOn, driven: DrivenSession
) -> None:
    coordinator = Coordinator(store, cast("Driver", None), Homes(store, HERE), HERE)
    models = cast("Models", None)
    endings = Endings(store, Bell(), HERE.clock)
    jobs = JobKeeper(store, HERE, NOTHING_RUN)
    keeper = SessionKeeper(store, models, coordinator, endings, HERE, jobs)
    await keeper.delete(driven.id, by=OWNER)
    log = await whole_log(store, driven.id)
    begun = [e.message.id for e in log if isinstance(e, MessageStarted)]
    finished = [e.message_id for e in log if isinstance(e, MessageFinished)]
    answers = [message_id for message_id in begun if message_id.endswith("_a")]
    assert sorted(finished) == sorted(answers)


async def test_a_session_deleted_while_its_run_goes_on_ends_the_message_that_is_open() -> None:
    store = StoreThatGoesOn()
    await make_workspace(store)
    driven = await DrivenSession.begin(store)
    await driven.accept("one")
    await driven.start()
    await driven.say("Hel", "lo")
    await driven.accept("two", when_busy=WhenBusy.STEER)
    store.go_on = driven.steer
    await assert_deleting_finishes_each_answer(store, driven)


async def test_a_run_that_begins_while_its_session_is_deleted_ends_with_its_message() -> None:
    store = StoreThatGoesOn()
    await make_workspace(store)
    driven = await DrivenSession.begin(store)
    await driven.accept("one")

    async def begin() -> None:
        await driven.start()

    store.go_on = begin
    await assert_deleting_finishes_each_answer(store, driven)


async def test_before_a_session_is_deleted_its_writer_is_fenced() -> None:
    store = MemoryStore(Listener())
    await make_workspace(store)
    driven = await DrivenSession.begin(store)
    await driven.accept("one")
    await driven.start()
    await store.commit(driven.id, lambda desk: editing.shut(desk, driven.moment()))
    with pytest.raises(Fenced):
        await driven.settle()
    with pytest.raises(Fenced):
        await driven.say("too late")


FIRST_LOOK = """
import os, sys, threading
from tenuto.core.session import Control
from tenuto.storage.assemble import decode
from tenuto.storage.statements import encode

def look(body):
    sys.setswitchinterval(1e-6)
    together = threading.Barrier(8)
    threads = [
        threading.Thread(target=lambda: (together.wait(), decode(body, Control)))
        for _ in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

body = encode(Control())
for _ in range(60):
    child = os.fork()
    if not child:
        look(body)
        os._exit(0)
    if os.waitpid(child, 0)[1]:
        sys.exit("it died at its first look")
"""


def test_many_readers_may_take_their_first_look_at_once() -> None:
    """After a crash with many runs under way the new process died of this as it started."""
    done = subprocess.run([sys.executable, "-c", FIRST_LOOK], capture_output=True, check=False)
    assert (done.returncode, done.stderr) == (0, b"")
