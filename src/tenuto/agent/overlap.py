"""Where an answer goes on after a break: what it repeats of itself is left out."""

SHORTEST = 16
"""Fewer characters in common are chance."""
LOOKED_AT = 4_000
"""Of what was said before: nobody repeats more, unless all of it."""


class Overlap:
    """Given what was said before, takes what follows and gives what of it is new.

    What may still turn out to be a repetition is held back; `end` gives what is left of it.
    """

    def __init__(self, before: str) -> None:
        tail = before[-LOOKED_AT:]
        starts = [tail[n:] for n in range(max(0, len(tail) - SHORTEST + 1))]
        # Whoever begins anew says all of it again.
        self._repeated = ([before] if len(before) > LOOKED_AT else []) + starts
        self._held = ""
        self.over = not self._repeated

    def take(self, text: str) -> str:
        if self.over:
            return text
        self._held += text
        held = self._held
        self._repeated = [r for r in self._repeated if r.startswith(held) or held.startswith(r)]
        if any(len(repeated) > len(held) for repeated in self._repeated):
            return ""
        return self.end()

    def end(self) -> str:
        """What was held back, without what is a repetition for certain."""
        held, self._held, self.over = self._held, "", True
        longest = max((len(r) for r in self._repeated if held.startswith(r)), default=0)
        return held[longest:]
