"""Retiming, declared for all faces."""

from __future__ import annotations

from pathlib import Path

from choreograph.contract.result import Result
from choreograph.contract.verb import CLIP, Output, Verb
from choreograph.verbs.retime.request import RetimeRequest
from choreograph.verbs.retime.search import RetimeResult, RetimeSearch


def _draw(path: Path, result: Result, overwrite: bool) -> None:
    from choreograph.pictures.plots import write_plot
    from choreograph.verbs.retime.plot import plot_warp

    assert isinstance(result, RetimeResult) and result.retimed is not None and result.recorded is not None
    write_plot(path, plot_warp(result.retimed, result.recorded), overwrite=overwrite)


def _draw_speeds(path: Path, result: Result, overwrite: bool) -> None:
    from choreograph.pictures.plots import write_plot
    from choreograph.verbs.retime.plot import plot_speeds

    assert isinstance(result, RetimeResult) and result.recorded is not None
    motions = {"recorded": [result.recorded], "retimed": [result.clip]}
    if result.references:
        motions["like"] = list(result.references)
    write_plot(path, plot_speeds(motions), overwrite=overwrite)


def _write_warp(path: Path, result: Result, overwrite: bool) -> None:
    from choreograph.formats.atomic import atomic_write

    warp = result.best.details["warp"]
    rows = zip(warp["seconds"], warp["frames"], warp["rates"], strict=True)
    text = "second,frame,rate\n" + "".join(f"{second},{frame},{rate}\n" for second, frame, rate in rows)
    with atomic_write(path, overwrite=overwrite) as temporary:
        temporary.write_text(text, encoding="utf-8")


VERB = Verb(
    name="retime",
    about="""Retime a motion: the same poses, in the same order, with somebody else's timing or its own.

    Key times say which frame is shown when. Between them local timing is taken from the motions it shall be like, or,
    without any, from the motion itself: a jump that is made shorter keeps its fall.""",
    request=RetimeRequest,
    subject=CLIP,
    search=RetimeSearch,
    trial=RetimeRequest(duration_s=1.5),
    draw=_draw,
    picture_suffixes=(".png", ".svg", ".pdf"),
    outputs=(
        Output("speeds", "Also plot how fast joints move, before and after", (".png", ".svg", ".pdf"), _draw_speeds),
        Output("curve", "Also write the warp as a table of second, frame and rate", (".csv",), _write_warp),
    ),
    examples=(
        "retime jump.bvh --duration 1.2 -o out.bvh",
        "retime tired.bvh --like brisk.bvh --duration 4 -o brisk_tired.bvh --picture warp.png",
        "retime dance.bvh --key 40=0.5 --key 130=2.0 --like recordings/ -o on_the_beat.glb",
    ),
    guide="docs/retime.md",
)
