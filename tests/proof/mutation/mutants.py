"""All the ways in which we break the product on purpose."""

from tests.proof.mutation import (
    blind_mutants,
    border_mutants,
    change_mutants,
    core_mutants,
    edge_mutants,
    engine_mutants,
    job_mutants,
    keeping_mutants,
    log_mutants,
    mcp_mutants,
    node_mutants,
    people_mutants,
    postgres_mutants,
    principal_mutants,
    process_mutants,
    rule_mutants,
    tool_mutants,
    wire_mutants,
)
from tests.proof.mutation.mutant import Mutant

MUTANTS: tuple[Mutant, ...] = (
    *core_mutants.MUTANTS,
    *engine_mutants.MUTANTS,
    *job_mutants.MUTANTS,
    *keeping_mutants.MUTANTS,
    *mcp_mutants.MUTANTS,
    *log_mutants.MUTANTS,
    *node_mutants.MUTANTS,
    *people_mutants.MUTANTS,
    *postgres_mutants.MUTANTS,
    *edge_mutants.MUTANTS,
    *blind_mutants.MUTANTS,
    *border_mutants.MUTANTS,
    *change_mutants.MUTANTS,
    *principal_mutants.MUTANTS,
    *process_mutants.MUTANTS,
    *rule_mutants.MUTANTS,
    *tool_mutants.MUTANTS,
    *wire_mutants.MUTANTS,
)
