"""The documents, and the fenced blocks in them."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md")])
FENCE = re.compile(r"^```(?P<tag>[^\n]*)\n(?P<body>.*?)^```$", re.MULTILINE | re.DOTALL)


def blocks(page: Path, tag: str) -> list[str]:
    """The bodies of the page's fenced blocks with this tag, in their order."""
    found = FENCE.finditer(page.read_text(encoding="utf-8"))
    return [match["body"] for match in found if match["tag"] == tag]
