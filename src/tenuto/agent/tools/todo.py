"""`todo`: the model's own list. The transcript is its only memory."""

from collections.abc import Mapping
from typing import Annotated, ClassVar, Literal

from msgspec import Meta

from tenuto.agent.tools.arguments import Arguments
from tenuto.agent.tools.built_in import BuiltIn
from tenuto.core.text import capped
from tenuto.ports.tool import Place

SIGNS = {"pending": "[ ]", "in_progress": "[~]", "done": "[x]"}


class Item(Arguments):
    synonyms: ClassVar[Mapping[str, str]] = {
        "content": "text",
        "task": "text",
        "title": "text",
        "state": "status",
    }

    text: Annotated[str, Meta(min_length=1, description="What is to be done.")]
    status: Literal["pending", "in_progress", "done"]


class TodoArguments(Arguments):
    synonyms: ClassVar[Mapping[str, str]] = {"todos": "items", "list": "items", "tasks": "items"}

    items: Annotated[
        list[Item], Meta(description="The whole list, in order; it replaces the last.")
    ]


class Todo(BuiltIn[TodoArguments]):
    name = "todo"
    about = (
        "Write down the plan of a longer task as a list, and write it again whenever an item "
        "changes. Keep one item in_progress at a time."
    )
    takes = TodoArguments

    async def work(self, given: TodoArguments, place: Place) -> str:
        if not given.items:
            return "The list is empty."
        done = sum(item.status == "done" for item in given.items)
        lines = [f"{SIGNS[item.status]} {item.text}" for item in given.items]
        text = "\n".join([*lines, f"{done} of {len(lines)} done"])
        return capped(text, self.settings.output_characters)
