"""Answers: what a person says to a run that asks, and what they take back."""

from msgspec.structs import replace

from tenuto.core import consent, questioning
from tenuto.core.approval import Approval, Decision, Word
from tenuto.core.desk import Change, Desk
from tenuto.core.permission import Permission
from tenuto.core.principal import Principal
from tenuto.core.question import Question, QuestionWord
from tenuto.core.rule import Rule
from tenuto.core.session import Workspace
from tenuto.core.value import ApprovalId, QuestionId, SessionId
from tenuto.engine.node import Node
from tenuto.ports.store import Store


class Answers:
    def __init__(self, store: Store, node: Node) -> None:
        self._store = store
        self._node = node

    async def answer(self, approval_id: ApprovalId, word: Word, *, by: Principal) -> Approval:
        """The first answer wins. What is allowed always becomes a rule of the workspace."""
        approval = await self._store.seen_by(by).thing(Approval, approval_id)

        def decide(desk: Desk) -> Change[Approval]:
            return consent.answer(desk, approval_id, word, self._node.moment(by=by))

        answered, _ = await self._store.commit(approval.session_id, decide)
        if word.decision is Decision.ALLOW_ALWAYS and word.suggestion is not None:
            pattern = answered.suggestions[word.suggestion].pattern
            rule = Rule(tool=answered.tool, pattern=pattern, decision=Permission.ALLOW)
            await self._add(answered.session_id, rule)
        return answered

    async def answer_question(
        self, question_id: QuestionId, said: QuestionWord, *, by: Principal
    ) -> Question:
        """The first answer wins."""
        question = await self._store.seen_by(by).thing(Question, question_id)

        def decide(desk: Desk) -> Change[Question]:
            return questioning.answer(desk, question_id, said, self._node.moment(by=by))

        answered, _ = await self._store.commit(question.session_id, decide)
        return answered

    async def _add(self, session_id: SessionId, rule: Rule) -> None:
        def added(workspace: Workspace) -> Workspace:
            rules = tuple(dict.fromkeys((*workspace.rules, rule)))
            return replace(workspace, rules=rules)

        session = await self._store.session(session_id)
        await self._store.change_workspace(session.workspace_id, added)

    async def revoke(self, session_id: SessionId, tool: str, *, by: Principal) -> None:
        """Ask about a tool again that was allowed for the whole session."""
        await self._store.seen_by(by).session(session_id)
        await self._store.commit(
            session_id, lambda desk: consent.revoke(desk, tool, self._node.moment(by=by))
        )
