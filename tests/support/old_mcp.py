"""An MCP server as most still are: a handshake, and questions of its own while it works on a call.

By hand, without the SDK: `python old_mcp.py`. What it is asked with `ask`, it asks a person.
"""

import json
import sys
from typing import Any

SCHEMA = {
    "type": "object",
    "properties": {
        "size": {
            "type": "string",
            "title": "Size",
            "enum": ["s", "m"],
            "enumNames": ["Small", "Mid"],
        },
        "sure": {"type": "boolean", "description": "Are you sure?"},
    },
    "required": ["size"],
}
TOOL = {"name": "ask", "description": "Ask.", "inputSchema": {"type": "object", "properties": {}}}


def send(message: dict[str, Any]) -> None:
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
    sys.stdout.flush()


def answer(message: dict[str, Any], result: dict[str, Any]) -> None:
    send({"id": message["id"], "result": result})


def main() -> None:
    call: dict[str, Any] = {}
    for line in sys.stdin:
        message = json.loads(line)
        match message.get("method"):
            case "initialize":
                answer(
                    message,
                    {
                        "protocolVersion": "2025-06-18",
                        "capabilities": {"tools": {}},
                        "serverInfo": {"name": "old", "version": "1"},
                    },
                )
            case "tools/list":
                answer(message, {"tools": [TOOL]})
            case "tools/call":
                call = message
                params = {"message": "For the shirt:", "requestedSchema": SCHEMA}
                send({"id": "q1", "method": "elicitation/create", "params": params})
            case None if message.get("id") == "q1":
                text = json.dumps(message["result"], sort_keys=True)
                answer(call, {"content": [{"type": "text", "text": text}]})
            case _ if "id" in message:
                send({"id": message["id"], "error": {"code": -32601, "message": "unheard of"}})


if __name__ == "__main__":
    main()
