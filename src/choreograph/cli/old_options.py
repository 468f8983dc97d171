"""Options of version 0.1, known for one version: today's take their place."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from choreograph.base.errors import RequestError
from choreograph.contract.migrate import rules_of

_ONLY = "--only "
"""Before a term of a query that several old options are joined to."""


def current_options(command: str, words: Sequence[str], known: Collection[str] = ()) -> tuple[list[str], list[str]]:
    """Return the words of a command line with today's options for old ones, and a sentence for each that changed.

    >>> current_options("loop", ["walk.bvh", "--stop=2.5"])
    (['walk.bvh', '--end=2.5'], ['--stop is now --end'])

    Args:
        command: A verb or tool.
        words: What follows it.
        known: Today's options of the command, which mean themselves unless its own rules say otherwise.

    Raises:
        RequestError: If an old option means something else today.
    """
    shared = {**rules_of("export").options, **rules_of("finish").options}
    options = {old: new for old, new in shared.items() if old not in known} | dict(rules_of(command).options)
    rest, current, notes, queries, path = list(words), list[str](), list[str](), list[str](), list[str]()
    while rest:
        word = rest.pop(0)
        if word == "--":
            rest = [word, *rest]
            break
        name, equals, value = word.partition("=") if word.startswith("--") else (word[:2], "", word[2:])
        if name not in options or options[name] == name:
            current.append(word)
            continue
        new = options[name]
        if new is None:
            raise RequestError(f"{name} means something else since version 0.2: see choreograph {command} --help")
        if callable(new) or (" " in new and "=" not in new):
            value = value if equals or value else rest.pop(0) if rest else ""
            if isinstance(new, str) and new.startswith(_ONLY):
                queries.append(f'{new.removeprefix(_ONLY)}"{value}"')
                notes += [] if (note := f"{name} is now part of a query, --only") in notes else [note]
                continue
            today = new(value) if callable(new) else f"{new}={value}".split(" ", 1)
        elif new.startswith("path:"):
            named = new.removeprefix("path:")
            path.append(named if "=" in named else f"{named}={value or (rest.pop(0) if rest else '')}")
            today = []
        elif " " in new or not (equals or value):
            today = new.split(" ")
        else:
            today = [f"{new}{'=' if new.startswith('--') else ''}{value}"]
        current += today
        if (note := f"{name} is now {' '.join(today) if callable(new) else new}") not in notes:
            notes.append(note)
    if queries:
        query = " or ".join(queries)
        if "--only" in current[:-1]:
            at = current.index("--only") + 1
            current[at] = f"({current[at]}) and ({query})"
        else:
            current += ["--only", query]
    return [*_with_path(current, path), *rest], notes


def _with_path(words: list[str], more: Sequence[str]) -> list[str]:
    """Put what else is known of a path into its word: `--path eight:radius=3,smooth=0.5`."""
    for n, word in enumerate(words[:-1] if more else ()):
        if word in ("--path", "-p"):
            named = words[n + 1]
            return [*words[: n + 1], f"{named}{',' if ':' in named else ':'}{','.join(more)}", *words[n + 2 :]]
    return words
