"""A failing script is made as short as it can be and still fail."""

from msgspec.structs import replace

from tests.proof.sim.schedule import ScheduleVerdict, play
from tests.proof.sim.script import Script

SPINS = 24
"""How many orders of steps a shorter script gets to show that it fails too."""


def shrink(script: Script) -> tuple[Script, ScheduleVerdict]:
    """The shortest failing script that leaving items out finds, and its verdict."""
    verdict = play(script)
    assert verdict.violation is not None, "only what fails is shrunk"
    shorter = True
    while shorter:
        shorter = False
        for without in _shorter(script):
            found = _failing(without)
            if found is not None:
                script, verdict = found
                shorter = True
                break
    return script, verdict


def _shorter(script: Script) -> list[Script]:
    items = script.items
    each = [items[:at] + items[at + 1 :] for at in range(len(items))]
    scripts = [replace(script, items=rest) for rest in each if rest]
    if script.sessions > 1:
        scripts.insert(0, replace(script, sessions=1))
    return scripts


def _failing(script: Script) -> tuple[Script, ScheduleVerdict] | None:
    for spin in range(SPINS):
        spun = replace(script, spin=spin)
        verdict = play(spun)
        if verdict.violation is not None:
            return spun, verdict
    return None
