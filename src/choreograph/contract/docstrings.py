"""What is written below the fields of a model, taken from its module's source.

pydantic finds it too (`use_attribute_docstrings`), but class by class, by way of tokens: that was a tenth of a second
of every command and every import of a verb.
"""

from __future__ import annotations

import ast
import inspect
import sys
from collections.abc import Iterator, Mapping
from functools import cache
from itertools import pairwise


def field_docstrings(cls: type) -> Mapping[str, str]:
    """The texts below a class's own fields, by field; none where its source cannot be had."""
    return _docstrings_of(cls.__module__).get(cls.__qualname__, {})


@cache
def _docstrings_of(module: str) -> Mapping[str, Mapping[str, str]]:
    """The texts of all classes of a module, by qualified name."""
    try:
        tree = ast.parse(inspect.getsource(sys.modules[module]))
    except (KeyError, OSError, TypeError, SyntaxError):
        return {}
    return dict(_walk(tree, ""))


def _walk(node: ast.AST, prefix: str) -> Iterator[tuple[str, Mapping[str, str]]]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.ClassDef):
            name = f"{prefix}{child.name}"
            yield name, dict(_texts(child.body))
            yield from _walk(child, f"{name}.")
        elif isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef):
            yield from _walk(child, f"{prefix}{child.name}.<locals>.")
        elif isinstance(child, ast.If | ast.Try | ast.With):
            yield from _walk(child, prefix)


def _texts(body: list[ast.stmt]) -> Iterator[tuple[str, str]]:
    for field, below in pairwise(body):
        if isinstance(field, ast.AnnAssign) and isinstance(field.target, ast.Name):
            match below:
                case ast.Expr(value=ast.Constant(value=str(text))):
                    yield field.target.id, inspect.cleandoc(text)
