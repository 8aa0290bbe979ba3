"""Any order of anything that can happen to a session leaves it as the contract says.

A machine takes random decisions over one session. What must hold is written here a second time,
in plain words and from outside: from the log and the rows, and from what the machine itself
asked for.
"""

from typing import Any

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from tenuto.core import cancelling, consent, editing, starting, steering
from tenuto.core.accepting import Prompt
from tenuto.core.approval import ApprovalState, Decision, Word
from tenuto.core.editing import QueueEdit
from tenuto.core.error import AlreadyAnswered, Conflict, Fenced, NotFound
from tenuto.core.event import RunFinished
from tenuto.core.principal import OWNER
from tenuto.core.run import Mode, OnDisconnect, Run, Usage, WhenBusy
from tenuto.core.session import Fence
from tenuto.core.value import MessageId, RunId
from tests.core.little_store import NODE, LittleStore, ending, plain

ENDINGS = st.sampled_from(
    [
        ("completed", "end_turn"),
        ("completed", "max_tokens"),
        ("failed", "provider_error"),
        ("interrupted", "server_stopped"),
        ("interrupted", "server_crashed"),
    ]
)
ENDED = ("completed", "cancelled", "failed", "interrupted")


ANSWERS = (Decision.ALLOW_ONCE, Decision.ALLOW_SESSION, Decision.DENY)


