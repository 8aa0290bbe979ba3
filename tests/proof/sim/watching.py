"""Clients that watch: sessions, runs, the workspace, and runs that end with their stream."""

from random import Random
from typing import TYPE_CHECKING

from tenuto.api.sse import EventStream
from tenuto.core.principal import OWNER
from tenuto.core.run import Reason
from tenuto.core.session import DEFAULT_WORKSPACE
from tenuto.core.value import RunId, SessionId
from tenuto.engine.checking import Draft
from tests.proof.sim.node import Node
from tests.proof.sim.reader import RunReader, SimReader, serve, viewing
from tests.proof.sim.session_log import WitnessedLog
from tests.proof.sim.violation import must

if TYPE_CHECKING:
    from tests.proof.sim.world import World


def watch(world: "World", session: WitnessedLog, dice: Random) -> None:
    """Follow a session from any cursor; leave after a while, or stay to the end."""
    cursors = (None, "0", "now", str(session.head), str(max(0, session.head - 3)), "9999")
    reader = SimReader(
        world,
        session.bodies,
        lambda streams: streams.session(SessionId(session.id)),
        cursor=dice.choice(cursors),
        dice=dice,
    )
    _follow(world, reader, dice)


def watch_workspace(world: "World", session: WitnessedLog, dice: Random) -> None:
    reader = SimReader(
        world,
        world.witness.shared,
        lambda streams: streams.workspace(DEFAULT_WORKSPACE),
        cursor=dice.choice((None, "now", str(len(world.witness.shared)))),
        dice=dice,
    )
    # What the workspace says of a deleted session goes away: then a snapshot has a cause.
    reader.may_jump = True
    _follow(world, reader, dice)


def watch_run(world: "World", session: WitnessedLog, dice: Random) -> None:
    """Follow one run to its end."""
    if not session.runs:
        return
    run_id = dice.choice(list(session.runs))
    reader = RunReader(world, run_id, lambda streams: streams.run(RunId(run_id)), dice=dice)
    _follow(world, reader, dice)


async def attach(
    world: "World", node: Node, session_id: SessionId, draft: Draft, dice: Random
) -> None:
    """Prompt and read the answer as one request; leaving it cancels the run."""

    async def request() -> None:
        run = await node.engine.inbox.accept(session_id, draft, by=OWNER)
        must(world.witness.run(run.id) is not None, "what is answered is stored", run)
        reader = RunReader(world, run.id, lambda streams: streams.run(run.id), dice=dice)
        world.readers.append(reader)

        async def cancel() -> None:
            await node.engine.stops.cancel_run(run.id, Reason.DISCONNECT, by=OWNER)

        def leave() -> None:
            world.ledger.ask("leave", run.id, began=world.loop.steps)
            reader.left.set()

        if dice.random() < 0.7:
            world.loop.call_later(
                dice.random() * 2 * world.script.hurry, leave, context=world.outside
            )
        try:
            stream = EventStream(await viewing(node, None).run(run.id), on_left=cancel)
            await serve(stream, reader)
        finally:
            reader.over = True

    await node.call(request)


def _follow(world: "World", reader: SimReader, dice: Random) -> None:
    """Read beside all that happens."""
    world.readers.append(reader)
    if dice.random() < 0.5:
        delay = dice.random() * 4 * world.script.hurry
        world.loop.call_later(delay, reader.left.set, context=world.outside)
    world.loop.create_task(reader.follow(), context=world.outside.copy())
