"""The messages of one session as the contract folds them: plain dicts, none of our code."""

from typing import Any

from tests.proof.sim.violation import broken, must

Json = dict[str, Any]

OPEN_TOOL_STATES = ("input_streaming", "waiting_approval", "running")
TOOL_NEXT = {
    "input_streaming": ("input_streaming", "waiting_approval", "running", "failed", "denied"),
    "waiting_approval": ("running", "denied"),
    "running": ("running", "done", "failed"),
}
STOPPED = ("cancelled", "interrupted")


class Transcript:
    def __init__(self) -> None:
        self.messages: dict[str, Json] = {}
        self._parts: dict[str, dict[str, Json]] = {}
        self._removed: set[str] = set()

    def started(self, event: Json) -> None:
        message = event["message"]
        message_id = message["id"]
        must(message_id not in self.messages, "a message starts once", event)
        must(message_id not in self._removed, "a removed message never comes back", event)
        must(message["run_id"] == event["run_id"], "a message belongs to its run", event)
        must(message["session_id"] == event["session_id"], "a message is of its session", event)
        if message["role"] == "user":
            must(message["finish_reason"], "a user message comes whole", event)
        else:
            must(message["finish_reason"] is None, "an answer starts open", event)
            must(message["parts"] == [], "an answer starts empty", event)
        self.messages[message_id] = message
        self._parts[message_id] = {part["id"]: part for part in message["parts"]}

    def grew(self, event: Json) -> None:
        message = self.messages.get(event["message_id"])
        if message is None:
            broken("parts are of a message that there is", event)
        if message["finish_reason"] is not None:
            broken("nothing of a message follows its finish", event)
        if message["run_id"] != event["run_id"]:
            broken("a part is of its message's run", event)
        parts = self._parts[message["id"]]
        match event["type"]:
            case "part.started":
                part = event["part"]
                must(part["id"] not in parts, "a part starts once", event)
                parts[part["id"]] = part
                message["parts"].append(part)
            case "part.delta":
                part = parts.get(event["part_id"], {})
                field = "input_text" if part.get("type") == "tool" else "text"
                if field not in part:
                    broken("a part starts before it grows", event)
                if event["offset"] != len(part[field]):
                    broken("a delta goes on at its offset", event)
                if part.get("state") not in (None, "input_streaming"):
                    broken("input streams first", event)
                if not event["text"]:
                    broken("a delta says something", event)
                part[field] += event["text"]
            case _:
                self._updated(parts, event)

    def _updated(self, parts: dict[str, Json], event: Json) -> None:
        after = event["part"]
        part = parts.get(after["id"])
        must(part is not None, "a part starts before it changes", event)
        assert part is not None
        must(part["type"] == "tool" == after["type"], "only tool calls change", event)
        for field in ("call_id", "name", "input_text"):
            must(part[field] == after[field], f"an update keeps the {field}", part, event)
        allowed = (*TOOL_NEXT.get(part["state"], ()), *STOPPED)
        must(part["state"] in OPEN_TOOL_STATES, "an ended call does not change", part, event)
        must(after["state"] in allowed, "a call goes through its states", part, event)
        part.update(after)

    def finished(self, event: Json) -> None:
        message = self.messages.get(event["message_id"])
        must(message is not None, "what finishes has started", event)
        assert message is not None
        must(message["finish_reason"] is None, "a message finishes once", event)
        must(message["run_id"] == event["run_id"], "a message finishes in its run", event)
        for part in message["parts"]:
            must(part.get("state") not in OPEN_TOOL_STATES, "no call is left open", part, event)
        message["finish_reason"] = event["finish_reason"]

    def rewound(self, event: Json) -> None:
        removed = event["removed"]
        ids = list(self.messages)
        must(removed and ids[-len(removed) :] == removed, "the end is removed, in order", event)
        must(self.messages[removed[0]]["role"] == "user", "a user message goes first", event)
        for message_id in removed:
            del self.messages[message_id]
        self._removed.update(removed)

    def of_run(self, run_id: str) -> list[Json]:
        return [m for m in self.messages.values() if m["run_id"] == run_id]


def said(messages: list[Json]) -> list[str]:
    """What a model has said in these messages, part by part."""
    return [
        part["input_text"] if part["type"] == "tool" else part["text"]
        for message in messages
        if message["role"] == "assistant"
        for part in message["parts"]
    ]
