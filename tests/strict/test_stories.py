"""Whatever a session went through, the next request is one that no provider refuses.

`python -m tests.strict 20000` looks at as many stories as are wanted.
"""

from typing import Any

import msgspec
import pytest
from msgspec.structs import replace

from tenuto.agent.context import build_turns
from tenuto.core.message import ToolPart, ToolState, assistant_message
from tenuto.ports.model import ModelRequest
from tests.agent.scripted import TranscriptBuilder
from tests.core.test_run import NOW, QUEUED
from tests.strict import facts
from tests.strict.ear import Ear, Pad
from tests.strict.intent import Intent, Make, Think
from tests.strict.notary import sign
from tests.strict.story import TOOLS, Story
from tests.strict.vendor import VENDORS
from tests.support.seed import seed_of

STORIES = 120
"""In one test; the long run takes thousands."""


@pytest.mark.guarantee("E5")
@pytest.mark.parametrize("part", range(4))
def test_no_request_of_any_story_is_refused(part: int) -> None:
    first = seed_of(f"stories {part}")
    for seed in range(first, first + STORIES):
        story = Story(seed).run()
        assert not story.refused, f"seed {seed}: {story.refused[0]}"


def test_a_story_is_the_same_each_time_it_is_told() -> None:
    assert Story(7).run().messages == Story(7).run().messages


def test_stories_hold_what_they_are_told_for() -> None:
    """Seals of every wire, calls in every state, every kind of ending."""
    messages = [m for seed in range(200) for m in Story(seed).run().messages]
    parts = [part for message in messages for part in message.parts]
    seals = {seal.wire for part in parts if (seal := getattr(part, "seal", None))}
    assert {"anthropic", "responses", "chat", "ollama"} <= seals
    states = {part.state for part in parts if isinstance(part, ToolPart)}
    assert len(states) == 8
    assert {"end_turn", "max_tokens", "cancelled", "interrupted", "error", "steered"} <= {
        message.finish_reason for message in messages
    }


@pytest.mark.parametrize(
    ("vendor", "mark"),
    [
        ("anthropic", sign(facts.OPUS.name, "Hm")),
        ("anthropic-older", sign(facts.SONNET.name, "Hm")),
        ("responses", '"encrypted_content":"'),
        ("chat-gemini", sign(facts.GEMINI.name, "shell {}")),
        ("chat-deepseek", '"reasoning_content":"Hm"'),
        ("chat-kimi", '"reasoning_content":"Hm"'),
        ("chat-openrouter", sign(facts.OPENROUTER.name, "Hm")),
        ("ollama", '"thinking":"Hm"'),
    ],
)
def test_a_thought_is_given_back_to_the_model_that_had_it(vendor: str, mark: str) -> None:
    """Else the stories would prove too little: a wire that forgets everything is seldom refused."""
    ear = Ear(next(known for known in VENDORS if known.name == vendor))
    assert mark in _next_request(ear, Intent((Think("Hm"), Make("c1", "shell", "{}"))))


def _next_request(ear: Ear, intent: Intent) -> str:
    talk = TranscriptBuilder().user("Go")
    answer = assistant_message(QUEUED, of=QUEUED.id, now=NOW)
    pad, known = Pad(answer), ear.vendor.facts
    asked: dict[str, Any] = {"messages": [], "input": []}
    ear.hear(ear.vendor.answer(intent, asked, known).payloads(), pad, stem="1")
    parts = [
        replace(part, input={}, state=ToolState.DONE, output="")
        if isinstance(part, ToolPart)
        else part
        for part in pad.message().parts
    ]
    talk.answer(*parts, finish=None)
    turns = build_turns(talk.messages, {})
    request = ModelRequest(model=known.name, system="", turns=turns, tools=TOOLS)
    return msgspec.json.encode(ear.body(request)).decode()
