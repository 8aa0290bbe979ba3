"""One prompt to the panes of a comparison, and one stream that all their runs can hang on.

A browser opens six connections to a host: eight panes cannot have one each.
"""

from collections.abc import Sequence
from functools import partial
from typing import Annotated

import anyio
from msgspec import Meta
from starlette.types import ASGIApp

from tenuto.api.call import Call, answer
from tenuto.api.endpoint import Endpoint, PromptInput, Streams
from tenuto.api.many import ManyRuns
from tenuto.api.streams import Viewing
from tenuto.core.comparison import PaneState, ShownComparison, ShownPane
from tenuto.core.error import InvalidInput
from tenuto.core.run import OnDisconnect, Reason, Run
from tenuto.core.value import ComparisonId, StreamId, Value


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
    comparison_id = ComparisonId(call.path("id"))
    runs = await call.sees.answered(once, tuple[Run, ...])
    if runs is None:
        comparison = await call.to.engine.comparisons.read(comparison_id, by=call.who)
        runs = await call.to.engine.panes.prompt(
            comparison_id,
            _chosen(comparison, body.panes),
            body.input,
            on_disconnect=body.on_disconnect,
            by=call.who,
            once=once,
        )
    if not call.wants_events():
        return answer(PaneRuns(runs=runs), status=202)

    async def cancel() -> None:
        await _cancel(call, runs)

    logs = {StreamId(run.session_id): await Viewing(call).run(run.id) for run in runs}
    attached = body.on_disconnect is OnDisconnect.CANCEL
    return ManyRuns(logs, call.to.engine.tailer, on_left=cancel if attached else None)


def _chosen(comparison: ShownComparison, indexes: tuple[int, ...] | None) -> list[ShownPane]:
    there = {pane.index: pane for pane in comparison.panes if pane.state is PaneState.OPEN}
    if indexes is None:
        indexes = tuple(there)
    if not indexes or len(set(indexes)) < len(indexes) or not there.keys() >= set(indexes):
        raise InvalidInput("panes: name open panes of this comparison, each once")
    return [there[index] for index in indexes]


async def _cancel(call: Call, runs: Sequence[Run]) -> None:
    """Mark them all before waiting for any: a slow end must not let the others go on."""
    cancel = partial(call.to.engine.stops.cancel_run, by=call.who)
    async with anyio.create_task_group() as tasks:
        for run in runs:
            tasks.start_soon(cancel, run.id, Reason.DISCONNECT)


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
