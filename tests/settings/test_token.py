"""The token that is made when none is given."""

import os
import stat
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import anyio
import pytest

from tenuto.api.door import Door
from tenuto.config import ConfigError, Secret, Settings, ensure_token
from tenuto.storage.memory import MemoryStore
from tenuto.wiring.storage import shared_token
from tests.conformance.listener import Listener


def test_a_given_token_is_used_and_nothing_is_written(tmp_path: Path) -> None:
    given = Settings(data=tmp_path / "data", token=Secret("open-sesame"))
    assert ensure_token(given) == Secret("open-sesame")
    assert not (tmp_path / "data").exists()


def test_a_made_token_is_kept_for_the_owner_alone_and_used_again(tmp_path: Path) -> None:
    settings = Settings(data=tmp_path / "data")
    made = ensure_token(settings)
    assert len(made.reveal()) == 43
    assert [path.name for path in settings.data.iterdir()] == ["token"]
    assert stat.S_IMODE((settings.data / "token").stat().st_mode) == 0o600
    assert ensure_token(settings) == made


def test_two_folders_have_two_tokens(tmp_path: Path) -> None:
    first, second = Settings(data=tmp_path / "a"), Settings(data=tmp_path / "b")
    assert ensure_token(first) != ensure_token(second)


def test_servers_that_start_at_once_agree_on_one_token(tmp_path: Path) -> None:
    settings = Settings(data=tmp_path / "data")
    with ThreadPoolExecutor(8) as pool:
        tokens = {made.reveal() for made in pool.map(ensure_token, [settings] * 40)}
    assert len(tokens) == 1


def test_a_token_that_others_could_read_is_closed_to_them(tmp_path: Path) -> None:
    (tmp_path / "token").write_text("kept\n")
    (tmp_path / "token").chmod(0o644)
    assert ensure_token(Settings(data=tmp_path)) == Secret("kept")
    assert stat.S_IMODE((tmp_path / "token").stat().st_mode) == 0o600


def test_an_empty_token_file_is_an_error_and_not_an_open_door(tmp_path: Path) -> None:
    (tmp_path / "token").write_text("\n")
    with pytest.raises(ConfigError, match="is empty"):
        ensure_token(Settings(data=tmp_path))


def test_a_data_folder_that_cannot_be_made_is_said_plainly(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(ConfigError, match="cannot be kept or read"):
        ensure_token(Settings(data=tmp_path / "file/data"))


@pytest.mark.anyio
async def test_nodes_that_start_at_once_on_one_database_agree_on_one_token(tmp_path: Path) -> None:
    store = MemoryStore(Listener())
    tokens: list[str] = []

    async def start(node: int) -> None:
        settings = Settings(data=tmp_path / str(node), database="postgresql://h/d")
        tokens.append((await shared_token(settings, store)).reveal())

    async with anyio.create_task_group() as nodes:
        for node in range(10):
            nodes.start_soon(start, node)
    assert len(tokens) == 10
    assert len({*tokens}) == 1
    assert len(tokens[0]) == 43
    assert os.listdir(tmp_path) == []
    given = Settings(data=tmp_path, database="postgresql://h/d", token=Secret("open-sesame"))
    assert await shared_token(given, store) == Secret("open-sesame")


def test_nodes_with_one_token_have_one_cookie_whatever_their_ports() -> None:
    names = {Door(token="t", host="h", port=port, one_of_many=True).cookie_name for port in (1, 2)}
    assert len(names) == 1
    others = {Door(token=token, host="h", port=1, one_of_many=True).cookie_name for token in "uv"}
    assert len(names | others) == 3
    alone = [Door(token="t", host="h", port=port).cookie_name for port in (1, 2)]
    assert alone == ["tenuto_1", "tenuto_2"]
