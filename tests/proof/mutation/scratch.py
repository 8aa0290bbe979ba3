"""A copy of the tree with an interpreter of its own, so that nothing is broken but the copy."""

import os
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

ROOT = Path(__file__).parents[3]
ROOMS = ("src", "tests", "scripts", "bench", "docs")
LEFT_OUT = shutil.ignore_patterns("__pycache__", "*.pyc")


class Scratch:
    """Everything in it, and every process that its tests start, imports the copy's sources."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.python = folder / ".venv" / "bin" / "python"

    @classmethod
    def copied(cls, folder: Path) -> "Scratch":
        for room in ROOMS:
            if (ROOT / room).exists():
                shutil.copytree(ROOT / room, folder / room, ignore=LEFT_OUT)
        for file in [*ROOT.glob("*.toml"), *ROOT.glob("*.md"), ROOT / "Makefile"]:
            shutil.copy(file, folder / file.name)
        scratch = cls(folder)
        scratch._make_interpreter()
        return scratch

    def _make_interpreter(self) -> None:
        venv = self.folder / ".venv"
        subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(venv)], check=True)
        found = Path(sysconfig.get_path("purelib")).relative_to(sys.prefix)
        # Read in this order: the copy's sources hide the installed ones, which are the original.
        lines = f"{self.folder / 'src'}\n{sysconfig.get_path('purelib')}\n"
        (venv / found / "scratch.pth").write_text(lines, encoding="utf-8")

    def environment(self) -> dict[str, str]:
        # Compiled files would outlive the sources that they were made from within one second.
        return {**os.environ, "PYTHONDONTWRITEBYTECODE": "1", "PYTHONPATH": ""}
