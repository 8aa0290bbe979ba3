"""An MCP server of the tests' own, with the official SDK: `python toy_mcp.py [http PORT | login PORT]`."""

import asyncio
import base64
import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from mcp.server.mcpserver import (
    AcceptedElicitation,
    Context,
    Elicit,
    ElicitationResult,
    MCPServer,
    Resolve,
)
from mcp.types import ImageContent, TextContent, ToolAnnotations
from pydantic import BaseModel, Field

PNG = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)

if TYPE_CHECKING:
    from tests.support.toy_login import Everybody, auth_at
else:
    # A program of its own: beside it is all that it knows.
    from toy_login import Everybody, auth_at

if sys.argv[1:2] == ["login"]:
    login = auth_at(f"http://127.0.0.1:{sys.argv[2]}")
    server = MCPServer("toy", auth_server_provider=Everybody(), auth=login)
else:
    server = MCPServer("toy")


class Wish(BaseModel):
    colour: str = Field(description="Which colour?")
    count: int = Field(description="How many?")


@server.tool(annotations=ToolAnnotations(read_only_hint=True))
def add(a: int, b: int) -> str:
    """Add two numbers."""
    return str(a + b)


@server.tool()
def write(path: str, text: str) -> str:
    """Write a file."""
    Path(path).write_text(text)
    return "written"


@server.tool()
def append(path: str) -> str:
    """Add a line to a file."""
    with Path(path).open("a") as file:
        file.write("once\n")
    return "added"


@server.tool()
def read(path: str) -> str:
    """Read a file."""
    return Path(path).read_text()


@server.tool()
def greeting(ctx: Context) -> str:
    """The header X-Greeting of the request."""
    return str((ctx.headers or {}).get("x-greeting"))


@server.tool()
def environment() -> str:
    """The names of all variables."""
    return " ".join(sorted(os.environ))


@server.tool()
def picture() -> list[TextContent | ImageContent]:
    """A picture and a word."""
    data = base64.b64encode(PNG).decode()
    return [
        TextContent(type="text", text="a dot"),
        ImageContent(type="image", data=data, mime_type="image/png"),
    ]


@server.tool()
def fail() -> str:
    """Fail."""
    raise ValueError("it does not work today")


@server.tool()
def die() -> str:
    """End the server in the middle of a call."""
    os.write(2, b"last words\n")
    os._exit(7)


@server.tool()
async def wait(path: str, ctx: Context) -> str:
    """Say in a file that it began, and that it was cancelled."""
    await ctx.report_progress(1, 3, "waiting")
    note(path, "began")
    try:
        await asyncio.sleep(600)
    except BaseException:
        note(path, "cancelled")
        raise
    return "done"


def note(path: str, text: str) -> None:
    Path(path).write_text(text)


@server.tool()
def grandchild(path: str) -> str:
    """Leave a process behind that would go on for ever."""
    left = subprocess.Popen(
        ["sh", "-c", f"trap '' TERM; echo $$ > {path}; while :; do sleep 1; done"],
        start_new_session=True,
    )
    return str(left.pid)


def wished() -> Elicit[Wish]:
    return Elicit("What do you want?", Wish)


@server.tool()
def order(wish: Annotated[ElicitationResult[Wish], Resolve(wished)]) -> str:
    """Ask a person what they want."""
    if not isinstance(wish, AcceptedElicitation):
        return f"nothing: {wish.action}"
    return f"{wish.data.count} of {wish.data.colour}"


@server.prompt()
def greet(name: str) -> str:
    """Greet somebody."""
    return f"Please greet {name} warmly."


@server.resource("toy://poem")
def poem() -> str:
    """A short poem."""
    return "Roses are red."


if __name__ == "__main__":
    if len(sys.argv) > 2:
        server.run("streamable-http", port=int(sys.argv[2]))
    else:
        server.run("stdio")
