"""What a scene of two nodes is played on."""

from typing import Any

import anyio

from tests.api.contract.house import HeldModel, House
from tests.support.cluster import TenutoCluster
from tests.support.log import read_log
from tests.support.watch import until

SETTLED_SECONDS = 5.0
"""The contract's number for a node that was killed."""
GENEROUS = 2
"""The machine of the tests has other things to do."""

Json = dict[str, Any]


class Stage:
    """Each node is a house of its own; both ask one model."""

    def __init__(self, cluster: TenutoCluster, model: HeldModel) -> None:
        self.cluster = cluster
        self.model = model
        self.ada, self.bea = (House(model, node) for node in cluster.nodes)

    @staticmethod
    def model_of_both() -> HeldModel:
        return HeldModel()

    async def settled(self, house: House, run_id: str) -> Json:
        """The run as it ended, within the time that a killed node's runs may take."""
        with anyio.fail_after(GENEROUS * SETTLED_SECONDS):
            return await house.ended(run_id)


async def texts_shown(house: House, session_id: str, text: str) -> list[Json]:
    """The log as soon as the last message says this."""

    async def shown() -> bool:
        return (await house.texts(session_id))[-1:] == [text]

    await until(shown)
    return await read_log(house.api, session_id)
