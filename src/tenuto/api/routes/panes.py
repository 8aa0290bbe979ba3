"""One prompt to the panes of a comparison, and one stream that all their runs can hang on.

A browser opens six connections to a host: eight panes cannot have one each.
"""

from collections.abc import Mapping, Sequence
from typing import Annotated

import anyio
from msgspec import Meta
from msgspec.structs import replace
from starlette.types import ASGIApp

from tenuto.api.call import Call, answer
from tenuto.api.endpoint import Endpoint, PromptInput, Streams
from tenuto.api.many import ManyRuns
from tenuto.api.streams import Viewing
from tenuto.core.comparison import PaneState, ShownComparison, ShownPane
from tenuto.core.error import InvalidInput, ModelNotFound, TenutoError
from tenuto.core.run import OnDisconnect, Reason, Run
from tenuto.core.value import ComparisonId, StreamId, Value
from tenuto.engine.inbox import Draft
from tenuto.ports.store import Once


class PanesPrompt(Value, forbid_unknown_fields=True):
    input: PromptInput | None = None
    """None: the last prompt of each again, in place of its answer."""
    panes: Annotated[tuple[int, ...], Meta(min_length=1, max_length=8)] | None = None
    """Indexes; None: every pane that is still open."""
    on_disconnect: OnDisconnect = OnDisconnect.CONTINUE
    """`cancel`: closing the stream stops all these runs."""


class PaneRuns(Value):
    runs: tuple[Run, ...]
    """In the order of the panes."""


async def prompt(call: Call) -> ASGIApp:
    body = await call.body(PanesPrompt)
    once = await call.once()
    comparison = await call.to.referee.read(ComparisonId(call.path("id")))
    known = await _answered(call, comparison, once)
    runs = await _accept(call, body, _chosen(comparison, body.panes, known), known, once)
    if not call.wants_events():
        return answer(PaneRuns(runs=tuple(runs)), status=202)

    async def cancel() -> None:
        await _cancel(call, runs)

    logs = {StreamId(run.session_id): await Viewing(call).run(run.id) for run in runs}
    attached = body.on_disconnect is OnDisconnect.CANCEL
    return ManyRuns(logs, call.to.engine.tailer, on_left=cancel if attached else None)


async def _answered(
    call: Call, comparison: ShownComparison, once: Once | None
) -> Mapping[int, Run]:
    """What this very request was answered before, by the panes' indexes."""
    there = [pane for pane in comparison.panes if pane.state is not PaneState.DELETED]
    runs = {pane.index: await call.to.store.answered(_own(once, pane), Run) for pane in there}
    return {index: run for index, run in runs.items() if run is not None}


def _own(once: Once | None, pane: ShownPane) -> Once | None:
    return once and replace(once, key=f"{once.key} {pane.label}")


def _chosen(
    comparison: ShownComparison, indexes: tuple[int, ...] | None, known: Mapping[int, Run]
) -> list[ShownPane]:
    there = {
        pane.index: pane
        for pane in comparison.panes
        if pane.state is PaneState.OPEN or pane.index in known
    }
    if indexes is None:
        indexes = tuple(there)
    if not indexes or len(set(indexes)) < len(indexes) or not there.keys() >= set(indexes):
        raise InvalidInput("panes: name open panes of this comparison, each once")
    return [there[index] for index in indexes]


async def _accept(
    call: Call,
    body: PanesPrompt,
    panes: Sequence[ShownPane],
    known: Mapping[int, Run],
    once: Once | None,
) -> list[Run]:
    """All of them or none: nothing is asked anywhere before every pane could be asked."""
    inbox = call.to.engine.inbox
    runs = dict(known)
    new = [pane for pane in panes if pane.index not in known]
    try:
        if body.input is not None:
            draft = Draft(input=body.input, on_disconnect=body.on_disconnect)
            for pane in new:
                await _check(call, pane, draft)
        for pane in new:
            own = _own(once, pane)
            if body.input is not None:
                runs[pane.index] = await inbox.accept(pane.session_id, draft, once=own)
            else:
                runs[pane.index] = await inbox.retry(
                    pane.session_id, model=None, on_disconnect=body.on_disconnect, once=own
                )
    except TenutoError:
        await _cancel(call, list(runs.values()))
        raise
    return [runs[pane.index] for pane in panes]


async def _check(call: Call, pane: ShownPane, draft: Draft) -> None:
    try:
        await call.to.engine.inbox.check(pane.session_id, draft)
    except ModelNotFound:
        raise ModelNotFound(f"the model of pane {pane.label} cannot be asked now") from None


async def _cancel(call: Call, runs: Sequence[Run]) -> None:
    """Mark them all before waiting for any: a slow end must not let the others go on."""
    async with anyio.create_task_group() as tasks:
        for run in runs:
            tasks.start_soon(call.to.engine.inbox.cancel_run, run.id, Reason.DISCONNECT)


ENDPOINTS = (
    Endpoint(
        method="POST",
        path="/api/comparisons/{id}/runs",
        handler=prompt,
        tag="comparisons",
        summary="Prompt the panes; with `Accept: text/event-stream` the answer is one stream of all",
        takes=PanesPrompt,
        gives=PaneRuns,
        streams=Streams.IF_ASKED,
        status=202,
        codes=(
            "not_found",
            "session_busy",
            "model_not_found",
            "nothing_to_undo",
            "idempotency_mismatch",
            "queue_full",
            "shutting_down",
        ),
    ),
)
