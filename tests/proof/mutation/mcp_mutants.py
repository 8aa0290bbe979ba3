"""Mutants of MCP servers: what is left of one, what it may know, and who is believed."""

from tests.proof.mutation.mutant import Edit, mutant

MUTANTS = (
    mutant(
        "MCP trusts everybody",
        "A server says that its tools only look, and nobody is asked any more.",
        "api/mcp",
        Edit(
            "agent/mcp/tool.py",
            "self.changes = not (offer.only_looks and server.trust)",
            "self.changes = not offer.only_looks",
        ),
    ),
    mutant(
        "MCP without a sandbox",
        "A program of strangers writes where it likes, and reads our keys.",
        "api/mcp",
        Edit(
            "agent/mcp/life.py",
            "return message.Program(command=await self._held.enter_async_context(around))",
            "await self._held.enter_async_context(around)\n        return message.Program(command=command)",
        ),
    ),
    mutant(
        "MCP with our environment",
        "Every key in the server's environment is every program's.",
        "api/mcp",
        Edit(
            "agent/mcp/life.py",
            "{name: ours[name] for name in PASSED_ON if name in ours}",
            "dict(os.environ)",
        ),
    ),
    mutant(
        "MCP files that nobody allowed",
        "Whoever writes a file into a folder starts programs on the server.",
        "api/mcp",
        Edit(
            "agent/mcp/servers.py",
            "if workspace and file is not None and self._allowed.get(workspace.id) == file.hash:",
            "if workspace and file is not None:",
        ),
    ),
    mutant(
        "MCP files that have changed since",
        "What was allowed once is allowed whatever becomes of it.",
        "api/mcp",
        Edit(
            "agent/mcp/servers.py",
            "if workspace and file is not None and self._allowed.get(workspace.id) == file.hash:",
            "if workspace and file is not None and workspace.id in self._allowed:",
        ),
    ),
    mutant(
        "MCP keys go elsewhere",
        "A key that was given for one program is handed to another.",
        "api/mcp",
        Edit(
            "engine/mcp.py",
            "like = kept if kept is not None and _is_same(kept, draft) else None",
            "like = kept",
        ),
    ),
    mutant(
        "MCP calls go on",
        "A stop leaves the server's handler at work.",
        "api/mcp",
        Edit(
            "agent/mcp/link.py",
            "            await self._cancel(number, answer)\n            raise\n",
            "            raise\n",
        ),
    ),
    mutant(
        "MCP sign-in for anyone",
        "Whoever knows the address signs in for us.",
        "api/mcp",
        Edit(
            "agent/mcp/lives.py",
            "if life.login_state == state)",
            "if life.login_state is not None)",
        ),
    ),
    mutant(
        "MCP logins in plain sight",
        "What signing in gave can be read in the database.",
        "api/mcp",
        Edit(
            "engine/mcp.py",
            'self._cipher.encrypt(sheet.login, about=_about(name)) if sheet.login else ""',
            "sheet.login",
        ),
    ),
)
