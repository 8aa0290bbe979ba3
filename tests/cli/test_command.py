"""The command as a person types it."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

SECONDS = 30


def tenuto(
    *arguments: str, cwd: Path, environ: dict[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    clean = {key: value for key, value in os.environ.items() if not key.startswith("TENUTO_")}
    return subprocess.run(
        [sys.executable, "-m", "tenuto", *arguments],
        cwd=cwd,
        env=clean | {"HOME": str(cwd)} | (environ or {}),
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
    )


def test_it_says_its_version(tmp_path: Path) -> None:
    said = tenuto("--version", cwd=tmp_path)
    assert said.returncode == 0
    assert said.stdout == "tenuto, version 0.1.0\n"


def test_help_names_the_commands(tmp_path: Path) -> None:
    said = tenuto("--help", cwd=tmp_path)
    assert said.returncode == 0
    assert "serve    Start the server." in said.stdout
    assert "migrate  Move everything to another database." in said.stdout


@pytest.mark.parametrize("flag", ["--host", "--port", "--data", "--token", "--database", "--drain"])
def test_the_help_of_serve_names_every_flag_of_the_contract(tmp_path: Path, flag: str) -> None:
    assert f"{flag} " in tenuto("serve", "--help", cwd=tmp_path).stdout


def test_help_loads_nothing_of_the_server(tmp_path: Path) -> None:
    environ = {"PYTHONPROFILEIMPORTTIME": "1"}
    said = tenuto("--help", cwd=tmp_path, environ=environ)
    loaded = {line.rpartition("|")[2].strip() for line in said.stderr.splitlines()}
    assert "click" in loaded
    assert not loaded & {"msgspec", "aiohttp", "starlette", "uvicorn", "apsw", "asyncio"}


def test_bad_settings_are_said_in_plain_lines_with_exit_code_2(tmp_path: Path) -> None:
    (tmp_path / "tenuto.toml").write_text("prot = 1")
    said = tenuto("serve", "--port", "x", cwd=tmp_path)
    assert said.returncode == 2
    assert said.stdout == ""
    assert said.stderr.splitlines() == [
        "tenuto: prot (tenuto.toml): no such setting; did you mean port?",
        "tenuto: port = 'x' (--port): must be a whole number from 0 to 65535",
    ]


def test_a_misspelt_flag_is_named_with_exit_code_2(tmp_path: Path) -> None:
    said = tenuto("serve", "--prot", "1", cwd=tmp_path)
    assert said.returncode == 2
    assert "No such option '--prot'" in said.stderr
    assert "--port" in said.stderr


def test_bad_settings_load_nothing_of_the_server(tmp_path: Path) -> None:
    environ = {"PYTHONPROFILEIMPORTTIME": "1", "TENUTO_PORT": "x"}
    said = tenuto("serve", cwd=tmp_path, environ=environ)
    assert said.returncode == 2
    loaded = {line.rpartition("|")[2].strip() for line in said.stderr.splitlines()}
    assert "tenuto.config" in loaded
    assert not loaded & {"aiohttp", "starlette", "uvicorn", "apsw"}
