"""Clients that carry files: what a message speaks of can be read as long as its session is there."""

from typing import TYPE_CHECKING

from tenuto.core.error import InvalidInput, NotFound
from tenuto.core.file import FileInfo
from tenuto.core.principal import OWNER
from tenuto.core.run import InputFile, InputText
from tenuto.core.value import FileId
from tenuto.engine.checking import Draft
from tenuto.storage.memory import MemoryStore
from tests.oracle.rule import Json
from tests.proof.sim.session_log import WitnessedLog
from tests.proof.sim.violation import must
from tests.proof.sim.witness import now

if TYPE_CHECKING:
    from tests.proof.sim.client import SimClient

OLD_SECONDS = 2 * 24 * 3600.0
"""Of a file that the janitor removes as soon as nobody speaks of it."""


async def carry(client: "SimClient") -> None:
    """Upload a file, sometimes one of the day before yesterday, and send it with a prompt."""
    world = client.world
    node = await client.node()
    age = client.dice.choice((0.0, OLD_SECONDS))
    word = world.word().strip()
    info = FileInfo(
        id=FileId(world.ids.new("fil")),
        name=f"{word}.txt",
        media_type="text/plain",
        size=len(word),
        created_at=world.clock.later(-age),
    )
    await node.call(lambda: node.store.put_file(info, word.encode()))
    if client.dice.random() < 0.3:
        await node.call(lambda: node.engine.janitor.purge(older_than=0.0))
    draft = Draft(input=[InputText(text=f"p{word}"), InputFile(file_id=info.id)])
    with client.asking("submit", client.id):
        try:
            await client.again(lambda n, o: n.inbox.accept(client.id, draft, by=OWNER, once=o))
        except InvalidInput:
            must(age, "a file of today is not tidied away", info)


async def tidy(client: "SimClient") -> None:
    """The janitor comes round, now of all times."""
    node = await client.node()
    await node.call(lambda: node.engine.janitor.purge(older_than=30.0))


def check_files(store: MemoryStore, session: WitnessedLog) -> None:
    """Every file that a session speaks of can be read."""
    for file_id in _spoken_of(session):
        try:
            now(store.file_content(FileId(file_id)))
        except NotFound:
            must(False, "a file stays as long as a session speaks of it", session.id, file_id)


def _spoken_of(session: WitnessedLog) -> list[str]:
    given = [run["input"] for run in session.runs.values() if isinstance(run["input"], list)]
    parts: list[Json] = [part for message in session.messages for part in message["parts"]]
    parts += [item for items in given for item in items]
    return list(dict.fromkeys(part["file_id"] for part in parts if part["type"] == "file"))
