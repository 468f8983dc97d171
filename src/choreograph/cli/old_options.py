"""Options of version 0.1, known for one version: today's take their place."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from choreograph.base.errors import RequestError
from choreograph.contract.migrate import rules_of


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
    rest, current, notes = list(words), list[str](), list[str]()
    while rest:
        word = rest.pop(0)
        if word == "--":
            return [*current, word, *rest], notes
        name, equals, value = word.partition("=") if word.startswith("--") else (word[:2], "", word[2:])
        if name not in options or options[name] == name:
            current.append(word)
            continue
        new = options[name]
        if new is None:
            raise RequestError(f"{name} means something else since version 0.2: see choreograph {command} --help")
        if callable(new) or (" " in new and "=" not in new):
            value = value if equals or value else rest.pop(0) if rest else ""
            today = new(value) if callable(new) else f"{new}={value}".split(" ", 1)
        elif " " in new or not (equals or value):
            today = new.split(" ")
        else:
            today = [f"{new}{'=' if new.startswith('--') else ''}{value}"]
        current += today
        if (note := f"{name} is now {' '.join(today) if callable(new) else new}") not in notes:
            notes.append(note)
    return current, notes
