"""What a command of the terminal was asked for."""

import os
from collections.abc import Mapping
from enum import StrEnum
from typing import Any, TypeVar

import msgspec
from msgspec import UNSET

from tenuto.core.options import Effort
from tenuto.core.run import Mode, WhenBusy
from tenuto.core.value import Value


class Output(StrEnum):
    TEXT = "text"
    JSON = "json"
    JSONL = "jsonl"


class OnAsk(StrEnum):
    """What becomes of an approval or a question of the run."""

    ASK = "ask"
    """Here, on the terminal."""
    DENY = "deny"
    WAIT = "wait"
    LEAVE = "leave"
    ALLOW = "allow"


class ViewOptions(Value):
    """How a run is shown, and what it may ask."""

    output: Output = Output.TEXT
    last_message: str | None = None
    extract: bool = False
    reasoning: bool = False
    quiet: bool = False
    on_ask: OnAsk
    timeout: float | None = None
    patience: float = 300.0


class RunOptions(Value):
    """One prompt and where it goes."""

    words: tuple[str, ...]
    model: str | None = None
    session: str | None = None
    continue_last: bool = False
    workspace: str | None = None
    mode: Mode | None = None
    effort: Effort | None = None
    files: tuple[str, ...] = ()
    system: str | None = None
    title: str | None = None
    when_busy: WhenBusy | None = None
    detach: bool = False
    no_stdin: bool = False


T = TypeVar("T", bound=Value)
STDIN, STDERR = 0, 2


def read(said: Mapping[str, Any], kind: type[T]) -> T:
    """Those of the options that a command was given which are this kind's."""
    names = {field.name for field in msgspec.structs.fields(kind)}
    return msgspec.convert({name: said[name] for name in names if name in said}, kind)


def view_options(said: Mapping[str, Any], fallback: OnAsk) -> ViewOptions:
    """Where nothing is said of asking: here, if a person is here, else as this command does."""
    is_here = os.isatty(STDIN) and os.isatty(STDERR)
    on_ask = said["on_ask"] or (OnAsk.ASK if is_here else fallback)
    return read({**said, "on_ask": on_ask}, ViewOptions)


def given(value: Any) -> Any:
    """For the client: what was not said, the server decides."""
    return UNSET if value is None else value
