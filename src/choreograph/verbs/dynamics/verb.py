"""Inverse dynamics, declared for all faces."""

from __future__ import annotations

from pathlib import Path

from choreograph.contract.result import Result
from choreograph.contract.verb import CLIP, Output, Verb
from choreograph.verbs.dynamics.request import DynamicsRequest
from choreograph.verbs.dynamics.search import DynamicsResult, DynamicsSearch


def _draw(path: Path, result: Result, overwrite: bool) -> None:
    from choreograph.pictures.mechanics_plots import plot_dynamics
    from choreograph.pictures.plots import write_plot

    assert isinstance(result, DynamicsResult) and result.dynamics is not None
    write_plot(path, plot_dynamics(result.dynamics, result.clip), overwrite=overwrite)


def _write_table(path: Path, result: Result, overwrite: bool) -> None:
    from choreograph.verbs.dynamics.table import write_table

    assert isinstance(result, DynamicsResult) and result.dynamics is not None
    write_table(path, result.dynamics, result.clip, overwrite=overwrite)


def _write_model(path: Path, result: Result, overwrite: bool) -> None:
    from choreograph.dynamics.dofs import make_dofs
    from choreograph.dynamics.export import write_body

    assert isinstance(result, DynamicsResult) and result.body is not None
    write_body(path, make_dofs(result.body, [result.clip]), overwrite=overwrite)


VERB = Verb(
    name="dynamics",
    about="""Measure a motion's mechanics: centre of mass, momenta, ground forces, joint torques.

    Masses and inertias come from anthropometric tables, scaled to height and weight. Ground forces are those that
    explain the motion best, pushing only and within friction; what they leave is the residual. The motion stays as it
    is.""",
    request=DynamicsRequest,
    subject=CLIP,
    search=DynamicsSearch,
    trial=DynamicsRequest(),
    draw=_draw,
    picture_suffixes=(".png", ".svg", ".pdf"),
    outputs=(
        Output("table", "Also write everything, frame by frame", (".csv",), _write_table),
        Output(
            "model",
            "Also write the body for robotics programs, as MJCF or URDF",
            (".xml", ".mjcf", ".urdf"),
            _write_model,
        ),
    ),
    changes_motion=False,
    examples=(
        "dynamics jump.bvh",
        "dynamics walk.bvh --mass 62 --height 1.71 --table walk.csv --picture walk.png",
        "dynamics run.bvh --cutoff 15 --model body.urdf --result run.json",
    ),
    guide="docs/dynamics.md",
)
