"""Prompts of MCP servers as commands: `/server:prompt words`."""

import shlex
from pathlib import Path

from tenuto.agent.mcp import message
from tenuto.agent.mcp.servers import RemoteServers
from tenuto.core.session import Workspace
from tenuto.ports.command import Guide
from tenuto.ports.mcp import McpPrompt


class ServerCommands:
    """Implements `Commands`."""

    def __init__(self, servers: RemoteServers) -> None:
        self._servers = servers

    async def expand(self, workspace: Workspace, folder: Path, name: str, words: str) -> str | None:
        if ":" not in name:
            return None
        prompts = {
            f"{server.name}:{prompt.name}": (server, prompt)
            for server, prompt in await self._servers.prompts(workspace)
        }
        if name not in prompts:
            return None
        server, prompt = prompts[name]
        given = told_arguments(prompt, words)

        def order(number: int, key: int) -> message.Order:
            return message.GetPrompt(id=number, key=key, name=prompt.name, arguments=given)

        return (await self._servers.ask(server, workspace, order)).text

    async def guides(self, workspace: Workspace, folder: Path) -> tuple[Guide, ...]:
        return tuple(
            Guide(kind="command", name=f"{server.name}:{prompt.name}", about=prompt.about, path="")
            for server, prompt in await self._servers.prompts(workspace)
        )


def told_arguments(prompt: McpPrompt, words: str) -> dict[str, str]:
    """In their order, one word or one quoted text each; the last takes all that is left."""
    names = [argument.name for argument in prompt.arguments]
    if not names or not words:
        return {}
    if len(names) == 1:
        return {names[0]: words}
    try:
        parts = shlex.split(words)
    except ValueError:
        parts = words.split()
    last = " ".join(parts[len(names) - 1 :])
    given = [*parts[: len(names) - 1], *([last] if last else [])]
    return dict(zip(names, given, strict=False))
