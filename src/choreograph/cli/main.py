"""The `choreograph` command: gathers the verbs and turns errors into one line and an exit code."""

from __future__ import annotations

import os
import sys
from importlib import import_module
from typing import Annotated, NoReturn

import typer

from choreograph._version import __version__
from choreograph.cli.common import Kept, err_console
from choreograph.errors import Cancelled, ChoreographError

VERBS = (
    "demo",
    "inspect",
    "convert",
    "render",
    "plot",
    "build",
    "add",
    "remove",
    "info",
    "follow",
    "solve",
    "segment",
    "perform",
    "evaluate",
    "clean",
    "fetch",
    "studio",
)
"""Modules of this package that each add a command, in the order in which help lists them."""

EXIT_ERROR = 2
EXIT_CANCELLED = 130

app = typer.Typer(
    name="choreograph",
    no_args_is_help=True,
    add_completion=True,
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"choreograph {__version__}")
        raise typer.Exit


@app.callback()
def choreograph(
    version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Say the version and stop.")
    ] = False,
) -> None:
    """Turn a folder of motion capture into new motion on demand.

    Begin with [bold]choreograph demo out[/bold]: it writes motion to play with. Any command takes --debug to show
    where in the program an error arose.
    """


try:
    for _verb in VERBS:
        import_module(f"choreograph.cli.{_verb}").register(app)
except KeyboardInterrupt:  # so early that there is nothing half-made to speak of
    sys.exit(EXIT_CANCELLED)


def main() -> None:
    """Run the command line; never returns."""
    debug = "--debug" in sys.argv or bool(os.environ.get("CHOREOGRAPH_DEBUG"))
    sys.argv = [word for word in sys.argv if word != "--debug"]
    try:
        app(standalone_mode=True)
    except SystemExit as end:
        if end.code == EXIT_CANCELLED:  # what typer makes of Ctrl-C, without a word
            _say_stopped()
        raise
    except Kept as stopped:
        _say_stopped(str(stopped))
        sys.exit(EXIT_CANCELLED)
    except (KeyboardInterrupt, Cancelled):
        _say_stopped()
        sys.exit(EXIT_CANCELLED)
    except ChoreographError as error:
        if debug:
            raise
        _fail(str(error))
    except BrokenPipeError:  # the reader of our output has gone, as with `| head`
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(0)
    except OSError as error:  # a full disk, a name too long: nothing the program can mend
        if debug:
            raise
        _fail(f"{error.filename}: {error.strerror}" if error.filename else str(error))


def _say_stopped(words: str = "stopped; nothing half-made was left behind") -> None:
    err_console.print(words, style="yellow", markup=False, highlight=False, soft_wrap=True)


def _fail(message: str) -> NoReturn:
    # One line, whatever a file's name or content brought into the message.
    line = " ".join(message.split())
    err_console.print(f"error: {line}", style="red", markup=False, highlight=False, soft_wrap=True)
    sys.exit(EXIT_ERROR)


if __name__ == "__main__":
    main()
