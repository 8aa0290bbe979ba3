"""MCP servers that are added and removed while the server runs, and what is remembered of them."""

import logging
from collections.abc import Callable, Mapping, Sequence

import msgspec
from msgspec.structs import replace

from tenuto.core.error import Conflict, Forbidden, InvalidInput, NotFound, StorageTrouble
from tenuto.core.mcp import CALL_SECONDS, McpServer, McpSource, McpTransport
from tenuto.core.provider import same_server
from tenuto.core.session import Workspace
from tenuto.core.value import Value, WorkspaceId
from tenuto.engine.saved import Saved
from tenuto.ports.mcp import McpFile, McpReturn, McpServers, McpSheet, McpStanding
from tenuto.ports.preference import Cipher, SavedSettings
from tenuto.ports.store import Keeping, Nodes

log = logging.getLogger(__name__)

MOST_SERVERS = 100
MOST_TRIES = 20
KEPT = "mcp/"
RETURNS = "mcp-return"


class McpDraft(Value):
    """A server as it comes in. A secret that is None is the one that is kept."""

    name: str
    command: str = ""
    args: tuple[str, ...] = ()
    env: dict[str, str | None] = msgspec.field(default_factory=dict)
    url: str = ""
    headers: dict[str, str | None] = msgspec.field(default_factory=dict)
    tools: tuple[str, ...] | None = None
    trust: bool = False
    timeout: float = CALL_SECONDS
    enabled: bool = True


class McpKeeper:
    def __init__(
        self,
        saved: Saved,
        servers: McpServers,
        *,
        configured: Sequence[McpServer],
        on_secret: Callable[[str], None] = lambda secret: None,
    ) -> None:
        self.servers = servers
        self._saved = saved
        self._configured = {server.name: server for server in configured}
        self._on_secret = on_secret
        self._offered: dict[str, McpServer] = {}
        for server in configured:
            servers.put(server, McpSource.FILE)
        saved.on_change.append(self._follow)

    async def put(self, draft: McpDraft) -> McpStanding:
        """Keep this server; runs can use it from their next step on."""
        self._must_be_ours(draft.name)
        await self._saved.change(lambda saved: self._with(saved, draft))
        log.info("MCP server set", extra={"server": draft.name})
        return await self._standing(draft.name)

    async def remove(self, name: str) -> None:
        self._must_be_ours(name)
        await self._saved.change(lambda saved: _without(saved, name))
        log.info("MCP server removed", extra={"server": name})

    async def allow(self, workspace: Workspace, digest: str | None) -> McpFile:
        """Let the `.mcp.json` of this workspace count as it is now, or no more at all (None)."""
        file = (await self.servers.overview(workspace)).file
        if file is None:
            raise NotFound(f"workspace {workspace.id} has no .mcp.json here")
        if digest is not None and digest != file.hash:
            raise InvalidInput("hash: the file is not what it was: look at it again")
        if digest is not None and file.error is not None:
            raise InvalidInput(file.error)

        def alter(saved: SavedSettings) -> SavedSettings:
            left = {key: one for key, one in saved.mcp_files.items() if key != workspace.id}
            return replace(saved, mcp_files=left | ({workspace.id: digest} if digest else {}))

        await self._saved.change(alter)
        return replace(file, allowed=digest is not None)

    async def _standing(self, name: str) -> McpStanding:
        for standing in (await self.servers.overview(None)).servers:
            if standing.server.name == name:
                return standing
        raise NotFound(f"{name} was removed meanwhile")

    def _must_be_ours(self, name: str) -> None:
        if name in self._configured:
            raise Forbidden(f"{name} is written in tenuto.toml and cannot be changed here")

    def _with(self, saved: SavedSettings, draft: McpDraft) -> SavedSettings:
        kept = saved.mcp_server(draft.name)
        server = _completed(draft, kept)
        if kept is None and len(saved.mcp) >= MOST_SERVERS:
            raise InvalidInput(f"there can be at most {MOST_SERVERS} MCP servers")
        places = {one.name: one for one in saved.mcp} | {server.name: server}
        return replace(saved, mcp=tuple(places.values()))

    def _follow(self) -> None:
        """Offer those that are kept now, whichever node they were added on, and no others."""
        now = {one.name: one for one in self._saved.now.mcp if one.name not in self._configured}
        for name in self._offered.keys() - now.keys():
            self.servers.remove(name)
        for server in now.values():
            for secret in server.secrets:
                self._on_secret(secret)
            self.servers.put(server, McpSource.SETTINGS)
        self._offered = now
        self.servers.allow({WorkspaceId(k): one for k, one in self._saved.now.mcp_files.items()})


