"""Approvals and questions of a run: answered here, refused, or left to somebody else."""

import asyncio
import os
from collections.abc import Coroutine
from typing import Any

from tenuto.client import ApiError, Client
from tenuto.core.approval import Approval, Decision
from tenuto.core.event import (
    ApprovalRequested,
    ApprovalResolved,
    QuestionAnswered,
    QuestionAsked,
)
from tenuto.core.question import Inquiry, Question
from tenuto.core.value import Value
from tenuto.terminal.exits import ExitCode, Leave
from tenuto.terminal.options import OnAsk
from tenuto.terminal.out import note

STDIN = 0
NOTE = "Nobody can be asked: this run was started from a script. Do what you can without it."
REPLAY_SECONDS = 0.2
"""An answer that is already in the log comes before this: then nothing is asked."""
WORDS = {
    "y": Decision.ALLOW_ONCE,
    "yes": Decision.ALLOW_ONCE,
    "a": Decision.ALLOW_SESSION,
    "n": Decision.DENY,
    "no": Decision.DENY,
    "": Decision.DENY,
}


class Refused(Value):
    """What was denied, dismissed or left because nobody could be asked."""

    id: str
    kind: str
    about: str


class RunAsker:
    def __init__(self, tenuto: Client, on_ask: OnAsk) -> None:
        self.refused: list[Refused] = []
        self._tenuto = tenuto
        self._on_ask = on_ask
        self._turn = asyncio.Lock()
        self._asking: dict[str, asyncio.Task[None]] = {}

    async def take(self, event: object) -> None:
        """Raises Leave where the run is left to wait without us."""
        match event:
            case ApprovalRequested(approval=approval):
                await self._approval(approval)
            case QuestionAsked(question=question):
                await self._question(question)
            case ApprovalResolved(approval=thing) | QuestionAnswered(question=thing):
                if asking := self._asking.pop(thing.id, None):
                    asking.cancel()
            case _:
                return

    def close(self) -> None:
        for asking in self._asking.values():
            asking.cancel()

    async def _approval(self, approval: Approval) -> None:
        about = f"{approval.tool} {approval.input}"
        asked = Refused(id=approval.id, kind="approval", about=about)
        match self._on_ask:
            case OnAsk.ASK:
                self._ask(approval.id, self._ask_approval(approval, about))
            case OnAsk.ALLOW:
                await self._answered(self._tenuto.answer(approval.id, Decision.ALLOW_ONCE))
            case OnAsk.DENY:
                denying = self._tenuto.answer(approval.id, Decision.DENY, note=NOTE)
                if await self._answered(denying):
                    self._refuse(asked, "denied, as nobody can be asked")
            case _:
                self._leave_open(asked)

    async def _question(self, question: Question) -> None:
        about = " ".join(one.question for one in question.questions)
        asked = Refused(id=question.id, kind="question", about=about)
        match self._on_ask:
            case OnAsk.ASK:
                self._ask(question.id, self._ask_question(question))
            case OnAsk.ALLOW | OnAsk.DENY:
                if await self._answered(self._tenuto.answer_question(question.id, None)):
                    self._refuse(asked, "dismissed, as nobody can be asked")
            case _:
                self._leave_open(asked)

    def _leave_open(self, asked: Refused) -> None:
        note(f"waits for an answer to {asked.kind} {asked.id}: {asked.about}")
        if self._on_ask is OnAsk.LEAVE:
            self.refused.append(asked)
            raise Leave(ExitCode.NEEDED_A_PERSON, "left: the run waits for a person")

    def _refuse(self, asked: Refused, how: str) -> None:
        self.refused.append(asked)
        note(f"{how}: {asked.about}")

    async def _answered(self, answering: Coroutine[Any, Any, object]) -> bool:
        try:
            await answering
        except ApiError as error:
            # Somebody was faster, or the run has ended meanwhile: nothing is left to say.
            if error.status in (404, 409):
                return False
            raise
        return True

    def _ask(self, thing_id: str, asking: Coroutine[Any, Any, None]) -> None:
        self._asking[thing_id] = asyncio.ensure_future(self._in_turn(asking))

    async def _in_turn(self, asking: Coroutine[Any, Any, None]) -> None:
        try:
            await asyncio.sleep(REPLAY_SECONDS)
            async with self._turn:
                await asking
        finally:
            asking.close()

    async def _ask_approval(self, approval: Approval, about: str) -> None:
        note(f"{about}\n  allow? y once, a for this session, n no: ")
        while (decision := WORDS.get((await _line()).lower())) is None:
            note("y, a or n: ")
        await self._answered(self._tenuto.answer(approval.id, decision))

    async def _ask_question(self, question: Question) -> None:
        answers = tuple([await _ask_one(inquiry) for inquiry in question.questions])
        given = answers if any(answers) else None
        await self._answered(self._tenuto.answer_question(question.id, given))


async def _ask_one(inquiry: Inquiry) -> tuple[str, ...]:
    choices = [f"{n} {option.label}" for n, option in enumerate(inquiry.options, start=1)]
    note("\n  ".join([inquiry.question, *choices]))
    said = await _line()
    if said.isdecimal() and 0 < int(said) <= len(inquiry.options):
        return (inquiry.options[int(said) - 1].label,)
    return (said,) if said else ()


async def _line() -> str:
    """What is typed up to Enter; nothing at the end of the input."""
    loop = asyncio.get_running_loop()
    ready = asyncio.Event()
    # Not in a thread: an answer from elsewhere must leave the next line to the next question.
    loop.add_reader(STDIN, ready.set)
    try:
        await ready.wait()
        return os.read(STDIN, 1 << 16).decode(errors="replace").strip()
    finally:
        loop.remove_reader(STDIN)
