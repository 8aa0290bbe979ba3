"""Whatever stands in a field that a provider can fill, the answer ends and can be stored."""

import asyncio
import json
from typing import Any

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tenuto.agent.allowance import LimitReached
from tenuto.agent.providers.catalogue.description import Describer
from tenuto.agent.providers.connection.errors import Border
from tenuto.agent.providers.connection.exchange import Reply
from tenuto.agent.providers.wires.anthropic_answer import AnthropicAnswer
from tenuto.agent.providers.wires.chat_answer import ChatAnswer
from tenuto.agent.providers.wires.ollama_answer import OllamaAnswer
from tenuto.agent.providers.wires.responses_answer import ResponsesAnswer
from tenuto.ports.model import ProviderError
from tests.agent.test_answer import Paper
from tests.hostile.fields import ANTHROPIC_EVENTS, ANTHROPIC_PLACES, OPENAI_EVENT, OPENAI_PLACES
from tests.hostile.own_fields import (
    OLLAMA_EVENTS,
    OLLAMA_PLACES,
    RESPONSES_EVENTS,
    RESPONSES_PLACES,
    odd,
)
from tests.hostile.shape import put
from tests.providers.made import SEALER

ANY_CHARACTER = st.characters(exclude_categories=())
"""Half characters and zero bytes too."""
ANY_TEXT = st.text(ANY_CHARACTER, max_size=20)
ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | ANY_TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(ANY_TEXT, inner, max_size=3),
    max_leaves=8,
)
ERRORS = ("error", "error.message", "error.code", "error.type", "error.detail", "error.error")
DESCRIBED = [
    "id",
    "architecture",
    "capabilities",
    "supported_parameters",
    "type",
    "meta",
    "context_length",
]
TOLD = {"type": "error", "error": {"message": "no", "code": "x", "type": "y"}}
BORDER = Border("house", secret="a-key-of-no-value")


def openai_events() -> st.SearchStrategy[list[Any]]:
    odd = st.builds(put, st.just(OPENAI_EVENT), st.sampled_from(OPENAI_PLACES), ANYTHING)
    return st.lists(odd | errors(), min_size=1, max_size=4)


def anthropic_events() -> st.SearchStrategy[list[Any]]:
    def at(where: str, value: Any) -> Any:
        kind, place = where.split()
        return put(ANTHROPIC_EVENTS[kind], place, value)

    odd = st.builds(at, st.sampled_from(ANTHROPIC_PLACES), ANYTHING)
    return st.lists(odd | errors(), min_size=1, max_size=4)


def errors() -> st.SearchStrategy[Any]:
    return st.builds(put, st.just(TOLD), st.sampled_from(ERRORS), ANYTHING)


def own_events(events: dict[str, Any], places: tuple[str, ...]) -> st.SearchStrategy[list[Any]]:
    def at(where: str, value: Any) -> Any:
        return odd(events, where, value)[where.split()[0]]

    one = st.builds(at, st.sampled_from(places), ANYTHING)
    return st.lists(one | st.sampled_from([*events.values()]) | errors(), min_size=1, max_size=6)


async def recorded(answer: Reply, events: list[Any]) -> None:
    """All that these events give is written down, and every stored event can be sent."""
    paper = Paper()
    try:
        for event in events:
            paper.builder.take(answer.feed([json.dumps(event).encode()]))
            if answer.error is not None:
                raise answer.error
        answer.over = True
        paper.builder.take(answer.end())
    except ProviderError as error:
        str(error).encode()
        assert len(str(error)) < 1000
    except LimitReached:
        pass
    await paper.wrote()
    for event in paper.log.events:
        msgspec.json.encode(event)
    usage = paper.meter.total()
    for count in (
        usage.input_tokens,
        usage.output_tokens,
        usage.reasoning_tokens,
        usage.cache_read_tokens,
        usage.cache_write_tokens,
    ):
        assert type(count) is int and 0 <= count <= 2**53
    assert 0 <= paper.meter.total().cache_read_tokens <= 2**53


@pytest.mark.guarantee("E1")
@settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(openai_events())
def test_anything_in_any_field_of_the_openai_wire_can_be_stored(events: list[Any]) -> None:
    asyncio.run(recorded(ChatAnswer(BORDER, SEALER), events))


@pytest.mark.guarantee("E1")
@settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(anthropic_events())
def test_anything_in_any_field_of_the_anthropic_wire_can_be_stored(events: list[Any]) -> None:
    asyncio.run(recorded(AnthropicAnswer(BORDER, SEALER), events))


@pytest.mark.guarantee("E1")
@settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(own_events(RESPONSES_EVENTS, RESPONSES_PLACES))
def test_anything_in_any_field_of_the_responses_wire_can_be_stored(events: list[Any]) -> None:
    asyncio.run(recorded(ResponsesAnswer(BORDER, SEALER), events))


@pytest.mark.guarantee("E1")
@settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(own_events(OLLAMA_EVENTS, OLLAMA_PLACES))
def test_anything_in_any_field_of_ollamas_wire_can_be_stored(events: list[Any]) -> None:
    asyncio.run(recorded(OllamaAnswer(BORDER, SEALER), events))


@settings(max_examples=100, deadline=None)
@given(st.integers(200, 999), st.dictionaries(ANY_TEXT, ANY_TEXT, max_size=2), ANYTHING)
def test_any_refusal_is_told_in_words(status: int, headers: dict[str, str], body: Any) -> None:
    error = BORDER.refused(status, headers, json.dumps(body).encode())
    str(error).encode()
    assert error.retry_after is None or 0 <= error.retry_after <= 86_400


@settings(max_examples=100, deadline=None)
@given(
    ANYTHING
    | st.lists(
        st.dictionaries(
            st.sampled_from(DESCRIBED),
            ANYTHING | st.fixed_dictionaries({"input_modalities": ANYTHING, "n_ctx": ANYTHING}),
        )
    ).map(lambda entries: {"data": entries})
)
def test_any_list_of_models_can_be_described_and_sent(answer: Any) -> None:
    for model in Describer("house").listed(answer):
        msgspec.json.encode(model)
        assert 0 < len(model.name) <= 256 and 0 < model.context_window <= 2**53
