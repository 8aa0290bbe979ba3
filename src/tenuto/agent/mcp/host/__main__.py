"""Started by `Link` only. It hears orders on its standard input, and ends when that does."""

import asyncio
import logging
import os
import sys

from tenuto.agent.mcp.host.office import Office
from tenuto.agent.mcp.message import LONGEST_LINE


def main() -> None:
    # Libraries may print: their words go nowhere, ours alone to the server.
    says = os.dup(1)
    os.dup2(2, 1)
    logging.disable(logging.CRITICAL)
    patience = float(sys.argv[1]) if len(sys.argv) > 1 else 0.0
    asyncio.run(serve(says, patience))


async def serve(says: int, patience: float) -> None:
    loop = asyncio.get_running_loop()
    orders = asyncio.StreamReader(limit=LONGEST_LINE)
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(orders), sys.stdin)
    pipe, _ = await loop.connect_write_pipe(asyncio.BaseProtocol, os.fdopen(says, "wb"))
    office = Office(pipe.write)
    while True:
        try:
            async with asyncio.timeout(patience or None):
                order = await orders.readline()
        except TimeoutError:
            # Others may have taken over what a server does that stands still.
            order = b""
        if not order:
            break
        office.take(order)
    await office.close()
    # Whatever still waits for somebody goes too: its programs end with our pipes.
    os._exit(0)


if __name__ == "__main__":
    main()
