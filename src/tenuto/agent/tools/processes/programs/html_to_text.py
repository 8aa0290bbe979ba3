"""Turns what a web server sent into text that can be read: a program of its own.

Standard library only. It runs as a process because a page can be made so that decoding or parsing
it takes for ever. Its one argument is the descriptor of a file with a `TextRequest` as JSON.
"""

import json
import os
import re
import sys
from html.parser import HTMLParser
from typing import TypedDict
from urllib.parse import urljoin

NICENESS = 10
"""Whoever waits for an answer of the server comes first."""
DROPPED = frozenset({"script", "style", "noscript", "template", "svg", "head", "iframe"})
BLOCKS = re.compile(
    r"address|article|aside|blockquote|body|d[dlt]|details|div|fieldset|fig(caption|ure)|footer|form"
    r"|h[1-6]|header|li|main|nav|[ou]l|p|pre|section|summary|table|tr"
)


class TextRequest(TypedDict):
    descriptor: int
    """Of a file that holds the answer as it came."""
    charset: str
    """One that we have chosen."""
    address: str | None
    """Of an HTML page: its links are made whole against it. None: it is plain text."""
    limit: int


class Reader(HTMLParser):
    """Collects what a person would read."""

    def __init__(self, address: str) -> None:
        super().__init__(convert_charrefs=True)
        self.title = ""
        self.pieces: list[str] = []
        self._address = address
        self._dropped = 0
        self._in_title = False
        self._pre = 0
        self._links: list[tuple[str, int]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._in_title = tag == "title"
        if tag in DROPPED:
            self._dropped += 1
        elif tag == "body":
            # A head that was never closed must not hide the page.
            self._dropped = 0
        if self._dropped:
            return
        given = dict(attrs)
        if tag == "a":
            self._links.append((given.get("href") or "", len(self.pieces)))
        elif tag == "img" and given.get("alt"):
            self.pieces.append(f"[image: {given['alt']}]")
        elif tag == "br":
            self.pieces.append("\n")
        elif tag in ("td", "th"):
            self.pieces.append("\t")
        elif BLOCKS.fullmatch(tag):
            self.pieces.append("\n\n" if tag != "li" and tag != "tr" else "\n")
            self._begin(tag)

    def _begin(self, tag: str) -> None:
        if re.fullmatch("h[1-6]", tag):
            self.pieces.append("#" * int(tag[1]) + " ")
        elif tag == "li":
            self.pieces.append("- ")
        elif tag == "pre":
            self._pre += 1

    def handle_endtag(self, tag: str) -> None:
        self._in_title = False
        if tag in DROPPED:
            self._dropped = max(0, self._dropped - 1)
        elif self._dropped:
            return
        elif tag == "a" and self._links:
            self._close_link(*self._links.pop())
        elif BLOCKS.fullmatch(tag):
            self.pieces.append("\n" if tag in ("li", "tr") else "\n\n")
            self._pre -= tag == "pre" and self._pre > 0

    def _close_link(self, target: str, begin: int) -> None:
        text = "".join(self.pieces[begin:]).strip()
        if not text or not target or target.startswith(("#", "javascript:")):
            return
        try:
            whole = urljoin(self._address, target.strip())
        except ValueError:
            return
        self.pieces[begin:] = [f"[{text}]({whole})"]

    def handle_data(self, data: str) -> None:
        if self._in_title:
            self.title += data
        elif not self._dropped:
            self.pieces.append(data if self._pre else re.sub(r"\s+", " ", data))


def readable(html: str, address: str) -> str:
    reader = Reader(address)
    reader.feed(html)
    reader.close()
    text = "".join(reader.pieces)
    text = re.sub(r" *\n *", "\n", text) if "<pre" not in html else text
    text = re.sub(r"\n{3,}", "\n\n", re.sub(r"[ \t]+\n", "\n", text)).strip()
    title = " ".join(reader.title.split())
    return f"{title}\n\n{text}".strip() if title else text


def text_of(request: TextRequest) -> str:
    with open(request["descriptor"], "rb", closefd=False) as file:
        file.seek(0)
        text = file.read().decode(request["charset"], "replace").removeprefix("\ufeff")
    address = request["address"]
    return text if address is None else readable(text, address)


def capped(text: str, limit: int) -> str:
    if len(text) <= limit:
        return text
    left_out = len(text) - limit
    return f"{text[:limit]}\n[{left_out:,} characters left out here: output is capped at {limit:,}]"


def main(request: TextRequest) -> None:
    sys.stdout.write(capped(text_of(request), request["limit"]))


if __name__ == "__main__":
    os.nice(NICENESS)
    sys.stdout.reconfigure(errors="replace", newline="")  # type: ignore[union-attr]
    with open(int(sys.argv[1]), "rb", closefd=False) as file:
        file.seek(0)
        main(json.load(file))
