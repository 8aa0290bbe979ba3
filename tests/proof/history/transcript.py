"""The fold, as an outsider writes it from the contract: events in, messages out."""

import copy
from typing import Any

Json = dict[str, Any]
OPEN_TOOLS = {"input_streaming", "waiting_approval", "running"}


class Transcript:
    def __init__(self) -> None:
        self._messages: dict[str, Json] = {}

    def messages(self) -> list[Json]:
        """As `GET …/messages` should give them now."""
        return copy.deepcopy(list(self._messages.values()))

    def open_of(self, run_id: str) -> list[str]:
        """What a run that ends would leave open: messages, and tool calls in them."""
        # Only the newest messages can be of a run that is ending now.
        newest = list(self._messages.values())[-20:]
        return [
            message["id"]
            for message in newest
            if message["run_id"] == run_id
            and (
                message["finish_reason"] is None
                or any(part.get("state") in OPEN_TOOLS for part in message["parts"])
            )
        ]

    def tell(self, event: Json) -> bool:
        """Take the event in; False if it cannot be."""
        match event["type"]:
            case "message.started":
                return self._start(event)
            case "session.rewound":
                return self._rewind(event["removed"])
        message = self._messages.get(event["message_id"])
        if message is None or message["finish_reason"] is not None:
            return False
        if event["type"] == "message.finished":
            message["finish_reason"] = event["finish_reason"]
            return event["finish_reason"] is not None
        return _grow(message, event)

    def _start(self, event: Json) -> bool:
        message = copy.deepcopy(event["message"])
        new = message["id"] not in self._messages
        whole = message["finish_reason"] is not None and bool(message["parts"])
        empty = message["finish_reason"] is None and not message["parts"]
        self._messages[message["id"]] = message
        return new and (whole if message["role"] == "user" else empty)

    def _rewind(self, removed: list[str]) -> bool:
        ids = list(self._messages)
        start = len(ids) - len(removed)
        good = bool(removed) and ids[start:] == removed
        good = good and self._messages[removed[0]]["role"] == "user"
        for message_id in removed:
            self._messages.pop(message_id, None)
        return good


def _grow(message: Json, event: Json) -> bool:
    parts: list[Json] = message["parts"]
    if event["type"] == "part.started":
        new = all(part["id"] != event["part"]["id"] for part in parts)
        parts.append(copy.deepcopy(event["part"]))
        return new
    part_id = event["part_id"] if event["type"] == "part.delta" else event["part"]["id"]
    place = next((n for n, part in enumerate(parts) if part["id"] == part_id), None)
    if place is None:
        return False
    if event["type"] == "part.updated":
        parts[place] = copy.deepcopy(event["part"])
        return True
    grows = "input_text" if parts[place]["type"] == "tool" else "text"
    fits = bool(len(parts[place][grows]) == event["offset"])
    parts[place][grows] += event["text"]
    return fits
