"""Turns: where every node sees the same work, one takes it first, the others if it did not."""

from collections.abc import Collection, Sequence
from hashlib import blake2b
from typing import TypeVar

from tenuto.core.value import NodeId
from tenuto.engine.node import Node

OTHERS_SECONDS = 1.0
"""How long the others leave it to the first."""

T = TypeVar("T", bound=str)


class Turns:
    def __init__(self, node: Node) -> None:
        self._node = node
        self._since: dict[str, float] = {}
        """When what is still there was seen first."""

    def mine(
        self, seen: Sequence[T], among: Collection[NodeId], *, after: float = 0.0
    ) -> Sequence[T]:
        """What of it this node takes now: at once if it is alone, else `after` some seconds of it
        being there, or later if it is another's turn."""
        now = self._node.clock.seconds()
        self._since = {what: self._since.get(what, now) for what in seen}
        if not {*among} - {self._node.id}:
            return seen
        return [
            what
            for what in seen
            if now - self._since[what] >= after + self._others_wait(what, among)
        ]

    def _others_wait(self, what: str, among: Collection[NodeId]) -> float:
        is_first = first_of(what, {*among, self._node.id}) == self._node.id
        return 0.0 if is_first else OTHERS_SECONDS


def first_of(what: str, nodes: Collection[NodeId]) -> NodeId:
    """The node whose turn it is: all come to the same, and when one goes only its turns move."""
    return max(nodes, key=lambda node: blake2b(f"{node} {what}".encode(), digest_size=8).digest())
