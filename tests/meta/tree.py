"""The package's files, each read once, and the rooms that they are in."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cached_property, lru_cache
from pathlib import Path

from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components

import choreograph

SOURCE = Path(choreograph.__file__).parent


class Module:
    """A file of the package."""

    def __init__(self, path: Path, source: Path) -> None:
        self.inside = path.relative_to(source)
        self.text = path.read_text("utf-8")
        parts = ("choreograph", *self.inside.with_suffix("").parts)
        self.package = parts[:-1]
        self.name = ".".join(parts).removesuffix(".__init__")

    def __str__(self) -> str:
        return self.inside.as_posix()

    @cached_property
    def tree(self) -> ast.Module:
        return ast.parse(self.text)

    @property
    def lines(self) -> list[str]:
        return self.text.splitlines()

    @property
    def kernels(self) -> bool:
        return "_compiled" in self.inside.name

    @property
    def room(self) -> str:
        """The folder that it is in, right below the package; for a verb the verb's."""
        deep = 2 if self.inside.parts[0] == "verbs" else 1
        return "/".join(self.inside.parts[:-1][:deep]) or "root"

    @property
    def verb(self) -> str | None:
        return self.room.partition("/")[2] or None

    def nodes(self, *kinds: type[ast.AST]) -> Iterator[ast.AST]:
        return (node for node in ast.walk(self.tree) if isinstance(node, kinds))

    @cached_property
    def _imports(self) -> set[tuple[str, bool, bool]]:
        """Names that it imports, absolute; whether in a function, and whether only a type checker reads that."""
        found = set[tuple[str, bool, bool]]()
        left: list[tuple[ast.AST, bool, bool]] = [(node, False, False) for node in self.tree.body]
        while left:
            node, deep, types = left.pop()
            if isinstance(node, ast.ImportFrom):
                base = self.package[: len(self.package) - node.level + 1] if node.level else ()
                start = ".".join([*base, *([node.module] if node.module else [])])
                found.update((f"{start}.{name.name}", deep, types) for name in node.names)
            elif isinstance(node, ast.Import):
                found.update((name.name, deep, types) for name in node.names)
            elif isinstance(node, ast.stmt):
                deep = deep or isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
                guarded = isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test)
                aside = getattr(node, "orelse", []) if guarded else []
                left += [(one, deep, types) for one in aside]
                below = node.body if guarded else ast.iter_child_nodes(node)
                left += [(one, deep, types or guarded) for one in below]
            elif isinstance(node, ast.ExceptHandler | ast.match_case):
                left += [(one, deep, types) for one in node.body]
        return found

    def imports(self, *, deep: bool, types: bool) -> set[str]:
        """Names that it imports, absolute; those in functions and for type checkers if so wished."""
        return {name for name, inside, checked in self._imports if inside <= deep and checked <= types}


@lru_cache
def modules(source: Path = SOURCE) -> tuple[Module, ...]:
    """All files of the package."""
    return tuple(Module(path, source) for path in sorted(source.rglob("*.py")))


@lru_cache
def imported(source: Path = SOURCE, *, deep: bool, types: bool = False) -> dict[str, set[str]]:
    """The modules that each module imports."""
    names = {module.name for module in modules(source)}
    graph = {}
    for module in modules(source):
        wanted = set[str]()
        for name in module.imports(deep=deep, types=types):
            wanted.add(name if name in names else name.rpartition(".")[0])
        graph[module.name] = (wanted & names) - {module.name}
    return graph


def rings(graph: dict[str, set[str]]) -> list[list[str]]:
    """Groups of modules that import each other, the largest first."""
    names = sorted(graph)
    ways = csr_array([[other in graph[name] for other in names] for name in names])
    count, group = connected_components(ways, connection="strong")
    groups: list[list[str]] = [[] for _ in range(count)]
    for name, one in zip(names, group, strict=True):
        groups[one].append(name)
    return sorted((group for group in groups if len(group) > 1), key=lambda group: (-len(group), group))
