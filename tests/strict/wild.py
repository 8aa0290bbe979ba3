"""An answer that no run of ours should leave behind, and that a database may hold all the same."""

from random import Random
from typing import Any

from msgspec import UNSET
from msgspec.structs import replace

from tenuto.core.message import (
    Message,
    Part,
    ReasoningPart,
    Seal,
    TextPart,
    ToolPart,
    ToolState,
    assistant_message,
)
from tenuto.core.value import CallId, PartId, RunId
from tests.core.test_run import NOW, QUEUED
from tests.strict.intent import ODD_IDS, ODD_NAMES, TEXTS
from tests.strict.vendor import VENDORS

SEALS = (
    '{"signature":"x"}',
    '{"redacted":"x"}',
    '{"id":"rs_1","encrypted_content":"x"}',
    '{"field":"reasoning_content"}',
    '{"details":[{"type":"reasoning.text","text":"x"}]}',
    '{"extra":{"google":{"thought_signature":"x"}}}',
)
WIRES = ("anthropic", "responses", "chat", "ollama", "")
INPUTS: tuple[tuple[Any, str], ...] = (
    ({}, "{}"),
    ({"a": 1}, '{"a":1}'),
    (None, ""),
    (None, '{"a'),
    (None, "[]"),
)
FINISHES = ("end_turn", "max_tokens", "cancelled", "interrupted", "error", "steered", None)


def wild(chance: Random, number: int) -> Message:
    """Parts of any kind in any order, with seals of models that are gone."""
    run = replace(QUEUED, id=RunId(f"run_wild{number}"))
    parts = [_part(chance, f"{number}_{n}") for n in range(chance.randrange(7))]
    message = assistant_message(run, of=run.id, now=NOW)
    return replace(message, parts=tuple(parts), finish_reason=chance.choice(FINISHES))


def _part(chance: Random, name: str) -> Part:
    part_id = PartId(f"prt_wild{name}")
    seal = _seal(chance) if chance.random() < 0.5 else UNSET
    match chance.randrange(3):
        case 0:
            return TextPart(id=part_id, text=chance.choice((*TEXTS, "")))
        case 1:
            return ReasoningPart(id=part_id, text=chance.choice((*TEXTS, "")), seal=seal)
        case _:
            given, text = chance.choice(INPUTS)
            return ToolPart(
                id=part_id,
                call_id=CallId(chance.choice(ODD_IDS)),
                name=chance.choice((*ODD_NAMES, "shell")),
                input=given,
                input_text=text,
                state=chance.choice(list(ToolState)),
                output=chance.choice(("", "fine", None)),
                error=chance.choice(("", "no", None)),
                seal=seal,
            )


def _seal(chance: Random) -> Seal:
    """Of another wire, or of another model."""
    vendor = chance.choice(VENDORS)
    model = f"{vendor.name}/{vendor.facts.name}-gone"
    return Seal(wire=chance.choice(WIRES), model=model, data=chance.choice(SEALS))
