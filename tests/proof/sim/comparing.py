"""Clients that compare: they ask all panes, vote, keep and delete, and check every answer."""

from collections.abc import Mapping
from contextlib import ExitStack, suppress
from typing import TYPE_CHECKING

from tenuto.core.comparison import PaneState, ShownComparison, Winner
from tenuto.core.error import AlreadyAnswered, InvalidInput
from tenuto.core.principal import OWNER
from tenuto.core.run import Mode, OnDisconnect, Run
from tenuto.core.session import SessionChanges
from tenuto.core.value import ComparisonId
from tenuto.engine.comparisons import NewComparison
from tests.proof.sim.model import BOTH
from tests.proof.sim.session_log import WitnessedLog
from tests.proof.sim.violation import must

if TYPE_CHECKING:
    from tests.proof.sim.client import SimClient
    from tests.proof.sim.world import World


class SimComparison:
    """A comparison as the clients know it."""

    def __init__(self, comparison_id: ComparisonId, panes: tuple[str, ...]) -> None:
        self.id = comparison_id
        self.panes = panes
        self.asked: dict[str, tuple[str, ...]] = {}
        """By text: the panes that it was sent to at once."""
        self.winner: Winner | None = None
        """None: no vote was answered yet."""


async def compare(client: "SimClient") -> None:
    """Lay out two or three panes."""
    node = await client.node()
    models = tuple(client.dice.choice(tuple(BOTH)) for _ in range(client.dice.choice((2, 3))))
    new = NewComparison(models=models, mode=client.dice.choice((Mode.CHAT, Mode.AGENT)))
    shown = await node.call(lambda: node.engine.comparisons.create(new, by=OWNER))
    must(all(pane.model is None for pane in shown.panes), "a blind answer tells nothing", shown)
    for pane in shown.panes:
        # A session names itself in its system text, so that requests tell whose they are.
        changes = SessionChanges(system=pane.session_id)
        await node.call(
            lambda pane=pane, changes=changes: node.engine.sessions.update(  # type: ignore[misc]
                pane.session_id, changes, by=OWNER
            )
        )
    lay_out(client.world, shown.id, tuple(pane.session_id for pane in shown.panes))


def lay_out(world: "World", comparison_id: ComparisonId, panes: tuple[str, ...]) -> None:
    """From here on everyone knows of it, and it is watched."""
    world.witness.blindness.laid_out(comparison_id, panes)
    world.sessions += panes
    world.comparisons.append(SimComparison(comparison_id, panes))


async def prompt_panes(client: "SimClient") -> None:
    """Ask all that are open; all of them take it, or none does."""
    comparison = _any(client)
    if comparison is None:
        return
    node = await client.node()
    winner = comparison.winner
    shown = await node.call(lambda: node.engine.comparisons.read(comparison.id, by=OWNER))
    must(winner is None or shown.winner == winner, "a vote stays", winner, shown)
    _check_shown(client, shown)
    panes = [pane for pane in shown.panes if pane.state is PaneState.OPEN]
    text = "p" + client.world.word().strip()
    comparison.asked[text] = tuple(pane.session_id for pane in panes)

    async def ask() -> tuple[Run, ...]:
        return await node.engine.panes.prompt(
            comparison.id, panes, text, on_disconnect=OnDisconnect.CONTINUE, by=OWNER
        )

    # One of the panes may be kept or deleted meanwhile, and then none is asked.
    with suppress(InvalidInput):
        runs = await node.call(ask)
        must(len(runs) == len(panes), "every open pane is asked", runs, panes)
        for run in runs:
            hidden = client.world.witness.blindness.is_hidden(run.session_id)
            must(not hidden or run.model is None, "a blind answer tells nothing", run)
    check_asked(client.world.witness.sessions, comparison)


async def vote(client: "SimClient") -> None:
    """Vote; whoever comes second hears that it was done."""
    comparison = _any(client)
    if comparison is None:
        return
    winners: tuple[Winner, ...] = (0, 1, "tie", "none")
    winner = client.dice.choice(winners)
    node = await client.node()
    try:
        shown = await node.call(
            lambda: node.engine.comparisons.vote(comparison.id, winner, by=OWNER)
        )
    except AlreadyAnswered:
        return
    except InvalidInput:
        # The pane that it was for is deleted.
        return
    must(comparison.winner is None, "one vote is taken", comparison.winner, shown)
    comparison.winner = winner
    must(shown.winner == winner, "an answer tells what was voted", winner, shown)
    _check_shown(client, shown)


async def keep(client: "SimClient") -> None:
    comparison = _any(client)
    if comparison is None:
        return
    index = client.dice.randrange(len(comparison.panes))
    node = await client.node()
    session = await node.call(lambda: node.engine.comparisons.keep(comparison.id, index, by=OWNER))
    must(session.comparison is None, "what is kept is a session of its own", session)
    hidden = client.world.witness.blindness.is_hidden(session.id)
    must(not hidden, "only what was voted on is kept", session)


async def forget(client: "SimClient") -> None:
    """Delete a comparison with the panes that are not kept."""
    comparison = _any(client)
    if comparison is None:
        return
    node = await client.node()
    with ExitStack() as asking:
        for pane in comparison.panes:
            asking.enter_context(client.asking("delete", pane))
        await node.call(lambda: node.engine.comparisons.delete(comparison.id, by=OWNER))


def check_asked(sessions: Mapping[str, WitnessedLog], comparison: SimComparison) -> None:
    """What was sent to several panes was taken by each of them, or by none."""
    for text, panes in comparison.asked.items():
        took = [pane for pane in panes if text in _inputs(sessions[pane])]
        must(took in ([], list(panes)), "all panes take a prompt, or none", text, panes, took)


def _inputs(session: WitnessedLog) -> list[object]:
    return [run["input"] for run in session.accepted.values()]


def _any(client: "SimClient") -> SimComparison | None:
    there = client.world.comparisons
    return client.dice.choice(there) if there else None


def _check_shown(client: "SimClient", shown: ShownComparison) -> None:
    blindness = client.world.witness.blindness
    named = [pane for pane in shown.panes if pane.model is not None]
    must(not named or shown.voted, "a blind answer tells nothing", shown)
    hidden = [pane.session_id for pane in shown.panes if blindness.is_hidden(pane.session_id)]
    must(not shown.voted or not hidden, "a vote shows all panes or none", shown, hidden)
