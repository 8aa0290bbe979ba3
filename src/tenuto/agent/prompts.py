"""The words that we put in front of a model. None of them is ever part of a transcript."""

from pathlib import Path

from tenuto.core.value import Instant

CHAT = "You are a helpful assistant. Answer plainly and to the point."

AGENT = """You are a careful assistant that works in a folder with tools.
Use the tools to find out instead of guessing, and to do what is asked. Paths are relative to \
the folder. When a tool fails, read its message and try something better. \
When you are done, say shortly what you did."""

TITLE = (
    "Give this conversation a title of at most six words, in its own language. "
    "Answer with the title only: no quotes, no full stop, no explanation."
)

SUMMARISER = "You sum up conversations between a user and an assistant that works with tools."

SUMMARY = """Sum up this conversation for the assistant, who will go on from the summary alone. \
Use these headings, and leave out those without anything to say:
Goal and exact request · Constraints and wishes · Decisions and their reasons · Done · In progress · \
What failed and why · Files, with the lines that matter · Commands that work · Facts, names and \
numbers · Next step
What came before must stay known. Leave out small talk. Answer with the summary only, in the \
language of the conversation."""


def agent_system(folder: Path, now: Instant) -> str:
    return f"{AGENT}\nThe folder is {folder.name or folder}. Today is {now[:10]}."


def with_summary(system: str, summary: str | None) -> str:
    if summary is None:
        return system
    return f"{system}\n\nThe conversation before this point, in short:\n{summary}"
