"""`make sim`: explore for a while, or replay one seed and shrink it."""

import argparse
import os
import sys
import time
from collections.abc import Iterator, Sequence
from itertools import count
from pathlib import Path

from tests.proof.sim.explore import explore, explore_together
from tests.proof.sim.schedule import play
from tests.proof.sim.script import Script, draw
from tests.proof.sim.shrink import shrink
from tests.proof.sim.tally import Progress, Tally, read_progress, write_progress

SHOWN_CHARACTERS = 2_000
SHOWN_FAILURES = 20
SECONDS = 60.0
TOLD_EVERY_SECONDS = 60.0
NO_END = 1 << 60


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="make sim", description=__doc__)
    parser.add_argument("--seed", type=int, help="replay this seed, and shrink it if it fails")
    parser.add_argument(
        "--seconds",
        type=float,
        help=f"stop after this time; {SECONDS:.0f} s unless --most is given",
    )
    parser.add_argument("--first", type=int, help="the first seed; by default the clock says")
    parser.add_argument("--most", type=int, help="stop after so many schedules, recorded ones too")
    parser.add_argument("--workers", type=int, help="processes; one for each core if not recorded")
    parser.add_argument(
        "--record", type=Path, help="keep in this file how far it came, and go on from there"
    )
    options = parser.parse_args(arguments)
    if options.seed is not None:
        return _replay(options.seed)
    if options.record is not None and options.workers not in (None, 1):
        parser.error("what is recorded is one process; give another one a record of its own")
    return _explore(options)


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


def _explore(options: argparse.Namespace) -> int:
    first = options.first if options.first is not None else time.time_ns() // 1_000_000
    record = read_progress(options.record, first=first)
    told_at = began = time.monotonic()
    _say(f"exploring from seed {record.next_seed}")
    try:
        for told in _tallies(options, record):
            now = time.monotonic()
            record.add(told, now - began)
            began = now
            _tell_failures(record.done, told)
            if options.record is not None:
                write_progress(options.record, record)
            if now - told_at >= TOLD_EVERY_SECONDS:
                told_at = now
                _say(_progress(record))
    except KeyboardInterrupt:
        _say("stopped")
    _say(_progress(record))
    _say(record.done.each())
    if record.done.failed:
        _say("failed: " + " ".join(str(seed) for seed, _ in record.done.failed[:100]))
    _say(record.sentence())
    return 1 if record.done.failed else 0


def _tallies(options: argparse.Namespace, record: Progress) -> Iterator[Tally]:
    limit = SECONDS if options.most is None else float(NO_END)
    seconds = options.seconds if options.seconds is not None else limit
    most = max(0, (options.most or NO_END) - record.done.schedules)
    workers = 1 if options.record is not None else options.workers or os.cpu_count() or 1
    if workers == 1:
        return explore(count(record.next_seed), seconds=seconds, most=most)
    return explore_together(record.next_seed, workers=workers, seconds=seconds, most=most)


def _tell_failures(done: Tally, told: Tally) -> None:
    if len(done.failed) <= SHOWN_FAILURES:
        for seed, violation in told.failed:
            _say(f"seed {seed}: {violation[:SHOWN_CHARACTERS]}\n  replay: make sim SEED={seed}")


def _progress(record: Progress) -> str:
    rate = record.done.schedules / max(record.seconds, 0.001)
    return f"{record.sentence()}; {rate:.0f}/s"


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
