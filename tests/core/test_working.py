"""Starting, steering and settling: the middle and the end of a run."""

import pytest
from msgspec.structs import replace

from tenuto.core import cancelling, starting, steering
from tenuto.core.error import Fenced
from tenuto.core.message import Message, TextPart, ToolPart
from tenuto.core.run import Mode, OnDisconnect, Usage, WhenBusy
from tenuto.core.session import Fence
from tenuto.core.steering import Steered
from tenuto.core.value import NodeId, RunId
from tests.core.little_store import NODE, LittleStore, ending

DONE = ending("completed", "end_turn")


def steer(store: LittleStore, fence: Fence | None = None) -> Steered | None:
    fence = fence or store.fence()
    message = store.open_message()
    assert message is not None
    return store.commit(lambda desk: steering.take_steers(desk, fence, message, store.moment()))


def parts_of(message: Message) -> list[tuple[str, str]]:
    """Text, or name and state, of each part."""
    found: list[tuple[str, str]] = []
    for part in message.parts:
        if isinstance(part, TextPart):
            found.append(("text", part.text))
        if isinstance(part, ToolPart):
            found.append((part.name, part.state))
    return found


def test_a_started_run_has_its_prompt_and_an_empty_answer() -> None:
    store = LittleStore()
    run = store.accept("hello")
    started = store.start()
    assert store.kinds(run) == [
        "run.accepted",
        "run.started",
        "message.started",
        "message.started",
    ]
    said, answer = store.messages.values()
    assert (said.role, said.text(), said.finish_reason) == ("user", "hello", "end_turn")
    assert (answer.role, answer.parts, answer.finish_reason) == ("assistant", (), None)
    assert started.message == answer
    assert (store.session.state, store.session.active_run, store.session.queued) == (
        "running",
        run,
        0,
    )


def test_nothing_starts_while_something_runs_or_when_nothing_waits() -> None:
    store = LittleStore()
    assert store.commit(lambda desk: starting.start_next(desk, store.moment())) is None
    store.accept()
    store.start()
    store.accept()
    head = store.session.head
    assert store.commit(lambda desk: starting.start_next(desk, store.moment())) is None
    assert store.session.head == head


def test_a_run_that_goes_on_says_no_prompt_of_its_own() -> None:
    store = LittleStore()
    store.accept("", continues=RunId("run_000"))
    store.start()
    assert [message.role for message in store.messages.values()] == ["assistant"]


def test_a_compaction_says_nothing_at_all() -> None:
    store = LittleStore()
    store.accept("", mode=Mode.COMPACT)
    assert store.start().message is None
    store.settle(DONE)
    assert store.messages == {}


def test_waiting_runs_start_in_their_order_however_the_ones_before_end() -> None:
    store = LittleStore()
    runs = [store.accept() for _ in range(4)]
    started = []
    for how in (DONE, ending("failed", "provider_error"), ending("cancelled", "user"), DONE):
        started.append(store.start().run.id)
        store.settle(how)
    assert started == runs


@pytest.mark.parametrize("count", [1, 3])
def test_waiting_steers_become_messages_of_the_run_that_takes_them(count: int) -> None:
    store = LittleStore()
    run = store.accept("go")
    store.start()
    store.say("Going.")
    steers = [store.accept(f"left {n}", when_busy=WhenBusy.STEER) for n in range(count)]
    taken = steer(store)
    assert taken is not None and [m.text() for m in taken.messages] == [
        f"left {n}" for n in range(count)
    ]
    for one in steers:
        ended = store.runs[one]
        assert (ended.status, ended.reason, ended.steered_into) == ("completed", "end_turn", run)
        assert store.kinds(one)[-1] == "run.finished"
    assert {message.run_id for message in store.messages.values()} == {run}
    first, *_, last = (m for m in store.messages.values() if m.role == "assistant")
    assert (parts_of(first), first.finish_reason) == ([("text", "Going.")], "steered")
    assert (last.parts, last.finish_reason) == ((), None)
    assert store.session.queued == 0


def test_prompts_that_wait_their_turn_are_not_given_to_the_active_run() -> None:
    store = LittleStore()
    store.accept()
    store.start()
    waiting = store.accept(when_busy=WhenBusy.QUEUE)
    assert steer(store) is None
    assert store.control.queue == (waiting,)


def test_a_steer_that_was_not_taken_becomes_a_run_of_its_own() -> None:
    store = LittleStore()
    store.accept()
    store.start()
    late = store.accept(when_busy=WhenBusy.STEER)
    store.settle(DONE)
    assert store.start().run.id == late
    assert store.settle(DONE).steered_into is None


