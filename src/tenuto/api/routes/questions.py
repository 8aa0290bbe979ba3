"""Questions: what runs ask a person, and wait for."""

from starlette.types import ASGIApp

from tenuto.api.call import Call, answer
from tenuto.api.endpoint import Endpoint
from tenuto.core.question import Question, QuestionWord
from tenuto.core.value import QuestionId, Value


class QuestionList(Value):
    questions: tuple[Question, ...]


async def listing(call: Call) -> ASGIApp:
    await call.sees.session(call.session_id)
    questions = await call.sees.things(call.session_id, Question)
    return answer(QuestionList(questions=tuple(questions)))


async def reply(call: Call) -> ASGIApp:
    said = await call.body(QuestionWord)
    question_id = QuestionId(call.path("id"))
    return answer(await call.to.engine.answers.answer_question(question_id, said, by=call.who))


ENDPOINTS = (
    Endpoint(
        method="GET",
        path="/api/sessions/{id}/questions",
        handler=listing,
        tag="questions",
        summary="A session's questions, oldest first",
        gives=QuestionList,
        codes=("not_found",),
    ),
    Endpoint(
        method="POST",
        path="/api/questions/{id}",
        handler=reply,
        tag="questions",
        summary="QuestionWord a question or dismiss it; the first answer wins",
        takes=QuestionWord,
        gives=Question,
        codes=("not_found", "already_answered", "invalid_input"),
    ),
)
