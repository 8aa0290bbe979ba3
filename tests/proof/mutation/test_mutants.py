"""The list of mutants cannot rot: each still applies, to a text that stands there once."""

import ast

import pytest

from tests.proof.mutation.mutant import SOURCES, Mutant
from tests.proof.mutation.mutants import MUTANTS
from tests.proof.mutation.proof import PROOFS
from tests.proof.mutation.scratch import ROOT


def name_of(mutant: Mutant) -> str:
    return mutant.name


@pytest.mark.parametrize("mutant", MUTANTS, ids=name_of)
def test_every_mutant_applies_exactly_once(mutant: Mutant) -> None:
    texts: dict[str, str] = {}
    for edit in mutant.edits:
        text = texts.get(edit.file) or (ROOT / SOURCES / edit.file).read_text(encoding="utf-8")
        assert text.count(edit.old) == 1, f"{edit.file} has this {text.count(edit.old)} times"
        texts[edit.file] = text.replace(edit.old, edit.new)
    for file, text in texts.items():
        if file.endswith(".py"):
            ast.parse(text)


def test_every_mutant_names_proofs_that_exist() -> None:
    named = {proof for mutant in MUTANTS for proof in mutant.proofs}
    assert named <= set(PROOFS)


def test_there_are_enough_and_none_is_there_twice() -> None:
    assert len({mutant.name for mutant in MUTANTS}) == len(MUTANTS) >= 25