@pytest.mark.guarantee("C3")
def test_a_cancelled_run_takes_no_steer() -> None:
    store = LittleStore()
    run = store.accept()
    store.start()
    store.cancel_run(run)
    later = store.accept(when_busy=WhenBusy.STEER)
    assert steer(store) is None
    assert store.runs[later].status == "queued"


def test_a_settled_run_keeps_its_parts_and_closes_its_tools() -> None:
    store = LittleStore()
    run = store.accept()
    store.start()
    store.say("Let me look.")
    store.call("read_file", state="done", output="x")
    store.call("shell", state="running", output="half")
    ended = store.settle(ending("interrupted", "server_crashed", Usage(output_tokens=3)))
    answer = list(store.messages.values())[-1]
    assert parts_of(answer) == [
        ("text", "Let me look."),
        ("read_file", "done"),
        ("shell", "interrupted"),
    ]
    assert answer.finish_reason == "interrupted"
    assert store.kinds(run)[-2:] == ["message.finished", "run.finished"]
    assert ended.usage == store.session.usage == Usage(output_tokens=3)


@pytest.mark.parametrize(
    ("status", "reason"),
    [("cancelled", "user"), ("failed", "provider_error"), ("completed", "max_tokens")],
)
def test_a_call_that_was_never_finished_ends_cancelled(status: str, reason: str) -> None:
    store = LittleStore()
    store.accept()
    store.start()
    store.call("shell", input_text='{"comm')
    store.settle(ending(status, reason))
    (part,) = list(store.messages.values())[-1].parts
    assert isinstance(part, ToolPart)
    assert (part.state, part.input_text) == ("cancelled", '{"comm')


@pytest.mark.parametrize(
    ("status", "reason"),
    [("completed", "end_turn"), ("failed", "internal"), ("interrupted", "server_stopped")],
)
def test_a_tie_goes_to_the_cancel(status: str, reason: str) -> None:
    store = LittleStore()
    store.accept()
    store.start()
    store.cancel()
    ended = store.settle(ending(status, reason, Usage(output_tokens=5)))
    assert (ended.status, ended.reason, ended.error) == ("cancelled", "user", None)
    assert ended.usage.output_tokens == 5


def test_only_the_owner_of_a_run_may_end_it_and_only_once() -> None:
    store = LittleStore()
    store.accept()
    store.accept()
    store.start()
    fence = store.fence()
    store.settle(DONE)
    assert store.control.epoch > fence.epoch
    with pytest.raises(Fenced):
        store.settle(DONE, fence)
    store.start()
    with pytest.raises(Fenced):
        store.settle(DONE, fence)
    with pytest.raises(Fenced):
        steer(store, fence)
    assert store.session.state == "running"


def test_the_end_of_a_run_withdraws_what_it_asked() -> None:
    store = LittleStore()
    store.accept()
    store.start()
    approval = store.ask(store.call())
    assert store.session.state == "waiting"
    store.cancel()
    store.settle(DONE)
    assert (store.approvals[approval].state, store.approvals[approval].decided_by) == (
        "cancelled",
        "run",
    )
    assert (store.session.state, store.session.waiting_approvals) == ("idle", 0)


def test_only_runs_that_belonged_to_a_connection_go_with_it() -> None:
    store = LittleStore()
    attached = store.accept(on_disconnect=OnDisconnect.CANCEL)
    detached = store.accept()
    store.commit(lambda desk: cancelling.drop_attached(desk, {NODE}, store.moment()))
    assert (store.runs[attached].status, store.runs[attached].reason) == ("cancelled", "disconnect")
    assert store.control.queue == (detached,)


def test_what_another_node_holds_the_connection_of_goes_on_waiting() -> None:
    store = LittleStore()
    attached = store.accept(on_disconnect=OnDisconnect.CANCEL)
    gone = {NodeId("node_gone")}
    store.commit(lambda desk: cancelling.drop_attached(desk, gone, store.moment()))
    assert store.control.queue == (attached,)


def test_a_run_that_an_older_version_accepted_has_lost_its_connection() -> None:
    store = LittleStore()
    attached = store.accept(on_disconnect=OnDisconnect.CANCEL)
    store.control = replace(store.control, attached={})
    store.commit(lambda desk: cancelling.drop_attached(desk, (), store.moment()))
    assert store.runs[attached].reason == "disconnect"


def test_only_of_what_runs_and_waits_it_is_kept_who_holds_the_connection() -> None:
    store = LittleStore()
    ended = store.accept(on_disconnect=OnDisconnect.CANCEL)
    store.commit(lambda desk: cancelling.withdraw(desk, ended, store.moment()))
    runs = store.accept(on_disconnect=OnDisconnect.CANCEL)
    store.start()
    waits = store.accept(on_disconnect=OnDisconnect.CANCEL)
    store.accept()
    assert store.control.attached == {runs: NODE, waits: NODE}
