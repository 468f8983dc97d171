"""Following a path, as the command line does, shown while it is being searched for."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from choreograph.errors import RequestError
from choreograph.finishing.finish import Finished, finish
from choreograph.finishing.foot_contacts import plant_speed
from choreograph.finishing.settings import FinishSettings
from choreograph.motion.packed import pack_frames
from choreograph.studio.command import follow_command, follow_python
from choreograph.studio.context import WorkerContext, write_bytes
from choreograph.studio.document import FollowAsk, Point
from choreograph.studio.facts import Figures, Motion, Problem, Result
from choreograph.studio.motions import describe_motion, source_runs
from choreograph.studio.tasks.results import keep_result, new_id
from choreograph.studio.worker import TaskChannel
from choreograph.synthesis.follow.measure import measure_path
from choreograph.synthesis.follow.request import FollowSettings
from choreograph.synthesis.follow.search import PathFollower, reuse_penalty
from choreograph.synthesis.path import Path, Stretch

if TYPE_CHECKING:
    from choreograph.graph.model import MotionGraph
    from choreograph.synthesis.follow.tables import EdgeTables

SHOW_EVERY_S = 0.15
"""Seconds of search after which what was found so far is shown."""
REUSE_COST = 0.05
"""What a transition costs more for each earlier candidate that took it, m²·s; as `find_candidates` has it."""


def follow(shop: WorkerContext, ask: dict[str, Any], tell: TaskChannel) -> list[Result]:
    """Walks along a path; asked as a FollowAsk, the graph's file, and when the request came."""
    asked: FollowAsk = ask["ask"]
    began = time.monotonic() - max(0.0, time.time() - ask["arrived"])
    graph, tables = shop.graph(ask["graph"]), shop.tables(ask["graph"])
    before = None if asked.continue_from is None else walk_again(shop, ask["graph"], asked.continue_from, tell)
    place = None if before is None else before.place
    path = floor_path(asked, place)
    finishing = finish_settings(asked)
    results = []
    for number, (follower, begins) in enumerate(_candidates(graph, tables, path, asked, before), 1):
        motion = _search(follower, finishing, tell, began)
        results.append(_keep(shop, ask["graph"], asked, number, follower, motion, begins, place, began))
        if asked.count > 1:
            tell.found(results[-1])
    return results


def floor_path(asked: FollowAsk, begin: Point | None = None) -> Path:
    """The path that was drawn, rounded and smoothed; from `begin` on, if that is where somebody stands already."""
    points = [begin, *asked.points] if begin is not None else asked.points
    if len(points) < 2:
        raise RequestError("nothing is drawn yet: draw a path on the floor")
    path = Path(np.array(points))
    for wish in asked.stretches:
        # A path that became shorter while it was edited takes its stretches with it.
        start, stop = (min(at, path.length) for at in (wish.start, wish.stop))
        if start < stop or wish.pause is not None:
            path = replace(path, stretches=(*path.stretches, Stretch(start, stop, wish.speed, wish.label, wish.pause)))
    path = path.rounded(asked.rounded_m) if asked.rounded_m else path
    path = path.smoothed(asked.smooth_m) if asked.smooth_m else path
    return path if asked.final_facing is None else path.with_final_facing(asked.final_facing)


def follow_settings(asked: FollowAsk, number: int = 1) -> FollowSettings:
    """How candidate `number` is searched for."""
    return FollowSettings(
        margins={name: margin for name, margin in asked.margins.items() if margin},
        start_clip=asked.start_clip,
        start_frame=asked.start_frame,
        seed=asked.seed + number - 1,
    )


def finish_settings(asked: FollowAsk) -> FinishSettings:
    """How walks become motion; only anticipation knows presets."""
    preset = asked.preset if asked.blend == "anticipation" else "even"
    return FinishSettings(blend=asked.blend, preset=preset, clean=asked.clean)


def _candidates(
    graph: MotionGraph, tables: EdgeTables, path: Path, asked: FollowAsk, before: PathFollower | None
) -> Iterator[tuple[PathFollower, int]]:
    """Searches to run, each reuse_penalty where earlier ones went, and the edges that each has already."""
    costs = np.zeros(len(graph.edges))
    for number in range(1, asked.count + 1):
        settings = follow_settings(asked, number)
        if before is None:
            follower = PathFollower(graph, path, settings, tables=tables, edge_costs=costs)
        else:
            follower = before.forked(path, settings, edge_costs=costs)
        begins = len(follower.edges)
        yield follower, begins
        costs += reuse_penalty(graph, np.array(follower.edges[begins:], np.int64), REUSE_COST)


def _search(follower: PathFollower, finishing: FinishSettings, tell: TaskChannel, began: float) -> Finished:
    """Search to the end, showing what is there now and then."""
    shown: bytes = b""
    due = time.monotonic() + SHOW_EVERY_S
    while follower.step():
        tell.progress("following", round(100 * follower.reached), round(100 * follower.path.length))
        now = time.monotonic()
        if follower.status == "searching" and now >= due:
            motion = finish(follower.walk(), finishing)
            shown = _show(motion, follower, shown, tell)
            # Showing must not cost more than a fourth of the time, however long the walk has become.
            due = time.monotonic() + max(SHOW_EVERY_S, 3 * (time.monotonic() - now))
    return finish(follower.walk(), finishing, name="walk")


