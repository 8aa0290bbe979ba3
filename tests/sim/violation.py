"""A promise that was not kept."""


class Violation(Exception):
    """What the contract says and what was seen."""


def must(kept: object, said: str, *seen: object) -> None:
    """Raise if the promise was not kept."""
    if not kept:
        raise Violation(f"{said}: {', '.join(map(repr, seen))}" if seen else said)
