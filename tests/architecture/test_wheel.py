"""The wheel carries the built page, although no commit does."""

import subprocess
import sys
import zipfile
from pathlib import Path

from tests.docs.page import ROOT

BUILD = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", "out"]


def test_the_wheel_carries_the_built_page(tmp_path: Path) -> None:
    for name in ("pyproject.toml", "README.md", ".gitignore"):
        (tmp_path / name).write_bytes((ROOT / name).read_bytes())
    package = tmp_path / "src/tenuto"
    page = package / "api/page/assets"
    page.mkdir(parents=True)
    (package / "__init__.py").write_bytes((ROOT / "src/tenuto/__init__.py").read_bytes())
    (page.parent / "index.html").write_text("<!doctype html>")
    (page / "main-1a2b.js.br").write_bytes(b"packed")
    done = subprocess.run(BUILD, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    (wheel,) = (tmp_path / "out").glob("*.whl")
    names = zipfile.ZipFile(wheel).namelist()
    assert "tenuto/api/page/index.html" in names
    assert "tenuto/api/page/assets/main-1a2b.js.br" in names
