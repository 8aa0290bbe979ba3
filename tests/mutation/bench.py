"""The work bench: a mutant is put into the copy, shown to its proofs, and taken out again."""

import re
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NamedTuple

from tests.mutation.mutant import SOURCES, Mutant
from tests.mutation.proof import LAST_RESORT, PROOFS
from tests.mutation.scratch import Scratch

TEST_SECONDS = 60
PROOF_SECONDS = 400
FAILED = re.compile(r"^(?:FAILED|ERROR) (?P<test>tests/\S+)", re.MULTILINE)
PASSED, NO_TESTS = 0, 5


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
            self._prepare(proof)
            with self._broken_by(mutant):
                test = self._first_failure(proof)
            if test is not None:
                return Result(mutant, Caught(proof, test), time.monotonic() - began)
        return Result(mutant, None, time.monotonic() - began)

    def unsound(self) -> list[str]:
        return sorted(test for tests in self._unsound.values() for test in tests)

    def _prepare(self, proof: str) -> None:
        """Once per proof: see which of its tests pass while nothing is broken."""
        if proof not in self._unsound:
            done = self._pytest(*PROOFS[proof], "-rfE")
            self._unsound[proof] = FAILED.findall(done) if done is not None else [proof]

    def _first_failure(self, proof: str) -> str | None:
        left_out = [f"--deselect={test}" for test in self._unsound[proof]]
        done = self._pytest(*PROOFS[proof], "-x", "-rfE", *left_out)
        if done is None:
            return "it hangs"
        found = FAILED.search(done)
        return found["test"] if found else None

    def _pytest(self, *options: str) -> str | None:
        """What pytest said; None if it did not come to an end."""
        command = [
            str(self._scratch.python),
            "-m",
            "pytest",
            "-q",
            "--tb=no",
            "-p",
            "no:cacheprovider",
        ]
        try:
            done = subprocess.run(
                [*command, f"--timeout={TEST_SECONDS}", *options],
                cwd=self._scratch.folder,
                env=self._scratch.environment(),
                capture_output=True,
                timeout=PROOF_SECONDS,
                check=False,
            )
        except subprocess.TimeoutExpired:
            return None
        said = done.stdout.decode(errors="replace")
        if done.returncode in (PASSED, NO_TESTS) or FAILED.search(said):
            return said
        # A crash of the tests' own process, or a mutant that cannot even be imported.
        return f"FAILED tests/ ended with {done.returncode}\n"

    @contextmanager
    def _broken_by(self, mutant: Mutant) -> Iterator[None]:
        sources = self._scratch.folder / SOURCES
        before = {
            edit.file: (sources / edit.file).read_text(encoding="utf-8") for edit in mutant.edits
        }
        try:
            for edit in mutant.edits:
                text = (sources / edit.file).read_text(encoding="utf-8")
                assert text.count(edit.old) == 1, f"{mutant.name} does not apply to {edit.file}"
                (sources / edit.file).write_text(text.replace(edit.old, edit.new), encoding="utf-8")
            yield
        finally:
            for file, text in before.items():
                (sources / file).write_text(text, encoding="utf-8")
