"""Arguments that are nested deeper than anyone needs are noticed before anything stores them."""

import pytest

from tenuto.agent.arguments import too_deep


def lists(depth: int) -> str:
    return "[" * depth + "]" * depth


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{}",
        '{"a":[{"b":[1]}]}',
        lists(64),
        '{"a":"' + "[" * 1000 + '"}',
        "[" + ",".join(["[]"] * 1000) + "]",
        "[" * 70,
    ],
    ids=["nothing", "empty", "usual", "deepest", "only text", "wide", "no JSON"],
)
def test_usual_arguments_are_not_too_deep(text: str) -> None:
    assert not too_deep(text)


@pytest.mark.parametrize("depth", [65, 500, 950, 100_000])
def test_deep_ones_are(depth: int) -> None:
    assert too_deep(lists(depth))
    assert too_deep('{"a":' * depth + "1" + "}" * depth)
