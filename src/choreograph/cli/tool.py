"""A tool as a command: its options from a model, as verbs have theirs from their request."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, TypeVar

import typer
from annotated_types import Gt, Lt
from pydantic import Field

from choreograph.base.errors import RequestError
from choreograph.cli.common import console
from choreograph.cli.options import add_command, collect, in_options, parameters, say_by_options, speaking
from choreograph.contract.request import Hertz, Option, Request

if TYPE_CHECKING:
    from choreograph.motion.clip import Clip

T = TypeVar("T", bound=Request)

Files = Annotated[tuple[str, ...], Option(metavar="FILES")]
"""Motion files, folders (searched through) or patterns such as 'clips/*.bvh'."""
Output = Annotated[Path, Option(("--output", "-o"))]
Force = Annotated[bool, Option(("--force", "-f"))]
FILES = "Motion files, folders (searched through) or patterns such as 'clips/*.bvh'."


class Reading(Request):
    """What is known of motion files better than they say."""

    panel: ClassVar[str] = "Reading"

    fps: Annotated[Hertz, Gt(0), Lt(1e5)] | None = None
    """Frames per second of the input, where the file is wrong or silent."""
    unit: str | None = None
    """Unit of length of the input: m, cm, mm, in, cmu or metres per unit; else judged."""
    up: str | None = None
    """Up-axis of the input: x, y, z, -x, -y or -z; else judged."""
    asf: Path | None = None
    """Skeleton of AMC files; else found beside them."""
    take: str | None = None
    """Take (animation) of a GLB or FBX file that has several, by number from 0 or by name; else the first, or all where
    files become a library."""
    role: Annotated[Mapping[str, str], Option(metavar="ROLE=JOINT")] = Field(default_factory=dict)
    """Name a joint whose role is not found, such as left_foot=L_Ankle."""
    trim: bool = False
    """Leave out a rest pose or a leap in the first frames, as inspect suggests."""

    def read(self, path: Path) -> list[Clip]:
        """The figures of a file, in one take."""
        from choreograph.formats import read_figures

        return [self._seen_to(clip) for clip in read_figures(path, **self._options())]

    def read_all(self, path: Path) -> list[Clip]:
        """Every motion of a file: its figures in all takes, or in the one that is asked for."""
        from choreograph.formats import read_clips

        return [self._seen_to(clip) for clip in read_clips(path, **self._options())]

    def read_first(self, path: Path) -> Clip:
        """The clip of a file, the first where there are several."""
        from choreograph.formats import read_clip

        return self._seen_to(read_clip(path, **self._options()))

    def _options(self) -> dict[str, Any]:
        known = {"fps": self.fps, "metres_per_unit": self.unit, "up_axis": self.up, "asf": self.asf}
        if self.take is None:
            return known
        return known | {"take": int(self.take) if self.take.isdecimal() else self.take}

    def _seen_to(self, clip: Clip) -> Clip:
        from choreograph.motion.trim import trimmed

        if self.role:
            clip = clip.with_skeleton(clip.skeleton.with_roles(dict(self.role)))
        return trimmed(clip) if self.trim else clip


def say_notes(clips: Iterable[Clip]) -> None:
    """Say what was assumed or left out while motions were read, alike notes once."""
    notes_by_text: dict[str, list[str]] = {}
    for clip in clips:
        for note in clip.source.notes if clip.source is not None else ():
            notes_by_text.setdefault(in_options(str(note), Reading), []).append(clip.name)
    for text, names in notes_by_text.items():
        more = f" and {len(names) - 3} more" if len(names) > 3 else ""
        line = f"{', '.join(names[:3])}{more}: {text}"
        console.print(line, style="yellow", markup=False, highlight=False, soft_wrap=True)


def add_tool(
    app: typer.Typer, name: str, model: type[T], run: Callable[[T], None], *, arguments: tuple[str, ...] = ("files",)
) -> None:
    """Add a command whose options a model declares; `run` gets the model, and its docstring is the help.

    Args:
        app: The application.
        name: Of the command.
        model: Its options.
        run: What it does.
        arguments: Fields that are arguments instead of options.
    """

    def command(**values: Any) -> None:
        try:
            options = model(**collect(model, values))
        except RequestError as error:
            raise say_by_options(model, error) from None
        with speaking(model):
            run(options)

    add_command(app, name, command, run.__doc__, parameters(model, arguments), model)
