"""A session that a test drives in a store step by step, with a clock and ids that a test can know."""

from itertools import count
from typing import Any

from msgspec import UNSET, UnsetType
from msgspec.structs import asdict, replace

from tenuto.core import (
    accepting,
    cancelling,
    consent,
    editing,
    giving,
    settling,
    starting,
    steering,
)
from tenuto.core.accepting import Prompt
from tenuto.core.approval import Approval, Decision, Word
from tenuto.core.asking import Stand
from tenuto.core.desk import Moment, Sight
from tenuto.core.event import (
    Event,
    MessageFinished,
    MessageStarted,
    PartDelta,
    PartField,
    PartStarted,
    PartUpdated,
)
from tenuto.core.message import (
    Message,
    Part,
    TextPart,
    ToolChange,
    ToolPart,
    ToolState,
    change_of,
)
from tenuto.core.principal import OWNER
from tenuto.core.projection import Transcript
from tenuto.core.run import Ending, Mode, Reason, Run, RunStatus, WhenBusy
from tenuto.core.session import DEFAULT_WORKSPACE, Fence, Session, SessionChanges, Workspace
from tenuto.core.value import (
    ApprovalId,
    CallId,
    Instant,
    MessageId,
    NodeId,
    PartId,
    RunId,
    SessionId,
    StreamId,
    WorkspaceId,
)
from tenuto.ports.query import NodeCard, Once
from tenuto.ports.store import Store

NODE = NodeId("node_a")
START = Instant("2030-01-01T00:00:00.000Z")
END_TURN = Ending(status=RunStatus.COMPLETED, reason=Reason.END_TURN)


def instant(milliseconds: int) -> Instant:
    seconds, rest = divmod(milliseconds, 1000)
    return Instant(f"2030-01-01T00:{seconds // 60:02}:{seconds % 60:02}.{rest:03}Z")


def card(node: NodeId, **fields: Any) -> NodeCard:
    """What a node says of itself."""
    return NodeCard(id=node, **{"started_at": START, **fields})


def new_session(name: str, **fields: Any) -> Session:
    known = {"workspace_id": DEFAULT_WORKSPACE, "created_at": START, "updated_at": START}
    return Session(id=SessionId(f"ses_{name}"), **{**known, **fields})


async def make_workspace(store: Store, name: str = DEFAULT_WORKSPACE) -> Workspace:
    workspace = Workspace(id=WorkspaceId(name), name=name, path="/srv", created_at=START)
    return await store.put_workspace(workspace)


async def whole_log(store: Store, stream: str) -> list[Event]:
    page = await store.read(StreamId(stream), after=0, limit=100_000)
    return [stored.event() for stored in page.events]


