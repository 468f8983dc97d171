"""Commands in the README and in the guides are ones that the program takes: their names, options and values."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from pathlib import Path

from typer.testing import CliRunner

from choreograph.cli.main import app, load_command

ROOT = Path(__file__).parents[2]
_COMMAND = re.compile(r"(?:^|`|&& |bin/)\s*choreograph ([a-z]+(?: [^`|\n]*)?)", re.MULTILINE)


def commands(file: Path) -> Iterator[list[str]]:
    """The words of each command of a guide, without comments and what the shell does with its output."""
    for found in _COMMAND.finditer(file.read_text("utf-8").replace("\\\n", " ")):
        text = re.split(r"\s#|&&|>|;", found[1])[0].replace("…", "")
        yield shlex.split(text)


GUIDES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
GUIDES.remove(ROOT / "docs" / "contract.md")  # whose verb is the reader's own


def test_the_program_takes_the_commands_of_the_guides() -> None:
    wrong = []
    for file in GUIDES:
        for name, *words in commands(file):
            try:
                with load_command(name).make_context(name, list(words)):
                    pass
            except Exception as error:
                # Guides name a command with a part of what it takes, and those that only print leave at once.
                if type(error).__name__ not in ("MissingParameter", "Exit"):
                    wrong.append(f"{file.name}: choreograph {name} {' '.join(words)}: {error}")
    assert not wrong, "\n".join(wrong)


def test_a_command_that_is_nearly_one_is_told() -> None:
    said = CliRunner().invoke(app, ["folow", "people.mog"])
    assert said.exit_code == 2 and "did you mean follow" in said.output
