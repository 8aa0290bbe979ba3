"""What a log may say of changes of files: whose they are, and that what was there stays known."""

from tests.oracle.rule import Json, Report, Rule

FILE_TOOLS = ("write_file", "edit_file")
STATES = ("revertible", "reverted", "conflict", "not_revertible")


class FileChanges:
    def __init__(self, broken: Report) -> None:
        self._broken = broken
        self.changes: dict[str, Json] = {}
        self._announced: set[str] = set()

    def apply(self, event: Json, *, active: str | None, ended: bool) -> None:
        """`ended`: whether the run that the change is of has."""
        change: Json = event["change"]
        of_run = event["run_id"] == active == change["run_id"]
        by_person = event["run_id"] is None and ended
        self._must(of_run or by_person, Rule.CHANGES_AT_WORK, event)
        self._must(change["state"] in STATES, Rule.CHANGE_STATE, event)
        self._must(by_person or change["state"] != "reverted", Rule.CHANGE_STATE, event)
        known: Json = self.changes.get(change["id"], change)
        self._must(_was(known) == _was(change), Rule.BEFORE_STAYS, known, change)
        if event["type"] == "file.changing":
            self._must("next" in change, Rule.ANNOUNCED, event)
            self._announced.add(change["id"])
        else:
            free = by_person or change["tool"] not in FILE_TOOLS
            self._must(free or change["id"] in self._announced, Rule.ANNOUNCED, event)
            self._announced.discard(change["id"])
        self.changes[change["id"]] = change

    def _must(self, holds: object, rule: Rule, *seen: object) -> None:
        if not holds:
            self._broken(rule, *seen)


def _was(change: Json) -> tuple[object, ...]:
    before = change["before"] or {}
    return change["run_id"], change["path"], before.get("digest"), before.get("mode")
