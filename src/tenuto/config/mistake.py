"""What is wrong with the settings, in plain lines."""

import difflib
from collections.abc import Iterable, Sequence


class ConfigError(Exception):
    """The settings cannot be used; `lines` say each thing that is wrong."""

    def __init__(self, lines: Sequence[str]) -> None:
        super().__init__("\n".join(lines))
        self.lines = tuple(lines)


class Mistakes:
    """Collects what is wrong, so that all of it is said at once."""

    def __init__(self) -> None:
        self._lines: list[str] = []

    def say(self, line: str) -> None:
        self._lines.append(line)

    def wrong(self, key: str, shown: object, source: str, allowed: str) -> None:
        self.say(f"{key} = {_brief(shown)} ({source}): must be {allowed}")

    def unknown(self, key: str, source: str, names: Iterable[str]) -> None:
        closest = difflib.get_close_matches(key, list(names), n=1, cutoff=0.0)
        self.say(f"{key} ({source}): no such setting; did you mean {closest[0]}?")

    @property
    def count(self) -> int:
        return len(self._lines)

    def raise_if_any(self) -> None:
        if self._lines:
            raise ConfigError(self._lines)


def _brief(shown: object) -> str:
    text = repr(shown)
    return text if len(text) <= 60 else text[:59] + "…"
