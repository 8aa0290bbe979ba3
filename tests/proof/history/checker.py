"""Proves from a record alone that a history kept the contract.

`python -m tests.proof.history.checker FILE`. It imports nothing of the server; what it reads is
described in docs/history-format.md, what it holds against it is the contract.
"""

import argparse
import sys
import time
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from tests.proof.history.claim import check_claims
from tests.proof.history.evidence import Evidence
from tests.proof.history.finding import Findings
from tests.proof.history.order import check_order
from tests.proof.history.record import Entry, read
from tests.proof.history.session_history import SessionHistory, read_sessions


class Verdict(NamedTuple):
    findings: Findings
    summary: dict[str, int]

    @property
    def good(self) -> bool:
        return not self.findings.violations


def check(entries: Iterable[Entry]) -> Verdict:
    """Every rule, on every session of the record."""
    findings = Findings()
    evidence = Evidence(entries, findings)
    histories = read_sessions(evidence, findings)
    for history in histories:
        check_claims(evidence, history, findings)
        check_order(history, findings)
    return Verdict(findings, _summary(evidence, histories))


def _summary(evidence: Evidence, histories: list[SessionHistory]) -> dict[str, int]:
    clients = {connection.opened.client for connection in evidence.connections.values()}
    clients |= {call.request.client for call in evidence.calls.values()}
    endings: Counter[str] = Counter()
    for history in histories:
        state = history.state
        endings.update(state.runs[run_id]["status"] for run_id in state.finished_at)
    deeds = Counter(evil.action for evil in evidence.misfortunes)
    kills = deeds.pop("kill", 0) + 2 * deeds.pop("kill twice", 0)
    return {
        "events seen": evidence.seen,
        "events in logs": sum(len(log.places) for log in evidence.logs.values()),
        "clients": len(clients),
        "streams read": len(evidence.connections),
        "requests": len(evidence.calls),
        "answers lost": sum(call.status is None for call in evidence.calls.values()),
        "sessions": len(histories),
        "runs": sum(len(history.state.accepted) for history in histories),
        **{f"runs {status}": count for status, count in sorted(endings.items())},
        "kills": kills,
        **{f"times {action}": count for action, count in sorted(deeds.items())},
    }


def main() -> int:
    parser = argparse.ArgumentParser(description="Check the record of a history.")
    parser.add_argument("record", type=Path)
    return tell(parser.parse_args().record)


def tell(path: Path) -> int:
    """Check and print; the exit code."""
    began = time.monotonic()
    verdict = check(read(path))
    for name, count in verdict.summary.items():
        sys.stdout.write(f"{count:>9} {name}\n")
    for line in verdict.findings.report():
        sys.stdout.write(line + "\n")
    result = "accepted" if verdict.good else f"REFUSED ({len(verdict.findings.violations)})"
    sys.stdout.write(f"history {result}, checked in {time.monotonic() - began:.1f} s\n")
    return 0 if verdict.good else 1


if __name__ == "__main__":
    sys.exit(main())
