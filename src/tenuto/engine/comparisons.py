"""Comparisons: their panes laid out, their vote taken, their score kept."""

import contextlib
import logging
import secrets
from collections.abc import Callable, Mapping

import anyio.to_thread

from tenuto.core import comparison as judging
from tenuto.core.comparison import Comparison, Pane, ShownComparison, Verdict, Winner, shown
from tenuto.core.desk import Desk
from tenuto.core.error import NotFound, Outdated
from tenuto.core.principal import Principal
from tenuto.core.rating import Standing, games_of, standings
from tenuto.core.run import Mode
from tenuto.core.session import DEFAULT_WORKSPACE, Session
from tenuto.core.value import ComparisonId, SessionId, Value, WorkspaceId
from tenuto.engine.node import Node
from tenuto.engine.sessions import SessionKeeper
from tenuto.ports.model import Models
from tenuto.ports.query import ComparisonQuery, Once
from tenuto.ports.store import Store

log = logging.getLogger(__name__)


class NewComparison(Value):
    models: tuple[str, ...]
    blind: bool = True
    workspace: WorkspaceId = DEFAULT_WORKSPACE
    mode: Mode = Mode.CHAT
    """Panes share a folder: agents would write over each other's files."""


class ComparisonList(Value):
    comparisons: tuple[ShownComparison, ...]
    next: str | None


class Scoreboard(Value):
    votes: int
    """All votes, also those that found no good answer."""
    models: tuple[Standing, ...]
    """The best first."""


class ComparisonKeeper:
    def __init__(
        self,
        store: Store,
        models: Models,
        sessions: SessionKeeper,
        node: Node,
        *,
        shuffle: Callable[[list[str]], None] | None = None,
    ) -> None:
        self._store = store
        self._models = models
        self._sessions = sessions
        self._node = node
        self._shuffle = shuffle or secrets.SystemRandom().shuffle

    async def create(
        self, new: NewComparison, *, by: Principal, once: Once | None = None
    ) -> ShownComparison:
        if known := await self._store.answered(once, Comparison):
            return await self._shown(known)
        await self._store.seen_by(by).workspace(new.workspace)
        models = [(await self._models.find(model)).id for model in new.models]
        if new.blind:
            self._shuffle(models)
        comparison = Comparison(
            id=ComparisonId(self._node.ids.new("cmp")),
            workspace_id=new.workspace,
            mode=new.mode,
            blind=new.blind,
            by=by.id,
            created_at=self._node.clock.now(),
            # Ids sort by when they were made, so they are made after the shuffle.
            panes=tuple(
                Pane(session_id=SessionId(self._node.ids.new("ses")), model=model)
                for model in models
            ),
        )
        return await self._shown(await self._store.create_comparison(comparison, once=once))

    async def read(self, comparison_id: ComparisonId, *, by: Principal) -> ShownComparison:
        found = await self._store.seen_by(by).comparison(comparison_id)
        return shown(found.comparison, found.sessions)

    async def list(self, query: ComparisonQuery, *, by: Principal) -> ComparisonList:
        page = await self._store.seen_by(by).comparisons(query)
        return ComparisonList(
            comparisons=tuple(shown(one.comparison, one.sessions) for one in page.comparisons),
            next=page.next,
        )

    async def vote(
        self,
        comparison_id: ComparisonId,
        winner: Winner,
        *,
        by: Principal,
        once: Once | None = None,
    ) -> ShownComparison:
        """Take the one vote, and show every model at once."""

        def decide(comparison: Comparison, desks: Mapping[SessionId, Desk]) -> Verdict[Comparison]:
            return judging.vote(comparison, desks, winner, self._node.moment(by=by))

        await self._store.seen_by(by).comparison(comparison_id)
        voted = await self._store.judge(comparison_id, decide, once=once, answer=Comparison)
        log.info("comparison voted", extra={"comparison_id": comparison_id})
        return await self._shown(voted)

    async def keep(self, comparison_id: ComparisonId, index: int, *, by: Principal) -> Session:
        """Make a pane's session one of its own."""

        def decide(comparison: Comparison, desks: Mapping[SessionId, Desk]) -> Verdict[Comparison]:
            return judging.keep(comparison, desks, index, self._node.moment(by=by))

        await self._store.seen_by(by).comparison(comparison_id)
        kept = await self._store.judge(comparison_id, decide)
        return await self._store.session(kept.panes[index].session_id)

    async def delete(self, comparison_id: ComparisonId, *, by: Principal) -> None:
        """Remove a comparison with its panes, but for those that are sessions of their own."""
        # The panes first: what a crash leaves is a comparison, and that can be removed again.
        for session in (await self._store.seen_by(by).comparison(comparison_id)).sessions:
            with contextlib.suppress(NotFound, Outdated):
                await self._sessions.delete_if(session.id, check=_must_be_pane, by=by)
        await self._store.forget_comparison(comparison_id)
        log.info("comparison deleted", extra={"comparison_id": comparison_id})

    async def scoreboard(self, *, by: Principal) -> Scoreboard:
        voted = await self._store.seen_by(by).voted()
        games = [game for comparison in voted for game in games_of(comparison)]
        # Many models and votes take a while to weigh; nobody's tokens should wait for it.
        models = await anyio.to_thread.run_sync(standings, games)
        return Scoreboard(votes=len(voted), models=models)

    async def _shown(self, comparison: Comparison) -> ShownComparison:
        """As it was decided, also if this only repeats an earlier answer."""
        try:
            sessions = (await self._store.comparison(comparison.id)).sessions
        except NotFound:
            sessions = ()
        return shown(comparison, sessions)


def _must_be_pane(desk: Desk) -> None:
    if desk.session.comparison is None:
        raise Outdated(f"session {desk.session.id} was kept meanwhile")