class DrivenSession:
    """One session and everything that can happen to it. Every step moves the clock."""

    def __init__(self, store: Store, session_id: SessionId, *, node: NodeId = NODE) -> None:
        self.store = store
        self.id = session_id
        self.node = node
        self.by = OWNER
        """Who asks for all that a person asks for."""
        self.fence = Fence(run_id=RunId("run_none"), epoch=0)
        self._ticks = count(1)
        self._names = count(1)

    @classmethod
    async def begin(cls, store: Store, name: str = "one", **fields: Any) -> "DrivenSession":
        session = await store.create_session(new_session(name, **fields))
        return cls(store, session.id)

    def moment(self) -> Moment:
        """Of a step that the server takes by itself."""
        return Moment(now=instant(next(self._ticks)), node=self.node)

    def asked(self) -> Moment:
        """Of a step that somebody asks for."""
        return replace(self.moment(), by=self.by.id)

    def prompt(self, text: str, **fields: Any) -> Prompt:
        run_id = RunId(f"run_{self.id.removeprefix('ses_')}{next(self._names):03}")
        return Prompt(by=self.by.id, run_id=run_id, input=text, model="m/x", **fields)

    async def accept(
        self, text: str, *, once: Once | None = None, dead: NodeId | None = None, **fields: Any
    ) -> Run:
        prompt, moment = self.prompt(text, **fields), self.asked()
        run, _ = await self.store.commit(
            self.id,
            lambda desk: accepting.accept(desk, prompt, moment),
            once=once,
            answer=Run,
            dead=dead,
        )
        return run

    async def start(self) -> Fence | None:
        moment = self.moment()
        started, _ = await self.store.commit(
            self.id, lambda desk: starting.start_next(desk, moment)
        )
        if started is not None:
            self.fence = started.fence
        return None if started is None else started.fence

    async def open_id(self) -> MessageId:
        open_message = (await self.store.control(self.id)).open_message
        assert open_message is not None
        return open_message

    async def append(self, *events: Event) -> int:
        return await self.store.append(self.id, self.fence, events)

    async def begin_part(self, part: Part) -> int:
        message_id = await self.open_id()
        return await self.append(PartStarted(**self._common(), message_id=message_id, part=part))

    async def say(self, *pieces: str, part: str = "prt_text") -> int:
        """A text part, piece by piece, one append each."""
        part_id = PartId(part)
        message_id = await self.open_id()
        await self.append(
            PartStarted(**self._common(), message_id=message_id, part=TextPart(id=part_id))
        )
        return await self.go_on_saying(*pieces, part=part)

    async def go_on_saying(
        self,
        *pieces: str,
        part: str = "prt_text",
        offset: int = 0,
        field: PartField | UnsetType = UNSET,
    ) -> int:
        message_id, head = await self.open_id(), 0
        for piece in pieces:
            head = await self.append(
                PartDelta(
                    **self._common(),
                    message_id=message_id,
                    part_id=PartId(part),
                    field=field,
                    offset=offset,
                    text=piece,
                )
            )
            offset += len(piece)
        return head

    async def update_part(self, part: Part) -> int:
        """As older logs tell it: whole."""
        changed = ToolChange(**asdict(part)) if isinstance(part, ToolPart) else part
        message_id = await self.open_id()
        return await self.append(PartUpdated(**self._common(), message_id=message_id, part=changed))

    async def change_call(self, before: ToolPart, after: ToolPart) -> int:
        """What is new of a call."""
        message_id, part = await self.open_id(), change_of(before, after)
        return await self.append(PartUpdated(**self._common(), message_id=message_id, part=part))

    async def call_tool(self, name: str = "shell", part: str = "prt_tool") -> ToolPart:
        tool = ToolPart(id=PartId(part), call_id=CallId(f"call_{part}"), name=name)
        await self.begin_part(tool)
        await self.go_on_saying('{"command":', '"ls"}', part=part)
        ready = replace(
            tool,
            input={"command": "ls"},
            input_text='{"command":"ls"}',
            state=ToolState.RUNNING,
        )
        await self.update_part(ready)
        return ready

    async def ask(self, tool: ToolPart, name: str = "apr_one") -> Approval:
        moment = self.moment()
        stand = Stand(part=tool, message_id=await self.open_id())
        approval = Approval(
            id=ApprovalId(name),
            session_id=self.id,
            run_id=self.fence.run_id,
            call_id=tool.call_id,
            tool=tool.name,
            input=tool.input,
        )
        await self.store.commit(
            self.id,
            lambda desk: consent.request(desk, self.fence, approval, stand, moment),
        )
        return approval

    async def give(self, tool: ToolPart) -> None:
        """The call as it ended, with its files."""
        ended = ToolChange(**asdict(tool))
        moment, message_id = self.moment(), await self.open_id()
        await self.store.commit(
            self.id, lambda desk: giving.give(desk, self.fence, message_id, ended, moment)
        )

    async def answer(self, approval: Approval, decision: Decision) -> Approval:
        moment = self.asked()
        answered, _ = await self.store.commit(
            self.id, lambda desk: consent.answer(desk, approval.id, Word(decision=decision), moment)
        )
        return answered

    async def steer(self) -> None:
        moment, open_message = self.moment(), await self.store.open_message(self.id)
        assert open_message is not None
        await self.store.commit(
            self.id, lambda desk: steering.take_steers(desk, self.fence, open_message, moment)
        )

    async def settle(self, ending: Ending = END_TURN) -> Run:
        moment, open_message = self.moment(), await self.store.open_message(self.id)
        run, _ = await self.store.commit(
            self.id,
            lambda desk: settling.settle(desk, self.fence, ending, open_message, moment),
        )
        return run

    async def cancel(self) -> None:
        moment = self.asked()
        await self.store.commit(
            self.id, lambda desk: cancelling.cancel_session(desk, Reason.USER, moment)
        )

    async def withdraw(self, run_id: RunId) -> None:
        moment = self.asked()
        await self.store.commit(self.id, lambda desk: cancelling.withdraw(desk, run_id, moment))

    async def undo(self) -> tuple[MessageId, ...]:
        moment = self.asked()
        removed, _ = await self.store.commit(
            self.id, lambda desk: editing.undo(desk, moment), sight=Sight.HISTORY
        )
        return removed

    async def run_again(self, message_id: MessageId, text: str) -> Run:
        prompt, moment = self.prompt(text), self.asked()
        run, _ = await self.store.commit(
            self.id,
            lambda desk: editing.run_again(desk, message_id, prompt, moment),
            sight=Sight.HISTORY,
        )
        return run

    async def go_on(self, run_id: RunId) -> Run:
        prompt, moment = self.prompt(""), self.asked()
        run, _ = await self.store.commit(
            self.id,
            lambda desk: editing.go_on(desk, run_id, prompt, moment),
            sight=Sight.HISTORY,
        )
        return run

    async def compact(self, through: MessageId, summary: str) -> None:
        """A whole compaction: accepted, started, summarised, settled."""
        await self.accept("", mode=Mode.COMPACT)
        await self.start()
        moment = self.moment()
        await self.store.commit(
            self.id,
            lambda desk: editing.compacted(desk, self.fence, through, summary, moment),
        )
        await self.settle()

    async def compact_here(self, through: MessageId, part: str, summary: str) -> None:
        """A compaction by the run under way, to the middle of a message."""
        moment = self.moment()
        await self.store.commit(
            self.id,
            lambda desk: editing.compacted(
                desk, self.fence, through, summary, moment, part=PartId(part)
            ),
        )

    async def update(self, **changes: Any) -> None:
        moment = self.asked()
        await self.store.commit(
            self.id, lambda desk: editing.update(desk, SessionChanges(**changes), moment)
        )

    async def delete(self) -> None:
        moment, open_message = self.asked(), await self.store.open_message(self.id)
        await self.store.commit(self.id, lambda desk: editing.delete(desk, open_message, moment))

    async def turn(self, text: str, *pieces: str) -> Run:
        """A prompt and its whole answer."""
        await self.accept(text)
        await self.start()
        await self.say(*pieces, part=f"prt_{self.fence.run_id}")
        return await self.settle()

    async def transcript(self) -> Transcript:
        """The fold of the log, from its first event to its last."""
        folded = Transcript()
        for event in await whole_log(self.store, self.id):
            folded.apply(event)
        return folded

    def _common(self) -> dict[str, Any]:
        return {
            "session_id": self.id,
            "run_id": self.fence.run_id,
            "at": self.moment().now,
        }


def fork_of(
    messages: tuple[Message, ...], session_id: SessionId
) -> tuple[list[Event], list[Message]]:
    """The beginning of a fork's log: user messages whole, answers part by part."""
    events: list[Event] = []
    finished: list[Message] = []
    for message in messages:
        copy = replace(message, id=MessageId(f"{message.id}_f"), session_id=session_id, run_id=None)
        if copy.role == "user":
            events.append(MessageStarted(session_id=session_id, at=START, message=copy))
            continue
        empty = replace(copy, parts=(), finish_reason=None)
        events.append(MessageStarted(session_id=session_id, at=START, message=empty))
        events += [
            PartStarted(session_id=session_id, at=START, message_id=copy.id, part=part)
            for part in copy.parts
        ]
        reason = copy.finish_reason or "interrupted"
        finished.append(replace(copy, finish_reason=reason))
        events.append(
            MessageFinished(
                session_id=session_id, at=START, message_id=copy.id, finish_reason=reason
            )
        )
    return events, finished


QUEUE, STEER = WhenBusy.QUEUE, WhenBusy.STEER