class McpShelf:
    """Implements `McpMemory`: in the store, so that every node knows what any of them learnt."""

    def __init__(self, store: Keeping, cipher: Cipher, nodes: Nodes) -> None:
        self._store = store
        self._cipher = cipher
        self._nodes = nodes

    async def sheet(self, name: str) -> McpSheet:
        kept = await self._store.kept(KEPT + name)
        if kept is None:
            return McpSheet()
        try:
            sheet = msgspec.json.decode(kept.body, type=McpSheet)
        except (msgspec.DecodeError, UnicodeDecodeError):
            log.warning("what an MCP server offers is asked again", extra={"server": name})
            return McpSheet()
        try:
            login = self._cipher.decrypt(sheet.login, about=_about(name)) if sheet.login else ""
        except StorageTrouble:
            # It was encrypted with another secret: somebody signs in once more.
            login = ""
        return replace(sheet, login=login)

    async def keep(self, name: str, sheet: McpSheet) -> None:
        login = self._cipher.encrypt(sheet.login, about=_about(name)) if sheet.login else ""
        await self._put(KEPT + name, msgspec.json.encode(replace(sheet, login=login)))

    async def pass_on(self, back: McpReturn) -> bool:
        if not self._nodes.shared:
            return False
        text = msgspec.json.encode(back).decode()
        await self._put(RETURNS, self._cipher.encrypt(text, about=RETURNS).encode())
        return True

    async def passed_on(self) -> McpReturn | None:
        kept = await self._store.kept(RETURNS)
        if kept is None:
            return None
        text = self._cipher.decrypt(kept.body.decode(), about=RETURNS)
        return msgspec.json.decode(text, type=McpReturn)

    async def _put(self, name: str, body: bytes) -> None:
        """Whatever stood there before."""
        for _ in range(MOST_TRIES):
            kept = await self._store.kept(name)
            try:
                await self._store.keep(name, body, rev=kept.rev if kept else 0)
            except Conflict:
                continue
            return


def _about(name: str) -> str:
    return f"mcp login {name}"


def _without(saved: SavedSettings, name: str) -> SavedSettings:
    if saved.mcp_server(name) is None:
        raise NotFound(f"there is no MCP server {name}")
    return replace(saved, mcp=tuple(one for one in saved.mcp if one.name != name))


def _completed(draft: McpDraft, kept: McpServer | None) -> McpServer:
    """The draft with the secrets that it leaves as they are."""
    like = kept if kept is not None and _is_same(kept, draft) else None
    return McpServer(
        name=draft.name,
        command=draft.command.strip(),
        args=draft.args,
        env=_secrets("env", draft.env, like.env if like else {}),
        url=draft.url.strip(),
        headers=_secrets("headers", draft.headers, like.headers if like else {}),
        tools=draft.tools,
        trust=draft.trust,
        timeout=draft.timeout,
        enabled=draft.enabled,
    )


def _is_same(kept: McpServer, draft: McpDraft) -> bool:
    """A key belongs to a program or an address: it goes to no other without being given again."""
    if kept.transport is McpTransport.STDIO:
        return (kept.command, kept.args) == (draft.command.strip(), draft.args)
    return bool(draft.url.strip()) and same_server(kept.url, draft.url.strip())


def _secrets(
    field: str, given: Mapping[str, str | None], kept: Mapping[str, str]
) -> dict[str, str]:
    missing = [name for name, value in given.items() if value is None and name not in kept]
    if missing:
        raise InvalidInput(f"{field}: give {', '.join(missing)} again")
    return {name: kept[name] if value is None else value for name, value in given.items()}
