"""The named statements of a store's `queries.sql`."""

import re
from collections.abc import Mapping
from importlib.resources import files

_NAME = re.compile(r"^-- name: (\w+)\n", re.MULTILINE)


def load_queries(package: str) -> Mapping[str, str]:
    """Each statement by its name."""
    text = files(package).joinpath("queries.sql").read_text(encoding="utf-8")
    _, *pieces = _NAME.split(text)
    return {
        name: sql.strip().removesuffix(";")
        for name, sql in zip(pieces[::2], pieces[1::2], strict=True)
    }
