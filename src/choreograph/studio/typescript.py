"""TypeScript types of the studio's messages, generated from the models: `python -m choreograph.studio.typescript`."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from choreograph.studio.messages import PROTOCOL, schema

_HEAD = """// Generated from the models of choreograph.studio by `python -m choreograph.studio.typescript`; do not edit.

/** Changes whenever a message does; told by both sides when they meet. */
export const PROTOCOL = "{protocol}";
"""

_UNIONS = {
    "ToServer": ("Hello", "Ask", "Moved", "Cancel", "Play", "Stop"),
    "ToPage": (
        *("Welcome", "JobChanged", "DocumentChanged", "LibraryChanged", "GraphChanged", "Partial"),
        *("Answer", "Refused", "ResultsChanged", "Frame", "Over", "Trouble"),
    ),
}


def typescript() -> str:
    """The whole file."""
    parts = [_HEAD.replace("{protocol}", PROTOCOL)]
    for name, model in sorted(schema().items()):
        parts.append(_interface(name, model))
    for name, members in _UNIONS.items():
        parts.append(f"export type {name} =\n  | " + "\n  | ".join(members) + ";\n")
    return "\n".join(parts)


def _interface(name: str, model: dict[str, Any]) -> str:
    lines = [_comment(model.get("description"), ""), f"export interface {name} {{"]
    for field, inner in model.get("properties", {}).items():
        lines.append(f"  {field}: {_type(inner)};")
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
    if "anyOf" in node:
        return " | ".join(_type(choice) for choice in node["anyOf"])
    kind = node.get("type")
    if kind == "array":
        if "prefixItems" in node:
            return "[" + ", ".join(_type(item) for item in node["prefixItems"]) + "]"
        inner = _type(node.get("items", {}))
        return f"({inner})[]" if "|" in inner else f"{inner}[]"
    if kind == "object":
        extra = node.get("additionalProperties")
        return f"Record<string, {_type(extra) if isinstance(extra, dict) else 'unknown'}>"
    return {"string": "string", "integer": "number", "number": "number", "boolean": "boolean", "null": "null"}.get(
        str(kind), "unknown"
    )


if __name__ == "__main__":
    target = Path(sys.argv[1]) if len(sys.argv) > 1 else Path("web/src/messages.ts")
    target.write_text(typescript(), encoding="utf-8")
