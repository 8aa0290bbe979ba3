"""Summaries and titles: requests that nobody sees come."""

import pytest

from tenuto.agent import prompts
from tenuto.agent.allowance import Allowance
from tenuto.agent.retries import Retries
from tenuto.agent.summary import Summariser
from tenuto.agent.titles import TitleMaker
from tenuto.clock import SystemClock
from tenuto.core.meter import Meter
from tenuto.core.run import Usage
from tenuto.core.value import SessionId
from tenuto.ports.model import Finished, ProviderError, TextBlock, UserTurn
from tenuto.ports.query import Background
from tests.agent.scripted import BROKEN, MODEL, Models, Scripted, TranscriptBuilder, said
from tests.agent.test_context import call, text, thought
from tests.core.test_run import QUEUED

pytestmark = pytest.mark.anyio


class OneTalk:
    """As much of a library as a title needs."""

    def __init__(self, talk: TranscriptBuilder) -> None:
        self._talk = talk

    async def background(self, session_id: SessionId) -> Background:
        return Background(summary=None, messages=tuple(self._talk.messages), head=0)


async def titled(answer: str, talk: TranscriptBuilder | None = None) -> tuple[str | None, Scripted]:
    provider = Scripted(said(answer))
    library = OneTalk(
        talk or TranscriptBuilder().user("How do tides work?").answer(text("The moon pulls."))
    )
    maker = TitleMaker(library, Models(provider), SystemClock())  # type: ignore[arg-type]
    found = await maker.make(QUEUED.session_id, QUEUED)
    assert found is not None
    # It is paid for, also if nothing came of it.
    assert (found.model, found.usage.output_tokens > 0) == (MODEL.id, True)
    return found.title, provider


async def summed_up(provider: Scripted, talk: TranscriptBuilder, summary: str | None = None) -> str:
    return await summariser(provider).summarise(summary, talk.messages)


def summariser(provider: Scripted, meter: Meter | None = None) -> Summariser:
    return Summariser(
        provider,
        MODEL,
        meter=meter or Meter(),
        allowance=Allowance(),
        retries=Retries(SystemClock()),
    )


async def test_a_summary_is_asked_for_in_plain_words_after_all_that_was_said() -> None:
    provider = Scripted(said(" They greeted. "))
    looked = call("look", output="x" * 9_000)
    talk = TranscriptBuilder().user("Hi").answer(thought("Hm."), looked, text("Hello."))
    found = await summed_up(provider, talk)
    assert found == "They greeted."
    (request,) = provider.requests
    (turn,) = request.turns
    assert isinstance(turn, UserTurn)
    (block,) = turn.blocks
    assert isinstance(block, TextBlock)
    assert block.text.endswith(prompts.SUMMARY)
    assert "User: Hi" in block.text and "Assistant: Hello." in block.text
    assert "[called look with" in block.text
    # Long results are told in short, and thoughts not at all.
    assert len(block.text) < 6_000 and "Hm." not in block.text
    assert (request.model, request.tools) == ("one", ())


async def test_a_summary_builds_on_the_one_before() -> None:
    provider = Scripted(said("Both."))
    await summed_up(provider, TranscriptBuilder().user("Hi"), summary="They had met.")
    assert "They had met." in str(provider.requests[0].turns)


async def test_what_does_not_fit_into_one_request_is_summed_up_piece_by_piece() -> None:
    # The window has 1,000 tokens, and half of it is for what is to be summed up.
    talk = TranscriptBuilder()
    for n in range(4):
        talk.user(f"{n}" * 900)
    provider = Scripted(said("First."), said("First and second."))
    assert (await summed_up(provider, talk)).startswith("First and second.")
    assert "First." in str(provider.requests[1].turns)


async def test_the_todo_list_survives_a_summary() -> None:
    done = {"items": [{"text": "look", "done": True}]}
    talk = TranscriptBuilder().user("Do").answer(call("todo", input=done), text("Ok."))
    found = await summed_up(Scripted(said("Short.")), talk)
    assert found.endswith('The todo list as it was: {"items":[{"text":"look","done":true}]}')


async def test_an_empty_summary_is_an_error_and_never_takes_the_place_of_history() -> None:
    with pytest.raises(ProviderError, match="no summary"):
        await summed_up(Scripted([Finished(reason="end_turn")]), TranscriptBuilder().user("Hi"))


async def test_a_summary_costs_what_it_costs() -> None:
    meter = Meter()
    with pytest.raises(ProviderError):
        await summariser(Scripted([*said("half a summary"), BROKEN]), meter).summarise(
            None, TranscriptBuilder().user("Hi").messages
        )
    assert meter.total().output_tokens > 0
    assert meter.total() != Usage()


@pytest.mark.parametrize(
    ("answer", "title"),
    [
        ("How tides work", "How tides work"),
        ('"How tides work."', "How tides work"),
        ("Let me think.\n\n**How tides work**\n", "How tides work"),
        ("word " * 50, ("word " * 16).strip()),
        ("...", None),
        ("  \n ", None),
    ],
)
async def test_a_title_is_tidied(answer: str, title: str | None) -> None:
    found, _ = await titled(answer)
    assert (found.strip() if found else found) == title


async def test_a_title_is_made_from_the_first_exchange_only() -> None:
    talk = TranscriptBuilder().user("x" * 5000).answer(text("Fine.")).user("Secret second prompt")
    _, provider = await titled("A title", talk)
    (request,) = provider.requests
    assert "Secret" not in str(request)
    assert len(str(request)) < 5000
    assert request.max_tokens is not None
