"""One prompt to the panes of a comparison: all of them take it, or none does."""

from collections.abc import Mapping, Sequence

from tenuto.core import accepting, editing
from tenuto.core.accepting import Prompt
from tenuto.core.comparison import Comparison, ShownPane, Verdict
from tenuto.core.desk import Change, Desk, Sight
from tenuto.core.error import InvalidInput, ModelNotFound, Outdated
from tenuto.core.principal import Principal
from tenuto.core.run import Input, OnDisconnect, Run
from tenuto.core.value import ComparisonId, MessageId, SessionId, Value
from tenuto.engine.checking import Draft
from tenuto.engine.inbox import Inbox
from tenuto.engine.node import Node
from tenuto.ports.query import Once
from tenuto.ports.store import Store


class Asked(Value):
    """What one pane is asked."""

    session_id: SessionId
    prompt: Prompt
    again: MessageId | None
    """The message whose place it takes; None: it comes after all others."""


class Panes:
    def __init__(self, store: Store, inbox: Inbox, node: Node) -> None:
        self._store = store
        self._inbox = inbox
        self._node = node

    async def prompt(
        self,
        comparison_id: ComparisonId,
        panes: Sequence[ShownPane],
        given: Input | None,
        *,
        on_disconnect: OnDisconnect,
        by: Principal,
        once: Once | None = None,
    ) -> tuple[Run, ...]:
        """Accept it in every pane; without `given`, the last prompt of each again."""
        while True:
            asked = [await self._asked(pane, given, on_disconnect, by) for pane in panes]
            try:
                return await self._store.judge(
                    comparison_id,
                    lambda comparison, desks: self._decide(comparison, desks, asked, by),  # noqa: B023
                    sight=Sight.HISTORY,
                    once=once,
                    answer=tuple[Run, ...],
                )
            except Outdated:
                # Someone undid or asked something meanwhile; now another message is the last.
                continue

    async def _asked(
        self, pane: ShownPane, given: Input | None, on_disconnect: OnDisconnect, by: Principal
    ) -> Asked:
        session_id, again = pane.session_id, None
        try:
            if given is not None:
                draft = Draft(input=given, on_disconnect=on_disconnect)
                prompt = await self._inbox.prepared(session_id, draft, by=by)
            else:
                again, prompt = await self._inbox.last_again(session_id, on_disconnect, by=by)
        except ModelNotFound:
            raise ModelNotFound(f"the model of pane {pane.label} cannot be asked now") from None
        return Asked(session_id=session_id, prompt=prompt, again=again)

    def _decide(
        self,
        comparison: Comparison,
        desks: Mapping[SessionId, Desk],
        asked: Sequence[Asked],
        by: Principal,
    ) -> Verdict[tuple[Run, ...]]:
        changes: dict[SessionId, Change[Run]] = {}
        for one in asked:
            desk = desks.get(one.session_id)
            if desk is None or desk.session.comparison is None:
                raise InvalidInput("panes: one of them is no longer a pane of this comparison")
            changes[one.session_id] = self._change(desk, one, by)
        runs = tuple(change.result for change in changes.values())
        return Verdict(comparison=comparison, changes=dict(changes), result=runs)

    def _change(self, desk: Desk, asked: Asked, by: Principal) -> Change[Run]:
        moment = self._node.moment(by=by)
        if asked.again is None:
            return accepting.accept(desk, asked.prompt, moment)
        return editing.ask_again(desk, asked.again, asked.prompt, moment)
