"""Listing and searching."""

import shutil
from pathlib import Path

import pytest

from tenuto.agent.tools.files import walking
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


IGNORED = [
    ("*.log\n!a.log\n", "a.log b.log logs/a.log", "a.log logs/a.log"),
    ("/build\n", "build/x src/build/x", "src/build/x"),
    ("build/\n", "build/x src/build/x src/build.py", "src/build.py"),
    ("docs/*.txt\n", "docs/a.txt docs/deep/a.txt a.txt", "a.txt docs/deep/a.txt"),
    ("a/**/b\n", "a/b a/x/b a/x/y/b b", "b"),
    ("gen/**\n!gen/keep\n", "gen/a gen/keep", "gen/keep"),
    ("*\n!*/\n!*.py\n", "a.py b.txt src/c.py src/d.txt", "a.py src/c.py"),
    ("# no\n\\#yes\n", "#yes # no", "# no"),
    ("[ab].txt\n", "a.txt c.txt", "c.txt"),
    ("{a,b}.txt\n", "a.txt {a,b}.txt", "a.txt"),
    ("target\n!target\n", "target/x", "target/x"),
]


@pytest.mark.parametrize(("rules", "files", "left"), IGNORED)
async def test_ignore_rules_are_kept_as_git_keeps_them(
    desk: Desk, rules: str, files: str, left: str
) -> None:
    names = files.split(" ") if "# no" not in files else ["#yes", "# no"]
    for name in names:
        (desk.folder / name).parent.mkdir(parents=True, exist_ok=True)
        (desk.folder / name).write_text("x")
    (desk.folder / ".gitignore").write_text(rules)
    said = (await desk.run("list_files")).splitlines()
    assert [name for name in said if name != ".gitignore"] == (
        left.split(" ") if left != "# no" else [left]
    )


async def test_ignore_rules_of_folders_count_below_them(desk: Desk) -> None:
    for name in ("src/gen/a.py", "src/gen/keep.py", "src/b.py", "gen/c.py", "src/deep/x.tmp"):
        (desk.folder / name).parent.mkdir(parents=True, exist_ok=True)
        (desk.folder / name).write_text("x = 1\n")
    (desk.folder / ".gitignore").write_text("*.tmp\n")
    (desk.folder / "src" / ".gitignore").write_text("gen/*\n!gen/keep.py\n")
    said = await desk.run("list_files", pattern="**/*.{py,tmp}")
    assert said.splitlines() == ["gen/c.py", "src/b.py", "src/gen/keep.py"]
    # The rules above hold also where a listing begins further down.
    assert await desk.run("list_files", path="src/deep") == "No file matches."
    said = await desk.run("search_files", pattern="x", path="src/gen")
    assert said == "src/gen/keep.py:1: x = 1"


async def test_a_listing_that_is_too_long_shows_every_part_of_the_tree(tmp_path: Path) -> None:
    desk = Desk(tmp_path, output_characters=300)
    for folder in ("alpha/deep", "beta", "zeta/x"):
        (desk.folder / folder).mkdir(parents=True)
        for n in range(40):
            (desk.folder / folder / f"file-{n:03}").touch()
    (desk.folder / "README.md").touch()
    said = (await desk.run("list_files")).splitlines()
    assert said == [
        "README.md",
        "alpha/  (40 files)",
        "beta/  (40 files)",
        "zeta/  (40 files)",
    ]


async def test_a_long_listing_is_capped_with_the_count_of_the_rest(tmp_path: Path) -> None:
    desk = Desk(tmp_path, output_characters=100)
    for n in range(50):
        (desk.folder / f"file-{n:03}").touch()
    said = (await desk.run("list_files")).splitlines()
    assert said == [
        *(f"file-{n:03}" for n in range(11)),
        "[39 more left out: output is capped]",
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


async def test_a_pattern_that_takes_for_ever_ends_and_keeps_what_was_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(walking, "PROGRAMS", "")
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


async def test_a_search_shows_lines_around_each_match(desk: Desk) -> None:
    lines = [f"line {n}" for n in range(1, 13)]
    lines[3] = lines[4] = lines[10] = "here"
    (desk.folder / "a.txt").write_text("\n".join(lines))
    said = await desk.run("search_files", pattern="here", context=1)
    assert said.splitlines() == [
        "a.txt-3- line 3",
        "a.txt:4: here",
        "a.txt:5: here",
        "a.txt-6- line 6",
        "--",
        "a.txt-10- line 10",
        "a.txt:11: here",
        "a.txt-12- line 12",
    ]


async def test_a_search_can_give_the_names_of_files_only(tree: Desk) -> None:
    said = await tree.run("search_files", pattern="this is", glob="*.py", names_only=True)
    assert said.splitlines() == ["src/app.py", "src/deep/er/util.py"]


SEARCHES = [
    r"def \w+\(",
    r"(?i)HELLO",
    r"foo$",
    r"^\s+x",
    r"(?<=def )main",
    r"\bcafé\b",
    "-e",
    r"\Afoo\Z",
    "漢",
]


@pytest.mark.parametrize("pattern", SEARCHES)
async def test_a_search_finds_the_same_with_ripgrep_and_without(
    desk: Desk, monkeypatch: pytest.MonkeyPatch, pattern: str
) -> None:
    if shutil.which("rg", path=walking.PROGRAMS) is None:
        pytest.skip("ripgrep is not installed (the Debian package ripgrep)")
    for name, content in {
        "a.py": b"def main():\n    x = 1\n",
        "-e": b"-e\nfoo\r\n",
        "deep/b.txt": "café hello 漢字\n".encode(),
        "bin": b"foo\0def main(",
        "latin": b"caf\xe9\nfoo\n",
    }.items():
        (desk.folder / name).parent.mkdir(exist_ok=True)
        (desk.folder / name).write_bytes(content)
    with_it = await desk.run("search_files", pattern=pattern)
    monkeypatch.setattr(walking, "PROGRAMS", "")
    assert await desk.run("search_files", pattern=pattern) == with_it
    assert with_it != "No line matches."
