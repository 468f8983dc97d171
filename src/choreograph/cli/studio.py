"""`choreograph studio`: the page in the browser."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from choreograph.base.errors import MissingExtra
from choreograph.cli.common import console


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
    tls_cert: Annotated[
        Path | None, typer.Option("--tls-cert", help="Certificate (PEM) for encryption, where others are let in.")
    ] = None,
    tls_key: Annotated[Path | None, typer.Option("--tls-key", help="Its key (PEM), without a password.")] = None,
    browser: Annotated[bool, typer.Option("--browser/--no-browser", help="Open the page.")] = True,
) -> None:
    """Open the studio: look at clips, build a graph, draw a path on the floor and see it walked.

    What it keeps is in the folder .choreograph of the project. Nothing else is written; nothing leaves this machine.

    Examples:

      choreograph studio

      choreograph studio recordings/

      choreograph studio people.mog --port 9000 --no-browser

      choreograph studio --host 0.0.0.0 --tls-cert studio.pem --tls-key studio.key
    """
    try:
        from choreograph.studio.server import run
    except ModuleNotFoundError as error:
        raise MissingExtra("the studio", "studio") from error

    def say(text: str) -> None:
        console.print(text, highlight=False, markup=False, soft_wrap=True)

    def ready(addresses: Sequence[str]) -> None:
        say(f"the studio is at {addresses[0]} — stop it with Ctrl-C")
        for address in addresses[1:]:
            say(f"               or {address}")
        if "?token=" in addresses[0] and tls_cert is None:
            own = addresses[0].rpartition("/")[0].rpartition(":")[2]
            say(
                "What is sent is not encrypted: others on the way can read it, the token too. Give --tls-cert and "
                f"--tls-key, or listen to 127.0.0.1 and come by a tunnel: ssh -L {own}:127.0.0.1:{own} THIS-MACHINE"
            )
        if browser:
            import webbrowser

            webbrowser.open(addresses[0])

    run(target, host=host, port=port, tls=(tls_cert, tls_key), ready=ready)


def register(app: typer.Typer) -> None:
    """Add the command to the application."""
    app.command("studio")(studio)
