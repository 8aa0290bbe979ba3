"""A real server, a model that the task scripts, and a person with bare HTTP."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.support.cluster import serving
from tests.support.model_server import ModelServer
from tests.tasks import repository
from tests.tasks.person import Person

ALLOWED = {"TENUTO_PERMISSIONS": "allow", "TENUTO_TOOLS_ALLOW_PRIVATE_ADDRESSES": "on"}


@pytest.fixture
def server_env() -> dict[str, str]:
    return ALLOWED


@pytest.fixture
async def model() -> AsyncIterator[ModelServer]:
    async with ModelServer() as model:
        yield model


@pytest.fixture
async def person(
    model: ModelServer, tmp_path: Path, server_env: dict[str, str]
) -> AsyncIterator[Person]:
    async with serving(tmp_path, model_url=model.url, env=server_env) as server:
        raw = server.raw
        folder = server.folder_of((await raw.get("/api/workspaces/default"))["path"])
        before = repository.make(folder)
        session = (await raw.post("/api/sessions", {})).body
        yield Person(raw=raw, model=model, folder=folder, before=before, session=session["id"])
