"""What a model will say: the same on every wire."""

import json
from dataclasses import dataclass
from random import Random
from typing import Any, Literal

from tests.strict.facts import Facts

Stop = Literal["stop", "length", "refusal"]


@dataclass(frozen=True)
class Think:
    text: str


@dataclass(frozen=True)
class Veiled:
    """A thought that is given only sealed."""

    text: str


@dataclass(frozen=True)
class Say:
    text: str


@dataclass(frozen=True)
class Make:
    """A call."""

    id: str
    name: str
    arguments: str


Act = Think | Veiled | Say | Make


@dataclass(frozen=True)
class Intent:
    acts: tuple[Act, ...]
    stop: Stop = "stop"

    @property
    def calls(self) -> tuple[Make, ...]:
        return tuple(act for act in self.acts if isinstance(act, Make))


TEXTS = ("Hello.", "So be it. ", " \n", "Zwölf 🙂 Boxkämpfer", "# Title\n\n- one\n", "…", "\u2028")
ODD_NAMES = ("read file!", "functions.read", "x" * 200, "été", "")
ODD_IDS = ("call_1", "functions.read:0", "toolu_" + "a" * 60, "", "ünïcode", "c|d")
ARGUMENTS: tuple[dict[str, Any], ...] = (
    {},
    {"path": "a.txt"},
    {"path": "ä/ö", "limit": 3},
    {"todo": [{"x": None}]},
)


def drawn(chance: Random, facts: Facts, *, tools: tuple[str, ...]) -> Intent:
    """An answer as models give them, the odd ones more often than they do."""
    acts: list[Act] = []
    for _ in range(chance.choice((0, 1, 1, 2)) if facts.thinks else 0):
        kind = Veiled if chance.random() < 0.2 else Think
        acts.append(kind(chance.choice(TEXTS) + str(chance.random())))
    if chance.random() < 0.6:
        acts.append(Say(chance.choice(TEXTS)))
    if tools and chance.random() < 0.55:
        acts += [_call(chance, tools) for _ in range(chance.choice((1, 1, 2, 3)))]
        if chance.random() < 0.1:
            # Some models think or speak between their calls.
            middle = (
                chance.choice((Think("then"), Say("And then:"))) if facts.thinks else Say("So:")
            )
            acts.insert(-1, middle)
    stop: Stop = "stop" if chance.random() < 0.8 else chance.choice(("length", "refusal"))
    if stop == "length" and facts.thinks and chance.random() < 0.5:
        # It thought again, and came no further.
        acts.append(Think("Once more"))
    if stop == "length" and acts and isinstance(last := acts[-1], Make):
        cut = last.arguments[: chance.randrange(len(last.arguments))]
        acts[-1] = Make(last.id, last.name, cut)
    return Intent(tuple(acts), stop)


def _call(chance: Random, tools: tuple[str, ...]) -> Make:
    odd = chance.random() < 0.15
    name = chance.choice(ODD_NAMES if odd else tools)
    made = f"call_{chance.randrange(10**9)}"
    call_id = chance.choice(ODD_IDS) if chance.random() < 0.3 else made
    arguments = json.dumps(chance.choice(ARGUMENTS), ensure_ascii=chance.random() < 0.5)
    if chance.random() < 0.05:
        arguments = chance.choice(("[]", '"text"', "{", "null"))
    return Make(call_id, name, arguments)
