"""What was done to the servers, and what of it may cost a run, or an answer."""

from tests.oracle.rule import Json
from tests.proof.history.evidence import Call, Evidence
from tests.proof.history.finding import Findings
from tests.proof.history.record import Misfortune

AWAY = "the store is said to be away only after something was done to it"
LOST = "no run fails for the store unless it was out of reach for almost a lease"
SETTLED = "what a killed node ran is settled within seconds by another"

SETTLED_SECONDS = 2 * 5.0
"""The contract has 5; the machine of a history has other things to do."""
CALM_SECONDS = 4.0
"""Whoever was mistreated himself until then judges no other node."""
RECOVERY_SECONDS = 10.0
OF_THE_STORE = ("restart postgres", "cut way", "mute way", "hold way")
LONG = ("pause", *OF_THE_STORE)
"""What keeps a node from its lease while it lasts, one after the other too."""
BETWEEN_SECONDS = 2.5
"""Less than this between two of them may not be enough for a beat."""
SLACK_SECONDS = 2.5
"""A node keeps its runs for its lease; its last beat may be a while ago, the next late."""


def may_end_runs(evidence: Evidence, evil: Misfortune) -> bool:
    """Whether a run may be interrupted by this."""
    return evil.action.startswith("kill") or may_cost_a_lease(evidence, evil)


def may_cost_a_lease(evidence: Evidence, evil: Misfortune) -> bool:
    """Whether this, with what came right before it, kept a node from the store for too long."""
    lease = None if evidence.history is None else evidence.history.lease
    if lease is None or evil.action not in LONG:
        return False
    began = evil.began
    for other in sorted(evidence.misfortunes, key=lambda e: e.began, reverse=True):
        if other.action in LONG and other.began < began < other.ended + BETWEEN_SECONDS:
            began = other.began
    return evil.ended - began > lease - SLACK_SECONDS


def check_lease_was_lost(
    evidence: Evidence, run: Json, *, sent: float, seen: float, findings: Findings
) -> None:
    """A run ends for the store only on a node that could not reach it for too long."""
    holds = any(
        may_cost_a_lease(evidence, evil) and evil.began < seen and evil.ended > sent
        for evil in evidence.misfortunes
    )
    findings.check(LOST, holds, f"{run}")


def check_away(evidence: Evidence, call: Call, findings: Findings) -> None:
    if call.answer is None or not (call.answer.lost or "").startswith("503"):
        return
    sent, at = call.request.sent_at, call.answer.at
    holds = any(
        evil.action in OF_THE_STORE and evil.began < at and evil.ended + RECOVERY_SECONDS > sent
        for evil in evidence.misfortunes
    )
    findings.check(AWAY, holds, f"{call.request} was answered {call.answer}")


def check_settled(
    evidence: Evidence, run_id: str, *, sent: float, seen: float, findings: Findings
) -> None:
    """A run that was interrupted by one kill, in a calm hour, was so within seconds."""
    evils = evidence.misfortunes
    causes = [e for e in evils if may_end_runs(evidence, e) and e.began < seen and e.ended > sent]
    if len(causes) != 1 or causes[0].action != "kill" or causes[0].began < sent:
        return
    kill = causes[0]
    until = min(seen, kill.began + SETTLED_SECONDS)
    disturbed = any(
        e is not kill and e.ended > kill.began - CALM_SECONDS and e.began < until
        for e in evils
        if e.action in LONG or e.action.startswith("kill")
    )
    if not disturbed:
        said = f"{run_id} was settled {seen - kill.began:.1f} s after the kill"
        findings.check(SETTLED, seen <= kill.began + SETTLED_SECONDS, said)
