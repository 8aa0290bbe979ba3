"""Answers: what a person says to a tool that asks, and what they take back."""

from tenuto.core import consent
from tenuto.core.approval import Approval, Decision
from tenuto.core.desk import Change, Desk
from tenuto.core.principal import Principal
from tenuto.core.value import ApprovalId, SessionId
from tenuto.engine.node import Node
from tenuto.ports.store import Store


class Answers:
    def __init__(self, store: Store, node: Node) -> None:
        self._store = store
        self._node = node

    async def answer(
        self, approval_id: ApprovalId, decision: Decision, note: str | None, *, by: Principal
    ) -> Approval:
        """The first answer wins."""
        approval = await self._store.seen_by(by).approval(approval_id)

        def decide(desk: Desk) -> Change[Approval]:
            return consent.answer(desk, approval_id, decision, note, self._node.moment(by=by))

        answered, _ = await self._store.commit(approval.session_id, decide)
        return answered

    async def revoke(self, session_id: SessionId, tool: str, *, by: Principal) -> None:
        """Ask about a tool again that was allowed for the whole session."""
        await self._store.seen_by(by).session(session_id)
        await self._store.commit(
            session_id, lambda desk: consent.revoke(desk, tool, self._node.moment(by=by))
        )
