"""The `choreograph` command: gathers the verbs and turns errors into one line and an exit code."""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from difflib import get_close_matches
from importlib import import_module
from typing import Annotated, Any, NoReturn

import typer
from typer.core import TyperCommand, TyperGroup

from choreograph._version import __version__
from choreograph.base.errors import Cancelled, ChoreographError
from choreograph.cli.common import StoppedWithOutput, err_console
from choreograph.verbs import find_verb, rooms

FIND, CHANGE = "Find motion", "Change a motion"
PANELS: dict[str, dict[str, str]] = {
    "Motion in and out": {
        "demo": "Write the demo motion: walks, turns, runs, jumps and more, made by a model, with every foot planted "
        "exactly.",
        "fetch": "Fetch recorded motion from a public database.",
        "migrate": "Write requests, results and studio projects of version 0.1 in today's form.",
        "inspect": "Show what motion files hold: length, rate, joints, unit and up-axis found, and anything odd.",
        "find": "Find places in recordings: by words, by example, by speed, turn and feet.",
        "convert": "Convert motion files: BVH, ASF/AMC, NPZ, GLB, USD, FBX in; all but FBX, and CSV of positions, out.",
        "render": "Draw motion: a contact sheet (.png), or a film (.mp4, .gif) with a following camera.",
        "plot": "Plot a motion, or a motion graph, for the screen or a paper.",
    },
    "Motion graphs and models": {
        "build": "Find every place where one recording can flow into another, and keep them in a .mog file.",
        "add": "Add clips to a motion graph; it becomes what building it from all clips at once would have made it.",
        "remove": "Take clips out of a motion graph; nothing is compared again.",
        "info": "Show what a motion graph is made of: clips and labels kept and lost, transitions, settings, history.",
        "segment": "Cut recordings into segments, ready to perform with.",
        "learn": "Learn a statistical model of recorded motion, ready to complete with.",
    },
    FIND: {},
    CHANGE: {
        "clean": "Keep feet where they stand: no sliding, no toes through the floor, bones as long as they were.",
    },
    "More": {
        "studio": "Open the studio: look at clips, build a graph, draw a path on the floor and see it walked.",
        "evaluate": "Measure answers against recordings that were held back.",
        "cache": "Show or clear the cache: what following, solving and performing have computed from motion graphs.",
        "compile": "Compile the kernels of all verbs and of archives, so that the first use of none waits for that.",
    },
}
"""Headings of help, and below each the commands besides the verbs: modules of this package that each register one, and
what lists say about them."""
TOOLS = {name: summary for panel in PANELS.values() for name, summary in panel.items()}

EXIT_ERROR = 2  # exit code of a mistake of the user
EXIT_CANCELLED = 130  # exit code of Ctrl-C, as shells have it: 128 + SIGINT


class Commands(TyperGroup):
    """The commands, each loaded when it is called: lists of them need no more than their names and first lines."""

    def list_commands(self, ctx: Any) -> list[str]:
        """Their names, in the order in which help lists them."""
        return list(_panels())

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """A command by its name: as lists show it, or whole where its options are to be completed."""
        if cmd_name not in self.list_commands(ctx):
            return None
        if ctx.resilient_parsing:
            return load_command(cmd_name)
        summary = TOOLS[cmd_name] if cmd_name in TOOLS else rooms()[cmd_name].summary
        return TyperCommand(cmd_name, help=summary, rich_help_panel=_panels()[cmd_name])

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """The command that is called, with what follows it."""
        if args and args[0] in self.list_commands(ctx):
            command = load_command(args[0])
            return args[0], command, _in_todays_words(args[0], command, args[1:])
        if args and (near := get_close_matches(args[0], self.list_commands(ctx), 2)):
            ctx.fail(f"No such command {args[0]!r}; did you mean {' or '.join(near)}?")
        return super().resolve_command(ctx, args)


def _in_todays_words(name: str, command: Any, args: list[str]) -> list[str]:
    """The words after a command with today's options for those of version 0.1, which one line on stderr names."""
    from choreograph.cli.old_options import current_options

    parameters = [one for part in getattr(command, "commands", {"": command}).values() for one in part.params]
    known = {flag for one in parameters for flag in (*one.opts, *one.secondary_opts)}
    words, notes = current_options(name, args, known)
    if notes:
        err_console.print("; ".join(notes), style="yellow", markup=False, highlight=False, soft_wrap=True)
    return words


def _panels() -> dict[str, str]:
    """The heading below which help lists each command, in its order."""
    panels = {}
    for panel, tools in PANELS.items():
        verbs = [name for name, room in rooms().items() if panel == (CHANGE if room.changes else FIND)]
        panels.update(dict.fromkeys([*verbs, *tools], panel))
    return panels


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
    command: Any = typer.main.get_command(one)
    return command.commands[name] if name in getattr(command, "commands", ()) else command


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

    Begin with [bold]choreograph demo out[/bold]: it writes motion to play with.

    Any command takes --debug to show where in the program an error arose.
    """


def main() -> None:
    """Run the command line; never returns."""
    debug = "--debug" in sys.argv or bool(os.environ.get("CHOREOGRAPH_DEBUG"))
    sys.argv = [word for word in sys.argv if word != "--debug"]
    try:
        app(standalone_mode=True)
    except SystemExit as end:
        if end.code == EXIT_CANCELLED:  # what typer makes of Ctrl-C, without a word
            _stop()
        raise
    except StoppedWithOutput as stopped:
        _stop(str(stopped))
    except (KeyboardInterrupt, Cancelled):
        _stop()
    except ChoreographError as error:
        if debug:
            raise
        from choreograph.cli.options import in_options

        _fail(in_options(str(error)))
    except BrokenPipeError:  # the reader of our output has gone, as with `| head`
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(0)
    except OSError as error:  # a full disk, a name too long: nothing the program can do about
        if debug:
            raise
        _fail(f"{error.filename}: {error.strerror}" if error.filename else str(error))


def _stop(words: str = "stopped; nothing half-made was left behind") -> NoReturn:
    err_console.print(words, style="yellow", markup=False, highlight=False, soft_wrap=True)
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError):
            stream.flush()
    os._exit(EXIT_CANCELLED)  # at once: threads may still be comparing, and Python would wait for them


def _fail(message: str) -> NoReturn:
    # One line, whatever a file's name or content brought into the message.
    line = " ".join(message.split())
    err_console.print(f"error: {line}", style="red", markup=False, highlight=False, soft_wrap=True)
    sys.exit(EXIT_ERROR)


if __name__ == "__main__":
    main()
