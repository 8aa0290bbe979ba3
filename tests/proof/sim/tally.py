"""What was played, in numbers; and a file of it, so that a long run can stop and go on."""

from pathlib import Path

import msgspec

from tests.proof.sim.schedule import ScheduleVerdict
from tests.proof.sim.script import Script


class Tally(msgspec.Struct):
    schedules: int = 0
    steps: int = 0
    events: int = 0
    actions: int = 0
    """What clients and bad luck did by the script."""
    runs: int = 0
    nodes: int = 0
    """How often an engine was started."""
    crashes: int = 0
    failed: list[tuple[int, str]] = msgspec.field(default_factory=list)
    """Seeds, and what each found."""

    def count(self, script: Script, verdict: ScheduleVerdict) -> None:
        self.schedules += 1
        self.steps += verdict.steps
        self.events += verdict.events
        self.actions += len(script.items)
        self.runs += verdict.runs
        self.nodes += verdict.nodes
        self.crashes += verdict.crashes
        if verdict.violation is not None:
            self.failed.append((script.seed, verdict.violation))

    def add(self, other: "Tally") -> None:
        for name in self.__struct_fields__:
            # Numbers add up, and so do lists.
            setattr(self, name, getattr(self, name) + getattr(other, name))

    def each(self) -> str:
        """How rich a schedule is, on the average."""
        numbers = (
            f"{getattr(self, name) / max(1, self.schedules):.3f} {name}"
            for name in ("steps", "events", "actions", "runs", "nodes", "crashes")
        )
        return "a schedule has " + ", ".join(numbers)


class Progress(msgspec.Struct):
    """How far a long run has come."""

    next_seed: int
    seconds: float = 0.0
    done: Tally = msgspec.field(default_factory=Tally)

    def add(self, told: Tally, seconds: float) -> None:
        self.next_seed += told.schedules
        self.seconds += seconds
        self.done.add(told)

    def sentence(self) -> str:
        done = self.done
        found = f"{len(done.failed) or 'no'} violation{'s' if len(done.failed) > 1 else ''}"
        return (
            f"{done.schedules:,} schedules, {done.events:,} events, {done.crashes:,} crashes, "
            f"{found}, {self.seconds:,.0f} seconds"
        )


def read_progress(path: Path | None, *, first: int) -> Progress:
    """The record as it was left, or a new one that begins with this seed."""
    if path is None or not path.exists():
        return Progress(next_seed=first)
    return msgspec.json.decode(path.read_bytes(), type=Progress)


def write_progress(path: Path, record: Progress) -> None:
    """All or nothing: a run that is stopped here leaves the record as it was."""
    beside = path.with_name(path.name + ".new")
    beside.write_bytes(msgspec.json.format(msgspec.json.encode(record)) + b"\n")
    beside.replace(path)
