"""Performing: a way over the floor, or a leader, answered as the recorded examples were."""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from choreograph.errors import RequestError
from choreograph.finishing.finish import Finished, finish
from choreograph.finishing.foot_contacts import plant_speed
from choreograph.finishing.hand_contacts import grips
from choreograph.finishing.settings import FinishSettings
from choreograph.motion.contacts import runs
from choreograph.studio.command import perform_command, perform_python
from choreograph.studio.context import WorkerContext, write_bytes
from choreograph.studio.document import PerformAsk, Point, Sample
from choreograph.studio.facts import Figures, Hold, Piece, Problem, Result, SourceRun
from choreograph.studio.library import clip_key
from choreograph.studio.tasks.examples import Base, Library, find_base, settings_of
from choreograph.studio.tasks.results import keep_result, new_id
from choreograph.studio.worker import TaskChannel
from choreograph.synthesis.perform.request import Control, control_from_clip, control_from_trajectory
from choreograph.synthesis.perform.search import SegmentSequence, find_segments
from choreograph.synthesis.perform.trajectory import Trajectory, even_trajectory

if TYPE_CHECKING:
    from choreograph.motion.clip import Clip
    from choreograph.synthesis.perform.examples import SegmentDatabase

_PEAK_S = 0.15
"""Seconds over which speeds are smoothed before they are held against the examples', as for any trajectory."""


class _Lead(NamedTuple):
    """What leads, and what follows from it."""

    control: Control
    segments: SegmentDatabase
    """Those that may answer it."""
    way: Trajectory | None = None
    """As it was performed, smoothed."""
    held_back: int | None = None
    """The example that is the leader's own recording, and therefore no help."""
    partner: Clip | None = None
    """Who was recorded with the leader."""
    problems: Sequence[Problem] = ()


def perform(shop: WorkerContext, ask: dict[str, Any], tell: TaskChannel) -> list[Result]:
    """The answer to a performed way or to a leader; asked as a PerformAsk, the library, and when the request came."""
    asked: PerformAsk = ask["ask"]
    began = time.monotonic() - max(0.0, time.time() - ask["arrived"])
    library = Library(*ask["library"])
    base = find_base(shop, asked, library, tell)
    lead = _path(asked, base) if asked.lead == "path" else _body(shop, asked, base, library)
    found = find_segments(lead.segments, lead.control, settings_of(lead.segments, asked), progress=tell.progress)
    finishing = FinishSettings(clean=asked.clean, hands=asked.clean)
    motion = finish(found, finishing, name="performed", partner=found.partner(), progress=tell.progress)
    return [_keep(shop, asked, base, lead, found, motion, began)]


# ---------------------------------------------------------------- what leads


def performed_way(samples: Sequence[Sample]) -> Trajectory:
    """A performance at an even rate, from its first moment on.

    Raises:
        ChoreographError: If there is no way in it, or too little is known of it.
    """
    if len(samples) < 2:
        raise RequestError("nothing was performed yet: press on the floor and move as fast as somebody walks")
    times, *places = np.array(samples, float).T
    back = np.flatnonzero(np.diff(times) <= 0)
    if len(back):
        a, b = times[back[0]], times[back[0] + 1]
        raise RequestError(f"time goes from {a:g} s back to {b:g} s in what was performed; perform it again")
    return even_trajectory(times - times[0], np.stack(places, axis=1), name="what was performed")


def _path(asked: PerformAsk, base: Base) -> _Lead:
    raw = performed_way(asked.samples)
    way = raw.smoothed(asked.smooth_s)
    control = control_from_trajectory(way, base.segments)
    problems = []
    if way.bridged_s:
        problems.append(Problem(text=f"{way.bridged_s:.2f} s were missing and are straight lines now"))
    speeds, fastest = way.smoothed(_PEAK_S).speeds, base.segments.fastest
    top = int(speeds.argmax())
    if speeds[top] > fastest:
        x, z = way.places[top]
        text = (
            f"{speeds[top]:.1f} m/s at {top / way.fps:.1f} s is faster than any example ({fastest:.1f} m/s): "
            "the figure falls behind there"
        )
        problems.append(Problem(text=text, place=(float(x), 0.0, float(z))))
    return _Lead(control, base.segments, way, problems=problems)


def _body(shop: WorkerContext, asked: PerformAsk, base: Base, library: Library) -> _Lead:
    if asked.leader is None:
        raise RequestError("nobody leads yet: choose the clip that leads")
    entry = library.find(asked.leader)
    segments = base.segments
    control = control_from_clip(shop.clip(entry), segments)
    own = [k for k, pair in enumerate(base.chosen) if pair.leader and clip_key(pair.leader) == clip_key(entry)]
    if not own:
        return _Lead(control, segments)
    partner = shop.clip(base.chosen[own[0]].clip)
    rest = segments.without(own[0])
    if not len(rest):
        text = f"the only example is {entry.name!r} itself: it is answered by its own recording"
        return _Lead(control, segments, partner=partner, problems=[Problem(text=text)])
    return _Lead(control, rest, held_back=own[0], partner=partner)


# ---------------------------------------------------------------- what comes of it