def _show(motion: Finished, follower: PathFollower, before: bytes, tell: TaskChannel) -> bytes:
    """Send the frames that are new or have changed."""
    names = [info.name for info in follower.graph.infos]
    frames = pack_frames(motion.clip)
    size = len(frames) // len(motion.clip)
    new, old = (np.frombuffer(data, np.uint8).reshape(-1, size) for data in (frames, before))
    both = min(len(new), len(old))
    same = (new[:both] == old[:both]).all(axis=1)
    start = both if same.all() else int(same.argmin())
    facts: Motion = describe_motion(motion.clip, "partial", source_runs(motion.origins, names))
    tell.found((facts, start), frames[start * size :])
    return frames


def _keep(
    shop: WorkerContext,
    graph_file: str,
    asked: FollowAsk,
    number: int,
    follower: PathFollower,
    motion: Finished,
    begins: int,
    place: Point | None,
    began: float,
) -> Result:
    graph, path, found = follower.graph, follower.path, follower.result()
    result = new_id()
    first = round(int(found.walk.edge_frames[:begins].sum()) * motion.clip.fps / graph.rate_hz)
    errors = measure_path(motion.clip[first:] if first < len(motion.clip) else motion.clip[-1:], path)
    steps = found.steps
    figures = Figures(
        seconds=motion.clip.seconds,
        mean_cm=100 * errors.mean,
        worst_cm=100 * errors.worst,
        end_cm=100 * errors.end,
        transitions_per_s=found.transitions_per_second,
        slide_cm_s=100 * plant_speed(motion.clip) if motion.clip.skeleton.feet else None,
        cost=found.cost,
        proved=all(step.proved for step in steps),
        status=found.status,
        search_ms=1000 * found.seconds,
        total_ms=1000 * (time.monotonic() - began),
    )
    problems = []
    if found.status != "complete":
        x, z = follower.place
        left = path.length - follower.reached
        text = f"the path's end was not reached ({found.status}): the graph has no motion that goes on from here"
        problems.append(Problem(text=text, place=(x, 0.0, z), distance_m=left))
    files = _keep_legs(shop, result, [*_legs(shop, asked.continue_from), _Leg(asked, number, _drawn(asked, place))])
    shown = path.sampled(max(0.05, path.length / 2000))
    shop.keep_walk(result, follower)
    return keep_result(
        shop,
        result,
        [(motion.clip, source_runs(motion.origins, [info.name for info in graph.infos]))],
        verb="follow",
        name=f"{path.length:.1f} m" + (f", {number}" if asked.count > 1 else ""),
        request=asked.model_dump(mode="json"),
        figures=figures,
        problems=problems,
        path=[(round(float(x), 3), round(float(z), 3)) for x, z in shown],
        command=follow_command(graph_file, files, asked, number),
        python=follow_python(graph_file, files, asked, number),
    )


# ---------------------------------------------------------------- walking on


class _Leg(NamedTuple):
    """A stretch of a walk that was asked for on its own."""

    ask: FollowAsk
    number: int
    """Which candidate was walked on from."""
    drawn: dict[str, Any]
    """The path as drawn, from where the walk stood, as JSON."""


def _drawn(asked: FollowAsk, place: Point | None) -> dict[str, Any]:
    """The path as it was drawn, from the place where the walk before it ended, if there was one."""
    plain = asked.model_copy(update={"rounded_m": 0.0, "smooth_m": 0.0})
    return floor_path(plain, place).as_json()


def _keep_legs(shop: WorkerContext, result: str, legs: Sequence[_Leg]) -> list[str]:
    """Write what a walk came through, and the path of each leg as a file; those files."""
    plain = [{"ask": leg.ask.model_dump(mode="json"), "number": leg.number, "drawn": leg.drawn} for leg in legs]
    write_bytes(shop.places.result(result, ".legs.json"), json.dumps(plain).encode())
    files = []
    for number, leg in enumerate(legs, 1):
        path = shop.places.result(result, f".path{number}.json")
        write_bytes(path, json.dumps(leg.drawn).encode())
        files.append(str(path))
    return files


def _legs(shop: WorkerContext, result: str | None) -> list[_Leg]:
    if result is None:
        return []
    try:
        plain = json.loads(shop.places.result(result, ".legs.json").read_text("utf-8"))
        return [_Leg(FollowAsk.model_validate(leg["ask"]), int(leg["number"]), leg["drawn"]) for leg in plain]
    except (OSError, ValueError, KeyError, TypeError):
        raise RequestError(f"there is no walk {result!r} to go on from; follow a path first") from None


def walk_again(shop: WorkerContext, graph_file: str, result: str, tell: TaskChannel) -> PathFollower:
    """The search that ended with this result: kept, or, since the same search finds the same walk, run once more."""
    if result in shop.walks:
        return shop.walks[result]
    graph, tables = shop.graph(graph_file), shop.tables(graph_file)
    before: PathFollower | None = None
    for leg in _legs(shop, result):
        path = floor_path(leg.ask, None if before is None else before.place)
        for number, (follower, _) in enumerate(_candidates(graph, tables, path, leg.ask, before), 1):
            while follower.step():
                tell.progress("walking up to here", round(100 * follower.reached), round(100 * path.length))
            if number == leg.number:
                before = follower
                break
    assert before is not None
    shop.keep_walk(result, before)
    return before
