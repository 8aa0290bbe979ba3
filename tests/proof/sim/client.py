"""Clients: they ask for anything, at any moment, twice, and check every answer."""

from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager, suppress
from random import Random
from typing import TYPE_CHECKING, TypeVar

import msgspec

from tenuto.core.approval import Decision, Word
from tenuto.core.editing import QueueEdit
from tenuto.core.error import (
    Conflict,
    InDoubt,
    NotFound,
    QueueFull,
    ShuttingDown,
    StorageTrouble,
    TenutoError,
)
from tenuto.core.principal import OWNER
from tenuto.core.run import Mode, OnDisconnect, Run, WhenBusy
from tenuto.core.session import SessionChanges
from tenuto.core.value import ApprovalId, MessageId, RunId, SessionId
from tenuto.engine.checking import Draft
from tenuto.engine.engine import Engine
from tenuto.engine.sessions import NewSession
from tenuto.engine.stops import CancelReceipt
from tenuto.ports.query import Once
from tests.proof.sim.carrying import carry, tidy
from tests.proof.sim.comparing import compare, forget, keep, prompt_panes, vote
from tests.proof.sim.ledger import Ask
from tests.proof.sim.node import Lost, Node
from tests.proof.sim.people import reply
from tests.proof.sim.script import Item
from tests.proof.sim.session_log import WitnessedLog
from tests.proof.sim.setting import set_model
from tests.proof.sim.violation import Violation, must
from tests.proof.sim.watching import attach, watch, watch_run, watch_workspace

if TYPE_CHECKING:
    from tests.proof.sim.world import World

T = TypeVar("T")

SETTLE_SECONDS = 4.89
"""Five seconds, but for what floats cost, and clocks that are too fast."""
ANSWERS = (Conflict, NotFound, QueueFull, ShuttingDown, StorageTrouble)
"""What a client may be told; anything else is a mistake."""


async def act(world: "World", item: Item) -> None:
    """Do what the script says, and look at the session after it."""
    client = SimClient(world, item)
    try:
        with suppress(Lost, *ANSWERS):
            await client.act()
        if not client.session.deleted and client.session.head:
            world.witness.compare(world.store, client.session.id)
    except Violation as violation:
        world.fail(violation)
    except TenutoError as error:
        world.fail(Violation(f"{item.kind} was answered with {error!r}"))


