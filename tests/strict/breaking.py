"""Breaking a sound request in one place."""

from collections.abc import Mapping
from copy import deepcopy
from typing import Any

from tests.strict.facts import Facts
from tests.strict.refusal import Judge

GONE = object()
"""In place of a value: take the field away."""
Break = Mapping[str, Any]
"""Where, as a dotted path, and what to put there."""


def broken(body: Any, changes: Break) -> Any:
    made = deepcopy(body)
    for path, value in changes.items():
        *way, last = [int(step) if step.isdigit() else step for step in path.split(".")]
        at = made
        for step in way:
            at = at[step]
        if value is GONE:
            del at[last]
        elif isinstance(at, list) and last == len(at):
            at.append(value)
        else:
            at[last] = value
    return made


def rule_of(judge: Judge, body: Any, facts: Facts) -> str | None:
    """The rule that refuses this; None: nothing is wrong with it."""
    refusal = judge(body, facts)
    return refusal.rule if refusal else None
