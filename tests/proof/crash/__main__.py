"""`make crash`: die at every point; or at one: `--point 'told: parts' --passing 3`."""

import argparse
import shutil
import sys
import tempfile
from pathlib import Path

import uvloop

from tests.proof.crash.campaign import Report, run_campaign
from tests.proof.crash.ground import Kind, ground
from tests.proof.crash.phase import Phase, Target
from tests.proof.crash.plan import make_plan
from tests.proof.crash.server import ServerProcesses

CENSUSES = 3


async def main(args: argparse.Namespace) -> int:
    folder = Path(tempfile.mkdtemp(prefix="tenuto-crash-"))
    async with ServerProcesses() as processes, ground(Kind(args.store)) as place:
        if args.point:
            target = Target(phase=Phase(args.phase), point=args.point, passing=args.passing)
            targets = [target] * args.times
        else:
            targets = await make_plan(processes, place, folder, censuses=CENSUSES)
            names = {target.point for target in targets}
            sys.stdout.write(f"{len(targets)} points to die at, of {len(names)} names\n")
        targets = [t for t in targets if any(part in t.point for part in args.only)]
        report = await run_campaign(processes, place, folder, targets)
    return _tell(report, folder)


def _tell(report: Report, folder: Path) -> int:
    for line in (*report.wrong, *(f"never reached: {line}" for line in report.unreached)):
        sys.stdout.write(line + "\n")
    sys.stdout.write(f"{report}\n")
    if report.wrong:
        return 1
    shutil.rmtree(folder)
    return 1 if report.unreached else 0


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.proof.crash", description=__doc__)
    parser.add_argument("--store", choices=list(Kind), default=Kind.SQLITE)
    parser.add_argument("--point", help="die only here")
    parser.add_argument("--phase", choices=list(Phase), default=Phase.WORKING)
    parser.add_argument("--passing", type=int, default=1, help="at the n-th passing")
    parser.add_argument("--times", type=int, default=1, help="how often")
    parser.add_argument(
        "--only", nargs="+", default=[""], help="only points with one of these in their name"
    )
    return parser.parse_args()


if __name__ == "__main__":
    raise SystemExit(uvloop.run(main(_arguments())))
