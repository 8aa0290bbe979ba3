"""The nodes that share the database."""

from starlette.types import ASGIApp

from tenuto.api.call import Call, answer
from tenuto.api.endpoint import Endpoint
from tenuto.core.value import Value
from tenuto.ports.query import NodeStanding


class NodeList(Value):
    nodes: tuple[NodeStanding, ...]


async def listing(call: Call) -> ASGIApp:
    return answer(NodeList(nodes=tuple(await call.to.nodes())))


ENDPOINTS = (
    Endpoint(
        method="GET",
        path="/api/nodes",
        handler=listing,
        tag="health",
        summary="The nodes that share the database, and how each is",
        gives=NodeList,
    ),
)
