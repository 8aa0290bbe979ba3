"""The same for what is said of changes of files."""

from collections.abc import Callable

from tests.oracle.rule import Rule
from tests.oracle.sample import SampleLog


def at_work(sample: SampleLog) -> None:
    sample.accept("a")
    sample.start("a")


def change_after_the_end(sample: SampleLog) -> None:
    sample.whole("a")
    sample.accept("b")
    sample.start("b")
    sample.change_file("a", "changing", by="b")


def take_back_by_itself(sample: SampleLog) -> None:
    at_work(sample)
    sample.change_file("a", "changing", by="a", state="reverted")


def forget_what_was_there(sample: SampleLog) -> None:
    at_work(sample)
    sample.change_file("a", "changing", by="a")
    sample.change_file("a", "changed", by="a", before={"digest": "other", "mode": 420})


def change_in_silence(sample: SampleLog) -> None:
    at_work(sample)
    sample.change_file("a", "changing", by="a")
    sample.change_file("a", "changed", by="a")
    sample.change_file("a", "changed", by="a")


BROKEN_FILES: list[tuple[Rule, Callable[[SampleLog], None]]] = [
    (Rule.CHANGES_AT_WORK, change_after_the_end),
    (Rule.CHANGE_STATE, take_back_by_itself),
    (Rule.BEFORE_STAYS, forget_what_was_there),
    (Rule.ANNOUNCED, change_in_silence),
]
