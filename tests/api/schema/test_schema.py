"""Whatever the description allows works, whatever it forbids is refused, and nothing else comes."""

import os
import subprocess
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import anyio.to_thread
import pytest

from tests.support.model_server import ModelServer, answer
from tests.support.server import TenutoServer

LONGER = os.environ.get("TENUTO_TEST_SCHEMA_SECONDS", "")
"""Go on for so long; else the same requests each time, for about half a minute."""
SECONDS = 200 + int(LONGER or 0)
HOW_LONG = ["--max-time", LONGER] if LONGER else ["--max-examples", "10"]
SEED = "1"
HERE = Path(__file__).parent

pytestmark = [pytest.mark.anyio, pytest.mark.timeout(SECONDS + 30)]


@pytest.fixture
async def model() -> AsyncIterator[ModelServer]:
    async with ModelServer() as model:
        model.script(answer("A short answer."))
        yield model


@pytest.fixture
async def server(model: ModelServer, tmp_path: Path) -> AsyncIterator[TenutoServer]:
    # One of the checks is a wrong token for each call, and all come from one address.
    env = {"TENUTO_LIMITS_WRONG_TOKENS": "1000000"}
    async with TenutoServer(tmp_path / "server", model_url=model.url, env=env) as server:
        yield server


@pytest.mark.guarantee("E1")
async def test_the_server_is_what_it_says(
    model: ModelServer, server: TenutoServer, tmp_path: Path
) -> None:
    code, said = await anyio.to_thread.run_sync(_schemathesis, model.url, server, tmp_path)
    assert code == 0, said
    assert '"level":"error"' not in server.log()


def _schemathesis(model_url: str, server: TenutoServer, cwd: Path) -> tuple[int, str]:
    done = subprocess.run(
        [
            Path(sys.executable).with_name("schemathesis"),
            *("--config-file", HERE / "schemathesis.toml"),
            *("run", f"{server.url}/openapi.json", "--checks", "all", "--seed", SEED, *HOW_LONG),
            *("--header", f"Authorization: Bearer {server.token}", "--no-color"),
        ],
        cwd=cwd,
        env=os.environ
        | {
            "PYTHONPATH": str(HERE.parents[2]),
            "SCHEMATHESIS_HOOKS": "tests.api.schema.agreement",
            "TENUTO_TEST_MODEL_URL": model_url,
        },
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
    )
    return done.returncode, done.stdout + done.stderr
