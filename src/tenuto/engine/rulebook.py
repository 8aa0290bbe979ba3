"""Rules: what each tool may do by itself, what it asks for, what it never may."""

from typing import Protocol

import msgspec

from tenuto.core.permission import Permission
from tenuto.core.rule import BY_DEFAULT, Rule, Subject, judge
from tenuto.core.value import Value
from tenuto.ports.tool import Tool


class Rules(Protocol):
    """What each tool may do now; asked before every call."""

    def permission(self, tool: Tool) -> Permission:
        """For whatever it does, where no rule says anything."""

    def rules(self) -> tuple[Rule, ...]:
        """The server's own, in order."""


class Rulebook(Value):
    """Rules that stay as they are."""

    default: Permission
    """For tools that change something; the others are allowed."""
    by_tool: dict[str, Permission] = msgspec.field(default_factory=dict)
    written: tuple[Rule, ...] = ()
    """In the server's file."""

    def permission(self, tool: Tool) -> Permission:
        usual = self.default if tool.changes else Permission.ALLOW
        return judge(Subject(tool=tool.spec.name), (self.rules(),), usual)

    def rules(self) -> tuple[Rule, ...]:
        # Whoever sets something for a tool means all that it does.
        said = (Rule(tool=tool, decision=what) for tool, what in self.by_tool.items())
        return (*BY_DEFAULT, *self.written, *said)
