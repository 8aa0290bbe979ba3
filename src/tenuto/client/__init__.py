"""A typed client for a Tenuto server, with resume built in.

async with Client("http://127.0.0.1:8080", token) as tenuto:
    session = await tenuto.create_session()
    run = await session.prompt("Hello")
    async for item in run.events():
        ...
"""

from tenuto.client.attached import AttachedRun
from tenuto.client.client import Client, OfferedModel, OfferedModels
from tenuto.client.heard import HeardRun
from tenuto.client.patience import ConnectionLost, Patience
from tenuto.client.run import RunHandle
from tenuto.client.session import Cancelled, Compacted, Messages, SessionHandle, Undone
from tenuto.client.stream import Item, Seen, Snapshot, WorkspaceSnapshot
from tenuto.client.wire import ApiError

__all__ = [
    "ApiError",
    "AttachedRun",
    "Cancelled",
    "Client",
    "Compacted",
    "ConnectionLost",
    "HeardRun",
    "Item",
    "Messages",
    "OfferedModel",
    "OfferedModels",
    "Patience",
    "RunHandle",
    "Seen",
    "SessionHandle",
    "Snapshot",
    "Undone",
    "WorkspaceSnapshot",
]
