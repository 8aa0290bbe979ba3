"""What may reach a log without a decision."""

from collections.abc import Sequence

from tenuto.core.event import Event, PartDelta, PartStarted, PartUpdated

PARTS = frozenset({PartStarted, PartDelta, PartUpdated})


def must_be_appendable(events: Sequence[Event]) -> None:
    """Only parts may be appended: everything else changes rows, and that is a decision's work."""
    for event in events:
        if type(event) not in PARTS:
            raise TypeError(f"{type(event).__name__} needs a decision")
