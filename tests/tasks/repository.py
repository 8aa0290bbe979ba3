"""A small real repository, and what a folder holds, byte for byte."""

import os
import subprocess
from pathlib import Path

FILES = {
    "README.md": "# Shop\n\nA shop of three modules. TODO: say more.\n",
    "AGENTS.md": "Run `python3 -m unittest` after each change.\n",
    ".gitignore": "__pycache__/\n*.log\n",
    "shop/__init__.py": "",
    "shop/cart.py": (
        "from shop.prices import price_of\n\n\n"
        "def total(items):\n"
        '    """The price of all items."""\n'
        "    return sum(price_of(item) for item in items)\n"
    ),
    "shop/prices.py": (
        'PRICES = {"apple": 3, "pear": 4}\n\n\n'
        "def price_of(item):\n"
        "    # TODO: what is not for sale\n"
        "    return PRICES[item]\n"
    ),
    "tests/__init__.py": "",
    "tests/test_cart.py": (
        "import unittest\n\n"
        "from shop.cart import total\n\n\n"
        "class CartTest(unittest.TestCase):\n"
        "    def test_total(self):\n"
        '        self.assertEqual(total(["apple", "pear"]), 7)\n\n'
        "    def test_nothing_costs_nothing(self):\n"
        "        self.assertEqual(total([]), 0)\n"
    ),
    "run.sh": "#!/bin/sh\nexec python3 -m unittest\n",
}

Tree = dict[str, tuple[int, bytes]]


def make(folder: Path) -> Tree:
    """The repository, committed; what it holds."""
    for name, text in FILES.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    (folder / "run.sh").chmod(0o755)
    git(folder, "init", "-q")
    git(folder, "add", ".")
    git(folder, "commit", "-qm", "A shop")
    return tree(folder)


def git(folder: Path, *words: str) -> str:
    env = {"GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_NOSYSTEM": "1", "PATH": os.environ["PATH"]}
    who = ("-c", "user.name=x", "-c", "user.email=x@y")
    done = subprocess.run(
        ["git", *who, *words], cwd=folder, check=True, capture_output=True, env=env, text=True
    )
    return done.stdout


def tree(folder: Path) -> Tree:
    """Every file with its mode and bytes; what git and Python keep for themselves left out."""
    found: Tree = {}
    for path in sorted(folder.rglob("*")):
        name = path.relative_to(folder)
        if {".git", "__pycache__"} & set(name.parts) or name.name == ".tenuto-workspace":
            continue
        if path.is_symlink():
            found[str(name)] = (0, os.fsencode(os.readlink(path)))
        elif path.is_file():
            found[str(name)] = (path.stat().st_mode & 0o7777, path.read_bytes())
        elif not any(path.iterdir()):
            found[f"{name}/"] = (0, b"")
    return found


def changed(before: Tree, texts: dict[str, str | None]) -> Tree:
    """The tree with these files as these texts; None: without it."""
    after = dict(before)
    for name, text in texts.items():
        if text is None:
            del after[name]
        else:
            mode = after[name][0] if name in after else 0o666 & ~mask()
            after[name] = (mode, text.encode())
    return after


def mask() -> int:
    status = Path("/proc/self/status").read_text()
    return int(next(line.split()[1] for line in status.splitlines() if "Umask" in line), 8)
