"""MCP servers: programs and addresses of others that give tools to runs."""

from html import escape
from typing import Annotated
from urllib.parse import urlsplit

import msgspec
from msgspec import Meta
from starlette.responses import HTMLResponse, Response
from starlette.types import ASGIApp

from tenuto.api.call import Call, answer
from tenuto.api.endpoint import Endpoint
from tenuto.api.parameter import Parameter
from tenuto.api.routes.files import LONGEST_NAME, plain_name
from tenuto.core.error import PayloadTooLarge
from tenuto.core.file import FileInfo
from tenuto.core.mcp import (
    CALL_SECONDS,
    LONGEST_TEXT,
    LONGEST_URL,
    MOST_SECONDS,
    MOST_WORDS,
    McpSource,
    McpState,
    McpTransport,
)
from tenuto.core.value import Value, WorkspaceId
from tenuto.engine.mcp import McpDraft
from tenuto.ports.mcp import McpFile, McpPrompt, McpResource, McpReturn, McpStanding

DEFAULT = WorkspaceId("default")
Text = Annotated[str, Meta(max_length=LONGEST_TEXT)]
Words = Annotated[tuple[Text, ...], Meta(max_length=MOST_WORDS)]
Secrets = Annotated[dict[str, Text | None], Meta(max_length=MOST_WORDS)]
CSP = "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'"
BACK = """<!doctype html><html lang="en"><meta charset="utf-8">
<meta name="viewport" content="width=device-width"><title>Tenuto</title>
<style>body{{font:16px/1.55 system-ui;max-width:26rem;margin:20vh auto;padding:0 1rem}}
@media(prefers-color-scheme:dark){{body{{background:#161618;color:#e8e8ea}}}}</style>
<h1>{title}</h1><p>{about}</p></html>"""

WORKSPACE: Parameter[WorkspaceId | None] = Parameter(
    name="workspace", kind=str, usual=None, meaning="Also those of this workspace's own file."
)


def _word(name: str, meaning: str) -> Parameter[str | None]:
    kind = Annotated[str, Meta(max_length=LONGEST_TEXT)]
    return Parameter(name=name, kind=kind, usual=None, meaning=meaning)


CODE = _word("code", "What signing in gave.")
STATE = _word("state", "Who was sent there.")
ISSUER = _word("iss", "Who let them in.")
ERROR = _word("error", "Why nobody was let in.")


class McpChange(Value, forbid_unknown_fields=True):
    command: Text = ""
    """A program on the server's machine; or else `url`."""
    args: Words = ()
    env: Secrets = msgspec.field(default_factory=dict)
    """Null: the value that is kept. Values never come out."""
    url: Annotated[str, Meta(max_length=LONGEST_URL)] = ""
    headers: Secrets = msgspec.field(default_factory=dict)
    tools: Words | None = None
    """The only ones of its tools that are offered; null: all."""
    trust: bool = False
    """Believe it when it says that a tool only looks."""
    timeout: Annotated[float, Meta(ge=1, le=MOST_SECONDS)] = CALL_SECONDS
    enabled: bool = True


class McpWhere(Value, forbid_unknown_fields=True):
    workspace: WorkspaceId = DEFAULT
    """In whose folder it is started."""


class McpReading(Value, forbid_unknown_fields=True):
    uri: Annotated[str, Meta(min_length=1, max_length=LONGEST_URL)]
    workspace: WorkspaceId = DEFAULT


class McpFileWord(Value, forbid_unknown_fields=True):
    hash: Annotated[str, Meta(max_length=100)] | None
    """Of the file as it was seen; null: it counts no more."""


class McpToolNow(Value):
    name: str
    about: str
    changes: bool
    """Whether it asks by default."""


class McpNow(Value):
    name: str
    transport: McpTransport
    state: McpState
    error: str | None
    tools: tuple[McpToolNow, ...]
    resources: tuple[McpResource, ...]
    prompts: tuple[McpPrompt, ...]
    source: McpSource
    """Only those of the `settings` can be changed here."""
    command: str
    args: tuple[str, ...]
    env: tuple[str, ...]
    """Names only."""
    url: str
    headers: tuple[str, ...]
    offered: tuple[str, ...] | None
    """The only tools that runs get; null: all."""
    trust: bool
    timeout: float
    enabled: bool
    login_url: str | None
    """Where a person signs in; null: nobody needs to."""


class McpList(Value):
    servers: tuple[McpNow, ...]
    file: McpFile | None = None
    """The `.mcp.json` of the workspace that was asked for; null: it has none, or none was."""


async def listing(call: Call) -> ASGIApp:
    asked = call.ask(WORKSPACE)
    workspace = await call.sees.workspace(asked) if asked else None
    found = await call.to.mcp.servers.overview(workspace)
    return answer(McpList(servers=tuple(_now(one) for one in found.servers), file=found.file))


async def put(call: Call) -> ASGIApp:
    wanted = await call.body(McpChange)
    draft = McpDraft(name=call.path("name"), **msgspec.structs.asdict(wanted))
    return answer(_now(await call.to.mcp.put(draft)))


async def remove(call: Call) -> ASGIApp:
    await call.to.mcp.remove(call.path("name"))
    return Response(status_code=204)


