"""The page's types are the server's."""

from __future__ import annotations

from pathlib import Path

from choreograph.studio.messages import ToPage, schemas
from choreograph.studio.protocol import PROTOCOL
from choreograph.studio.typescript import protocol, typescript

FILE = Path(__file__).parents[3] / "web/src/messages.ts"


def test_the_pages_types_are_up_to_date() -> None:
    assert FILE.read_text("utf-8") == typescript(), "run python -m choreograph.studio.typescript"
    assert protocol() == PROTOCOL, "run python -m choreograph.studio.typescript"


def test_every_message_has_an_interface() -> None:
    text = typescript()
    assert PROTOCOL in text
    for name, model in schemas()[0].items():
        assert f"export {'type' if 'enum' in model else 'interface'} {name} " in text
    for member in ToPage.__args__[0].__args__:
        assert f"| {member.__name__}" in text, "a message of the socket is missing from its union"
