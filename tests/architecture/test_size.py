"""A module is one thing, and no module keeps state."""

import ast
import inspect
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Generic, Protocol

import pytest

from tenuto.ports.store import Store

ROOT = Path(__file__).parents[2]
MODULE_LINES = {"src": 350, "tests": 400, "scripts": 350, "bench": 350}
MODULES = sorted(
    str(path.relative_to(ROOT)) for room in MODULE_LINES for path in (ROOT / room).rglob("*.py")
)
SOURCES = [path for path in MODULES if path.startswith("src")]
MOST_LINES = 250
"""Of nine in ten modules of the product."""
MIDDLE_LINES = 120
FUNCTION_LINES = 60
STORE_METHODS = 10
MUTABLE = ast.Dict | ast.List | ast.Set | ast.DictComp | ast.ListComp | ast.SetComp


@pytest.mark.parametrize("path", MODULES)
def test_no_module_and_no_function_is_too_long(path: str) -> None:
    text = (ROOT / path).read_text(encoding="utf-8")
    assert len(text.splitlines()) <= MODULE_LINES[path.split("/")[0]]
    assert not [name for name, lines in _functions(ast.parse(text)) if lines > FUNCTION_LINES]


def test_most_modules_of_the_product_are_short() -> None:
    lines = sorted(len((ROOT / path).read_text(encoding="utf-8").splitlines()) for path in SOURCES)
    said = [count for count in lines if count > 1]
    assert said[len(said) // 2] <= MIDDLE_LINES
    assert said[len(said) * 9 // 10] <= MOST_LINES


@pytest.mark.parametrize("room", ["src", "tests"])
def test_no_public_class_has_the_name_of_another(room: str) -> None:
    paths = [path for path in MODULES if path.startswith(room)]
    names = Counter(name for path in paths for name in _classes(path))
    assert not [name for name, times in names.items() if times > 1]


def test_a_store_is_made_of_small_protocols() -> None:
    parts = [part for part in Store.__mro__[1:] if part not in (Protocol, Generic, object)]
    assert parts
    for part in parts:
        methods = [name for name, value in vars(part).items() if _is_method(name, value)]
        assert len(methods) <= STORE_METHODS, part


@pytest.mark.parametrize("path", SOURCES)
def test_no_module_keeps_state(path: str) -> None:
    tree = ast.parse((ROOT / path).read_text(encoding="utf-8"))
    assert not [node.lineno for node in ast.walk(tree) if isinstance(node, ast.Global)]
    assert not list(_variables(tree))


def _classes(path: str) -> Iterator[str]:
    for node in ast.parse((ROOT / path).read_text(encoding="utf-8")).body:
        if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
            yield node.name


def _is_method(name: str, value: object) -> bool:
    return inspect.isfunction(value) and not name.startswith("_")


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
