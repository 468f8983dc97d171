"""Each face speaks its own words: what the library says names no options and no commands."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from tests.meta.tree import modules

from choreograph.cli.main import TOOLS
from choreograph.verbs import rooms

OWN = (
    "cli/", "verbs/options.py", "studio/recipes.py", "studio/command.py", "studio/http_server.py", "studio/server.py",
    "studio/tasks/build.py", "contract/v0_1/",
)  # fmt: skip
"""What makes options and commands, and what is said to those who start the studio by one."""
COMMAND = re.compile(rf"(?<![\w-])--[a-z][a-z-]+|choreograph ({'|'.join([*TOOLS, *rooms()])})\b")


def sentences(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """String literals, without docstrings and without what declares options and examples of commands."""
    passed: set[int] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            passed.add(id(node.value))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in ("Option", "Verb"):
            passed.update(id(part) for part in ast.walk(node))
        if isinstance(node, ast.AnnAssign) and getattr(node.target, "id", "") == "of_last" and node.value is not None:
            passed.update(id(part) for part in ast.walk(node.value))
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in passed:
            yield node.lineno, node.value


def test_the_library_names_no_options_and_no_commands() -> None:
    wrong = [
        f"{module}:{line}: {text}"
        for module in modules()
        if not str(module).startswith(OWN)
        for line, text in sentences(module.tree)
        if COMMAND.search(text)
    ]
    assert not wrong, "\n".join(wrong)
