"""Calls and results told in words, for requests that offer no tools."""

from tenuto.agent.flat import without_calls
from tenuto.core.value import CallId
from tenuto.ports.model import AssistantTurn, TextBlock, Thought, ToolCall, ToolTurn, UserTurn


def user(*words: str) -> UserTurn:
    return UserTurn(blocks=tuple(TextBlock(text=word) for word in words))


def said(*words: str) -> AssistantTurn:
    return AssistantTurn(blocks=tuple(TextBlock(text=word) for word in words))


def test_each_call_and_each_result_is_a_text_where_it_stood() -> None:
    one = ToolCall(id=CallId("c1"), name="shell", arguments='{"command":"ls"}')
    two = ToolCall(id=CallId("c2"), name="read_file", arguments="{}")
    turns = (
        user("Look"),
        AssistantTurn(blocks=(Thought(text="Hm"), TextBlock(text="On it."), one, two)),
        ToolTurn(call_id=CallId("c1"), name="shell", output="a.txt"),
        ToolTurn(call_id=CallId("c2"), name="read_file", output="No such file.", failed=True),
        user("And?"),
        said("Done."),
    )
    assert without_calls(turns) == (
        user("Look"),
        said(
            "On it.",
            '[shell was called with {"command":"ls"}]',
            "[read_file was called with {}]",
        ),
        user("[shell gave:]\na.txt", "[read_file failed:]\nNo such file.", "And?"),
        said("Done."),
    )


def test_a_conversation_without_calls_stays_as_it_is() -> None:
    turns = (user("Hi"), said("Hello."), user("Bye"))
    assert without_calls(turns) == turns
