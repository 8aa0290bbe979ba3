"""Points: the durable steps of the program, so that a test can die at each of them."""

from enum import StrEnum
from typing import Protocol


class Step(StrEnum):
    """A moment at which a crash would find the world in a state of its own."""

    MIGRATING = "migrating"
    MIGRATED = "migrated"
    COMMITTING = "committing"
    COMMITTED = "committed"
    """On disk, and nobody knows."""
    TELLING = "telling"
    """Back on the event loop, before whoever asked is answered."""
    TOLD = "told"
    """All who listen were told, and none of them has run yet."""
    CHECKPOINTING = "checkpointing"
    CHECKPOINTED = "checkpointed"
    ASKING_AGAIN = "asking again"
    """It was sent, no answer came, and whether it was stored is not known."""
    LEASING = "leasing"
    LEASED = "leased"
    """The others know that this node is there, and it has done nothing yet."""
    BURYING = "burying"
    BURIED = "buried"
    """A node is known to be gone, and nothing of it has been rescued."""
    RINGING = "ringing"
    RUNG = "rung"
    """Other nodes were told where to look."""
    SEQUENCING = "sequencing"
    SEQUENCED = "sequenced"
    """What waited for a workspace's log has its numbers, and nobody here knows."""
    KEEPING = "keeping settings"
    KEPT = "kept settings"
    """For every node, and none of them goes by them yet."""
    ASKING = "asking the model"
    READ = "read from the model"
    TAKEN = "taken from the model"
    """What was read is with the recorder, not yet on disk."""
    HEARD = "heard the model out"
    TOOL_STARTING = "tool starting"
    TOOL_ENDED = "tool ended"
    """Its effects are there, its result is not recorded."""
    FILE_KEPT = "file kept"
    """What a file was is in the store, and no log speaks of it."""
    FILE_CHANGING = "file changing"
    """The log says what will be done, and it is not."""
    FILE_DRAFTED = "file drafted"
    """The new content is beside the file, and not in its place."""
    FILE_CHANGED = "file changed"
    """It is done, and the log does not say so."""
    JOB_STARTING = "job starting"
    """It is in the log, and nothing of it runs yet."""
    JOB_ENDED = "job ended"
    """Nothing of it runs any more, and its ending is not in the log."""
    RUN_STARTED = "run started"
    RUN_WORKED = "run worked"
    RUN_SETTLED = "run settled"
    RUN_PARKED = "run parked"
    """It waits for a person, and nobody works on it."""
    ENDING_REFUSED = "ending refused"
    """The store would not take an ending as it was; it is tried again, with less."""
    RESCUING = "rescuing"
    RESCUED = "rescued"
    TITLE_FOUND = "title found"
    PURGING = "purging"
    PURGED = "purged"
    FOLDING = "folding"
    FOLDED = "folded"
    ANSWERING = "answering"
    ANSWER_BEGUN = "answer begun"
    """The head of the answer is sent, its body is not."""
    ANSWERED = "answered"
    SHOWING = "showing"
    SHOWN = "shown"


class Points(Protocol):
    @property
    def armed(self) -> bool:
        """Whether anyone cares: if not, nothing is to be worked out for `reach`."""

    def reach(self, step: Step, what: str = "") -> None:
        """The program is at this step, with this (a tool, a route, the events of a commit).

        Called from any thread. May not return.
        """


class Nowhere:
    """The points of a server in use: it dies at none of them."""

    armed = False

    def reach(self, step: Step, what: str = "") -> None:
        return


NOWHERE = Nowhere()
