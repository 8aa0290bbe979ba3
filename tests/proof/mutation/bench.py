"""The work bench: a mutant is put into the copy, shown to its proofs, and taken out again."""

import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NamedTuple

from tests.proof.mutation.mutant import SOURCES, Mutant
from tests.proof.mutation.proof import LAST_RESORT, PROOFS
from tests.proof.mutation.scratch import Scratch
from tests.proof.mutation.telling import WHERE

TEST_SECONDS = 60
PROOF_SECONDS = 400
PASSED, NO_TESTS = 0, 5
HANGS = "it hangs"
PYTEST = (
    "-m",
    "pytest",
    "-q",
    "--tb=no",
    "-p",
    "no:cacheprovider",
    "-p",
    "tests.proof.mutation.telling",
)


class Caught(NamedTuple):
    proof: str
    test: str


class Result(NamedTuple):
    mutant: Mutant
    caught: Caught | None
    """None: it survived."""
    seconds: float


class Bench:
    def __init__(self, scratch: Scratch) -> None:
        self._scratch = scratch
        self._unsound: dict[str, list[str]] = {}
        """By proof: tests that fail without any mutant, and so prove nothing."""

    def try_mutant(self, mutant: Mutant) -> Result:
        began = time.monotonic()
        proofs = [*mutant.proofs, *(p for p in LAST_RESORT if p not in mutant.proofs)]
        for proof in proofs:
            test = self._caught_by(proof, mutant)
            if test is not None:
                return Result(mutant, Caught(proof, test), time.monotonic() - began)
        return Result(mutant, None, time.monotonic() - began)

    def unsound(self) -> list[str]:
        return sorted(test for tests in self._unsound.values() for test in tests)

    def _caught_by(self, proof: str, mutant: Mutant) -> str | None:
        """A test of this proof that fails with the mutant, fails again, and passes without it."""
        if proof not in self._unsound:
            self._unsound[proof] = self._failures(*PROOFS[proof])
        while True:
            left_out = [f"--deselect={test}" for test in self._unsound[proof]]
            with self._broken_by(mutant):
                failed = self._failures(*PROOFS[proof], "-x", *left_out)
                again = bool(failed) and bool(self._failures(*_alone(failed[0], proof)))
            if not failed:
                return None
            if again and not self._failures(*_alone(failed[0], proof)):
                return failed[0]
            self._unsound[proof].append(failed[0])

    def _failures(self, *options: str) -> list[str]:
        """The tests that failed, in their order."""
        told = self._scratch.folder / "failed.txt"
        told.write_text("", encoding="utf-8")
        try:
            done = subprocess.run(
                [str(self._scratch.python), *PYTEST, f"--timeout={TEST_SECONDS}", *options],
                cwd=self._scratch.folder,
                env={**self._scratch.environment(), WHERE: str(told)},
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                timeout=PROOF_SECONDS,
                check=False,
            )
        except subprocess.TimeoutExpired:
            return [HANGS]
        failed = list(dict.fromkeys(told.read_text(encoding="utf-8").splitlines()))
        if failed or done.returncode in (PASSED, NO_TESTS):
            return failed
        # The tests' own process died, or the mutant cannot even be imported.
        return [f"pytest ended with {done.returncode}"]

    @contextmanager
    def _broken_by(self, mutant: Mutant) -> Iterator[None]:
        files = {edit.file: self._scratch.folder / SOURCES / edit.file for edit in mutant.edits}
        before = {file: path.read_text(encoding="utf-8") for file, path in files.items()}
        try:
            for edit in mutant.edits:
                text = files[edit.file].read_text(encoding="utf-8")
                assert text.count(edit.old) == 1, f"{mutant.name} does not apply to {edit.file}"
                files[edit.file].write_text(text.replace(edit.old, edit.new), encoding="utf-8")
            yield
        finally:
            for file, text in before.items():
                files[file].write_text(text, encoding="utf-8")


def _alone(test: str, proof: str) -> tuple[str, ...]:
    """This test by itself; the whole proof if it is no test that failed."""
    return (test,) if "::" in test else PROOFS[proof]
