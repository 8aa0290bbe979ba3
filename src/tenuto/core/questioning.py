"""Questions, as pure decisions: asked by a run, answered by a person or by a prompt that steers."""

from collections.abc import Sequence

from msgspec.structs import replace

from tenuto.core import asking
from tenuto.core.asking import Stand
from tenuto.core.desk import Change, Desk, Moment
from tenuto.core.event import Event
from tenuto.core.message import ToolPart
from tenuto.core.parking import roused
from tenuto.core.question import Question, QuestionWord
from tenuto.core.run import Input, InputText, Run, WhenBusy
from tenuto.core.session import Fence
from tenuto.core.text import cut
from tenuto.core.value import QuestionId

INSTEAD_CHARACTERS = 2_000
"""Of a prompt that steers: the run gets all of it, right after."""


def ask(
    desk: Desk, fence: Fence, question: Question, stand: Stand, moment: Moment
) -> Change[ToolPart]:
    """Ask before a call begins; a prompt that waits to steer the run answers at once."""
    change = asking.ask(desk, fence, question, stand, moment)
    return replace(change, events=change.events + _at_once(desk, question, moment))


def ask_meanwhile(desk: Desk, fence: Fence, question: Question, moment: Moment) -> Change[None]:
    """Ask while the call is under way."""
    change = asking.ask_meanwhile(desk, fence, question, moment)
    return replace(change, events=change.events + _at_once(desk, question, moment))


def answer(
    desk: Desk, question_id: QuestionId, said: QuestionWord, moment: Moment
) -> Change[Question]:
    """The first answer wins."""
    question = asking.pending(desk, Question, question_id).answer(said)
    return Change(
        events=(asking.answered(question, moment),),
        control=roused(desk.control),
        result=question,
    )


def steered(desk: Desk, prompts: Sequence[Run], moment: Moment) -> tuple[Event, ...]:
    """What prompts answer that wait from now on, and steer: all that the active run asks."""
    run = desk.active
    steers = [prompt for prompt in prompts if _steers(desk, prompt)]
    if run is None or not steers or desk.control.cancels.reason_for(run):
        return ()
    return tuple(
        _instead(question, steers[0], moment)
        for question in desk.open(Question)
        if question.run_id == run.id
    )


def _at_once(desk: Desk, question: Question, moment: Moment) -> tuple[Event, ...]:
    steer = next((prompt for prompt in desk.queue if _steers(desk, prompt)), None)
    return () if steer is None else (_instead(question, steer, moment),)


def _steers(desk: Desk, prompt: Run) -> bool:
    is_covered = desk.control.cancels.reason_for(prompt) is not None
    return prompt.when_busy is WhenBusy.STEER and not prompt.held and not is_covered


def _instead(question: Question, steer: Run, moment: Moment) -> Event:
    text = cut(_words(steer.input), INSTEAD_CHARACTERS)
    return asking.answered(question.answer_instead(text), moment)


def _words(given: Input) -> str:
    if isinstance(given, str):
        return given
    said = (item.text if isinstance(item, InputText) else f"[{item.name}]" for item in given)
    return "\n".join(said)
