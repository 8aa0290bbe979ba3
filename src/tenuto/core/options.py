"""What a prompt may wish of the model's answer, beyond which model it is."""

from enum import StrEnum
from typing import Any

from tenuto.core.error import InvalidInput
from tenuto.core.value import Value

MOST_STOPS = 16
STOP_CHARACTERS = 200
MOST_METADATA = 16
METADATA_CHARACTERS = 512
FORMATS = frozenset({"text", "json_object", "json_schema"})


class Effort(StrEnum):
    """How hard to think. A model that has no such step takes the next lower that it has."""

    NONE = "none"
    LOW = "low"
    MEDIUM = "medium"
    HIGH = "high"
    MAX = "max"


class Options(Value, omit_defaults=True, forbid_unknown_fields=True):
    """What a wire has no word for is left out. Raises InvalidInput for what no model could take."""

    temperature: float | None = None
    top_p: float | None = None
    max_output_tokens: int | None = None
    stop: tuple[str, ...] | None = None
    seed: int | None = None
    response_format: dict[str, Any] | None = None
    """As chat completions has it: `{type: text | json_object | json_schema, …}`."""
    metadata: dict[str, str] | None = None

    def __post_init__(self) -> None:
        _within("temperature", self.temperature, 0, 2)
        _within("top_p", self.top_p, 0, 1)
        _within("max_output_tokens", self.max_output_tokens, 1, 10_000_000)
        _within("seed", self.seed, -(1 << 63), (1 << 63) - 1)
        stops = self.stop or ()
        if len(stops) > MOST_STOPS or not all(0 < len(s) <= STOP_CHARACTERS for s in stops):
            raise InvalidInput(f"options.stop: give at most {MOST_STOPS} short texts")
        if self.response_format and self.response_format.get("type") not in FORMATS:
            raise InvalidInput(f"options.response_format: its type is one of {sorted(FORMATS)}")
        pairs = (self.metadata or {}).items()
        if len(pairs) > MOST_METADATA or any(len(k + v) > METADATA_CHARACTERS for k, v in pairs):
            raise InvalidInput(f"options.metadata: give at most {MOST_METADATA} short pairs")


def _within(name: str, given: float | None, least: float, most: float) -> None:
    if given is not None and not least <= given <= most:
        raise InvalidInput(f"options.{name}: give a number from {least} to {most}")


NO_OPTIONS = Options()


class Wish(Value):
    """How a prompt wants to be answered."""

    effort: Effort | None = None
    """None: as the model does by itself."""
    options: Options | None = None
    attended: bool = True
    """False: nobody can be asked."""


NO_WISH = Wish()
