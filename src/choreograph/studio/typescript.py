"""What is generated from the models of the studio's messages: `python -m choreograph.studio.typescript`.

The page's TypeScript types, and the protocol's name, which takes too long to work out whenever the server starts.
"""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

from choreograph.studio.messages import schemas
from choreograph.verbs import find_verb, rooms

_HEAD = """// Generated from the models of choreograph.studio by `python -m choreograph.studio.typescript`; do not edit.

/** Changes whenever a message does; told by both sides when they meet. */
export const PROTOCOL = "{protocol}";

/** What JSON holds. */
export type Plain = null | boolean | number | string | Plain[] | { [name: string]: Plain };
"""


_PYTHON = '''"""Generated from the messages by `python -m choreograph.studio.typescript`; do not edit."""

PROTOCOL = "{protocol}"
"""Changes whenever a message does."""
'''


def protocol() -> str:
    """A word that changes whenever a message does."""
    return hashlib.sha256(json.dumps(schemas(), sort_keys=True).encode()).hexdigest()[:12]


def python() -> str:
    """The module that has the protocol's name."""
    return _PYTHON.replace("{protocol}", protocol())


def typescript() -> str:
    """The whole file: messages, what either side of the socket says, and the requests of our own verbs."""
    messages, unions = schemas()
    parts = [_HEAD.replace("{protocol}", protocol())]
    parts += [_interface(name, model) for name, model in sorted(messages.items())]
    parts += [
        f"export type {name} =\n  | " + _type(union).replace(" | ", "\n  | ") + ";\n" for name, union in unions.items()
    ]
    verbs = [find_verb(room.name) for room in rooms().values() if room.package.startswith("choreograph.")]
    requests: dict[str, Any] = {}
    for verb in verbs:
        whole = verb.request.model_json_schema()
        requests |= {verb.request.__name__: whole, **whole.pop("$defs", {})}
    parts += [_interface(name, model) for name, model in sorted(requests.items()) if "properties" in model]
    parts.append("/** What is asked of each verb, by its name. */\nexport interface Requests {")
    parts.append("".join(f"  {verb.name}: {verb.request.__name__};\n" for verb in verbs) + "}\n")
    return "\n".join(parts)


def _interface(name: str, model: dict[str, Any]) -> str:
    needed = model.get("required", [])
    about = (model.get("description") or "").split("\n\n>>>")[0]
    if "enum" in model:
        return "\n".join([_comment(about, ""), f"export type {name} = {_type(model)};", ""])
    lines = [_comment(about, ""), f"export interface {name} {{"]
    for field, inner in model.get("properties", {}).items():
        lines += [_comment(inner.get("description"), "  ")] if inner.get("description") else []
        lines.append(f"  {field}{'' if field in needed else '?'}: {_type(inner)};")
    return "\n".join([line for line in lines if line] + ["}", ""])


def _comment(text: str | None, indent: str) -> str:
    return f"{indent}/** {' '.join(text.split())} */" if text else ""


def _type(node: dict[str, Any]) -> str:
    if "$ref" in node:
        return str(node["$ref"]).rsplit("/", 1)[-1]
    if "const" in node:
        return json.dumps(node["const"])
    if "enum" in node:
        return " | ".join(json.dumps(value) for value in node["enum"])
    for union in ("anyOf", "oneOf"):
        if union in node:
            return " | ".join(_type(choice) for choice in node[union])
    kind = node.get("type")
    if kind == "array":
        if "prefixItems" in node:
            return "[" + ", ".join(_type(item) for item in node["prefixItems"]) + "]"
        inner = _type(node.get("items", {}))
        return f"({inner})[]" if "|" in inner else f"{inner}[]"
    if kind == "object":
        extra = node.get("additionalProperties")
        return f"Record<string, {_type(extra) if isinstance(extra, dict) else 'Plain'}>"
    return {"string": "string", "integer": "number", "number": "number", "boolean": "boolean", "null": "null"}.get(
        str(kind), "Plain"
    )


if __name__ == "__main__":
    Path("web/src/messages.ts").write_text(typescript(), encoding="utf-8")
    Path("src/choreograph/studio/protocol.py").write_text(python(), encoding="utf-8")
