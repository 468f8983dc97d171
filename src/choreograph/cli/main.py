"""The `choreograph` command: gathers the verbs and turns errors into one line and an exit code."""

from __future__ import annotations

import os
import sys
from importlib import import_module
from typing import Annotated, Any, NoReturn

import typer
from typer.core import TyperCommand, TyperGroup

from choreograph._version import __version__
from choreograph.cli.common import Kept, err_console
from choreograph.errors import Cancelled, ChoreographError
from choreograph.verbs import find_verb, rooms

TOOLS = {
    "demo": "Write demo motion: clips that walk, turn, run and jump, to try everything on.",
    "inspect": "Say what is in motion files: joints, length, rate, size, and how their numbers were read.",
    "convert": "Convert motion files, one or many: cut, resample, mirror, retarget to another unit or axis.",
    "render": "Draw motion: films, stills and contact sheets.",
    "plot": "Plot motion or a graph as figures.",
    "build": "Build a motion graph from motion files.",
    "add": "Add motion files to a motion graph.",
    "remove": "Take clips out of a motion graph.",
    "info": "Say what is in a motion graph.",
    "segment": "Cut recordings into segments to perform with.",
    "evaluate": "Measure a verb against recordings that it has not seen.",
    "clean": "Keep standing feet still, in any motion file.",
    "fetch": "Fetch recordings from public databases.",
    "studio": "Open the studio in the browser.",
}
"""Commands besides the verbs: modules of this package that each register one, and what lists say about them."""
BEFORE_VERBS = 9
"""How many of them help lists before the verbs."""

EXIT_ERROR = 2
EXIT_CANCELLED = 130


class Commands(TyperGroup):
    """The commands, each loaded when it is called: lists of them need no more than their names and first lines."""

    def list_commands(self, ctx: Any) -> list[str]:
        """Their names, in the order in which help lists them."""
        tools = list(TOOLS)
        return [*tools[:BEFORE_VERBS], *rooms(), *tools[BEFORE_VERBS:]]

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """A command by its name: as lists show it, or whole where its options are to be completed."""
        if cmd_name not in self.list_commands(ctx):
            return None
        if ctx.resilient_parsing:
            return load_command(cmd_name)
        summary = TOOLS[cmd_name] if cmd_name in TOOLS else rooms()[cmd_name].summary
        return TyperCommand(cmd_name, help=summary)

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """The command that is called, with what follows it."""
        if args and args[0] in self.list_commands(ctx):
            return args[0], load_command(args[0]), args[1:]
        return super().resolve_command(ctx, args)


def load_command(name: str) -> Any:
    """A command with all its options."""
    one = typer.Typer(
        add_completion=False, rich_markup_mode="rich", pretty_exceptions_enable=False, context_settings=_HELP
    )
    if name in TOOLS:
        import_module(f"choreograph.cli.{name}").register(one)
    else:
        from choreograph.cli.verb import add_verb

        add_verb(one, find_verb(name))
    return typer.main.get_command(one)


_HELP: dict[str, Any] = {"help_option_names": ["-h", "--help"]}

app = typer.Typer(
    cls=Commands,
    name="choreograph",
    no_args_is_help=True,
    add_completion=True,
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
    context_settings=_HELP,
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