async def restart(call: Call) -> ASGIApp:
    workspace = await call.sees.workspace((await call.body(McpWhere)).workspace)
    standing = await call.to.mcp.servers.restart(call.path("name"), workspace, _home(call))
    return answer(_now(standing))


async def read(call: Call) -> ASGIApp:
    """A resource becomes a file, which a prompt can carry as any other."""
    wanted = await call.body(McpReading)
    once = await call.once()
    info = await call.sees.answered(once, FileInfo)
    if info is None:
        workspace = await call.sees.workspace(wanted.workspace)
        found = await call.to.mcp.servers.read(call.path("name"), wanted.uri, workspace)
        if len(found.content) > call.to.limits.max_file_bytes:
            raise PayloadTooLarge(f"a file may have at most {call.to.limits.max_file_bytes} bytes")
        info = await call.to.engine.files.put(
            found.content,
            name=plain_name(found.name),
            media_type=found.media_type[:LONGEST_NAME],
            by=call.who,
            once=once,
        )
    return answer(info, status=201)


async def allow(call: Call) -> ASGIApp:
    workspace = await call.sees.workspace(WorkspaceId(call.path("id")))
    word = await call.body(McpFileWord)
    return answer(await call.to.mcp.allow(workspace, word.hash))


async def back(call: Call) -> ASGIApp:
    """A person comes back from signing in at a server's own page."""
    code, state, error = call.ask(CODE), call.ask(STATE), call.ask(ERROR)
    name = None
    if code and state:
        person = McpReturn(state=state, code=code, issuer=call.ask(ISSUER))
        name = await call.to.mcp.servers.signed_in(person)
    title, about = (
        ("Signed in", f"{name or 'It'} can be used now. You can close this page.")
        if name is not None
        else ("Not signed in", error or "Nobody waits for this any more. Try it again.")
    )
    page = BACK.format(title=title, about=escape(about))
    headers = {"Content-Security-Policy": CSP, "Cache-Control": "no-store"}
    return HTMLResponse(page, 400 if name is None else 200, headers)


def _home(call: Call) -> str:
    """Our own address as this caller knows it; the gate has looked at both. A page says whether
    something before us speaks TLS."""
    origin = call.request.headers.get("origin", "")
    if urlsplit(origin).netloc == call.request.headers.get("host"):
        return origin
    return str(call.request.base_url).rstrip("/")


def _now(standing: McpStanding) -> McpNow:
    server = standing.server
    return McpNow(
        name=server.name,
        transport=standing.transport,
        state=standing.state,
        error=standing.error,
        tools=tuple(
            McpToolNow(
                name=one.name, about=one.about, changes=not (one.only_looks and server.trust)
            )
            for one in standing.listing.tools
        ),
        resources=standing.listing.resources,
        prompts=standing.listing.prompts,
        source=standing.source,
        command=server.command,
        args=server.args,
        env=tuple(server.env),
        url=server.url,
        headers=tuple(server.headers),
        offered=server.tools,
        trust=server.trust,
        timeout=server.timeout,
        enabled=server.enabled,
        login_url=standing.login_url,
    )


ENDPOINTS = (
    Endpoint(
        method="GET",
        path="/api/mcp",
        handler=listing,
        tag="mcp",
        summary="All MCP servers and how they stand on this node; secrets are never shown",
        gives=McpList,
        query=(WORKSPACE,),
        codes=("not_found",),
    ),
    Endpoint(
        method="PUT",
        path="/api/mcp/{name}",
        handler=put,
        tag="mcp",
        summary="Add an MCP server, or change one that was added; it is started when it is needed",
        takes=McpChange,
        gives=McpNow,
    ),
    Endpoint(
        method="DELETE",
        path="/api/mcp/{name}",
        handler=remove,
        tag="mcp",
        summary="Forget an MCP server and end it",
        status=204,
        codes=("not_found",),
    ),
    Endpoint(
        method="POST",
        path="/api/mcp/{name}/restart",
        handler=restart,
        tag="mcp",
        summary="Start an MCP server now, anew if it runs; also how one signs in",
        takes=McpWhere,
        gives=McpNow,
        codes=("not_found",),
    ),
    Endpoint(
        method="POST",
        path="/api/mcp/{name}/read",
        handler=read,
        tag="mcp",
        summary="Read a resource of an MCP server; it becomes a file for use in a prompt",
        takes=McpReading,
        gives=FileInfo,
        status=201,
        codes=("not_found", "idempotency_mismatch", "payload_too_large"),
    ),
    Endpoint(
        method="PUT",
        path="/api/workspaces/{id}/mcp",
        handler=allow,
        tag="mcp",
        summary="Let the `.mcp.json` of a workspace count as it is, or no more",
        takes=McpFileWord,
        gives=McpFile,
        codes=("not_found",),
    ),
    Endpoint(
        method="GET",
        path="/mcp/callback",
        handler=back,
        tag="mcp",
        summary="Where a person comes back to who signed in at an MCP server",
        gives=bytes,
        media=("text/html",),
        query=(CODE, STATE, ISSUER, ERROR),
    ),
)
