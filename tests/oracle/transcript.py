"""The messages of one session, as its events so far leave them."""

from collections.abc import Iterable

from tests.oracle.ending import NEXT_OF_CALL, OPEN_CALLS, STOPPED_CALLS
from tests.oracle.rule import Json, Report, Rule, refuse

KEPT = ("call_id", "name", "input_text")
GROWS = ("input", "input_text", "output")
FIELDS = {
    "text": {"text": "text"},
    "reasoning": {"text": "text"},
    # Older logs name no field where a call's input streams.
    "tool": {"text": "input_text", "input": "input_text", "output": "output"},
    "file": {},
}
"""What of each type of part may grow, by the name that a delta gives it."""


class Transcript:
    """Whatever grows here is a copy of our own: events stay as they came."""

    def __init__(self, broken: Report = refuse) -> None:
        self.messages: dict[str, Json] = {}
        self._parts: dict[str, dict[str, Json]] = {}
        self._removed: set[str] = set()
        self._broken = broken

    def begin(self, messages: Iterable[Json]) -> None:
        """Begin again with these."""
        self.messages, self._parts = {}, {}
        for message in messages:
            self._keep(message)

    def of_run(self, run_id: str) -> list[Json]:
        return [m for m in self.messages.values() if m["run_id"] == run_id]

    def start(self, event: Json) -> None:
        message = event["message"]
        message_id = message["id"]
        if message_id in self.messages or message_id in self._removed:
            self._broken(Rule.STARTS_ONCE, event)
        owner = (message["run_id"], message["session_id"])
        if owner != (event["run_id"], event["session_id"]):
            self._broken(Rule.BELONGS, event)
        if message["role"] == "user":
            if not message["finish_reason"] or not message["parts"]:
                self._broken(Rule.COMES_WHOLE, event)
        elif message["finish_reason"] is not None or message["parts"]:
            self._broken(Rule.STARTS_EMPTY, event)
        self._keep(message)

    def grow(self, event: Json) -> None:
        message = self.messages.get(event["message_id"])
        if message is None or message["finish_reason"] is not None:
            self._broken(Rule.OPEN, event)
            return
        if message["run_id"] != event["run_id"]:
            self._broken(Rule.OPEN, event)
        parts = self._parts[message["id"]]
        match event["type"]:
            case "part.delta":
                self._append(parts.get(event["part_id"]), event)
            case "part.started":
                part = dict(event["part"])
                if part["id"] in parts:
                    self._broken(Rule.PART_ONCE, event)
                parts[part["id"]] = part
                message["parts"].append(part)
            case _:
                self._update(parts.get(event["part"]["id"]), event)

    def finish(self, event: Json) -> None:
        message = self.messages.get(event["message_id"])
        if message is None or message["finish_reason"] is not None or not event["finish_reason"]:
            self._broken(Rule.FINISHED_ONCE, event)
            return
        if message["run_id"] != event["run_id"]:
            self._broken(Rule.FINISHED_ONCE, event)
        for part in message["parts"]:
            if part.get("state") in OPEN_CALLS:
                self._broken(Rule.NO_OPEN_CALL, part, event)
        message["finish_reason"] = event["finish_reason"]

    def rewind(self, event: Json) -> None:
        removed = event["removed"]
        from_the_end = bool(removed) and list(self.messages)[-len(removed) :] == removed
        if not from_the_end or self.messages[removed[0]]["role"] != "user":
            self._broken(Rule.REWOUND, event)
        for message_id in removed:
            self.messages.pop(message_id, None)
        self._removed.update(removed)

    def _keep(self, message: Json) -> None:
        parts = [dict(part) for part in message["parts"]]
        self.messages[message["id"]] = {**message, "parts": parts}
        self._parts[message["id"]] = {part["id"]: part for part in parts}

    def _append(self, part: Json | None, event: Json) -> None:
        if part is None:
            self._broken(Rule.PART_FIRST, event)
            return
        named = event.get("field", "text")
        if named not in FIELDS[part["type"]]:
            self._broken(Rule.FIELD, part, event)
            return
        field = FIELDS[part["type"]][named]
        before = part.get(field) or ""
        if event["offset"] != len(before) or not event["text"]:
            self._broken(Rule.OFFSET, part, event)
        if field == "input_text" and part["state"] != "input_streaming":
            self._broken(Rule.INPUT_FIRST, part, event)
        if field == "output" and part["state"] != "running":
            self._broken(Rule.OUTPUT_WHILE_RUNNING, part, event)
        part[field] = before + event["text"]

    def _update(self, part: Json | None, event: Json) -> None:
        after = event["part"]
        if part is None:
            self._broken(Rule.PART_FIRST, event)
            return
        if not part["type"] == "tool" == after["type"]:
            self._broken(Rule.ONLY_CALLS, part, event)
            return
        if any(part[field] != after.get(field, part[field]) for field in KEPT):
            self._broken(Rule.ONLY_CALLS, part, event)
        if any(after.get(field) and after[field] == part.get(field) for field in GROWS):
            self._broken(Rule.SAID_ONCE, part, event)
        state = part["state"]
        if state not in OPEN_CALLS or after["state"] not in (*NEXT_OF_CALL[state], *STOPPED_CALLS):
            self._broken(Rule.CALL_STATES, part, event)
        part.update(after)


def said(messages: Iterable[Json]) -> list[str]:
    """What a model has said in these messages, part by part."""
    return [
        part["input_text"] if part["type"] == "tool" else part["text"]
        for message in messages
        if message["role"] == "assistant"
        for part in message["parts"]
    ]
