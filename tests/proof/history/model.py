"""The model of a history: a process that answers as the prompt says.

`words=40 rate=200` and any of `think`, `look` and `ask` (tools), `break`, `fail`, `silent`;
`odd` (numbers and names that nothing can hold) and `broken` (an error with half a character).
"""

import asyncio
import re
import sys

from tests.support.model_server import Exchange, ModelServer

ODD_CALL = (
    b'{"choices":[{"delta":{"tool_calls":[{"index":0,"id":"c\\ud800","function":'
    b'{"name":"no\\udc00tool","arguments":"{}"}}]}}]}'
)
NUMBERS = re.compile(r"\b(words|rate)=(\d+)")


async def play(exchange: Exchange) -> None:
    prompt = exchange.prompt
    wish = set(prompt.split())
    if "silent" in wish:
        await exchange.begin()
        return
    if "fail" in wish:
        await exchange.fail(400, "this model was told to fail")
        return
    numbers = dict(NUMBERS.findall(prompt))
    words, rate = int(numbers.get("words", 10)), float(numbers.get("rate", 200))
    if "think" in wish:
        await _say(exchange.reasoning, words // 2, rate)
    await _say(exchange.text, words, rate)
    if "break" in wish:
        await exchange.break_off()
        return
    if "broken" in wish:
        await exchange.data(b'{"error":{"message":"half \\ud83d","code":"\\udfff"}}')
        return
    if "odd" in wish:
        await exchange.data(ODD_CALL)
        await exchange.usage(2**63, -(2**63))
        await exchange.finish("stop")
        return
    tool = _tool(exchange, prompt)
    if tool is not None:
        await exchange.tool_call(0, f"call_{len(exchange.messages)}", tool)
        await exchange.tool_input(0, '{"command": ')
        await exchange.tool_input(0, '"echo hello"}')
    await exchange.usage(len(prompt), words)
    await exchange.finish("stop" if tool is None else "tool_calls")


async def _say(say: object, words: int, rate: float) -> None:
    assert callable(say)
    loop = asyncio.get_running_loop()
    start = loop.time()
    for n in range(words):
        await asyncio.sleep(start + n / rate - loop.time())
        await say(f"word {n} 🌊 ")


def _tool(exchange: Exchange, prompt: str) -> str | None:
    """The next tool that the prompt asks for; those already called do not count."""
    wanted = re.findall(r"\b(look|ask)\b", prompt)
    said = [m["role"] for m in exchange.messages]
    last_user = len(said) - 1 - said[::-1].index("user")
    called = said[last_user:].count("tool")
    return {"look": "list_files", "ask": "shell"}[wanted[called]] if called < len(wanted) else None


async def _serve() -> None:
    async with ModelServer(remember=0) as server:
        server.script(play)
        sys.stdout.write(server.url + "\n")
        sys.stdout.flush()
        await asyncio.Event().wait()


if __name__ == "__main__":
    asyncio.run(_serve())
