"""Names of tools: `server__tool`, in what every provider takes."""

import hashlib
import re

LONGEST = 64
MARK = 8


def tool_name(server: str, tool: str) -> str:
    """One that is too long, or spelt in what providers refuse, ends in a mark of its own."""
    plain = re.sub(r"[^A-Za-z0-9_-]", "_", tool)
    name = f"{server}__{plain}"
    if plain == tool and len(name) <= LONGEST:
        return name
    mark = hashlib.sha256(tool.encode(errors="replace")).hexdigest()[:MARK]
    return f"{name[: LONGEST - MARK - 1]}_{mark}"
