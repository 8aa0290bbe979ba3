"""Bytes that are kept to put files back, and the changes that speak of them."""

from datetime import datetime, timedelta

from tenuto.core.file_change import KEPT
from tenuto.core.value import Instant, RunId

DAYS = 30


def kept_too_long(before: Instant) -> tuple[str, str]:
    """The ids of what is older than that: from the first on, and not the last."""
    day = datetime.fromisoformat(before) - timedelta(days=DAYS)
    return KEPT, f"{KEPT}{day.date().isoformat()}"


def changes_between(run_id: RunId) -> tuple[str, str]:
    """Between these are the ids of all that the run did to files."""
    return f"{run_id}:", f"{run_id};"
