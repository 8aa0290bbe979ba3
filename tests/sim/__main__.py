"""`make sim`: explore for a while, or replay one seed and shrink it."""

import argparse
import os
import sys
import time

from tests.sim.explore import explore_together
from tests.sim.schedule import play
from tests.sim.script import Script, draw
from tests.sim.shrink import shrink

SHOWN_CHARACTERS = 2_000
SHOWN_FAILURES = 20


def main() -> int:
    parser = argparse.ArgumentParser(prog="make sim", description=__doc__)
    parser.add_argument("--seed", type=int, help="replay this seed, and shrink it if it fails")
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--first", type=int, help="the first seed; by default the clock says")
    parser.add_argument("--most", type=int, default=1 << 60, help="stop after so many schedules")
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1)
    options = parser.parse_args()
    if options.seed is not None:
        return _replay(options.seed)
    first = options.first if options.first is not None else time.time_ns() // 1_000_000
    return _explore(first, options.seconds, options.most, options.workers)


def _replay(seed: int) -> int:
    script = draw(seed)
    verdict = play(script)
    _say(
        f"seed {seed}: {verdict.steps} steps, {verdict.events} events, digest {verdict.digest:08x}"
    )
    if verdict.violation is None:
        _say("every promise was kept")
        return 0
    _tell(script, verdict.violation)
    shorter, found = shrink(script)
    assert found.violation is not None
    _say(f"\nshrunk to {len(shorter.items)} of {len(script.items)} items (spin {shorter.spin}):")
    _tell(shorter, found.violation)
    return 1


def _explore(first: int, seconds: float, most: int, workers: int) -> int:
    began = told_at = time.monotonic()
    schedules = steps = events = 0
    failed: list[int] = []
    _say(f"exploring from seed {first} with {workers} processes")
    for told in explore_together(first, workers=workers, seconds=seconds, most=most):
        schedules += told.schedules
        steps += told.steps
        events += told.events
        for seed, violation in told.failed:
            failed.append(seed)
            if len(failed) <= SHOWN_FAILURES:
                _say(f"seed {seed}: {violation[:SHOWN_CHARACTERS]}\n  replay: make sim SEED={seed}")
        if time.monotonic() - told_at >= 10.0:
            told_at = time.monotonic()
            rate = schedules / (told_at - began)
            _say(f"{schedules:,} schedules, {rate:.0f}/s, {len(failed)} failed")
    took = time.monotonic() - began
    _say(
        f"{schedules:,} schedules ({steps:,} steps, {events:,} events) in {took:.0f} s, "
        f"{schedules / took:.0f}/s: {len(failed)} failed"
    )
    if failed:
        _say("failed: " + " ".join(map(str, failed[:100])))
    return 1 if failed else 0


def _tell(script: Script, violation: str) -> None:
    _say(
        f"nodes {script.nodes}, width {script.width}, tick {script.tick}, temper {script.temper}, "
        f"hurry {script.hurry}, permission {script.permission}, titles {script.titles}, "
        f"fold after {script.fold_after}"
    )
    for item in script.items:
        _say(f"  {item}")
    _say(violation[:SHOWN_CHARACTERS])


def _say(line: str) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
