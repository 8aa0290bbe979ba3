"""Mutants of what the log tells of a tool's call: too much, or less than it should."""

from tests.proof.mutation.mutant import Edit, mutant

MUTANTS = (
    mutant(
        "what is known is told again",
        "Every step of a call repeats its whole input and output to everyone.",
        "core recorder",
        Edit(
            "core/message.py",
            "        if name in TOLD or new != getattr(before, name)\n",
            "",
        ),
    ),
    mutant(
        "an update forgets what had grown",
        "The output that streamed is gone once the call changes its state.",
        "core recorder",
        Edit(
            "core/projection.py",
            "        part = self.part(changed.id)\n",
            "        part = self._parts[changed.id]\n        self._outputs.pop(part.id, None)\n",
        ),
    ),
    mutant(
        "output joined across an update",
        "An old log that was made shorter shows an output twice.",
        "conformance",
        Edit(
            "storage/folding.py",
            "                for field in (UNSET, *PartField):\n",
            "                for field in (UNSET,):\n",
        ),
    ),
    mutant(
        "a bar as fast as it moves",
        "A command with a progress bar fills the log with copies of its output.",
        "progress",
        Edit(
            "engine/progress.py",
            "            if self._loop.time() < due:\n",
            "            if False:\n",
        ),
    ),
)
