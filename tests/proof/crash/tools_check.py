"""What must be true of tools, however often the server died."""

from collections import Counter
from collections.abc import Iterable
from pathlib import Path

from tests.oracle.fold import Fold


def check_tools(ledger: Path, states: Iterable[Fold]) -> None:
    """No command was run twice, none without its permission, none that is said to be done was
    not run."""
    lines = ledger.read_text().splitlines() if ledger.exists() else []
    ran = Counter(lines)
    assert not [call for call, count in ran.items() if count > 1], ran
    for state in states:
        for part in (part for m in state.messages for part in m["parts"]):
            if part["type"] == "tool" and part["name"] == "shell":
                if part["state"] == "done":
                    assert ran[part["call_id"]] == 1, part
                if part["state"] == "denied":
                    assert ran[part["call_id"]] == 0, part
        for approval in state.approvals.values():
            if approval["state"] != "allowed" and approval["tool"] == "shell":
                assert ran[approval["call_id"]] == 0, approval
