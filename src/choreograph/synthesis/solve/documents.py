"""JSON and YAML files as plain values; whatever is wrong with them is a sentence with the line."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from choreograph.errors import RequestError


def load_document(path: str | Path) -> Any:
    """What a JSON (.json) or YAML (.yaml, .yml) file holds, as plain values.

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

    Strict.add_constructor(yaml.resolver.BaseResolver.DEFAULT_MAPPING_TAG, mapping)
    return Strict
