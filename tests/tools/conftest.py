"""Fixtures of the tools' tests."""

import secrets
from pathlib import Path

import pytest

from tests.tools.desk import Desk


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    folder = tmp_path / "workspace"
    folder.mkdir()
    return Desk(folder)


@pytest.fixture
def mark() -> str:
    """A word that is in no other process."""
    return f"mark-{secrets.token_hex(8)}"
