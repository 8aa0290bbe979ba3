"""What a model on the chat-completions wire thought, as it wants to be told it again."""

from typing import Any

MOST_DETAILS = 1024
GROWS = ("text", "summary", "data", "signature")
"""Fields of a detail that come in pieces."""


class Thoughts:
    """Servers say thoughts in one of two fields; some add details that must come back whole."""

    def __init__(self) -> None:
        self._begun = False
        self._details: list[dict[str, Any]] = []

    def take(self, content: Any, reasoning: Any, details: Any) -> dict[str, str] | None:
        """What to keep of a stretch of thought that begins with this; None: it tells at its end."""
        for detail in details if isinstance(details, list) else ():
            if isinstance(detail, dict) and len(self._details) < MOST_DETAILS:
                self._add(detail)
        begins, self._begun = not self._begun, True
        if not begins or self._details:
            return None
        if isinstance(content, str) and content:
            return {"field": "reasoning_content"}
        return {"field": "reasoning"} if isinstance(reasoning, str) and reasoning else None

    def end(self) -> dict[str, Any] | None:
        """Something else is said; what to keep of the stretch before it, if that was not known."""
        self._begun = False
        details, self._details = self._details, []
        return {"details": details} if details else None

    def _add(self, detail: dict[str, Any]) -> None:
        last = self._details[-1] if self._details else None
        if last is None or (last.get("type"), last.get("index")) != (
            detail.get("type"),
            detail.get("index"),
        ):
            self._details.append(dict(detail))
            return
        for name, value in detail.items():
            before = last.get(name)
            if name in GROWS and isinstance(before, str) and isinstance(value, str):
                last[name] = before + value
            elif value is not None:
                last[name] = value
