"""`choreograph studio`: the page in the browser."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from choreograph.cli.common import console
from choreograph.errors import MissingExtra


def studio(
    target: Annotated[
        Path | None,
        typer.Argument(
            help="A folder of motion files, or a .mog file; else the demo project.", metavar="[FOLDER|FILE]"
        ),
    ] = None,
    port: Annotated[
        int, typer.Option("--port", min=0, max=65535, help="Port to listen on; 0 takes a free one.")
    ] = 8765,
    host: Annotated[
        str, typer.Option("--host", help="Address to listen on; others than this machine's need a token.")
    ] = "127.0.0.1",
    browser: Annotated[bool, typer.Option("--browser/--no-browser", help="Open the page.")] = True,
) -> None:
    """Open the studio: look at clips, build a graph, draw a path on the floor and see it walked.

    What it keeps is in the folder .choreograph of the project. Nothing else is written; nothing leaves this machine.

    Examples:

      choreograph studio

      choreograph studio recordings/

      choreograph studio people.mog --port 9000 --no-browser
    """
    try:
        from choreograph.studio.server import run
    except ModuleNotFoundError as error:
        raise MissingExtra("the studio", "studio") from error

    def ready(address: str) -> None:
        console.print(
            f"the studio is at {address} — stop it with Ctrl-C", highlight=False, markup=False, soft_wrap=True
        )
        if browser:
            import webbrowser

            webbrowser.open(address)

    run(target, host=host, port=port, ready=ready)


def register(app: typer.Typer) -> None:
    """Add the command to the application."""
    app.command("studio")(studio)
