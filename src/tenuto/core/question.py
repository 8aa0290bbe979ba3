"""A question: what a run asks a person, and waits for."""

from enum import StrEnum
from typing import Annotated

from msgspec import Meta
from msgspec.structs import replace

from tenuto.core.error import AlreadyAnswered, InvalidInput
from tenuto.core.value import CallId, PartId, QuestionId, RunId, SessionId, Value

MOST = 4
"""Questions that are asked together."""
ANSWER_CHARACTERS = 10_000
Answers = tuple[tuple[str, ...], ...]
"""For each question what was chosen or written; nothing where it was passed over."""


class QuestionState(StrEnum):
    PENDING = "pending"
    ANSWERED = "answered"
    DISMISSED = "dismissed"
    CANCELLED = "cancelled"


class AnsweredBy(StrEnum):
    USER = "user"
    STEER = "steer"
    """A prompt that was sent meanwhile to steer the run: it is the answer."""
    RUN = "run"
    """Nobody: the run ended first."""


class Option(Value):
    label: str
    about: str = ""


class Inquiry(Value):
    """One of the questions that are asked together."""

    question: str
    options: tuple[Option, ...] = ()
    """What to choose from; whoever answers may also write something else."""
    multiple: bool = False
    """Whether more than one answer may be given."""


class QuestionWord(Value, forbid_unknown_fields=True):
    """What a person says to a question: an answer to each, or that there will be none."""

    answers: (
        tuple[
            tuple[Annotated[str, Meta(min_length=1, max_length=ANSWER_CHARACTERS)], ...],
            ...,
        ]
        | None
    ) = None
    dismiss: bool = False


class Question(Value):
    id: QuestionId
    session_id: SessionId
    root_session_id: SessionId
    """The session that people look at: of a sub-agent, the one that started it."""
    run_id: RunId
    call_id: CallId
    part_id: PartId
    questions: tuple[Inquiry, ...]
    state: QuestionState = QuestionState.PENDING
    answers: Answers = ()
    answered_by: AnsweredBy | None = None
    """None while pending."""

    def answer(self, said: QuestionWord) -> "Question":
        """Raises InvalidInput for what is no answer to it."""
        if said.dismiss:
            if said.answers is not None:
                raise InvalidInput("dismiss: a question is answered or dismissed, not both")
            return replace(
                self._pending(), state=QuestionState.DISMISSED, answered_by=AnsweredBy.USER
            )
        answers = _checked(self.questions, said.answers)
        return replace(
            self._pending(),
            state=QuestionState.ANSWERED,
            answers=answers,
            answered_by=AnsweredBy.USER,
        )

    def answer_instead(self, text: str) -> "Question":
        """With what somebody wrote meanwhile, whatever was asked."""
        rest = tuple(() for _ in self.questions[1:])
        return replace(
            self._pending(),
            state=QuestionState.ANSWERED,
            answers=((text,), *rest),
            answered_by=AnsweredBy.STEER,
        )

    def withdraw(self) -> "Question":
        return replace(self._pending(), state=QuestionState.CANCELLED, answered_by=AnsweredBy.RUN)

    def _pending(self) -> "Question":
        if self.state is not QuestionState.PENDING:
            raise AlreadyAnswered(f"question {self.id} is already {self.state}")
        return self


def _checked(asked: tuple[Inquiry, ...], answers: Answers | None) -> Answers:
    if answers is None:
        raise InvalidInput("answers: give an answer to each question, or dismiss")
    if len(answers) != len(asked):
        raise InvalidInput(f"answers: {len(asked)} questions want as many answers")
    if not any(answers):
        raise InvalidInput("answers: not one of the questions is answered")
    for number, (inquiry, given) in enumerate(zip(asked, answers, strict=True)):
        if len(given) > 1 and not inquiry.multiple:
            raise InvalidInput(f"answers[{number}]: this question takes one answer")
        if len(set(given)) < len(given):
            raise InvalidInput(f"answers[{number}]: the same answer is given twice")
        if not all(text.strip() for text in given):
            raise InvalidInput(f"answers[{number}]: an answer says nothing")
    return answers
