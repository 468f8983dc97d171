"""What was asked of solving and what came of it, in one picture: figures along their ways, arrows on the floor."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from choreograph.base.arrays import Bytes, Floats, Indices
from choreograph.base.errors import RequestError
from choreograph.contract.result import Answer, Result
from choreograph.goals.model import PlaceGoal
from choreograph.motion.clip import Clip
from choreograph.pictures import raster
from choreograph.pictures.camera import body_points, fit_camera
from choreograph.pictures.figures import cast, thin_path
from choreograph.pictures.raster import RasterScene, Stroke
from choreograph.pictures.sheet import SheetSettings
from choreograph.pictures.theme import AMBER, CLIP_COLOURS, TEAL, find_theme
from choreograph.scene.model import Obstacle
from choreograph.verbs.solve.person import Located, Person
from choreograph.verbs.solve.request import SolveRequest

_SPACING = 0.55
"""Statures between two figures along a way, if nothing else is said."""
_MOST = 14
_ARROW_M = 0.7
_ELEVATION = np.radians(24.0)
_ROUND = 49
"""Points of a circle's outline."""
_HEIGHT = 0.5
"""Of the picture, as a share of its width."""


def draw_solved(
    clips: Sequence[Clip],
    requests: Sequence[SolveRequest | Person],
    settings: SheetSettings | None = None,
    *,
    others: Sequence[Clip] = (),
) -> Bytes:
    """The motions of one or several people and what each was asked for, (height, width, 3), sRGB.

    Figures stand every so many metres along each way, and wherever a goal has its time. Arrows are places, outlines
    obstacles. `others` are other answers, of which only the ways are drawn.
    """
    settings = settings or SheetSettings()
    settings.check()
    if not clips or len(clips) != len(requests):
        raise RequestError(f"{len(clips)} motions do not go with {len(requests)} requests; give one for each")
    people = [one.person() if isinstance(one, SolveRequest) else one for one in requests]
    theme = find_theme(settings.theme)
    actors = cast(clips)
    strokes = [Stroke(_way(clip), theme.quiet, 0.012, 0.55) for clip in others]
    for number, actor in enumerate(actors):
        colour = TEAL if len(actors) == 1 else CLIP_COLOURS[number % len(CLIP_COLOURS)]
        strokes.append(Stroke(_way(actor.clip), colour, 0.016, 0.9))
    figures, seen = [], []
    for actor, person in zip(actors, people, strict=True):
        strokes += [Stroke(points, AMBER, width, 1.0) for points, width in request_lines(person)]
        frames = _moments(actor.clip, person, settings.every)
        figures += [actor.pose(int(frame)) for frame in frames]
        seen.append(body_points(actor.clip)[frames].reshape(-1, 3))
    flat = np.concatenate([stroke.points for stroke in strokes])
    points = np.concatenate([*seen, np.insert(flat, 1, 0.0, axis=1)])
    height = settings.height or 2 * round(_HEIGHT * settings.width / 2)
    camera = fit_camera(points, _across(points), _ELEVATION, settings.width / height)
    reach = max(6.0, 1.1 * float(np.linalg.norm(np.ptp(points[:, [0, 2]], axis=0))))
    scene = RasterScene(figures, strokes, theme, reach=reach)
    return raster.draw(scene, camera, (settings.width, height), samples=settings.samples)


def draw_result(result: Result, settings: SheetSettings | None = None) -> Bytes:
    """The best answer with what was asked for and the ways of the others, (height, width, 3), sRGB."""
    best, *others = result.answers
    assert isinstance(result.request, SolveRequest)
    ways = [clip for answer in others for clip in answer.clips]
    return draw_solved(best.clips, placed_people(result.request, best), settings, others=ways)


def placed_people(request: SolveRequest, answer: Answer) -> list[Person]:
    """What each person was asked for, with the places where they meet in an answer."""
    if not request.characters:
        return [request.person()]
    facts = answer.details["characters"]
    return [
        replace(request.person(name), places=tuple(Located("", PlaceGoal(**one)) for one in facts[name]["targets"]))
        for name in request.characters
    ]


def request_lines(person: Person) -> list[tuple[Floats, float]]:
    """What one person is asked for as lines on the floor, points (N, 2) and width: arrows, and obstacles' outlines."""
    arrows = [(line, 0.1 if len(line) == 1 else 0.035) for _, goal in person.places for line in _arrow_lines(goal)]
    return [*arrows, *((_outline(obstacle), 0.03) for _, obstacle in person.obstacles)]


def _way(clip: Clip) -> Floats:
    return thin_path(clip.root_pos[:, [0, 2]])[0]


def _across(points: Floats) -> float:
    """The direction from which the longer extent on the floor is seen from the side."""
    ground = points[:, [0, 2]] - points[:, [0, 2]].mean(axis=0)
    along = np.linalg.eigh(ground.T @ ground)[1][:, 1]
    along = along * (1 if along[0] >= 0 else -1)
    return float(np.arctan2(-along[1], along[0]))


def _moments(clip: Clip, person: Person, every: int | None) -> Indices:
    """Frames to show: those of the goals, and others so far apart that figures do not run into each other."""
    goals = [goal for _, goal in (*person.places, *person.joints, *person.poses, *person.exact)]
    asked = [min(round(goal.span[0] * clip.fps), len(clip) - 1) for goal in goals]
    if every is not None:
        return np.unique([*asked, *range(0, len(clip), every)])
    steps = np.linalg.norm(np.diff(clip.root_pos[:, [0, 2]], axis=0), axis=1)
    gone = np.concatenate([[0.0], np.cumsum(steps)])
    gap = max(_SPACING * clip.skeleton.height, gone[-1] / _MOST)
    kept = sorted({0, len(clip) - 1, *asked})
    for frame in np.searchsorted(gone, np.arange(gap, gone[-1], gap)):
        if min(np.linalg.norm(clip.root_pos[frame, ::2] - clip.root_pos[other, ::2]) for other in kept) > 0.8 * gap:
            kept.append(int(frame))
    return np.unique(kept)


def _arrow_lines(target: PlaceGoal) -> list[Floats]:
    at = np.array(target.place)
    if target.facing is None:
        return [at[None]]
    ahead = np.array([np.sin(target.facing), np.cos(target.facing)])
    side, tip = np.array([ahead[1], -ahead[0]]), at + _ARROW_M * ahead
    barbs = [tip - 0.22 * ahead + sign * 0.16 * side for sign in (1, -1)]
    return [np.array([at, tip]), np.array([barbs[0], tip, barbs[1]])]


def _outline(obstacle: Obstacle) -> Floats:
    corners = np.array(obstacle.outline, float)
    if len(corners) == 1:
        around = np.linspace(0.0, 2 * np.pi, _ROUND)
        return np.asarray(corners + (obstacle.radius_m or 0.0) * np.stack([np.sin(around), np.cos(around)], axis=1))
    return np.concatenate([corners, corners[:1]])
