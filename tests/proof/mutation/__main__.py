"""`python -m tests.proof.mutation`: break the product in every way we know, and print who noticed."""

import argparse
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from tests.proof.mutation.bench import Bench, Result
from tests.proof.mutation.mutant import Mutant
from tests.proof.mutation.mutants import MUTANTS
from tests.proof.mutation.scratch import Scratch


def main() -> int:
    parser = argparse.ArgumentParser(description="Break the product on purpose.")
    parser.add_argument("words", nargs="*", help="only mutants whose name has one of these")
    wanted = _chosen(parser.parse_args().words)
    began = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="tenuto-mutation-") as folder:
        bench = Bench(Scratch.copied(Path(folder)))
        results = [_tried(bench, mutant) for mutant in wanted]
        unsound = bench.unsound()
    if unsound:
        _say(f"left out, because they fail with nothing broken: {', '.join(unsound)}")
    caught = sum(result.caught is not None for result in results)
    _say(f"{caught} of {len(results)} caught, in {time.monotonic() - began:.0f} s")
    return 0 if caught == len(results) else 1


def _chosen(words: Sequence[str]) -> list[Mutant]:
    return [m for m in MUTANTS if not words or any(word in m.name for word in words)]


def _tried(bench: Bench, mutant: Mutant) -> Result:
    result = bench.try_mutant(mutant)
    proof, test = result.caught or ("SURVIVED", mutant.breaks)
    _say(f"{mutant.name:<42} {proof:<16} {result.seconds:>5.0f} s  {test.removeprefix('tests/')}")
    return result


def _say(line: str) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
