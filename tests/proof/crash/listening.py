"""Runs that live as long as someone listens."""

from collections.abc import Awaitable, Callable
from contextlib import aclosing
from uuid import uuid4

from tests.proof.crash.caller import Caller
from tests.proof.crash.record import Json


async def listen(
    caller: Caller,
    path: str,
    text: str,
    *,
    logs: int = 1,
    frames: int,
    before_hanging_up: Callable[[], Awaitable[None]] | None = None,
) -> dict[str, Json]:
    """Ask this of so many sessions, listen to so many frames of the answer and hang up.

    The runs by their sessions; none if it was refused.
    """
    caller.record.asked[text] += logs
    body = {"input": text, "on_disconnect": "cancel"}
    key = str(uuid4())
    runs: dict[str, Json] = {}
    while len(runs) < logs:
        async with aclosing(caller.stream("POST", path, body, key=key)) as stream:
            async for event in stream:
                if event["type"] == "refused":
                    caller.record.complaints.append(f"{text}: {event}")
                    return {}
                caller.record.see(event["session_id"], event)
                if event["type"] == "run.accepted":
                    runs[event["session_id"]] = event["run"]
                frames -= 1
                if frames <= 0 and len(runs) == logs:
                    if before_hanging_up is not None:
                        await before_hanging_up()
                    break
    return runs
