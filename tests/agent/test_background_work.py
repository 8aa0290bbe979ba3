"""Summaries and titles: requests that nobody sees come."""

import pytest

from tenuto.agent import prompts
from tenuto.agent.allowance import Allowance
from tenuto.agent.compaction import old_messages, summarise, window_characters
from tenuto.agent.context import GO_ON
from tenuto.agent.titles import TitleMaker
from tenuto.core.meter import Meter
from tenuto.core.run import Usage
from tenuto.core.value import SessionId
from tenuto.ports.model import Finished, ProviderError, TextBlock, UserTurn
from tenuto.ports.query import Background
from tests.agent.scripted import BROKEN, MODEL, Models, Scripted, TranscriptBuilder, said
from tests.agent.test_context import text
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
    maker = TitleMaker(library, Models(provider))  # type: ignore[arg-type]
    return await maker.make(QUEUED.session_id, QUEUED), provider


async def summed_up(provider: Scripted, talk: TranscriptBuilder, summary: str | None = None) -> str:
    return await summarise(
        provider,
        MODEL,
        summary=summary,
        messages=talk.messages,
        meter=Meter(),
        allowance=Allowance(),
    )


async def test_a_summary_is_asked_for_after_all_that_was_said() -> None:
    provider = Scripted(said(" They greeted. "))
    talk = TranscriptBuilder().user("Hi").answer(text("Hello."))
    assert await summed_up(provider, talk) == "They greeted."
    (request,) = provider.requests
    assert request.turns[-1] == UserTurn(blocks=(TextBlock(text=prompts.SUMMARY),))
    assert GO_ON not in str(request)
    assert (request.model, request.tools) == ("one", ())


async def test_a_summary_builds_on_the_one_before() -> None:
    provider = Scripted(said("Both."))
    await summed_up(provider, TranscriptBuilder().user("Hi"), summary="They had met.")
    assert "They had met." in provider.requests[0].system


async def test_an_empty_summary_is_an_error_and_never_takes_the_place_of_history() -> None:
    with pytest.raises(ProviderError, match="no summary"):
        await summed_up(Scripted([Finished(reason="end_turn")]), TranscriptBuilder().user("Hi"))


async def test_a_summary_costs_what_it_costs() -> None:
    meter = Meter()
    with pytest.raises(ProviderError):
        await summarise(
            Scripted([*said("half a summary"), BROKEN]),
            MODEL,
            summary=None,
            messages=TranscriptBuilder().user("Hi").messages,
            meter=meter,
            allowance=Allowance(),
        )
    assert meter.total().output_tokens > 0
    assert meter.total() != Usage()


def test_a_run_under_way_can_do_without_all_before_its_prompt() -> None:
    talk = TranscriptBuilder().user("One").answer(text("1")).user("Two").answer(text("2"))
    found = old_messages(Background(summary=None, messages=tuple(talk.messages), head=0))
    assert [message.text() for message in found] == ["One", "1"]
    assert old_messages(Background(summary=None, messages=(), head=0)) == ()


def test_room_is_left_for_the_answer() -> None:
    assert window_characters(MODEL) == 3200


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
