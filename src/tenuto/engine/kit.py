"""Kits: the tools that one run has at one of its steps, from all who have some."""

import logging
from collections.abc import Sequence

from tenuto.core.message import ToolPart
from tenuto.core.permission import Permission
from tenuto.core.run import ToolScope
from tenuto.core.text import cut
from tenuto.engine.rulebook import Rules
from tenuto.ports.model import ToolSpec
from tenuto.ports.tool import DelegatingTool, Parallel, Site, Tool, ToolFailed, Tools

log = logging.getLogger(__name__)

NAME_CHARACTERS = 100


class FixedTools:
    """Implements `Tools`: the same for every run."""

    def __init__(self, *tools: Tool) -> None:
        self._tools = tools

    def known(self) -> Sequence[Tool]:
        return self._tools

    async def for_run(self, site: Site) -> Sequence[Tool]:
        return self._tools


class JoinedTools:
    """Implements `Tools`: those of several sources; of one name, the first."""

    def __init__(self, *sources: Tools) -> None:
        self._sources = sources

    def known(self) -> Sequence[Tool]:
        return _first([tool for source in self._sources for tool in source.known()])

    async def for_run(self, site: Site) -> Sequence[Tool]:
        tools: list[Tool] = []
        for source in self._sources:
            try:
                tools += await source.for_run(site)
            except Exception:
                # A run goes on without the tools of one who cannot say which they are.
                log.exception("tools are missing", extra={"run_id": site.run.id})
        return _first(tools)


class Kit:
    """What one step of a run can use."""

    def __init__(self, tools: Sequence[Tool], rules: Rules) -> None:
        self._tools = {tool.spec.name: tool for tool in tools}
        self._rules = rules

    def specs(self) -> tuple[ToolSpec, ...]:
        """Those that may be called now: a model that is offered a denied one only tries it."""
        return tuple(
            tool.spec
            for tool in self._tools.values()
            if self._rules.permission(tool) is not Permission.DENY
        )

    def beside_others(self, part: ToolPart) -> bool:
        """Whether the call may run beside others: its tool lets it, and it asks nobody."""
        tool = self._tools.get(part.name)
        if tool is None or tool.parallel is Parallel.NEVER:
            return False
        return self._rules.permission(tool) is not Permission.ASK

    def find(self, name: str) -> Tool:
        """Raises ToolFailed if there is none of that name."""
        if name in self._tools:
            return self._tools[name]
        names = ", ".join(self._tools) or "none"
        raise ToolFailed(
            f"There is no tool {cut(name, NAME_CHARACTERS)!r}. The tools are: {names}."
        )


def fit(tools: Sequence[Tool], site: Site) -> Sequence[Tool]:
    """Those that this run may have at all: a sub-agent has none of its own, and one that only looks
    has nothing that changes something. A blind pane has none either: their model would show."""
    alone = bool(site.session.parent) or site.session.comparison is not None
    only_looks = site.run.tools is ToolScope.LOOK
    return [
        tool
        for tool in tools
        if not (alone and isinstance(tool, DelegatingTool)) and not (only_looks and tool.changes)
    ]


def _first(tools: Sequence[Tool]) -> Sequence[Tool]:
    return tuple({tool.spec.name: tool for tool in reversed(tools)}.values())[::-1]
