"""A conversation as Markdown: every block ends where it ends."""

import re
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from tenuto.core.export import closed, fenced, markdown, plain
from tenuto.core.message import (
    FilePart,
    Message,
    Part,
    ReasoningPart,
    TextPart,
    ToolPart,
    ToolState,
)
from tenuto.core.run import Mode, OnDisconnect, Reason, Run, RunError, RunStatus, Usage, WhenBusy
from tenuto.core.session import DEFAULT_WORKSPACE, Session
from tenuto.core.value import CallId, FileId, Instant, MessageId, PartId, RunId, SessionId

NOW = Instant("2030-01-01T00:00:00.000Z")
HERE = SessionId("ses_1")
RUN = RunId("run_1")


def talk(title: str, *messages: Message, runs: tuple[Run, ...] = (), **fields: Any) -> str:
    session = Session(
        id=HERE,
        workspace_id=DEFAULT_WORKSPACE,
        title=title,
        created_at=NOW,
        updated_at=NOW,
        **fields,
    )
    return markdown(session, messages, runs)


def message(role: Any, *parts: Part, name: str = "msg_1") -> Message:
    return Message(
        id=MessageId(name), session_id=HERE, run_id=RUN, role=role, parts=parts, created_at=NOW
    )


def text(said: str) -> TextPart:
    return TextPart(id=PartId("prt_1"), text=said)


def ended(status: RunStatus, reason: Reason, **fields: Any) -> Run:
    return Run(
        id=RUN,
        session_id=HERE,
        status=status,
        reason=reason,
        model="lab/big_one",
        mode=Mode.CHAT,
        when_busy=WhenBusy.QUEUE,
        on_disconnect=OnDisconnect.CONTINUE,
        accept_number=1,
        accepted_at=NOW,
        input="hi",
        **fields,
    )


def test_an_empty_conversation_is_its_title() -> None:
    assert talk("") == "# Conversation\n"
    assert talk("A *star*\nis <b>") == "# A \\*star\\* is \\<b\\>\n"


def test_the_system_prompt_comes_first() -> None:
    assert talk("T", system="Be brief.") == "# T\n\n## Instructions\n\nBe brief.\n"


def test_a_tool_shows_what_it_was_asked_and_what_it_said() -> None:
    tool = ToolPart(
        id=PartId("prt_2"),
        call_id=CallId("call_1"),
        name="shell",
        input={"command": "echo '```'"},
        input_text="x",
        state=ToolState.DONE,
        output="```\nfences\n````\n",
    )
    said = talk("T", message("assistant", tool))
    assert '\n\n````json\n{\n  "command": "echo \'```\'"\n}\n````' in said
    assert "Output:\n\n`````\n```\nfences\n````\n`````" in said


def test_a_tool_that_was_cut_off_shows_the_beginning_of_its_input() -> None:
    tool = ToolPart(
        id=PartId("prt_2"),
        call_id=CallId("call_1"),
        name="write_file",
        input_text='{"path": "a',
        state=ToolState.CANCELLED,
        error="no",
    )
    said = talk("T", message("assistant", tool))
    assert '**Tool write\\_file** (cancelled)\n\n```\n{"path": "a\n```' in said
    assert "Error:\n\n```\nno\n```" in said


def test_reasoning_is_folded_and_cannot_end_its_fold() -> None:
    said = talk("T", message("assistant", ReasoningPart(id=PartId("p"), text="a </details> b")))
    assert said.count("</details>") == 1
    assert "a &lt;/details> b" in said


def test_a_file_is_named() -> None:
    file = FilePart(
        id=PartId("p"), file_id=FileId("f"), name="a_b.png", media_type="image/png", size=12345
    )
    said = talk("T", message("user", text("Look"), file))
    assert said == "# T\n\n## You\n\nLook\n\nFile: a\\_b.png (image/png, 12,345 bytes)\n"


def test_the_last_answer_of_a_run_tells_how_it_ended() -> None:
    usage = Usage(input_tokens=1200, output_tokens=34, exact=False, cost_usd=0.0123)
    stopped = ended(RunStatus.CANCELLED, Reason.USER, usage=usage)
    first, second = (message("assistant", text(n), name=f"msg_{n}") for n in "ab")
    said = talk("T", first, second, runs=(stopped,))
    footer = "_lab/big\\_one · about 1,200 tokens in, 34 out · $0.0123 · stopped by you_"
    assert said == f"# T\n\n## Assistant\n\na\n\n## Assistant\n\nb\n\n{footer}\n"


def test_a_failure_is_told() -> None:
    error = RunError(code="provider_error", message="lab answered 500")
    failed = ended(RunStatus.FAILED, Reason.PROVIDER_ERROR, error=error)
    assert "failed: lab answered 500_" in talk("T", message("assistant"), runs=(failed,))


def test_a_plain_ending_needs_no_word() -> None:
    done = ended(RunStatus.COMPLETED, Reason.END_TURN)
    said = talk("T", message("assistant", text("x")), runs=(done,))
    assert said.endswith("\n\n_lab/big\\_one · 0 tokens in, 0 out_\n")


def test_an_open_block_is_closed() -> None:
    assert closed("a\n```py\nx = 1") == "a\n```py\nx = 1\n```"
    assert closed("~~~~\nx\n~~~") == "~~~~\nx\n~~~\n~~~~"
    for whole in ("plain", "```\nx\n```", "`` ` ``", "```not a fence` either", "```\nx\n`````"):
        assert closed(whole) == whole


@given(st.text(alphabet="`~a \n", max_size=40))
def test_what_is_closed_has_nothing_left_to_close(said: str) -> None:
    assert closed(closed(said)) == closed(said)


@given(st.text(alphabet="`~a\n", max_size=40))
def test_nothing_inside_can_end_a_fence(said: str) -> None:
    first, *inside, last = fenced(said, "x").split("\n")
    assert first == last + "x"
    assert not [line for line in inside if re.fullmatch(rf" {{0,3}}{last}`*\s*", line)]


@given(st.text(max_size=40))
def test_plain_words_are_one_line(said: str) -> None:
    assert "\n" not in plain(said)
