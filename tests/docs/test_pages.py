"""What the documents say is so."""

import re
import subprocess
from pathlib import Path

import pytest
from scripts import wire
from scripts.configuration import PAGE, page

from tenuto.config import load
from tests.docs.page import PAGES, ROOT, blocks

LINK = re.compile(r"\]\((?!https?:)(?P<target>[^)#\s]+)(?:#[^)]*)?\)")
MAKE = re.compile(r"^(?:\w+=\S+ )*make (?P<target>[a-z]+)", re.MULTILINE)


def name_of(path: Path) -> str:
    return path.name


@pytest.mark.parametrize("path", PAGES, ids=name_of)
def test_every_link_leads_somewhere(path: Path) -> None:
    targets = [match["target"] for match in LINK.finditer(path.read_text(encoding="utf-8"))]
    assert not [target for target in targets if not (path.parent / target).exists()]


@pytest.mark.parametrize("path", PAGES, ids=name_of)
def test_every_command_of_make_is_one(path: Path) -> None:
    for block in blocks(path, ""):
        for match in MAKE.finditer(block):
            dry = subprocess.run(
                ["make", "--dry-run", match["target"]], cwd=ROOT, capture_output=True, check=False
            )
            assert dry.returncode == 0, dry.stderr.decode()


@pytest.mark.parametrize("path", PAGES, ids=name_of)
def test_every_settings_file_shown_is_a_good_one(path: Path, tmp_path: Path) -> None:
    for block in blocks(path, "toml"):
        (tmp_path / "tenuto.toml").write_text(block, encoding="utf-8")
        # The password manager of the examples.
        (tmp_path / "pass").write_text("#!/bin/sh\necho k\n", encoding="utf-8")
        (tmp_path / "pass").chmod(0o700)
        load({}, {"HOME": str(tmp_path), "LAB_KEY": "k", "PATH": str(tmp_path)}, tmp_path)


def test_the_page_of_settings_is_made_from_the_settings() -> None:
    assert PAGE.read_text(encoding="utf-8") == page(), "run `make docs`"


def test_the_page_of_settings_shows_a_file() -> None:
    assert blocks(PAGE, "toml")


def test_the_page_knows_what_the_server_says() -> None:
    assert wire.MODULE.read_text(encoding="utf-8") == wire.module(), "run `make docs`"
