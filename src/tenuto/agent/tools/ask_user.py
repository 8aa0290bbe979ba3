"""`ask_user`: the model asks the person it works for, and waits."""

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, ClassVar

from msgspec import Meta, field

from tenuto.agent.tools.arguments import Arguments
from tenuto.agent.tools.built_in import BuiltIn
from tenuto.core.question import MOST, Answers, Inquiry, Option
from tenuto.core.rule import Subject
from tenuto.ports.tool import Parallel, Place, ReplyKind, ToolFailed, ToolResult, UserReply

MOST_OPTIONS = 12
QUESTION_CHARACTERS = 2_000
LABEL_CHARACTERS = 200
ABOUT_CHARACTERS = 1_000
UNANSWERED = {
    ReplyKind.DISMISSED: (
        "The user does not want to answer this. Go on as you think best, or end your turn."
    ),
    ReplyKind.NOBODY: (
        "Nobody can be asked in this run. Decide yourself, and say in your answer what you assumed."
    ),
}


class AskedOption(Arguments):
    synonyms: ClassVar[Mapping[str, str]] = {
        "text": "label",
        "value": "label",
        "name": "label",
        "title": "label",
        "description": "about",
        "detail": "about",
    }

    label: Annotated[
        str, Meta(min_length=1, max_length=LABEL_CHARACTERS, description="A few words.")
    ]
    about: Annotated[
        str, Meta(max_length=ABOUT_CHARACTERS, description="What choosing it means.")
    ] = ""


class AskedQuestion(Arguments):
    synonyms: ClassVar[Mapping[str, str]] = {
        "text": "question",
        "prompt": "question",
        "choices": "options",
        "multi_select": "multiple",
        "multiselect": "multiple",
    }

    question: Annotated[
        str, Meta(min_length=1, max_length=QUESTION_CHARACTERS, description="One question.")
    ]
    options: Annotated[
        list[AskedOption],
        Meta(
            max_length=MOST_OPTIONS,
            description="What to choose from, the best first; the user can always write "
            "something else.",
        ),
    ] = field(default_factory=list)
    multiple: Annotated[bool, Meta(description="Whether several may be chosen.")] = False


class AskUserArguments(Arguments):
    synonyms: ClassVar[Mapping[str, str]] = {"question": "questions"}

    questions: Annotated[
        list[AskedQuestion],
        Meta(min_length=1, max_length=MOST, description="What to ask, together."),
    ]


class AskUser(BuiltIn[AskUserArguments]):
    name = "ask_user"
    about = (
        "Ask the user what only they can decide, and wait for the answer: up to four questions at "
        "once. Do not ask what you can find out yourself, nor for permission to use a tool."
    )
    takes = AskUserArguments

    def __init__(self, *given: Any) -> None:
        super().__init__(*given)
        self.parallel = Parallel.WAITING

    def inquiries(self, arguments: dict[str, Any]) -> Sequence[Inquiry]:
        given, _ = self._read(arguments)
        return _inquiries(given)

    async def about_call(self, given: AskUserArguments, place: Place) -> Subject:
        _inquiries(given)
        return await super().about_call(given, place)

    async def work(self, given: AskUserArguments, place: Place) -> ToolResult:
        reply = place.reply or await place.ask(_inquiries(given))
        return ToolResult(
            text=_told(given, reply),
            details={"reply": str(reply.kind), "answers": [list(one) for one in reply.answers]},
        )


def _inquiries(given: AskUserArguments) -> tuple[Inquiry, ...]:
    return tuple(_inquiry(one) for one in given.questions)


def _inquiry(asked: AskedQuestion) -> Inquiry:
    labels = [option.label for option in asked.options]
    if len(set(labels)) < len(labels):
        raise ToolFailed(f"Two options of {asked.question!r} are the same.")
    return Inquiry(
        question=asked.question,
        options=tuple(Option(label=o.label, about=o.about) for o in asked.options),
        multiple=asked.multiple,
    )


def _told(given: AskUserArguments, reply: UserReply) -> str:
    if reply.kind is ReplyKind.INSTEAD:
        return f"The user wrote instead: {reply.answers[0][0]}"
    if reply.kind is not ReplyKind.ANSWERED:
        return UNANSWERED[reply.kind]
    if len(given.questions) == 1:
        return f"The user answered: {_joined(reply.answers[0])}"
    return "The user answered:\n" + _listed(given, reply.answers)


def _listed(given: AskUserArguments, answers: Answers) -> str:
    asked = zip(given.questions, answers, strict=True)
    return "\n".join(f"- {one.question} → {_joined(said)}" for one, said in asked)


def _joined(said: tuple[str, ...]) -> str:
    return "; ".join(said) or "(no answer)"
