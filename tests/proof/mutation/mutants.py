"""All the ways in which we break the product on purpose."""

from tests.proof.mutation import (
    blind_mutants,
    border_mutants,
    core_mutants,
    edge_mutants,
    engine_mutants,
    principal_mutants,
    wire_mutants,
)
from tests.proof.mutation.mutant import Mutant

MUTANTS: tuple[Mutant, ...] = (
    *core_mutants.MUTANTS,
    *engine_mutants.MUTANTS,
    *edge_mutants.MUTANTS,
    *blind_mutants.MUTANTS,
    *border_mutants.MUTANTS,
    *principal_mutants.MUTANTS,
    *wire_mutants.MUTANTS,
)
