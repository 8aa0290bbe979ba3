"""A lane: the one line of work of a session on a node."""

import asyncio

from tenuto.engine.driver import Active


class Lane:
    def __init__(self) -> None:
        self.task: asyncio.Task[None] | None = None
        self.active: Active | None = None
        self.changes = 0
        """How often it was told that something had changed."""
        self.expected = 0
        """Of these, those that are no news: the prompt that the lane was opened for."""
        self.in_doubt = False
        """Whether a start may have been stored: then the active run may be ours."""
        self.look_again = False
        self.looking: asyncio.Task[None] | None = None
        self.gone = asyncio.Event()
