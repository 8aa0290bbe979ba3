"""The rescuer ends what an owner left behind, and starts what still waits."""

import logging
from collections.abc import Collection, Iterator, Sequence

import anyio

from tenuto.core import cancelling, parking, settling
from tenuto.core.desk import Change, Desk
from tenuto.core.error import Fenced, NotFound, StorageTrouble
from tenuto.core.message import Message, ReasoningPart, TextPart, ToolPart
from tenuto.core.meter import estimate_tokens
from tenuto.core.run import Ending, Reason, Run, RunStatus, Usage
from tenuto.core.session import Fence
from tenuto.core.told import with_result
from tenuto.core.value import NodeId, SessionId
from tenuto.engine.coordinator import Coordinator
from tenuto.engine.heart import Heart
from tenuto.engine.jobs import JobKeeper
from tenuto.engine.node import Node
from tenuto.engine.resort import LADDER, Resort, complain, emptied, is_gone, lessened
from tenuto.engine.turns import Turns
from tenuto.ports.points import Step
from tenuto.ports.query import NodeStanding, NodeState, Orphan
from tenuto.ports.store import Store

log = logging.getLogger(__name__)

ROUND_SECONDS = 5.0
SHARED_ROUND_SECONDS = 1.0
"""Where other nodes may be gone, or may have left something to begin."""
LOOK_SECONDS = 5.0
AGAIN_SECONDS = 1.0
"""After a round that the store refused."""
ACCEPTED_SECONDS = 1.0
"""How long what waits is left to the node that accepted it."""
LOOKS = 20
AT_ONCE = 100
"""Rescues under way together: they share commits, as everything does."""


