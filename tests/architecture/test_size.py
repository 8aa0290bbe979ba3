"""A module is one thing, and no module keeps state."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
MODULES = sorted(
    str(path.relative_to(ROOT))
    for room in ("src", "tests", "scripts", "bench")
    for path in (ROOT / room).rglob("*.py")
)
MODULE_LINES = 400
FUNCTION_LINES = 60
MUTABLE = ast.Dict | ast.List | ast.Set | ast.DictComp | ast.ListComp | ast.SetComp


@pytest.mark.parametrize("path", MODULES)
def test_no_module_and_no_function_is_too_long(path: str) -> None:
    text = (ROOT / path).read_text(encoding="utf-8")
    assert len(text.splitlines()) <= MODULE_LINES
    assert not [name for name, lines in _functions(ast.parse(text)) if lines > FUNCTION_LINES]


@pytest.mark.parametrize("path", [path for path in MODULES if path.startswith("src")])
def test_no_module_keeps_state(path: str) -> None:
    tree = ast.parse((ROOT / path).read_text(encoding="utf-8"))
    assert not [node.lineno for node in ast.walk(tree) if isinstance(node, ast.Global)]
    assert not list(_variables(tree))


def _functions(tree: ast.Module) -> Iterator[tuple[str, int]]:
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node.name, (node.end_lineno or node.lineno) - node.lineno + 1


def _variables(tree: ast.Module) -> Iterator[str]:
    """Names of module-level containers that are not written as constants."""
    for node in tree.body:
        targets: list[ast.expr] = []
        if isinstance(node, ast.Assign) and isinstance(node.value, MUTABLE):
            targets = node.targets
        elif isinstance(node, ast.AnnAssign) and isinstance(node.value, MUTABLE):
            targets = [node.target]
        for target in targets:
            if isinstance(target, ast.Name) and target.id not in ("__all__", target.id.upper()):
                yield target.id
