"""Reads the text of a PDF, page by page: a program of its own.

It runs as a process because a PDF can be made so that reading it takes for ever, or all memory.
Its one argument is the descriptor of a file with a `PdfRequest` as JSON.
"""

import json
import os
import resource
import sys
from contextlib import suppress
from typing import TypedDict

NICENESS = 10
"""Whoever waits for an answer of the server comes first."""
MEMORY_BYTES = 1024 * 1024 * 1024
REFUSED = 3


class PdfRequest(TypedDict):
    descriptor: int
    """Of a file that holds the PDF."""
    library: str
    """Where the one that can read it is: this program starts without any."""
    pages: int
    limit: int
    """In characters."""


def main(request: PdfRequest) -> None:
    sys.path.append(request["library"])
    from pypdf import PdfReader
    from pypdf.errors import PyPdfError

    left = request["limit"]
    try:
        with open(request["descriptor"], "rb", closefd=False) as file:
            pages = PdfReader(file).pages
            for number, page in enumerate(pages[: request["pages"]], start=1):
                text = f"[Page {number} of {len(pages)}]\n{page.extract_text()}\n"[:left]
                sys.stdout.write(text)
                # What was read by then is of use if the time is up.
                sys.stdout.flush()
                left -= len(text)
                if not left:
                    return
    except (
        PyPdfError,
        ArithmeticError,
        LookupError,
        MemoryError,
        RecursionError,
        TypeError,
        ValueError,
    ):
        # What it does not know how to read ends in any of these.
        if left == request["limit"]:
            sys.exit(REFUSED)


if __name__ == "__main__":
    os.nice(NICENESS)
    # Not every system has such a limit.
    with suppress(ValueError, OSError):
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
    sys.stdout.reconfigure(errors="replace", newline="")  # type: ignore[union-attr]
    with open(int(sys.argv[1]), "rb", closefd=False) as file:
        file.seek(0)
        main(json.load(file))
