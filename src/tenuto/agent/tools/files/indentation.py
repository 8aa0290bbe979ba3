"""How far lines are indented, carried over from how a model wrote them to how a file has them."""

from collections.abc import Mapping, Sequence

from tenuto.core.value import Value


class Indentation(Value):
    known: Mapping[str, str]
    """By what a line begins with in the model's words: what it begins with in the file."""

    @classmethod
    def between(cls, written: Sequence[str], there: Sequence[str]) -> "Indentation | None":
        """From lines that are the same but for it; None if it follows no rule."""
        known: dict[str, str] = {}
        for one, other in zip(written, there, strict=True):
            if one.strip() and known.setdefault(_start(one), _start(other)) != _start(other):
                return None
        return cls(known=known)

    def of(self, line: str) -> str:
        """The line as the file would have it."""
        if not line.strip():
            return ""
        start = _start(line)
        return self._carried(start) + line[len(start) :].rstrip("\r")

    def _carried(self, start: str) -> str:
        if start in self.known:
            return self.known[start]
        nearest = min(self.known, key=lambda known: (abs(len(known) - len(start)), -len(known)))
        deeper = len(start) - len(nearest)
        there = self.known[nearest]
        if deeper < 0:
            return there[: max(0, len(there) + self._steps(deeper))]
        fill = there[-1:] or self._fill() or start[-1:]
        return there + fill * self._steps(deeper)

    def _steps(self, characters: int) -> int:
        """So many characters of the model's indentation, in the file's."""
        levels = {"": "", **self.known}
        for one, other in levels.items():
            for deeper, below in self.known.items():
                if len(deeper) > len(one) and len(below) > len(other):
                    return round(characters * (len(below) - len(other)) / (len(deeper) - len(one)))
        return characters

    def _fill(self) -> str:
        return next((there[-1] for there in self.known.values() if there), "")


def _start(line: str) -> str:
    return line[: len(line) - len(line.lstrip())]
