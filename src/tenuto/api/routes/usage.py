"""What was used, by day and model."""

from starlette.types import ASGIApp

from tenuto.api.call import Call, answer
from tenuto.api.endpoint import Endpoint
from tenuto.core.error import InvalidInput
from tenuto.core.spending import DAY_CHARACTERS, Spending
from tenuto.core.value import Value, WorkspaceId

USUAL_DAYS = 30
MOST_DAYS = 366
DAY_SECONDS = 24 * 3600


class UsageByDay(Value):
    days: tuple[Spending, ...]
    """A row for each day and model on which something was used, oldest first."""


async def read(call: Call) -> ASGIApp:
    workspace = call.query("workspace")
    # Today counts as one of them.
    first = call.to.clock.later(-(_days(call) - 1) * DAY_SECONDS)
    days = await call.to.store.spending(
        since=first[:DAY_CHARACTERS],
        workspace_id=WorkspaceId(workspace) if workspace else None,
    )
    return answer(UsageByDay(days=tuple(days)))


def _days(call: Call) -> int:
    given = call.query("days")
    if given is None:
        return USUAL_DAYS
    if not given.isdecimal() or len(given) > 3 or not 1 <= int(given) <= MOST_DAYS:
        raise InvalidInput(f"days must be a number from 1 to {MOST_DAYS}")
    return int(given)


ENDPOINTS = (
    Endpoint(
        method="GET",
        path="/api/usage",
        handler=read,
        tag="usage",
        summary="Runs, tokens and cost by day (UTC) and model; deleted sessions count too",
        gives=UsageByDay,
        query=("days", "workspace"),
    ),
)
