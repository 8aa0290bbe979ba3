"""`python -m tests.proof.history`: make a history and check it."""

import argparse
import asyncio
import sys
import tempfile
import time
from pathlib import Path

from tests.proof.history.checker import tell
from tests.proof.history.drive import Plan, make_history


def main() -> int:
    parser = argparse.ArgumentParser(description="Make a history under the nemesis, and check it.")
    parser.add_argument(
        "--seconds", type=float, default=60.0, help="the nemesis rages at least so long"
    )
    parser.add_argument("--events", type=int, default=0, help="go on until so many were seen")
    parser.add_argument("--seed", type=int, default=int(time.time()))
    parser.add_argument("--sessions", type=int, default=6, help="sessions at a time per process")
    parser.add_argument("--nodes", type=int, default=0, help="so many on one PostgreSQL")
    parser.add_argument("--record", type=Path, help="where to write; else a temporary file")
    args = parser.parse_args()
    path = args.record or Path(tempfile.gettempdir()) / f"tenuto-history-{args.seed}.jsonl"
    sys.stdout.write(f"seed {args.seed}, {args.seconds:g} s, record in {path}\n")
    sys.stdout.flush()
    began = time.monotonic()
    plan = Plan(
        seed=args.seed,
        seconds=args.seconds,
        sessions=args.sessions,
        events=args.events,
        nodes=args.nodes,
    )
    asyncio.run(make_history(path, plan))
    took, size = time.monotonic() - began, path.stat().st_size / 1e6
    sys.stdout.write(f"made in {took:.0f} s, {size:.0f} MB\n")
    return tell(path)


if __name__ == "__main__":
    sys.exit(main())
