"""A promise that was not kept."""

from typing import NoReturn


class Violation(Exception):
    """What the contract says and what was seen."""


def must(kept: object, said: str, *seen: object) -> None:
    """Raise if the promise was not kept."""
    if not kept:
        broken(said, *seen)


def broken(said: str, *seen: object) -> NoReturn:
    """The promise was not kept. For what is looked at so often that a call for each look tells."""
    raise Violation(f"{said}: {', '.join(map(repr, seen))}" if seen else said)
