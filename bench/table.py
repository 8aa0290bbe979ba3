"""What a measurement gives, and how it is shown."""

import sys
from typing import Any

import msgspec


class Figure(msgspec.Struct, kw_only=True):
    name: str
    value: float
    unit: str
    beside: dict[str, float] = msgspec.field(default_factory=dict)
    """The same thing measured without Tenuto, or at another size, in the same run."""
    ratios: dict[str, float] = msgspec.field(default_factory=dict)
    note: str = ""
    aim: str = ""
    met: bool | None = None
    """None: there is no aim for it."""


def ratio(a: float, b: float) -> float:
    return round(a / b, 3) if b else float("inf")


def percentile(values: list[float], share: float) -> float:
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(len(ordered) * share))]


def show(figures: list[Figure]) -> None:
    for figure in figures:
        beside = ", ".join(f"{name} {number(value)}" for name, value in figure.beside.items())
        ratios = ", ".join(f"{value:g} {name}" for name, value in figure.ratios.items())
        verdict = {True: "ok", False: "SHORT", None: ""}[figure.met]
        cells = [
            f"{figure.name:<44} {number(figure.value):>10} {figure.unit:<9}",
            f"({beside})" if beside else "",
            ratios,
            figure.note,
            f"aim {figure.aim}: {verdict}" if figure.aim else "",
        ]
        say("  ".join(cell for cell in cells if cell))


def number(value: float) -> str:
    if value >= 1000:
        return f"{value:,.0f}"
    return f"{value:.3g}"


def say(text: str) -> None:
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


def as_json(groups: dict[str, list[Figure]], about: dict[str, Any]) -> bytes:
    return msgspec.json.format(msgspec.json.encode({"about": about, "figures": groups}))