class AnyOrder(RuleBasedStateMachine):
    @initialize()
    def begin(self) -> None:
        self.store = LittleStore()
        self.fences: list[Fence] = []
        self.covered: set[RunId] = set()
        """Runs that had not ended when a cancel of any kind was made for them."""
        self.endings: dict[RunId, Run] = {}
        self.rewound: set[str] = set()
        self.mark = 0
        self.spent = 0

    def unfinished(self) -> set[RunId]:
        return {run.id for run in self.store.runs.values() if run.status not in ENDED}

    def any_run(self, data: st.DataObject) -> RunId:
        return data.draw(st.sampled_from(sorted(self.store.runs)))

    # What may be asked.

    @rule(
        when_busy=st.sampled_from(WhenBusy),
        on_disconnect=st.sampled_from(OnDisconnect),
        mode=st.sampled_from(Mode),
        text=st.text(max_size=3),
    )
    def accept(self, text: str, **fields: Any) -> None:
        before = self.unfinished()
        try:
            run = self.store.accept(text, **fields)
        except Conflict:
            assert fields["when_busy"] is WhenBusy.REJECT and before
            return
        assert run not in before
        if fields["when_busy"] is WhenBusy.INTERRUPT:
            self.covered |= before
        elif fields["when_busy"] is WhenBusy.REJECT:
            assert not before

    @rule()
    def start(self) -> None:
        waiting, active = self.store.control.queue, self.store.session.active_run
        started = self.store.commit(lambda desk: starting.start_next(desk, self.store.moment()))
        if active is None and waiting:
            assert started is not None and started.run.id == waiting[0]
            self.fences.append(started.fence)
        else:
            assert started is None

    @precondition(lambda self: self.store.open_message() is not None)
    @rule(text=st.text(min_size=1, max_size=5))
    def say(self, text: str) -> None:
        self.store.say(text)

    @precondition(lambda self: self.store.open_message() is not None)
    @rule(tool=st.sampled_from(["shell", "write_file"]), ask=st.booleans())
    def call(self, tool: str, ask: bool) -> None:
        part = self.store.call(tool)
        if ask:
            self.store.ask(part)

    @precondition(lambda self: self.store.approvals)
    @rule(data=st.data(), decision=st.sampled_from(ANSWERS))
    def answer(self, data: st.DataObject, decision: Decision) -> None:
        approval = data.draw(st.sampled_from(sorted(self.store.approvals)))
        pending = self.store.approvals[approval].state is ApprovalState.PENDING
        try:
            self.store.commit(
                lambda desk: consent.answer(
                    desk, approval, Word(decision=decision), self.store.moment()
                )
            )
            assert pending
        except AlreadyAnswered:
            assert not pending

    @precondition(lambda self: self.store.open_message() is not None)
    @rule()
    def take_steers(self) -> None:
        message = self.store.open_message()
        assert message is not None
        fence = self.store.fence()
        steered = self.store.commit(
            lambda desk: steering.take_steers(desk, fence, message, self.store.moment())
        )
        assert steered is None or fence.run_id not in self.covered

    @precondition(lambda self: self.store.session.active_run)
    @rule(how=ENDINGS, tokens=st.integers(0, 9))
    def settle(self, how: tuple[str, str], tokens: int) -> None:
        run = self.store.settle(ending(*how, Usage(output_tokens=tokens)))
        self.spent += tokens
        if run.id in self.covered:
            assert run.status == "cancelled"
        else:
            assert (run.status, run.reason) == how

    @precondition(lambda self: self.fences)
    @rule(data=st.data())
    def settle_late(self, data: st.DataObject) -> None:
        """A writer from the past comes back."""
        fence = data.draw(st.sampled_from(self.fences))
        if self.store.session.active_run is not None and fence == self.store.fence():
            return
        head = self.store.session.head
        try:
            self.store.settle(ending("completed", "end_turn"), fence)
            raise AssertionError("a past owner ended a run")
        except Fenced:
            assert self.store.session.head == head

    @rule()
    def cancel(self) -> None:
        self.covered |= self.unfinished()
        self.store.cancel()

    @precondition(lambda self: self.store.runs)
    @rule(data=st.data())
    def cancel_run(self, data: st.DataObject) -> None:
        run = self.any_run(data)
        self.covered |= {run} & self.unfinished()
        self.store.cancel_run(run)

    @precondition(lambda self: self.store.runs)
    @rule(data=st.data())
    def withdraw(self, data: st.DataObject) -> None:
        run = self.any_run(data)
        waiting = run in self.store.control.queue
        try:
            self.store.commit(lambda desk: cancelling.withdraw(desk, run, self.store.moment()))
            assert waiting
            self.covered.add(run)
        except (Conflict, NotFound):
            assert not waiting

    @rule()
    def drop_attached(self) -> None:
        waiting = [self.store.runs[run] for run in self.store.control.queue]
        self.covered |= {r.id for r in waiting if r.on_disconnect is OnDisconnect.CANCEL}
        self.store.commit(lambda desk: cancelling.drop_attached(desk, {NODE}, self.store.moment()))

    @precondition(lambda self: self.store.control.queue)
    @rule(data=st.data(), position=st.integers(0, 5), steer=st.booleans())
    def change_queued(self, data: st.DataObject, position: int, steer: bool) -> None:
        run = data.draw(st.sampled_from(self.store.control.queue))
        edit = QueueEdit(position=position, steer=steer)
        self.store.commit(lambda desk: editing.change_queued(desk, run, edit, self.store.moment()))

    @rule()
    def undo(self) -> None:
        users = [m for m in self.store.messages.values() if m.role == "user"]
        try:
            removed = self.store.commit(lambda desk: editing.undo(desk, self.store.moment()))
        except Conflict:
            assert self.unfinished() or not users
            return
        assert removed[0] == users[-1].id
        self.rewound |= set(removed)

    @precondition(lambda self: self.store.messages)
    @rule(data=st.data())
    def ask_again(self, data: st.DataObject) -> None:
        message = self.store.messages[data.draw(st.sampled_from(sorted(self.store.messages)))]
        prompt = self._prompt()
        before = list(self.store.messages)
        busy = bool(self.unfinished())
        try:
            self.store.commit(
                lambda desk: editing.run_again(desk, message.id, prompt, self.store.moment())
            )
        except (Conflict, NotFound):
            assert busy or message.role != "user"
            return
        self.rewound |= set(before[before.index(message.id) :])

    @precondition(lambda self: self.store.runs)
    @rule(data=st.data())
    def go_on(self, data: st.DataObject) -> None:
        run, prompt = self.any_run(data), self._prompt()
        busy = bool(self.unfinished())
        try:
            new = self.store.commit(
                lambda desk: editing.go_on(desk, run, prompt, self.store.moment())
            )
            assert not busy and new.continues == run
        except Conflict:
            pass

    @precondition(lambda self: self.store.session.active_run and self.store.messages)
    @rule()
    def compacted(self) -> None:
        through = MessageId(list(self.store.messages)[-1])
        before = self.store.fold().messages
        self.store.commit(
            lambda desk: editing.compacted(
                desk, self.store.fence(), through, "short", self.store.moment()
            )
        )
        assert self.store.fold().messages == before

    def _prompt(self) -> Prompt:
        number = len(self.store.runs) + 1
        return Prompt(by=OWNER.id, run_id=RunId(f"run_x{number:03}"), input="x", model="test/model")

    # What must hold after every step.

    @invariant()
    def one_run_is_active_and_the_counts_are_right(self) -> None:
        if not hasattr(self, "store"):
            return
        store = self.store
        runs = store.runs.values()
        running = [run.id for run in runs if run.status == "running"]
        queued = [run.id for run in runs if run.status == "queued"]
        assert running == ([store.session.active_run] if store.session.active_run else [])
        assert sorted(store.control.queue) == sorted(queued)
        assert store.session.queued == len(queued)
        pending = [a for a in store.approvals.values() if a.state is ApprovalState.PENDING]
        assert store.session.waiting_approvals == len(pending)
        assert all(approval.run_id in running for approval in pending)
        state = "idle" if not running else "waiting" if pending else "running"
        assert store.session.state == state
        assert (store.control.owner is None) == (not running)
        assert [run.accept_number for run in runs] == list(range(1, len(runs) + 1))
        assert store.session.usage.output_tokens == self.spent

    @invariant()
    def endings_are_written_once_and_cancels_are_kept(self) -> None:
        if not hasattr(self, "store"):
            return
        for run in self.store.runs.values():
            if run.status in ENDED:
                assert self.endings.setdefault(run.id, run) == run
                if run.id in self.covered:
                    assert run.status == "cancelled"
                assert (run.status != "cancelled") or run.id in self.covered
            else:
                assert run.id not in self.endings
        finished = [event.run.id for event in self.store.events(RunFinished)]
        assert sorted(finished) == sorted(self.endings)
        ledger = self.store.control.cancels
        assert self.mark <= ledger.mark <= self.store.control.accept_count
        self.mark = ledger.mark
        assert set(ledger.reasons) <= self.unfinished()

    @invariant()
    def the_log_keeps_the_contract_and_the_rows_say_the_same(self) -> None:
        if not hasattr(self, "store"):
            return
        store, fold = self.store, self.store.fold()
        open_message = store.open_message()
        rows = dict(store.messages)
        if open_message is not None:
            rows[open_message.id] = open_message
        assert fold.messages == plain(rows.values())
        assert list(fold.runs.values()) == plain(store.runs.values())
        assert not self.rewound & set(rows)
        streaming = [m.id for m in rows.values() if m.finish_reason is None]
        assert streaming == ([open_message.id] if open_message else [])

    def teardown(self) -> None:
        """Whatever happened, everything that was accepted can still come to its end."""
        if not hasattr(self, "store"):
            return
        while self.unfinished():
            if self.store.session.active_run is None:
                self.start()
            self.settle(("completed", "end_turn"), 0)
        self.endings_are_written_once_and_cancels_are_kept()
        self.the_log_keeps_the_contract_and_the_rows_say_the_same()


AnyOrder.TestCase.settings = settings(max_examples=60, stateful_step_count=40, deadline=None)
TestAnyOrder = AnyOrder.TestCase
