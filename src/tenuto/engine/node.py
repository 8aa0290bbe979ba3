"""A node: who works here, by which clock, under which names, and where a test may let it die."""

from dataclasses import dataclass, field

from msgspec import UNSET

from tenuto.core.desk import Moment
from tenuto.core.principal import Principal
from tenuto.core.value import NodeId
from tenuto.engine.folders import Folders
from tenuto.ports.clock import Clock, Ids
from tenuto.ports.points import NOWHERE, Points


@dataclass(frozen=True, slots=True, kw_only=True)
class Node:
    """What every part of an engine needs, and is given as one."""

    id: NodeId
    name: str = ""
    """What people call it."""
    version: str = ""
    clock: Clock
    ids: Ids
    points: Points = NOWHERE
    folders: Folders = field(default_factory=Folders)

    def moment(self, *, by: Principal | None = None) -> Moment:
        """Now, here, for whoever asked; None: nobody did."""
        return Moment(now=self.clock.now(), node=self.id, by=UNSET if by is None else by.id)
