"""A conversation as Markdown, for people to read and keep."""

import re
from collections.abc import Iterator, Mapping, Sequence

import msgspec

from tenuto.core.message import FilePart, Message, Part, ReasoningPart, TextPart, ToolPart
from tenuto.core.run import Reason, Run, RunStatus
from tenuto.core.session import Session
from tenuto.core.value import RunId

UNTITLED = "Conversation"
NAMES = {"user": "You", "assistant": "Assistant"}
ENDED = {
    Reason.MAX_TOKENS: "cut off at the longest answer",
    Reason.CONTENT_FILTER: "cut off by the provider's filter",
    Reason.STEP_LIMIT: "ended at the limit of steps",
    Reason.TIME_LIMIT: "ended at the limit of time",
    Reason.LOOP: "ended because it went round in circles",
    Reason.USER: "stopped by you",
    Reason.DISCONNECT: "stopped because nobody was listening any more",
    Reason.REPLACED: "stopped for another prompt",
    Reason.BUDGET: "ended at the limit of cost",
    Reason.SERVER_STOPPED: "interrupted: the server was stopped",
    Reason.SERVER_CRASHED: "interrupted: the server crashed",
}
"""Why an answer ended, where that needs a word."""

_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})(.*)")
_MARKS = re.compile(r"([\\`*_{}\[\]<>#|~])")


def markdown(session: Session, messages: Sequence[Message], runs: Sequence[Run]) -> str:
    """The whole conversation; nothing that was said in one block runs on into the next."""
    by_id = {run.id: run for run in runs}
    last = {message.run_id: message.id for message in messages if message.role == "assistant"}
    blocks = [f"# {plain(session.title) or UNTITLED}"]
    if session.system:
        blocks += ["## Instructions", closed(session.system)]
    for message in messages:
        blocks.append(f"## {NAMES[message.role]}")
        blocks += [block for part in message.parts for block in _part(part)]
        if message.id == last.get(message.run_id):
            blocks += _footer(message.run_id, by_id)
    return "\n\n".join(block for block in blocks if block) + "\n"


def plain(text: str) -> str:
    """One line in which no character means anything to Markdown."""
    return _MARKS.sub(r"\\\1", " ".join(text.split()))


def fenced(text: str, tag: str = "") -> str:
    """Code that stays code, whatever is in it."""
    longest = max((len(run) for run in re.findall(r"`+", text)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}{tag}\n{text.removesuffix(chr(10))}\n{fence}"


def closed(text: str) -> str:
    """The text with the code block closed that an answer cut off in the middle leaves open."""
    fence = ""
    for line in text.splitlines():
        found = _FENCE.fullmatch(line)
        if found is None:
            continue
        marks, rest = found.groups()
        if not fence and not (marks[0] == "`" and "`" in rest):
            fence = marks
        elif fence and marks.startswith(fence) and not rest.strip():
            fence = ""
    return f"{text}\n{fence}" if fence else text


def _part(part: Part) -> Iterator[str]:
    match part:
        case TextPart():
            yield closed(part.text)
        case ReasoningPart():
            # The browser that shows it must not take a word of it for the end of the fold.
            said = closed(part.text).replace("</details", "&lt;/details")
            yield f"<details>\n<summary>Reasoning</summary>\n\n{said}\n\n</details>"
        case FilePart():
            yield f"File: {plain(part.name)} ({plain(part.media_type)}, {part.size:,} bytes)"
        case ToolPart():
            yield from _tool(part)


def _tool(part: ToolPart) -> Iterator[str]:
    yield f"**Tool {plain(part.name)}** ({part.state.replace('_', ' ')})"
    if part.input is not None:
        yield fenced(
            msgspec.json.format(msgspec.json.encode(part.input), indent=2).decode(), "json"
        )
    elif part.input_text:
        yield fenced(part.input_text)
    if part.output:
        yield "Output:"
        yield fenced(part.output)
    if part.error:
        yield "Error:"
        yield fenced(part.error)


def _footer(run_id: RunId | None, runs: Mapping[RunId, Run]) -> Iterator[str]:
    run = None if run_id is None else runs.get(run_id)
    if run is None or not run.ended:
        return
    usage = run.usage
    about = "" if usage.exact else "about "
    facts = [plain(run.model)] if run.model else []
    facts.append(f"{about}{usage.input_tokens:,} tokens in, {usage.output_tokens:,} out")
    if usage.cost_usd is not None:
        facts.append(f"${usage.cost_usd:.4f}")
    if run.status is RunStatus.FAILED and run.error is not None:
        facts.append(f"failed: {plain(run.error.message)}")
    elif run.reason in ENDED:
        facts.append(ENDED[run.reason])
    yield f"_{' · '.join(facts)}_"
