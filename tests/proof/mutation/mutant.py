"""A mutant: one small change that breaks one promise, and the proof that should notice."""

from typing import NamedTuple

SOURCES = "src/tenuto"


class Edit(NamedTuple):
    """A text that stands in a file exactly once, and what takes its place."""

    file: str
    """Below the sources."""
    old: str
    new: str


class Mutant(NamedTuple):
    name: str
    breaks: str
    """What goes wrong, in a sentence."""
    proofs: tuple[str, ...]
    """Names of proofs that should notice, the quickest first."""
    edits: tuple[Edit, ...]


def mutant(name: str, breaks: str, proofs: str, *edits: Edit) -> Mutant:
    return Mutant(name, breaks, tuple(proofs.split()), edits)
