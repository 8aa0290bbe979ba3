"""What was used, by day and model."""

from typing import Annotated

from msgspec import Meta
from starlette.types import ASGIApp

from tenuto.api.call import Call, answer
from tenuto.api.endpoint import Endpoint
from tenuto.api.parameter import WORKSPACE, Parameter
from tenuto.core.day_usage import DAY_CHARACTERS, DayUsage
from tenuto.core.value import Value

DAYS: Parameter[int] = Parameter(
    name="days",
    kind=Annotated[int, Meta(ge=1, le=366)],
    usual=30,
    meaning="How many days, today included, 1 to 366.",
)
DAY_SECONDS = 24 * 3600


class UsageByDay(Value):
    days: tuple[DayUsage, ...]
    """A row for each day and model on which something was used, oldest first."""


async def read(call: Call) -> ASGIApp:
    # Today counts as one of them.
    first = call.to.clock.later(-(call.ask(DAYS) - 1) * DAY_SECONDS)
    days = await call.sees.usage(
        since=first[:DAY_CHARACTERS],
        workspace_id=call.ask(WORKSPACE) or None,
    )
    return answer(UsageByDay(days=tuple(days)))


ENDPOINTS = (
    Endpoint(
        method="GET",
        path="/api/usage",
        handler=read,
        tag="usage",
        summary="Runs, tokens and cost by day (UTC) and model; deleted sessions count too",
        gives=UsageByDay,
        query=(DAYS, WORKSPACE),
    ),
)
