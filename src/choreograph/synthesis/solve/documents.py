"""JSON and YAML files as plain values; whatever is wrong with them is a sentence with the line.

YAML is read by the core rules of its version 1.2, by which names such as 60_03 are names.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from choreograph.errors import RequestError


def load_document(path: str | Path) -> Any:
    """What a JSON (.json) or YAML (.yaml, .yml) file holds, as plain values; None if it is empty.

    Raises:
        RequestError: If it cannot be read; the message has the line.
    """
    path = Path(path)
    if path.suffix.lower() not in (".json", ".yaml", ".yml"):
        raise RequestError(f"{path}: a request is a .json, .yaml or .yml file")
    try:
        text = path.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise RequestError(f"{path} cannot be read as a request: {error}") from None
    if not text.strip():
        return None
    if path.suffix.lower() == ".json":
        try:
            return json.loads(text)
        except json.JSONDecodeError as error:
            raise RequestError(f"{path}, line {error.lineno}: not JSON: {error.msg}") from None
        except RecursionError:
            raise RequestError(f"{path}: lists within lists, too deep to be a request") from None
    import yaml

    try:
        return yaml.load(text, _strict_loader())
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        line = f", line {mark.line + 1}" if mark is not None else ""
        raise RequestError(f"{path}{line}: not YAML: {getattr(error, 'problem', None) or error}") from None
    except (RecursionError, ValueError) as error:
        raise RequestError(f"{path}: not YAML: {error}") from None


def as_yaml(document: Any) -> str:
    """Plain values as YAML that `load_document` reads as the same: names that look like numbers are in quotes."""
    import yaml

    class Dumper(yaml.SafeDumper):  # type: ignore[misc]
        pass

    _by_core_rules(Dumper, keep=True)  # for readers by the old rules too
    return str(yaml.dump(document, Dumper=Dumper, sort_keys=False, allow_unicode=True))


_CORE: Mapping[str, tuple[str, str]] = {
    "null": (r"~|null|Null|NULL|", "~nN"),
    "bool": (r"true|True|TRUE|false|False|FALSE", "tTfF"),
    "int": (r"[-+]?[0-9]+|0o[0-7]+|0x[0-9a-fA-F]+", "-+0123456789"),
    "float": (
        r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?|[-+]?\.(inf|Inf|INF)|\.(nan|NaN|NAN)",
        "-+.0123456789",
    ),
    "merge": (r"<<", "<"),
}
"""What is not a word, by YAML 1.2's core rules (and merging, which most readers know): how it looks and begins.

By those of 1.1, which PyYAML goes by, the clip 60_03 is the number 6003, 1e5 a word and on a truth.
"""


def _by_core_rules(kind: Any, *, keep: bool = False) -> None:
    """Have a loader or dumper tell numbers from words by YAML 1.2, or `keep` what else it takes for no word too."""
    kind.yaml_implicit_resolvers = {k: list(v) for k, v in kind.yaml_implicit_resolvers.items()} if keep else {}
    for name, (looks, begins) in _CORE.items():
        first = [*begins, ""] if name == "null" else [*begins]
        kind.add_implicit_resolver(f"tag:yaml.org,2002:{name}", re.compile(f"^(?:{looks})$"), first)


def _strict_loader() -> Any:
    """A safe YAML loader for which a name that comes twice is a mistake, not the latter of the two."""
    import yaml

    class Strict(yaml.SafeLoader):  # type: ignore[misc]
        pass

    def mapping(loader: Any, node: Any) -> dict[Any, Any]:
        seen = set()
        for key, _ in node.value:
            if str(key.value) in seen:
                raise yaml.constructor.ConstructorError(None, None, f"{key.value!r} comes twice", key.start_mark)
            seen.add(str(key.value))
        return dict(yaml.SafeLoader.construct_mapping(loader, node, deep=True))

    def whole(loader: Any, node: Any) -> int:
        text = str(loader.construct_scalar(node))
        return int(text, {"0o": 8, "0x": 16}.get(text[:2], 10))

    Strict.add_constructor(yaml.resolver.BaseResolver.DEFAULT_MAPPING_TAG, mapping)
    Strict.add_constructor("tag:yaml.org,2002:int", whole)
    _by_core_rules(Strict)
    return Strict
