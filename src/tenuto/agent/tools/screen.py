"""What a command prints, as a person at a terminal would have read it in the end."""

import codecs
import re

from tenuto.ports.tool import Reel

ESCAPES = re.compile(
    r"\x1b\[[0-?]*[ -/]*[@-~]"  # colours, cursors
    r"|\x1b[\]PX^_][^\x07\x1b\n]*(?:\x07|\x1b\\)?"  # titles, links
    r"|\x1b[ -/]*[0-~]"
)
UNFINISHED = re.compile(r"\x1b(?:\[[0-?]*[ -/]*|[\]PX^_][^\x07\x1b\n]*\x1b?|[ -/]*)?$")
"""The beginning of such a code, whose end is in the next piece."""
SILENT = {code: None for code in range(32) if chr(code) not in "\t\n\r\b\x1b"} | {127: None}
PARTS = re.compile(r"[\n\r\b]|[^\n\r\b]+")
LONGEST_LINE = 8_000
"""A line that is longer is taken as it is: no bar is."""
LONGEST_CODE = 4_000
STRANGE = 0.1
"""Of its characters: what has more that are none is no text."""


class Screen:
    """Lines that a carriage return begins anew are there once, codes for colours and the like are
    not, and what is no text is only counted."""

    def __init__(self, *scrolls: Reel) -> None:
        """All lines go onto all scrolls, each once it is whole."""
        self._scrolls = scrolls
        self._whole: list[str] = []
        self.line = ""
        """What is printed of the line that is not whole yet."""
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._fresh = False
        """The next character begins the line anew."""
        self._rest = ""
        self._binary = 0

    def hear(self, data: bytes) -> None:
        """Take more of it; characters and codes split over two pieces stay whole."""
        self._take(self._decoder.decode(data), len(data), zero=b"\0" in data)

    def close(self) -> None:
        """No more will come."""
        self._take(self._decoder.decode(b"", final=True), 0, zero=False)
        self._rest = ""
        self._end_binary()
        self._whole.append(self.line)
        self.line = ""
        self._hand_over()

    def _hand_over(self) -> None:
        # All at once: a piece may have thousands of lines.
        text = "".join(self._whole)
        self._whole.clear()
        for scroll in self._scrolls:
            scroll.add(text)

    def _take(self, text: str, size: int, *, zero: bool) -> None:
        if zero and text.count("\ufffd") > STRANGE * len(text):
            self._binary += size
            return
        if text:
            self._end_binary()
        # Lists that end their items with a zero byte are still lists.
        text = self._rest + text.replace("\0", "\n")
        cut = UNFINISHED.search(text, max(0, len(text) - LONGEST_CODE))
        self._rest = text[cut.start() :] if cut else ""
        text = ESCAPES.sub("", text[: cut.start()] if cut else text)
        for part in PARTS.findall(text.translate(SILENT)):
            self._print(part)
        if self._whole:
            self._hand_over()

    def _print(self, part: str) -> None:
        if part == "\n":
            self._whole.append(self.line + "\n")
            self.line, self._fresh = "", False
        elif part == "\r":
            self._fresh = True
        elif part == "\b":
            self.line = self.line[:-1]
        else:
            self.line = part if self._fresh else self.line + part
            self._fresh = False
            if len(self.line) > LONGEST_LINE:
                self._whole.append(self.line)
                self.line = ""

    def _end_binary(self) -> None:
        if self._binary:
            self.line += f"[{self._binary:,} bytes that are no text left out]"
            self._binary = 0
