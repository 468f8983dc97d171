"""`choreograph cache`: what was computed from motion graphs and can be computed again."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer

from choreograph.base.errors import RequestError
from choreograph.cli.common import console

if TYPE_CHECKING:
    from choreograph.graph.cache import CacheEntry


def cache(
    kind: Annotated[
        str | None, typer.Argument(help="Only entries of this kind, such as hierarchy.", show_default="all kinds")
    ] = None,
    clear: Annotated[bool, typer.Option("--clear", help="Remove the entries; they are computed again when needed.")] = (
        False
    ),
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON for programs.")] = False,
) -> None:
    """Show or clear the cache: what following, solving and performing have computed from motion graphs.

    It is in the folder that CHOREOGRAPH_CACHE names, else in your cache folder. It grows to 4 GB, or as many as
    CHOREOGRAPH_CACHE_GB says (0 turns it off); then what was used least recently goes.

    Examples:

      choreograph cache

      choreograph cache --clear

      choreograph cache --clear hierarchy
    """
    from choreograph.graph.cache import clear_entries, entries_folder, limit_bytes, list_entries

    entries, kind = list_entries(), None if kind is None else kind.replace("-", " ")
    kinds = sorted({entry.kind for entry in entries})
    if kind is not None and kind not in kinds:
        there = f"it holds {', '.join(kinds)}" if kinds else "it is empty"
        raise RequestError(f"the cache holds nothing of the kind {kind!r}; {there}")
    if clear:
        removed = clear_entries(kind)
        _say(f"removed {_counted(removed)} from {entries_folder()}")
        return
    entries = [entry for entry in entries if kind in (None, entry.kind)]
    if as_json:
        facts = {"folder": str(entries_folder()), "limit_bytes": limit_bytes(), "entries": entry_facts(entries)}
        typer.echo(json.dumps(facts, indent=2, ensure_ascii=False))
        return
    show_entries(entries, "the cache is empty", graphs=True)
    limit = limit_bytes()
    _say(f"at most {limit / 1e9:g} GB" if limit else "the cache is turned off (CHOREOGRAPH_CACHE_GB is 0)", "dim")


def register(app: typer.Typer) -> None:
    """Add the command to the application."""
    app.command("cache")(cache)


def entry_facts(entries: Sequence[CacheEntry]) -> list[dict[str, Any]]:
    """Entries as plain values."""
    return [
        {
            "kind": entry.kind,
            "graph": entry.graph,
            "bytes": entry.bytes,
            "used": entry.used.isoformat(timespec="seconds"),
            "path": str(entry.path),
        }
        for entry in entries
    ]


def show_entries(entries: Sequence[CacheEntry], otherwise: str, *, graphs: bool = False) -> None:
    """Print a table of entries, and where they are.

    Args:
        entries: What is listed.
        otherwise: What is said where there are none.
        graphs: Whether the graphs' names are a column.
    """
    from rich import box
    from rich.table import Table

    from choreograph.graph.cache import entries_folder

    if not entries:
        _say(f"{otherwise}: {entries_folder()}", "dim")
        return
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, 0, 0, 1))
    table.add_column("in the cache", no_wrap=True)
    if graphs:
        table.add_column("of", no_wrap=True)
    table.add_column("size", justify="right", no_wrap=True)
    table.add_column("last used", no_wrap=True)
    for entry in entries:
        used = entry.used.astimezone().strftime("%Y-%m-%d %H:%M")
        table.add_row(entry.kind, *((entry.graph or "-",) if graphs else ()), _size(entry.bytes), used)
    console.print(table)
    _say(f"{_counted(entries)} in {entries_folder()}", "dim")


def _counted(entries: Sequence[CacheEntry]) -> str:
    count = len(entries)
    return f"{count} {'entry' if count == 1 else 'entries'}, {_size(sum(entry.bytes for entry in entries))},"


def _size(count: int) -> str:
    return f"{count / 1e6:.1f} MB"


def _say(text: str, style: str | None = None) -> None:
    console.print(text, style=style, markup=False, highlight=False, soft_wrap=True)
