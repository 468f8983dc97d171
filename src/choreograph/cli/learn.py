"""`choreograph learn`: a statistical model of recorded motion, in a file."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from pydantic import Field

from choreograph.base.errors import RequestError
from choreograph.cli.common import console, progress_bar
from choreograph.cli.tool import Force, add_tool
from choreograph.contract.request import Option, Request
from choreograph.contract.verb import EXAMPLES
from choreograph.verbs.complete.settings import LearnSettings

if TYPE_CHECKING:
    from choreograph.verbs.complete.model import MotionModel


class LearnOptions(Request):
    """What is learned from, and where the model is kept."""

    subject: Annotated[str, Option(metavar=EXAMPLES.metavar), Field(description=EXAMPLES.help)]
    output: Annotated[Path, Option(("--output", "-o"))]
    """The .model file to write."""
    label: str | None = None
    """Learn only from what is labelled so."""
    simulate: Path | None = None
    """Also write a motion that the model makes by itself, for looking at what it knows (.bvh, .glb …)."""
    simulate_s: Annotated[float, Option(("--simulate-seconds",))] = 5.0
    """How long that lasts."""
    model: LearnSettings = Field(default_factory=LearnSettings)
    """Rate, sizes, behaviours."""
    force: Force = False
    """Overwrite what exists."""


def learn(options: LearnOptions) -> None:
    """Learn a statistical model of recorded motion, ready to complete with.

    What is not given is chosen by cross-validation: how many frames the next one follows from, and the size of the
    control input. The error that is printed is of predicting each recorded pose from those before it.

    Examples:

      choreograph learn walks/ -o walks.model

      choreograph learn people.mog --label walk --order 3 --controls 4 -o walks.model --simulate walk.bvh

      choreograph learn people.mog --behaviours walk --behaviours jump -o both.model
    """
    import numpy as np

    from choreograph.formats import write_clip
    from choreograph.motion.trim import trimmed
    from choreograph.verbs.complete.model import MotionModel, reconstruction_error
    from choreograph.verbs.complete.request import CompleteAdvanced, CompleteRequest
    from choreograph.verbs.complete.search import describe_model
    from choreograph.verbs.complete.sources import Recordings, choose_clips, find_model
    from choreograph.verbs.complete.store import SUFFIX, save_model

    if options.output.suffix.lower() != SUFFIX:
        raise RequestError(f"--output is {options.output}; a model's file ends in {SUFFIX}", where="output")
    with progress_bar() as progress:
        source = EXAMPLES.read(options.subject)
        if isinstance(source, MotionModel):
            raise RequestError(f"{options.subject} is a model already; give recordings", where="subject")
        request = CompleteRequest(duration_s=1.0, advanced=CompleteAdvanced(labelled=options.label))
        clips = choose_clips(Recordings(source).clips, request)
        model = find_model(clips, options.model, progress)
        error = reconstruction_error(model, [trimmed(clip) for clip in clips])
        save_model(options.output, model, overwrite=options.force)
        if options.simulate is not None:
            sample = model.simulate(options.simulate_s, np.random.default_rng(0))
            write_clip(options.simulate, sample, overwrite=options.force)
    text = describe_model(model)
    console.print(
        f"{options.output}: {text['frames']} frames of {text['clips']} clips at {text['rate_hz']:g} Hz; "
        f"{text['dimensions']} coordinates hold {100 * text['variance']:.1f} % of the poses' variance, order "
        f"{text['order']}, control of {text['controls']}, {text['components']} component(s); each pose is predicted "
        f"to {error:.2f}° per joint{_known(model)}",
        highlight=False, markup=False, soft_wrap=True,
    )  # fmt: skip


def _known(model: MotionModel) -> str:
    """What the model knows of the time between keyframes."""
    from choreograph.verbs.complete.held_out_error import NO_MORE

    if math.isnan(model.held_out):
        return "; there is too little to hold out and see what it knows of the time between keyframes"
    text = f"; left out and completed over a second, motion is {model.held_out:.2f} × as far off as by a spline"
    few = " (these recordings hardly tell: ask for tracks, or for keyframes closer together)"
    return text + (few if model.held_out >= NO_MORE else "")


def register(app: typer.Typer) -> None:
    """Add the command to the application."""
    add_tool(app, "learn", LearnOptions, learn, arguments=("subject",))
