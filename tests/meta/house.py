"""Figures of the house that only ever go down: `python -m tests.meta.house` prints them and lowers their allowances.

The allowances are in `house.toml`, one table a guard. What is new there (a room, a name) and what may rise is written
by hand, in the commit that adds a named capability, by what that takes.
"""

from __future__ import annotations

import ast
import re
import sys
import tomllib
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path

from tests.meta.tree import Module, imported, modules, rings

ALLOWED = Path(__file__).with_name("house.toml")
PARTICIPLES = ("found", "asked", "shown", "said", "told", "made", "kept", "taken")

Places = dict[str, list[str]]
"""What counts, by key: one text for each."""
Statement = tuple[Module, ast.stmt, ast.stmt | None]


def lines() -> Counter[str]:
    """Lines of Python in each room, and in all."""
    found = Counter[str]()
    for module in modules():
        found[module.room] += len(module.lines)
    return found + Counter(total=found.total())


def classes_of_one_name() -> Places:
    """Public classes that share their name with another one, by name."""
    found: Places = defaultdict(list)
    for module in modules():
        for node in module.tree.body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                found[node.name].append(f"{module}:{node.lineno}")
    return {name: places for name, places in found.items() if len(places) > 1}


def array_aliases() -> Places:
    """Types of arrays that are given a name outside base/arrays.py, by room."""
    found: Places = defaultdict(list)
    for module, node, _ in _statements():
        value = ast.unparse(node.value) if isinstance(node, ast.Assign | ast.AnnAssign) and node.value else ""
        if re.match(r"(np\.|npt\.|numpy\.)*(NDArray|ndarray)\[", value) and str(module) != "base/arrays.py":
            found[module.room].append(f"{module}:{node.lineno}")
    return found


def import_cycles() -> Places:
    """Groups of modules that import each other: while imported, with functions' imports, with what only types need."""
    ways = {"while imported": (False, False), "with functions": (True, False), "with types": (True, True)}
    found: Places = {}
    for key, (deep, types) in ways.items():
        groups = rings(imported(deep=deep, types=types))
        found[key] = [f"{len(group)}: {', '.join(group)}" for group in groups]
        found[f"{key}: modules"] = [name for group in groups for name in group]
    return found


def verbs_that_import_verbs() -> Places:
    """Imports of a verb from another one, functions' too."""
    room = {module.name: module.verb for module in modules()}
    found: Places = defaultdict(list)
    for name, others in imported(deep=True, types=True).items():
        for other in others:
            if room[name] and room[other] and room[name] != room[other]:
                found[f"{room[name]} from {room[other]}"].append(f"{name} imports {other}")
    return found


def constants() -> Places:
    """Numbers that have a name in capitals, by room."""
    return _constants(lambda *_: True)


def constants_without_a_sentence() -> Places:
    """Those with neither a docstring below nor a comment above or beside them, by room."""
    return _constants(_has_no_sentence)


def participles() -> Places:
    """Bare participles as names of variables, parameters, functions and modules, by room."""
    wanted = re.compile(rf"_?({'|'.join(PARTICIPLES)})")
    found: Places = defaultdict(list)
    for module in modules():
        if wanted.fullmatch(module.inside.stem):
            found[module.room].append(f"{module}: the module")
        for scope, name, line in _names(module.tree, ""):
            if wanted.fullmatch(name):
                found[module.room].append(f"{module}:{line}: {name} in {scope or 'the module'}")
    return found


def options_of_one_name() -> Places:
    """Options that a verb declares more than once: only the last can be set."""
    from choreograph.cli.main import load_command
    from choreograph.verbs import rooms

    found: Places = {}
    for verb in rooms():
        counted = Counter(word for one in load_command(verb).params for word in (*one.opts, *one.secondary_opts))
        found.update({f"{verb} {word}": [word] * (count - 1) for word, count in counted.items() if count > 1})
    return found


GUARDS: dict[str, Callable[[], Places | Counter[str]]] = {
    "lines": lines, "classes of one name": classes_of_one_name, "array aliases": array_aliases,
    "import cycles": import_cycles, "verbs that import verbs": verbs_that_import_verbs, "constants": constants,
    "constants without a sentence": constants_without_a_sentence, "participles": participles,
    "options of one name": options_of_one_name,
}  # fmt: skip


def measure(guard: str) -> dict[str, tuple[int, list[str]]]:
    """Today's figures of a guard, and the places that make them."""
    return {
        key: (one, []) if isinstance(one, int) else (len(one), sorted(one))
        for key, one in sorted(GUARDS[guard]().items())
    }


def allowed() -> dict[str, dict[str, int]]:
    """What may be, by guard and key; what has no row there may not be."""
    return tomllib.loads(ALLOWED.read_text("utf-8"))