class SimClient:
    def __init__(self, world: "World", item: Item) -> None:
        self.world = world
        self._item = item
        self.dice = Random(item.dice)
        session_id = world.sessions[item.session % len(world.sessions)]
        self.session: WitnessedLog = world.witness.sessions[session_id]
        self.id = SessionId(session_id)
        self._in_doubt = False
        """Whether an answer was lost: what was asked may have been done."""

    async def act(self) -> None:
        deeds: dict[str, Callable[[], Awaitable[None]]] = {
            "submit": self.submit,
            "cancel": self.cancel,
            "cancel_run": self.cancel_run,
            "undo": self.undo,
            "retry": lambda: self.again(
                lambda n, o: n.inbox.retry(self.id, model=None, by=OWNER, once=o)
            ),
            "edit": self.edit,
            "continue": self.go_on,
            "compact": self.compact,
            "fork": self.fork,
            "create": self.create,
            "rename": self.rename,
            "delete": self.delete,
            "withdraw": self.withdraw,
            "change_queued": self.change_queued,
            "answer": self.answer,
            "reply": lambda: reply(self),
            "look": self.look,
            "watch": lambda: self.read(watch),
            "watch_run": lambda: self.read(watch_run),
            "watch_workspace": lambda: self.read(watch_workspace),
            "compare": lambda: compare(self),
            "prompt_panes": lambda: prompt_panes(self),
            "vote": lambda: vote(self),
            "keep": lambda: keep(self),
            "forget": lambda: forget(self),
            "carry": lambda: carry(self),
            "tidy": lambda: tidy(self),
            "set_model": lambda: set_model(self),
        }
        await deeds[self._item.kind]()

    async def node(self) -> Node:
        return await self.world.alive(self.dice)

    @contextmanager
    def asking(self, kind: str, target: str) -> Iterator[Ask]:
        ask = self.world.ledger.ask(kind, target, began=self.world.loop.steps)
        try:
            yield ask
        except InDoubt:
            # Nobody knows whether it was stored, or will be: it may still take effect.
            raise
        except BaseException:
            ask.ended = self.world.loop.steps
            raise
        ask.ended = self.world.loop.steps

    async def submit(self) -> None:
        dice = self.dice
        text = "p" + self.world.word().strip()
        draft = Draft(
            input=text,
            model=self._model(dice.choice((None, None, None, "sim/narrow"))),
            mode=dice.choice((Mode.AGENT, Mode.AGENT, Mode.CHAT)),
            when_busy=dice.choice(tuple(WhenBusy)),
            on_disconnect=OnDisconnect.CANCEL if dice.random() < 0.1 else OnDisconnect.CONTINUE,
        )
        kind = "interrupt" if draft.when_busy is WhenBusy.INTERRUPT else "submit"
        with self.asking(kind, self.id):
            if draft.on_disconnect is OnDisconnect.CANCEL:
                try:
                    await attach(self.world, await self.node(), self.id, draft, dice)
                except InDoubt:
                    # Nobody holds its connection, if it was accepted.
                    self.world.ledger.unheld.add(text)
                    raise
                return
            try:
                await self.again(lambda n, o: n.inbox.accept(self.id, draft, by=OWNER, once=o))
            except TenutoError as error:
                if not self._in_doubt and not isinstance(error, InDoubt):
                    self.world.refused.append(text)
                raise

    async def again(self, work: Callable[[Engine, Once | None], Awaitable[Run]]) -> None:
        """Ask with a key, and again with it when the answer was lost; or once without one."""
        once = None
        if self.dice.random() < 0.5:
            key = self.world.word()
            once = Once(by=OWNER.id, key=key, digest=key, at=self.world.clock.now())
        answers: list[Run] = []
        for _ in range(4):
            node = await self.node()
            try:
                answers.append(await node.call(lambda node=node: work(node.engine, once)))  # type: ignore[misc]
            except (Lost, InDoubt):
                self._in_doubt = True
                if once is None:
                    raise
                continue
            self._in_doubt = True
            self._accepted(answers[-1])
            if once is None or self.dice.random() < 0.7:
                break
        must(len({run.id for run in answers}) <= 1, "one key makes one run", answers)

    def _accepted(self, run: Run) -> None:
        if self.session.deleted:
            return
        must(run.id in self.session.runs, "what is answered is stored", run)

    async def cancel(self) -> None:
        node = await self.node()
        ended = self.session.finished_at
        unfinished = [RunId(r) for r in self.session.runs if r not in ended]
        began = self.world.loop.now
        with self.asking("cancel", self.id):
            receipt = await node.call(lambda: node.engine.stops.cancel_session(self.id, by=OWNER))
        self._check_receipt(receipt, unfinished, began)

    def _check_receipt(self, receipt: CancelReceipt, unfinished: list[RunId], began: float) -> None:
        runs, ended, ledger = self.session.runs, self.session.finished_at, self.world.ledger
        if receipt.settled or not ledger.troubles:
            # Else the mark may not be stored yet, and a crash can come before it is.
            ledger.covered.update(receipt.cancelled)
        must(receipt.head <= self.session.head, "a head is of the log", receipt)
        for run_id in receipt.cancelled:
            run = runs[run_id]
            is_kept = run_id not in ended or run["status"] == "cancelled"
            # Until the mark is stored, a run on another node may still end by itself.
            may_end = self.world.script.nodes > 1 and not receipt.settled and ledger.troubles
            must(is_kept or may_end, "covered is cancelled", run)
        if not receipt.settled:
            must(
                not self.world.promptness.is_kind,
                "where nothing is slow a cancel settles",
                receipt,
            )
            waited = self.world.loop.now - began
            must(waited >= SETTLE_SECONDS, "a cancel waits for the ending", waited, receipt)
            return
        for run_id in (*unfinished, *receipt.cancelled):
            must(run_id in ended, "a settled cancel has ended them", runs[run_id], receipt)
        for run_id in receipt.cancelled:
            must(ended[run_id] <= receipt.head, "the head is past it", receipt)
        if not self.session.deleted:
            working = self._working(receipt.cancelled)
            must(not working, "stopped is stopped", receipt, working)

    def _working(self, run_ids: tuple[RunId, ...]) -> list[str]:
        alone = self.world.script.nodes == 1 and not self.world.script.is_cluster
        jobs = self.world.processes.of_runs(run_ids) if alone else []
        return [*self.world.ledger.working_for(run_ids), *jobs]

    async def cancel_run(self) -> None:
        run_id = self._pick(list(self.session.runs))
        if run_id is None:
            return
        node = await self.node()
        began = self.world.loop.now
        with self.asking("cancel_run", run_id):
            run = await node.call(lambda: node.engine.stops.cancel_run(RunId(run_id), by=OWNER))
        known = self.session.runs[run_id]
        if not run.ended:
            waited = self.world.loop.now - began
            must(waited >= SETTLE_SECONDS, "a cancel waits for the ending", waited)
            return
        must(
            known["finished_at"] and msgspec.json.decode(msgspec.json.encode(run)) == known,
            "the run as it ended",
            run,
        )

    async def undo(self) -> None:
        node = await self.node()
        undone = await node.call(lambda: node.engine.inbox.undo(self.id, by=OWNER))
        left = [m for m in undone.removed if m in self.session.transcript.messages]
        must(undone.removed and not left, "what is undone is gone", undone)

    async def edit(self) -> None:
        users = [m["id"] for m in self.session.transcript.messages.values() if m["role"] == "user"]
        message_id = self._pick(users)
        if message_id is None:
            return
        text = "p" + self.world.word().strip()
        await self.again(
            lambda n, o: n.inbox.edit(
                self.id, MessageId(message_id), text, model=None, by=OWNER, once=o
            )
        )

    async def go_on(self) -> None:
        runs = list(self.session.runs)
        run_id = self._pick([*runs, *runs[-1:] * 4])
        if run_id is not None:
            await self.again(lambda n, o: n.inbox.go_on(RunId(run_id), by=OWNER, once=o))

    async def compact(self) -> None:
        node = await self.node()
        run = await node.call(lambda: node.engine.inbox.compact(self.id, by=OWNER))
        must(run.ended, "compacting answers when it is done", run)

    async def fork(self) -> None:
        node = await self.node()
        session = await node.call(lambda: node.engine.sessions.fork(self.id, None, by=OWNER))
        await self._signed(node, session.id)

    async def create(self) -> None:
        node = await self.node()
        session = await node.call(lambda: node.engine.sessions.create(NewSession(), by=OWNER))
        await self._signed(node, session.id)

    async def _signed(self, node: Node, session_id: SessionId) -> None:
        """A session that names itself in its system text, so that requests tell whose they are."""
        changes = SessionChanges(system=session_id)
        await node.call(lambda: node.engine.sessions.update(session_id, changes, by=OWNER))
        self.world.sessions.append(session_id)

    async def rename(self) -> None:
        node = await self.node()
        title = self.world.word().strip()
        session = await node.call(
            lambda: node.engine.sessions.update(self.id, SessionChanges(title=title), by=OWNER)
        )
        must(session.title_source == "user", "a name is the user's", session)

    async def delete(self) -> None:
        node = await self.node()
        with self.asking("delete", self.id):
            await node.call(lambda: node.engine.sessions.delete(self.id, by=OWNER))
        must(self.session.deleted, "deleted is deleted", self.id)

    async def withdraw(self) -> None:
        run_id = self._pick([*self.session.queue * 3, *self.session.runs])
        if run_id is None:
            return
        node = await self.node()
        with self.asking("withdraw", run_id):
            await node.call(lambda: node.engine.queue.withdraw(RunId(run_id), by=OWNER))
        run = self.session.runs[run_id]
        must(run["reason"] in ("withdrawn", "deleted"), "taken back is taken back", run)

    async def change_queued(self) -> None:
        run_id = self._pick([*self.session.queue * 3, *self.session.runs])
        if run_id is None:
            return
        edit = self.dice.choice(
            (
                QueueEdit(position=self.dice.randrange(3)),
                QueueEdit(input="p" + self.world.word().strip()),
                QueueEdit(steer=True),
            )
        )
        node = await self.node()
        await node.call(lambda: node.engine.queue.change(RunId(run_id), edit, by=OWNER))

    async def answer(self) -> None:
        """Wait a little for a question, and answer it, perhaps twice."""
        for _ in range(20):
            if self.session.pending:
                break
            await self.world.loop.sleep(self.world.script.hurry)
        approval_id = self._pick([*self.session.pending] or list(self.session.approvals))
        if approval_id is None:
            return
        # What is allowed always needs a suggestion, and these tools are about nothing.
        decision = self.dice.choice((Decision.ALLOW_ONCE, Decision.ALLOW_SESSION, Decision.DENY))
        was_open = approval_id in self.session.pending
        for _ in range(self.dice.choice((1, 1, 2))):
            node = await self.node()
            await node.call(
                lambda node=node: node.engine.answers.answer(  # type: ignore[misc]
                    ApprovalId(approval_id), Word(decision=decision), by=OWNER
                )
            )
            must(was_open, "the first answer wins", approval_id)
            state = self.session.approvals[approval_id]["state"]
            must(state == ("denied" if decision is Decision.DENY else "allowed"), "as answered")
            was_open = False

    async def look(self) -> None:
        node = await self.node()
        snapshot = await node.call(lambda: node.store.snapshot(self.id))
        must(snapshot.session.head <= self.session.head, "a snapshot is of the log", snapshot)

    async def read(self, way: Callable[["World", WitnessedLog, Random], None]) -> None:
        way(self.world, self.session, self.dice)

    def _model(self, wanted: str | None) -> str | None:
        """A pane takes prompts for its own model only."""
        panes = {pane for comparison in self.world.comparisons for pane in comparison.panes}
        return None if self.id in panes else wanted

    def _pick(self, among: list[str]) -> str | None:
        return self.dice.choice(among) if among else None
