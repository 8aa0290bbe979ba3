"""Mutants: the product broken on purpose, and the proofs that notice."""