def too_much(guard: str) -> list[str]:
    """What is above its allowance, a text each."""
    limits = allowed().get(guard, {})
    return [
        f"{key}: {count}, and {limits.get(key, 0)} may be" + "".join(f"\n    {place}" for place in places)
        for key, (count, places) in measure(guard).items()
        if count > limits.get(key, 0)
    ]


def _statements() -> Iterator[Statement]:
    """Each statement of each module, outside of functions and classes, with the one below it."""
    for module in modules():
        for node, below in pairwise([*module.tree.body, None]):
            if node is not None:
                yield module, node, below


def _constants(counts: Callable[[Module, ast.stmt, ast.stmt | None], bool]) -> Places:
    found: Places = defaultdict(list)
    for module, node, below in _statements():
        names = list(_numbers(node))
        if names and counts(module, node, below):
            found[module.room] += [f"{module}:{node.lineno}: {name}" for name in names]
    return found


def _numbers(node: ast.stmt) -> Iterator[str]:
    """Names in capitals to which a statement assigns a number, or what is computed from numbers."""
    targets = node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, ast.AnnAssign) else []
    for target in targets:
        several = isinstance(target, ast.Tuple) and isinstance(node.value, ast.Tuple)
        pairs = zip(target.elts, node.value.elts, strict=False) if several else [(target, node.value)]
        for name, value in pairs:
            if isinstance(name, ast.Name) and re.fullmatch(r"_?[A-Z][A-Z0-9_]*", name.id) and _is_number(value):
                yield name.id


def _is_number(value: ast.expr | None) -> bool:
    made = (ast.BinOp, ast.UnaryOp, ast.operator, ast.unaryop, ast.Name, ast.Attribute, ast.Load, ast.Call)
    parts = list(ast.walk(value)) if value is not None else []
    numbers = [part for part in parts if isinstance(part, ast.Constant)]
    plain = all(type(part.value) in (int, float) for part in numbers)
    return bool(numbers) and plain and all(isinstance(part, (ast.Constant, *made)) for part in parts)


def _has_no_sentence(module: Module, node: ast.stmt, below: ast.stmt | None) -> bool:
    documented = isinstance(below, ast.Expr) and isinstance(below.value, ast.Constant)
    beside = module.lines[node.lineno - 1 : node.end_lineno]
    above = module.lines[node.lineno - 2] if node.lineno > 1 else ""
    return not (documented or above.startswith("#") or any("#" in line for line in beside))


def _names(tree: ast.AST, scope: str) -> Iterator[tuple[str, str, int]]:
    """Each name that is given in a function or class, once, with where that is."""
    given: dict[str, int] = {}
    left = list(ast.iter_child_nodes(tree))
    while left:
        node = left.pop()
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            given.setdefault(node.id, node.lineno)
        elif isinstance(node, ast.arg):
            given.setdefault(node.arg, node.lineno)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            given.setdefault(node.name, node.lineno)
            yield from _names(node, f"{scope}.{node.name}".strip("."))
        else:
            left += ast.iter_child_nodes(node)
    yield from ((scope, name, line) for name, line in given.items())


def lower(text: str, figures: dict[str, dict[str, int]]) -> str:
    """The allowances with each that is above its figure lowered to it, and the rows of what is gone left out.

    Rows with a comment stay as they are: rooms that are still to grow.
    """
    out, guard = [], ""
    for line in text.splitlines():
        if head := re.fullmatch(r'\["?(.+?)"?\]', line):
            guard = head[1]
        row = re.match(r'"?([^"#]+?)"? = (\d+)', line)
        if row is None or "#" in line:
            out.append(line)
        elif (count := min(int(row[2]), figures[guard].get(row[1], 0))) or row[1] == "total":
            out.append(line.replace(f" = {row[2]}", f" = {count}"))
    return "\n".join(out) + "\n"


def main() -> None:
    """Print each guard's figures, those above their allowance with their places, and lower the allowances."""
    figures = {guard: {key: count for key, (count, _) in measure(guard).items()} for guard in GUARDS}
    limits = allowed()
    for guard, counts in figures.items():
        keys = {key for key in counts if key != "total" and not key.endswith(": modules")}
        print(f"{guard}: {sum(counts[key] for key in keys):,} in {len(keys)}")
        for key, count in sorted(counts.items(), key=lambda one: -one[1]):
            limit = limits.get(guard, {}).get(key, 0)
            print(f"  {count:7,}  {key}" + (f"  (allowed {limit:,})" if limit != count else ""))
    ALLOWED.write_text(lower(ALLOWED.read_text("utf-8"), figures), "utf-8")
    over = [f"{guard}: {text}" for guard in GUARDS for text in too_much(guard)]
    sys.exit("\n".join(["", "above what may be:", *over]) if over else 0)


if __name__ == "__main__":
    main()
