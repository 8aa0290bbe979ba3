"""Listing and searching."""

from pathlib import Path

import pytest

from tests.tools.desk import Desk

pytestmark = pytest.mark.anyio

TREE = [
    "README.md",
    "src/app.py",
    "src/deep/er/util.py",
    "src/page.ts",
    "src/page.tsx",
    "build/out.py",
    "logs/a.log",
    ".git/config",
    "node_modules/x/index.js",
    "src/__pycache__/app.pyc",
    ".venv/lib.py",
]


@pytest.fixture
def tree(desk: Desk) -> Desk:
    for name in TREE:
        file = desk.folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(f"this is {name}\n")
    (desk.folder / ".gitignore").write_text("# made\n/build/\n*.log\n")
    return desk


LISTINGS = {
    "**": [
        ".gitignore",
        "README.md",
        "src/app.py",
        "src/deep/er/util.py",
        "src/page.ts",
        "src/page.tsx",
    ],
    "*.py": ["src/app.py", "src/deep/er/util.py"],
    "**/*.py": ["src/app.py", "src/deep/er/util.py"],
    "src/*.py": ["src/app.py"],
    "src/**/util.py": ["src/deep/er/util.py"],
    "src/**": ["src/app.py", "src/deep/er/util.py", "src/page.ts", "src/page.tsx"],
    "*.{ts,tsx}": ["src/page.ts", "src/page.tsx"],
    "./src/[!p]*": ["src/app.py"],
    "src/?pp.py": ["src/app.py"],
    "*.rs": ["No file matches."],
}


@pytest.mark.parametrize("pattern", LISTINGS)
async def test_a_glob_finds_its_files_sorted(tree: Desk, pattern: str) -> None:
    said = await tree.run("list_files", pattern=pattern)
    assert said.splitlines() == LISTINGS[pattern]


async def test_a_path_is_where_the_listing_begins(tree: Desk) -> None:
    said = await tree.run("list_files", path="src", pattern="deep/**/*.py")
    assert said == "src/deep/er/util.py"
    # What is usually left out can be looked at by name.
    assert await tree.run("list_files", path="node_modules") == "node_modules/x/index.js"


async def test_ignore_rules_that_take_something_back_are_not_guessed_at(tree: Desk) -> None:
    (tree.folder / ".gitignore").write_text("*.log\n!a.log\n")
    assert "logs/a.log" in await tree.run("list_files")
    assert ".git/config" not in await tree.run("list_files")


async def test_a_long_listing_is_capped_with_the_count_of_the_rest(tmp_path: Path) -> None:
    desk = Desk(tmp_path, output_characters=100)
    for n in range(50):
        (desk.folder / f"file-{n:03}").touch()
    said = (await desk.run("list_files")).splitlines()
    assert said == [
        *(f"file-{n:03}" for n in range(11)),
        "[39 more files left out: output is capped]",
    ]


async def test_names_that_are_no_text_can_be_listed(desk: Desk) -> None:
    (desk.folder / "ok").touch()
    with open(bytes(desk.folder) + b"/bad-\xff", "w"):  # noqa: ASYNC230
        pass
    assert await desk.run("list_files") == "bad-?\nok"


async def test_a_search_names_file_line_and_text(tree: Desk) -> None:
    (tree.folder / "src/app.py").write_text("import os\r\n\nprint(os.name)\n")
    assert (await tree.run("search_files", pattern=r"\bos\b")).splitlines() == [
        "src/app.py:1: import os",
        "src/app.py:3: print(os.name)",
    ]
    assert await tree.run("search_files", pattern="^THIS") == "No line matches."


async def test_a_search_can_be_kept_to_a_folder_a_file_or_a_glob(tree: Desk) -> None:
    said = await tree.run("search_files", pattern="this", glob="*.tsx")
    assert said == "src/page.tsx:1: this is src/page.tsx"
    said = await tree.run("search_files", pattern="this", path="src/deep")
    assert said == "src/deep/er/util.py:1: this is src/deep/er/util.py"
    said = await tree.run("search_files", pattern="this", path="build/out.py")
    assert said == "build/out.py:1: this is build/out.py"


async def test_a_search_skips_binary_files_and_shortens_long_lines(desk: Desk) -> None:
    (desk.folder / "a.bin").write_bytes(b"needle\0")
    (desk.folder / "b.min.js").write_text("x" * 100_000 + "needle" + "y" * 100_000)
    said = await desk.run("search_files", pattern="needle")
    assert said.startswith("b.min.js:1: …xxx")
    assert "needle" in said
    assert len(said) < 500


async def test_many_matches_are_capped_with_the_count_of_the_rest(tmp_path: Path) -> None:
    desk = Desk(tmp_path, output_characters=100)
    (desk.folder / "a").write_text("hit\n" * 100)
    said = (await desk.run("search_files", pattern="hit")).splitlines()
    assert said[0] == "a:1: hit"
    assert said[-1] == "[90 more lines left out: output is capped]"


@pytest.mark.parametrize("pattern", ["(", "[", "*", "x{99999999999}", "(?P<a>x)(?P<a>y)"])
async def test_a_pattern_that_is_none_is_refused_with_the_reason(desk: Desk, pattern: str) -> None:
    said = await desk.failure("search_files", pattern=pattern)
    assert said.startswith("The pattern is not a regular expression: ")


async def test_a_pattern_that_takes_for_ever_ends_and_keeps_what_was_found(tmp_path: Path) -> None:
    desk = Desk(tmp_path, search_seconds=1)
    (desk.folder / "a.txt").write_text("aaaa\n")
    (desk.folder / "b.txt").write_text("a" * 60 + "!\n")
    said = await desk.run("search_files", pattern="^(a+)+$")
    assert said.startswith("a.txt:1: aaaa\n[stopped after 1 seconds: there may be more.")


async def test_a_glob_that_takes_for_ever_ends_too(tmp_path: Path) -> None:
    desk = Desk(tmp_path, search_seconds=1)
    (desk.folder / ("a" * 200)).touch()
    said = await desk.run("list_files", pattern="*a" * 40 + "b")
    assert said.startswith("[stopped after 1 seconds") or said == "No file matches."
