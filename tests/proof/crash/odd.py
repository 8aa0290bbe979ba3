"""A store that refuses the usage of some runs: their endings need the last resort."""

from typing import Any

from tenuto.storage.plan import Plan
from tenuto.storage.sqlite import desks
from tenuto.storage.sqlite.projecting import write_plan

ODD = "odd"
"""Runs whose prompt begins with it."""


def be_odd() -> None:
    """From now on the ending of such a run is refused as long as it says what was used."""
    vars(desks)["write_plan"] = _picky


def _picky(transaction: Any, plan: Plan, **options: Any) -> Any:
    for row in plan.runs:
        if str(row.run.input).startswith(ODD) and row.run.ended and row.run.usage.input_tokens:
            raise ValueError("an ending that nobody can store")
    return write_plan(transaction, plan, **options)