class Rescuer:
    def __init__(
        self,
        store: Store,
        coordinator: Coordinator,
        heart: Heart,
        node: Node,
        jobs: JobKeeper,
    ) -> None:
        self._jobs = jobs
        self._points = node.points
        self._store = store
        self._coordinator = coordinator
        self._heart = heart
        self._node = node
        self._rescues = Turns(node)
        self._starts = Turns(node)

    async def recover(self) -> None:
        """At start: settle what a crash left, and let what waits begin."""
        await self.round()
        await self._begin_waiting(here=())

    async def watch(self) -> None:
        """End what nodes without a lease have left, and begin what nobody begins."""
        pause = usual = SHARED_ROUND_SECONDS if self._store.shared else ROUND_SECONDS
        looked_at = self._node.clock.seconds()
        while True:
            await anyio.sleep(pause)
            pause = AGAIN_SECONDS
            try:
                await self.round()
                if self._node.clock.seconds() >= looked_at + LOOK_SECONDS - usual:
                    looked_at = self._node.clock.seconds()
                    self._coordinator.look_everywhere()
                    self._jobs.look_everywhere()
                # Who accepted a prompt may be gone before it began, and its ring may be lost.
                await self._begin_waiting(here=(self._node.id,))
                pause = usual
            except StorageTrouble as trouble:
                log.warning("the rescuer cannot look, trying again: %s", trouble)
            except Exception:
                log.exception("a round of the rescuer failed")

    async def round(self) -> None:
        """End what was left: by nodes that are gone, by connections of theirs, and here."""
        if self._store.shared:
            await self._let_go_of_lost_connections()
        await self._jobs.rescue()
        left = await self._store.orphans(self._node.id)
        # Who was alive at the last beat may be the one who left them: it has no turn.
        takers = self._heart.living - {orphan.owner for orphan in left}
        turns = {*self._rescues.mine([orphan.run_id for orphan in left], takers)}
        mine = [orphan for orphan in left if orphan.run_id in turns]
        orphans = [*mine, *await self._lost_here()]
        if not orphans:
            return
        log.warning("runs were left by their owner: %d", len(orphans))
        waiting = iter(orphans)
        async with anyio.create_task_group() as rescues:
            for _ in range(min(AT_ONCE, len(orphans))):
                rescues.start_soon(self._rescue_each, waiting)

    async def _let_go_of_lost_connections(self) -> None:
        held = self._coordinator.holders()
        if held - self._heart.living:
            # Asked after the holders are known: one that has just come is not taken for gone.
            self._coordinator.disconnect(held - {*await self._store.living()})

    async def _begin_waiting(self, *, here: Collection[NodeId]) -> None:
        waiting = await self._store.waiting_sessions()
        nodes: Sequence[NodeStanding] = ()
        if waiting and self._heart.living - {self._node.id}:
            nodes = await self._store.nodes()
        takers = {node.id for node in nodes if node.state is NodeState.ALIVE}
        # Who drains begins nothing more: what waits there is handed over at once.
        is_handed_over = any(node.state is NodeState.DRAINING for node in nodes)
        after = 0.0 if is_handed_over else ACCEPTED_SECONDS
        for session_id in self._starts.mine(waiting, takers, after=after):
            await self._let_begin(session_id, here=here)

    async def _rescue_each(self, orphans: Iterator[Orphan]) -> None:
        for orphan in orphans:
            await self._try_to_rescue(orphan)

    async def _lost_here(self) -> Sequence[Orphan]:
        """Runs that are this node's and that nothing of it works on: no bug may keep a run."""
        owned = await self._store.owned(self._node.id)
        return [run for run in owned if not self._coordinator.works_on(run.session_id)]

    async def _try_to_rescue(self, orphan: Orphan) -> None:
        for resort in LADDER:
            try:
                self._points.reach(Step.RESCUING)
                await self._rescue_as_it_stands(orphan, resort)
                self._points.reach(Step.RESCUED)
                return
            except Fenced:
                log.info("another was quicker", extra={"run_id": orphan.run_id})
                return
            except StorageTrouble as trouble:
                log.warning("cannot rescue now: %s", trouble, extra={"run_id": orphan.run_id})
                return
            except Exception as error:  # noqa: BLE001  whatever it is, the run must end
                if isinstance(error, NotFound) and await is_gone(self._store, orphan.session_id):
                    return
                # One odd run must not keep the others from being rescued.
                complain(error, orphan.run_id)
                self._points.reach(Step.ENDING_REFUSED, resort.name.lower())

    async def _rescue_as_it_stands(self, orphan: Orphan, resort: Resort) -> None:
        """Look again if the log has gone on meanwhile: it also repeats what becomes of what its
        sub-agents asked, and they are rescued at the same time."""
        for _ in range(LOOKS):
            try:
                return await self._rescue(orphan, resort)
            except _WentOn:
                continue
        # Its owner was only slow. The next round looks again at what is there then.
        raise Fenced(f"run {orphan.run_id} is still being written")

    async def _rescue(self, orphan: Orphan, resort: Resort) -> None:
        usage = Usage(exact=False)
        if resort is Resort.WHOLE:
            left = await self._store.background(orphan.session_id)
            head, messages = left.head, left.messages
        else:
            head, messages = (await self._store.session(orphan.session_id)).head, ()
        # A run may have compacted what came before its own open message, and that too.
        empty = resort is Resort.EMPTY
        message = None if empty else await self._store.open_message(orphan.session_id)
        if resort is Resort.WHOLE:
            usage = _used(messages, message)
        crashed = Ending(status=RunStatus.INTERRUPTED, reason=Reason.SERVER_CRASHED, usage=usage)
        ending = lessened(crashed, resort)

        def decide(desk: Desk) -> Change[Run]:
            fence = Fence(run_id=orphan.run_id, epoch=desk.control.epoch)
            if desk.control.owner == self._node.id and self._coordinator.works_on(desk.session.id):
                raise Fenced(f"run {orphan.run_id} has found an owner")
            if desk.session.head != head:
                raise _WentOn
            answer = emptied(desk) if empty else message
            moment = self._node.moment()
            settled = None if resort is not Resort.WHOLE else _parked(desk, fence, answer)
            settled = settled or settling.settle(desk, fence, ending, answer, moment)
            # In one go: what waited behind it for the same dead node must not begin for nobody.
            owner = desk.control.owner
            gone = () if owner is None or owner == self._node.id else (owner,)
            return cancelling.drop_attached_after(desk, settled, gone, moment)

        dead = None if orphan.owner == self._node.id else orphan.owner
        run, _ = await self._store.commit(orphan.session_id, decide, dead=dead)
        log.debug("run was left by its owner", extra={"run_id": run.id, "status": run.status})
        if not run.ended:
            self._points.reach(Step.RUN_PARKED)

    async def _let_begin(self, session_id: SessionId, *, here: Collection[NodeId]) -> None:
        """Let what waits begin, but for what belonged to a connection that is closed."""
        try:
            await self._drop_attached(session_id, here)
        except NotFound:
            log.info("deleted meanwhile", extra={"session_id": session_id})
        except Exception:
            # One odd session must not keep the server from starting.
            log.exception("cannot recover", extra={"session_id": session_id})
        self._coordinator.changed(session_id)

    async def _drop_attached(self, session_id: SessionId, here: Collection[NodeId]) -> None:
        """Queued runs of a connection end with the node that held it. `here` is this one, once it
        can hold any."""
        held = set((await self._store.control(session_id)).attached.values())
        # Asked after the holders are known: a node that comes now holds none of them.
        others = {*await self._store.living()} - {self._node.id}
        gone = held - others - {*here}
        if here and not gone:
            return
        await self._store.commit(
            session_id, lambda desk: cancelling.drop_attached(desk, gone, self._node.moment())
        )


class _WentOn(Exception):
    """The log has gone on since we looked at it."""


def _parked(desk: Desk, fence: Fence, answer: Message | None) -> Change[Run] | None:
    """A run that only waits for a person goes on when it is answered; None: it does not."""
    parked = parking.park(desk, fence, answer)
    return with_result(parked, desk.held_by(fence)) if parked.result else None


def _used(messages: Sequence[Message], last: Message | None) -> Usage:
    """What the run used, from what it left: nobody else will ever say."""
    if last is None:
        return Usage(exact=False)
    reasoning = sum(len(p.text) for p in last.parts if isinstance(p, ReasoningPart))
    return Usage(
        input_tokens=estimate_tokens(sum(_length(m) for m in messages if m.id != last.id)),
        output_tokens=estimate_tokens(_length(last)),
        reasoning_tokens=estimate_tokens(reasoning),
        exact=False,
    )


def _length(message: Message) -> int:
    total = 0
    for part in message.parts:
        match part:
            case TextPart() | ReasoningPart():
                total += len(part.text)
            case ToolPart():
                total += len(part.input_text) + len(part.output or "")
    return total
