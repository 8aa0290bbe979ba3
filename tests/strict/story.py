"""A story: one session as it may have gone, drawn from a seed.

Its answers are what strict vendors gave, heard by the product's own parsers, so its seals are truly
signed. Every request that it takes on the way must be one that its vendor would not refuse.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from random import Random

import msgspec
from msgspec import UNSET
from msgspec.structs import replace

from tenuto.agent.compaction import find_cut
from tenuto.agent.context import build_turns
from tenuto.agent.flat import without_calls
from tenuto.agent.trimming import clear_old, squeeze
from tenuto.core.message import (
    FilePart,
    Message,
    Part,
    TextPart,
    ToolFile,
    ToolPart,
    ToolState,
    after_part,
    assistant_message,
    close_tools,
    user_message,
)
from tenuto.core.options import NO_OPTIONS, Effort, Options
from tenuto.core.value import FileId, PartId, RunId
from tenuto.ports.model import ModelRequest, ToolSpec, Turn
from tests.core.test_run import NOW, QUEUED
from tests.strict.ear import Ear, Heard, Pad
from tests.strict.intent import TEXTS, drawn
from tests.strict.pictures import png
from tests.strict.refusal import Body, Refusal
from tests.strict.vendor import VENDORS, Vendor
from tests.strict.wild import wild

TOOLS = tuple(
    ToolSpec(
        name=name,
        description="Does it.",
        parameters={
            "type": "object",
            "properties": {"path": {"type": "string"}, "limit": {"type": "integer"}},
            "required": ["path"],
        },
    )
    for name in ("read_file", "shell", "todo")
)
WISHED = (
    NO_OPTIONS,
    NO_OPTIONS,
    Options(temperature=0.5),
    Options(top_p=0.5),
    Options(temperature=1.5, top_p=0.9, seed=3),
    Options(max_output_tokens=10),
    Options(max_output_tokens=1_000_000),
    Options(stop=("END", "\n")),
    Options(stop=("a", "b", "c", "d", "e")),
    Options(response_format={"type": "json_object"}),
    Options(metadata={"topic": "x"}),
)
NAMES = tuple(tool.name for tool in TOOLS)
ENDINGS = ("cancelled", "interrupted", "error", "steered")
STATES = (ToolState.DONE, ToolState.DONE, ToolState.DONE, ToolState.FAILED, ToolState.DENIED)
OUTPUTS = ("", " ", "fine\n", "long " * 200, "1\ta\n2\tb", "\x00\x1b[31m", "🙂" * 50, None)
CONTENTS: tuple[tuple[str, str, bytes], ...] = (
    ("a.txt", "text/plain", b"text"),
    ("empty.txt", "text/plain", b""),
    ("a.png", "image/png", png()),
    ("b.jpg", "image/jpeg", png(3, 3)),
    ("c", "image/svg+xml", b"<svg/>"),
    ("broken.png", "image/png", b"\x89PNG\r\n\x1a\nno"),
    ("large.png", "image/png", png(9000, 1)),
    ("long.txt", "text/plain", b"text " * 1_000),
    ("a.bin", "application/octet-stream", b"\0\1\2"),
    ("a.pdf", "application/pdf", b"%PDF-1.4 no more"),
)


@dataclass(frozen=True)
class Rebuff:
    """A request that the product would have made, and what its vendor says to it."""

    vendor: str
    refusal: Refusal
    body: Body

    def __str__(self) -> str:
        told = json.dumps(msgspec.to_builtins(self.body), ensure_ascii=False)[:6000]
        return f"{self.vendor}: {self.refusal.rule}: {self.refusal.words}\n{told}"


class Story:
    def __init__(self, seed: int, vendors: Sequence[Vendor] = VENDORS) -> None:
        self._chance = Random(seed)
        self._ears = [Ear(vendor) for vendor in vendors]
        self._files: dict[FileId, bytes] = {}
        self._count = 0
        self.messages: list[Message] = []
        self.judged = 0
        self.refused: list[Rebuff] = []

    def run(self) -> "Story":
        """Live through a few prompts, then look at what every vendor would say to the next one."""
        ear = self._chance.choice(self._ears)
        for _ in range(self._chance.randint(1, 4)):
            if self._chance.random() < 0.5:
                ear = self._chance.choice(self._ears)
            self._prompt()
            self._answer(ear)
            self._mishap()
        for ear in self._ears:
            self._judge(ear, tools=TOOLS)
            self._judge(ear, tools=())
        return self

    def _prompt(self) -> None:
        parts: list[Part] = []
        for _ in range(self._chance.choice((1, 1, 2, 3))):
            if self._chance.random() < 0.8:
                parts.append(TextPart(id=self._part_id(), text=self._chance.choice(TEXTS)))
            else:
                parts.append(self._file())
        run = replace(QUEUED, id=RunId(f"run_{self._number()}"))
        asked = replace(user_message(run, of=run.id), parts=tuple(parts))
        self.messages.append(asked)

    def _file(self) -> FilePart:
        name, media_type, content = self._chance.choice(CONTENTS)
        file_id = FileId(f"file_{self._number()}")
        if self._chance.random() < 0.9:
            self._files[file_id] = content
        return FilePart(
            id=self._part_id(), file_id=file_id, name=name, media_type=media_type, size=len(content)
        )

    def _answer(self, ear: Ear) -> None:
        """Steps of one run, until it is over in one way or another."""
        run = replace(QUEUED, id=RunId(f"run_{self._number()}"))
        tools = TOOLS if self._chance.random() < 0.85 else ()
        self.messages.append(assistant_message(run, of=run.id, now=NOW))
        for _ in range(self._chance.randint(1, 4)):
            pad = Pad(self.messages[-1])
            heard = self._step(ear, pad, tools)
            self.messages[-1] = pad.message()
            ending = self._ending(heard)
            if ending is None:
                self._use_tools(heard)
                if self._chance.random() < 0.1:
                    self._sum_up()
                ending = self._chance.choice((None, None, None, None, *ENDINGS))
            if ending == "steered":
                self._end("steered")
                self._prompt()
                run = replace(QUEUED, id=RunId(f"run_{self._number()}"))
                self.messages.append(assistant_message(run, of=run.id, now=NOW))
            elif ending is not None:
                self._end(ending)
                return
        self._end("step_limit")

    def _step(self, ear: Ear, pad: Pad, tools: tuple[ToolSpec, ...]) -> Heard:
        body = self._judge(ear, tools=tools)
        intent = drawn(self._chance, ear.vendor.facts, tools=NAMES if tools else ())
        payloads = ear.vendor.answer(intent, body, ear.vendor.facts).payloads()
        if self._chance.random() < 0.15:
            del payloads[self._chance.randrange(len(payloads)) :]
            if self._chance.random() < 0.5:
                payloads.append(msgspec.json.encode(ear.vendor.failure()))
        return ear.hear(payloads, pad, stem=f"{self._number()}")

    def _ending(self, heard: Heard) -> str | None:
        """Why the run ends with this answer; None: its calls are made."""
        if heard.error is not None:
            return "error"
        reason = heard.finished.reason if heard.finished else "end_turn"
        if reason in ("max_tokens", "content_filter"):
            return reason
        return None if heard.calls else "end_turn"

    def _use_tools(self, heard: Heard) -> None:
        message = self.messages[-1]
        done = {call.id: self._used(call) for call in heard.calls}
        parts = tuple(done.get(part.id, part) for part in message.parts)
        self.messages[-1] = replace(message, parts=parts)

    def _used(self, call: ToolPart) -> ToolPart:
        try:
            given = msgspec.json.decode(call.input_text or "{}")
        except msgspec.DecodeError:
            return replace(call, state=ToolState.FAILED, error="The input is no JSON.")
        if not isinstance(given, dict):
            return replace(call, state=ToolState.FAILED, error="The input is no object.")
        state = self._chance.choice((*STATES, *ToolState))
        said = self._chance.choice(OUTPUTS)
        failed = state in (ToolState.FAILED, ToolState.DENIED)
        return replace(
            call,
            input=given,
            state=state,
            output=said,
            error=(said or "") if failed else None,
            files=self._given() if self._chance.random() < 0.3 else UNSET,
        )

    def _given(self) -> tuple[ToolFile, ...]:
        files = (self._file() for _ in range(self._chance.choice((1, 1, 2, 8))))
        return tuple(
            ToolFile(file_id=f.file_id, name=f.name, media_type=f.media_type, size=f.size)
            for f in files
        )

    def _end(self, reason: str) -> None:
        state = ToolState.INTERRUPTED if reason == "interrupted" else ToolState.CANCELLED
        message = close_tools(self.messages[-1], state)
        self.messages[-1] = replace(message, finish_reason=reason)

    def _mishap(self) -> None:
        """What else befalls a session: it is rewound, summed up, or its files are lost."""
        match self._chance.randrange(12):
            case 0:
                del self.messages[self._chance.randrange(len(self.messages)) :]
            case 1:
                del self.messages[: self._chance.randrange(len(self.messages))]
            case 2:
                self._files.clear()
            case 3:
                self._sum_up()
            case 4:
                self.messages.append(wild(self._chance, self._number()))
            case _:
                pass

    def _sum_up(self) -> None:
        """A summary takes the place of what is old, also in the middle of an answer."""
        cut = find_cut(self.messages, keep=self._chance.choice((0, 100, 1000)))
        if cut is None:
            return
        rest = self.messages[len(cut.messages) :]
        if cut.part is not None:
            rest.insert(0, after_part(self.messages[len(cut.messages) - 1], cut.part))
        self.messages = rest or self.messages[-1:]

    def _told(self) -> tuple[Turn, ...]:
        turns = build_turns([m for m in self.messages if m.parts or m.finish_reason], self._files)
        window = self._chance.choice((100, 1000, 1_000_000))
        return squeeze(clear_old(turns, window=window), to=window)

    def _judge(self, ear: Ear, *, tools: tuple[ToolSpec, ...]) -> Body:
        turns = self._told()
        request = ModelRequest(
            model=ear.model.name,
            system="Be kind." if self._chance.random() < 0.9 else "",
            turns=turns if tools else without_calls(turns),
            tools=tools,
            effort=self._chance.choice((None, *Effort)),
            options=self._chance.choice(WISHED),
            cache_key=self._chance.choice(("", "ses_1")),
        )
        body, refusal = ear.ask(request)
        self.judged += 1
        if refusal is not None:
            self.refused.append(Rebuff(ear.vendor.name, refusal, body))
        return body

    def _number(self) -> int:
        self._count += 1
        return self._count

    def _part_id(self) -> PartId:
        return PartId(f"prt_{self._number()}")
