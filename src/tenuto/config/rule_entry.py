"""Rules as `[[rules]]` of the file writes them."""

from typing import Annotated

from msgspec import Meta

from tenuto.core.permission import Permission
from tenuto.core.rule import Rule
from tenuto.core.value import Value


class RuleEntry(Value):
    tool: Annotated[
        str,
        Meta(
            pattern=r"^\S+$",
            title="a name, or its beginning and a *",
            description="The tool, or several: `write_*`.",
        ),
    ]
    pattern: Annotated[
        str,
        Meta(
            description="For `shell` one command (`git status`, `git *`), for file tools a path, for "
            "`fetch_url` a host.",
            extra={"default": "whatever the tool does"},
        ),
    ] = ""
    decision: Annotated[Permission, Meta(description="What happens then.")]

    def meant(self) -> Rule:
        return Rule(tool=self.tool, pattern=self.pattern or None, decision=self.decision)
