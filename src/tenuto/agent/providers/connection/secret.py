"""How a key may be spelt in what a provider says, so that none of its spellings is shown."""

import base64
import re
from urllib.parse import quote

SHORT = 8
"""A key below this length is hidden only as a word of its own: `none` and `x` are usual for local
servers, and parts of many other words."""
NOTHING = re.compile(r"(?!)")


def spellings(secret: str) -> re.Pattern[str]:
    """Finds the secret: plain, as in a URL, and in base64 of whatever it stands in."""
    if not secret:
        return NOTHING
    if len(secret) < SHORT:
        return re.compile(rf"(?<!\w){re.escape(secret)}(?!\w)")
    found = {secret, quote(secret, safe=""), quote(secret), *_in_base64(secret.encode())}
    longest_first = sorted(found, key=len, reverse=True)
    return re.compile("|".join(re.escape(text) for text in longest_first))


def _in_base64(secret: bytes) -> set[str]:
    """The characters that stand for the secret alone, wherever in a group of three it begins."""
    found = set()
    for before in range(3):
        padded = b"\0" * before + secret
        whole = len(padded) - len(padded) % 3
        text = base64.b64encode(padded[:whole]).decode()[4 if before else 0 :]
        found |= {text, text.translate(str.maketrans("+/", "-_"))}
    return found