def _keep(
    shop: WorkerContext,
    asked: PerformAsk,
    base: Base,
    lead: _Lead,
    found: SegmentSequence,
    motion: Finished,
    began: float,
) -> Result:
    result = new_id()
    people: list[tuple[Clip, Sequence[SourceRun]]] = [(motion.clip, piece_runs(found, motion.clip))]
    if asked.lead == "path":
        assert lead.way is not None
        led = shop.places.result(result, ".csv")
        rows = "".join(f"{t:.3f},{x:.4f},{z:.4f}\n" for t, x, z in asked.samples)
        write_bytes(led, f"t,x,z\n{rows}".encode())
        name = f"{found.control.seconds:.1f} s, performed"
    else:
        assert found.control.leader is not None
        people.append((found.control.leader, ()))
        led = shop.places.result(result, ".npz", 1)
        name = f"Follows {found.control.name}"
    return keep_result(
        shop,
        result,
        people,
        verb="perform",
        name=name,
        request=asked.model_dump(mode="json"),
        figures=_figures(asked, lead, found, motion.clip, began),
        problems=[*lead.problems, *_poverty(lead.segments)],
        path=[] if lead.way is None else _thinned(lead.way),
        pieces=[Piece.model_validate(_row(row)) for row in found.transcription()],
        holds=_holds(motion),
        leader=None if lead.way is not None else 1,
        command=perform_command(str(base.file), str(led), asked, held_back=lead.held_back is not None),
        python=perform_python(str(base.file), str(led), asked, lead.held_back),
    )


def _poverty(segments: SegmentDatabase) -> list[Problem]:
    if len(segments) > 1:
        return []
    return [Problem(text="the examples have one segment only, and all is made of it; add longer recordings")]


def _figures(asked: PerformAsk, lead: _Lead, found: SegmentSequence, clip: Clip, began: float) -> Figures:
    base, pieces = found.base, found.pieces
    segments = np.array([piece.segment for piece in pieces])
    goes_on = (base.example[segments[1:]] == base.example[segments[:-1]]) & (
        base.start[segments[1:]] == base.stop[segments[:-1]]
    )
    off: dict[str, float] = {}
    if lead.way is not None:
        times = np.arange(len(clip)) / clip.fps * lead.way.fps
        at = np.arange(len(lead.way.places))
        places = np.stack([np.interp(times, at, lead.way.places[:, k]) for k in range(2)], axis=1)
        apart = 100 * np.linalg.norm(clip.root_pos[:, ::2] - places, axis=1)
        off = {"mean_cm": float(apart.mean()), "worst_cm": float(apart.max()), "end_cm": float(apart[-1])}
    if lead.partner is not None:
        from choreograph.evaluation.perform import compare

        scores = compare([(clip, lead.partner)], base.target_roles, 2 * float(np.median(base.seconds)))
        off |= {"partner_cm": 100 * scores.ends_m, "partner_root_cm": 100 * scores.root_m}
    figures = Figures(
        seconds=clip.seconds,
        transitions_per_s=float((~goes_on).sum()) / max(clip.seconds, 1 / clip.fps),
        slide_cm_s=100 * plant_speed(clip) if clip.skeleton.feet else None,
        cost=found.cost,
        proved=asked.beam_m2_s is None,
        search_ms=1000 * found.seconds,
        total_ms=1000 * (time.monotonic() - began),
        fit_cm=100 * math.sqrt(np.mean([piece.residual_m**2 for piece in pieces])),
    )
    return figures.model_copy(update=off)


def _row(row: dict[str, Any]) -> dict[str, Any]:
    return {name: row[name] for name in Piece.model_fields}


def piece_runs(found: SegmentSequence, clip: Clip) -> list[SourceRun]:
    """Which recording each frame shows: a run for each piece."""
    base, made = found.base, []
    for piece in found.pieces:
        start, stop = (min(max(math.ceil(t * clip.fps - 1e-6), 0), len(clip)) for t in (piece.start_s, piece.stop_s))
        if stop <= start:
            continue
        pace = (base.stop - base.start)[piece.segment] / (piece.stop_s - piece.start_s)
        frame = float(base.start[piece.segment] + max(start / clip.fps - piece.start_s, 0.0) * pace)
        name = base.names[int(base.example[piece.segment])]
        made.append(SourceRun(start=start, stop=stop, clip=name, clip_frame=frame))
    if made:
        made[-1] = made[-1].model_copy(update={"stop": len(clip)})
    return made


def _holds(motion: Finished) -> list[Hold]:
    if motion.partner is None or motion.hand_contacts is None:
        return []
    mine, theirs = grips(motion.clip.skeleton), grips(motion.partner.skeleton)
    return [
        Hold(start=start, stop=stop, joint=mine[a], other=theirs[b])
        for a in range(2)
        for b in range(2)
        for start, stop in runs(motion.hand_contacts.held[:, a, b])
    ]


def _thinned(way: Trajectory) -> list[Point]:
    every = max(1, len(way.places) // 2000)
    return [(round(float(x), 3), round(float(z), 3)) for x, z in way.places[::every]]
