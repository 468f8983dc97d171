"""Steering as a stream: what a client says, as JSON, and what it gets, a JSON hello and then binary frames.

Whoever carries the messages (a socket, a test) calls `hear` for each message and `tick` for each frame.
"""

from __future__ import annotations

import json
import math
import struct
from collections.abc import Mapping, Sequence
from copy import copy
from typing import Any

import numpy as np

from choreograph._version import __version__
from choreograph.base.arrays import Floats
from choreograph.base.errors import RequestError
from choreograph.base.floor import FloorTransform, compose
from choreograph.motion.packed import skeleton_id
from choreograph.scene.model import Obstacle
from choreograph.scene.path import Path
from choreograph.verbs.steer.controller import SteeredCharacter, SteerPolicy
from choreograph.verbs.steer.crowd import Crowd, CrowdPoses
from choreograph.verbs.steer.frame_pool import FramePool
from choreograph.verbs.steer.goals import Line, MovingObstacle, SteerGoal
from choreograph.verbs.steer.moments import as_goals
from choreograph.verbs.steer.request import LONGEST_S

PROTOCOL = 1
MAGIC = b"CGS1"
HEADER = struct.Struct("<4sIdIIII")
"""Magic, frame number, seconds, characters, joints, frames dropped so far, feet."""
MAX_CHARACTERS, MAX_OBSTACLES, MAX_POINTS = 100, 64, 20_000
MAX_MESSAGE = 2_000_000
"""Characters of a message, at most."""
_KEPT_GOALS, _KEPT_POINTS = 100_000, 200_000
"""What a recording holds at most: goals, and points of the paths in them."""
_FARTHEST_M = 1e6
_KEPT_MOVES = 100_000
"""Moves of each obstacle that a recording keeps at most."""
_HEAT = 25
"""Cells of the value map along each side."""


class SteerStream:
    """Characters steered by messages.

    >>> SteerStream.frame_bytes(31)
    520
    """

    def __init__(self, policy: SteerPolicy, pool: FramePool, rate_hz: float = 60.0) -> None:
        """Begin with one character at the origin.

        Args:
            policy: Steps, costs, tasks, value functions.
            pool: The recordings' frames.
            rate_hz: Frames per second.
        """
        if not 1 <= rate_hz <= 240:
            raise RequestError(f"a stream has 1 to 240 frames a second, not {rate_hz}", where="rate_hz")
        self.policy, self.pool, self.rate_hz = policy, pool, rate_hz
        self.dropped = 0
        """Frames that the client was too slow for."""
        self._obstacles: dict[str, MovingObstacle] = {}
        self._goals: list[tuple[float, SteerGoal]] = []
        self._kept_points = 0
        self._dragged: dict[str, list[list[float]]] = {}
        self._recorded: int | None = None
        self._restart([(np.zeros(3), SteerGoal())])

    def _restart(self, characters: Sequence[tuple[Floats, SteerGoal]]) -> None:
        """Begin anew with characters at places, each with its goal."""
        self.crowd = Crowd(self.policy, self.pool)
        for (yaw, x, z), goal in characters:
            self.crowd.add(float(x), float(z), float(yaw), goal)
        self.number = 0

    def adopt(self, policy: SteerPolicy) -> dict[str, Any]:
        """Steer on with what was learned meanwhile on the same steps; what is to be said of it."""
        self.policy = self.crowd.policy = policy
        for one in self.crowd.characters:
            one.policy = policy
        return self.learned()

    def learned(self) -> dict[str, Any]:
        """How the value functions were learned, for a client."""
        reports = {name: dict(value.report) for name, value in self.policy.values.items()}
        return {"type": "learned", "tasks": list(self.policy.tasks), "reports": reports}

    @property
    def learning(self) -> bool:
        """Whether value functions are still those that there were quickly."""
        return any(value.report.get("first") for value in self.policy.values.values())

    @staticmethod
    def frame_bytes(joints: int) -> int:
        """Bytes of one character in a frame: root, rotations, recording, its frame, feet."""
        return 4 * (3 + 4 * joints) + 12

    # ------------------------------------------------------------------ what the client gets

    def hello(self) -> dict[str, Any]:
        """What a client has to know before the first frame."""
        skeleton, steps = self.pool.skeleton, self.policy.costs.steps
        return {
            "type": "hello",
            "protocol": PROTOCOL,
            "choreograph": __version__,
            "rate_hz": self.rate_hz,
            "skeleton": skeleton_id(skeleton),
            "joints": list(skeleton.names),
            "parents": skeleton.parents.tolist(),
            "offsets": np.round(skeleton.offsets, 6).tolist(),
            "feet": [skeleton.names[joint] for joint in skeleton.feet],
            "clips": list(steps.names),
            "gaits": list(steps.gaits),
            "tasks": list(self.policy.tasks),
            "fastest_m_s": round(float(steps.speed.max()), 3),
            "header_bytes": HEADER.size,
            "character_bytes": self.frame_bytes(len(skeleton)),
        }

    def tick(self) -> bytes:
        """The next frame."""
        dt = 1 / self.rate_hz
        self._obstacles = {name: one.at(dt) for name, one in self._obstacles.items()}
        poses = self.crowd.tick(dt, list(self._obstacles.values()))
        self.number += 1
        return self.pack(poses)

    def pack(self, poses: CrowdPoses) -> bytes:
        """Poses as a frame's bytes, little-endian."""
        count, joints = poses.local_rot.shape[:2]
        feet = poses.held.shape[1]
        head = HEADER.pack(MAGIC, self.number, poses.time_s, count, joints, self.dropped & 0xFFFFFFFF, feet)
        rows = np.zeros((count, self.frame_bytes(joints) // 4), "<f4")
        rows[:, :3] = poses.root_pos
        rows[:, 3 : 3 + 4 * joints] = poses.local_rot[..., [1, 2, 3, 0]].reshape(count, -1)
        main = poses.layers[:, :, 4].argmax(axis=1)
        every = np.arange(count)
        whole = rows.view("<u4")
        whole[:, -3] = poses.clip[every, main]
        rows[:, -2] = poses.layers[every, main, 0]
        whole[:, -1] = poses.held @ (1 << np.arange(feet)) if feet else 0
        return head + rows.tobytes()

    def plan(self, character: int = 0, steps: int = 4, *, poses: bool = False) -> dict[str, Any]:
        """Where a character means to go: places and headings at the ends of its next steps.

        Args:
            character: Its number.
            steps: How many.
            poses: Whether to tell its poses there too: root, then x, y, z, w of each joint.
        """
        one = self._character(character)
        cut, place = one.cut, one.place_at_cut()
        places, pose_rows = [place], [self._pose(cut, place)] if poses else []
        table = self.policy.costs.steps
        line = copy(one.line)
        for _ in range(steps):
            choice = one.choose(cut, place, 0.0, line=line)
            place = compose(
                place, compose(table.align[cut, table.start[choice.step]], table.moves[choice.step, choice.bend])
            )
            cut = int(table.stop[choice.step])
            places.append(place)
            pose_rows += [self._pose(cut, place)] if poses else []
        rows = [[round(float(x), 3), round(float(z), 3), round(math.degrees(yaw), 1)] for yaw, x, z in places]
        message = {"type": "plan", "character": character, "places": rows, "outside": sorted(one.outside)}
        return message | ({"poses": pose_rows} if poses else {})

    def _pose(self, cut: int, place: Floats) -> list[float]:
        """The pose of a cut that is laid at a place."""
        steps = self.policy.costs.steps
        clip, frame = steps.clips[steps.cut_clip[cut]], steps.cut_frame[cut]
        base = FloorTransform(*place) @ FloorTransform(*steps.cut_place[cut]).inverse()
        rot = clip.local_rot[frame].copy()
        rot[0] = base.turn(rot[0])
        row = np.concatenate([base.apply(clip.root_pos[frame]), rot[:, [1, 2, 3, 0]].ravel()])
        return [round(value, 4) for value in row.tolist()]

    def heat(self, character: int = 0, half_m: float = 3.0) -> dict[str, Any]:
        """The value of being elsewhere, with the same heading: a square about a character, rows along z."""
        one = self._character(character)
        value = self.policy.values["navigate"]
        yaw, x, z = one.place_at_cut()
        along = np.linspace(-half_m, half_m, _HEAT)
        line = Line(one.line.goal)  # which finds its place anew, wherever that is
        states = np.array([line.state(np.array([yaw, x + dx, z + dz])) for dz in along for dx in along])
        cuts = np.full(len(states), one.cut)
        values = value.at(states, cuts) + self.policy.tasks["navigate"].beyond(
            states, cuts, self.policy.ahead(one.goal)
        )
        low, high = float(values.min()), float(values.max())
        cells = np.round(255 * (values - low) / max(high - low, 1e-9)).astype(int).tolist()
        return {
            "type": "heat", "character": character, "x": round(x, 3), "z": round(z, 3), "half_m": half_m,
            "size": _HEAT, "low": round(low, 3), "high": round(high, 3), "cells": cells,
        }  # fmt: skip

    # ------------------------------------------------------------------ what the client says

    def hear(self, message: Any) -> dict[str, Any] | None:
        """Do what a message says; what is to be answered, if anything.

        Raises:
            RequestError: If the message cannot be understood or done.
        """
        if not isinstance(message, Mapping) or not isinstance(message.get("type"), str):
            raise RequestError('a message is an object with a "type"')
        kind = message["type"]
        known = {
            "goal": self._goal,
            "add": self._add,
            "obstacles": self._set_obstacles,
            "record": self._record,
            "plan": lambda message: self.plan(_whole(message, "character"), poses=message.get("poses") is True),
            "heat": lambda message: self.heat(_whole(message, "character")),
            "restart": self._begin_anew,
        }
        if kind not in known:
            raise RequestError(f"there is no message {kind[:40]!r}; there are {', '.join(known)}")
        return known[kind](message)

    def _character(self, number: int) -> SteeredCharacter:
        if not 0 <= number < len(self.crowd.characters):
            raise RequestError(f"there is no character {number}; there are {len(self.crowd.characters)}")
        return self.crowd.characters[number]

    def _goal(self, message: Mapping[str, Any]) -> None:
        number = _whole(message, "character")
        one = self._character(number)
        numbers = {
            name: _number(message, name) for name in ("x", "z", "heading_deg", "speed", "torso_deg", "spin_deg_s")
        }
        heading, torso, spin = (
            None if numbers[name] is None else math.radians(numbers[name])  # type: ignore[arg-type]
            for name in ("heading_deg", "torso_deg", "spin_deg_s")
        )
        gait = message.get("gait")
        if gait is not None and not (isinstance(gait, str) and 0 < len(gait) <= 200):
            raise RequestError("gait is a word")
        path = _points(message.get("points"))
        goal = SteerGoal(numbers["x"], numbers["z"], heading, numbers["speed"], gait, torso, spin, path)
        try:
            one.set_goal(goal)
        except RequestError as error:
            raise RequestError(str(error), where="gait") from None
        if number == self._recorded:
            points = self._kept_points + (0 if path is None else len(path.points))
            if len(self._goals) >= _KEPT_GOALS or points > _KEPT_POINTS:
                raise RequestError(
                    f"a recording holds {_KEPT_GOALS} goals and {_KEPT_POINTS} points of paths at most; end it and "
                    "begin another"
                )
            self._kept_points = points
            self._goals.append((round((self.number + 1) / self.rate_hz, 6), goal))

    def _add(self, message: Mapping[str, Any]) -> dict[str, Any]:
        if len(self.crowd.characters) >= MAX_CHARACTERS:
            raise RequestError(f"there are {MAX_CHARACTERS} characters already")
        x, z, heading = (_number(message, name) or 0.0 for name in ("x", "z", "heading_deg"))
        self.crowd.add(x, z, math.radians(heading))
        return {"type": "added", "character": len(self.crowd.characters) - 1}

    def _set_obstacles(self, message: Mapping[str, Any]) -> None:
        listed = message.get("obstacles")
        if not isinstance(listed, list) or len(listed) > MAX_OBSTACLES:
            raise RequestError(f"obstacles are a list of at most {MAX_OBSTACLES}")
        obstacles = {}
        for n, one in enumerate(listed):
            if not isinstance(one, Mapping):
                raise RequestError("an obstacle is an object with x, z and radius")
            x, z, radius, vx, vz = (_number(one, name) for name in ("x", "z", "radius", "vx", "vz"))
            if x is None or z is None:
                raise RequestError("an obstacle has x and z")
            obstacles[str(n)] = MovingObstacle(x, z, 0.6 if radius is None else radius, vx or 0.0, vz or 0.0)
        self._obstacles = obstacles
        if self._recorded is not None:
            self._keep_obstacles()

    def _keep_obstacles(self) -> None:
        """Remember for the recording where obstacles are from now on."""
        now = self.number / self.rate_hz
        for name in {**self._dragged, **self._obstacles}:
            one, rows = self._obstacles.get(name), self._dragged.setdefault(name, [])
            row = [now, 0.0, 0.0, 0.0, 0.0, 0.0] if one is None else [now, one.x, one.z, one.radius, one.vx, one.vz]
            if not rows and now > 0:
                rows.append([0.0] * 6)
            passed = now - rows[-1][0] if rows else 0.0
            if rows and rows[-1][3:] == row[3:]:
                since = rows[-1]
                off = max(abs(since[1] + passed * since[4] - row[1]), abs(since[2] + passed * since[5] - row[2]))
                if row[3] == 0 or off < 1e-9:
                    continue  # as it goes on by itself
            if len(rows) < _KEPT_MOVES:
                rows.append(row)

    def _begin_anew(self, message: Mapping[str, Any]) -> None:
        x, z, heading = (_number(message, name) or 0.0 for name in ("x", "z", "heading_deg"))
        self._recorded = None
        self._restart([(np.array([math.radians(heading), x, z]), SteerGoal())])

    def _record(self, message: Mapping[str, Any]) -> dict[str, Any]:
        """Begin to record a character, or end it: then the request that gives the same motion."""
        if message.get("on"):
            number = _whole(message, "character")
            self._character(number)
            if self.learning:  # what is steered now would not come out again
                raise RequestError("it is still being learned; record as soon as that is done")
            everybody = [(one.place_at_cut(), one.goal) for one in self.crowd.characters]
            self._restart(everybody)
            self._start, goal = everybody[number]
            self._goals, self._dragged, self._recorded = [(0.0, goal)], {}, number
            self._kept_points = 0
            self._keep_obstacles()
            return {"type": "recording", "on": True, "character": number}
        if self._recorded is None:
            raise RequestError("nothing is being recorded")
        self._recorded = None
        yaw, x, z = self._start
        duration_s = min(max(round(self.number / self.rate_hz, 4), 0.2), LONGEST_S)
        goals = as_goals([(at, goal) for at, goal in self._goals if at <= LONGEST_S], duration_s + 1)
        start = {"place": [float(x), float(z)], "facing_deg": math.degrees(float(yaw))}
        request: dict[str, Any] = {
            "goals": goals or [{"place": start["place"], "heading_deg": start["facing_deg"]}],
            "duration_s": duration_s,
            "start": start,
            "finish": {"rate_hz": self.rate_hz},
        }
        obstacles = [Obstacle.of_track(np.array(rows)) for rows in self._dragged.values() if np.array(rows)[:, 3].any()]
        if obstacles:
            request["scene"] = {"obstacles": [one.as_document() for one in obstacles]}
        return {"type": "recording", "on": False, "request": request}


def read_message(text: str | None) -> Any:
    """What a client's text says, as plain values.

    Raises:
        RequestError: If it is no JSON, or longer than any message.
    """
    if text is None or len(text) > MAX_MESSAGE:
        raise RequestError(f"only text of up to {MAX_MESSAGE} characters is understood")
    try:
        return json.loads(text, parse_constant=_no_number)
    except (ValueError, RecursionError) as error:
        raise RequestError(f"the message is no JSON: {str(error)[:200]}") from None


def _no_number(word: str) -> float:
    raise ValueError(f"{word} is no number")


def _number(message: Mapping[str, Any], name: str) -> float | None:
    value = message.get(name)
    if value is None:
        return None
    # Compared before it becomes a float: JSON has whole numbers of any length, and NaN compares as false.
    if isinstance(value, bool) or not isinstance(value, int | float) or not -_FARTHEST_M <= value <= _FARTHEST_M:
        raise RequestError(f"{name} is {str(value)[:40]!r}; it must be a number", where=name)
    return float(value)


def _whole(message: Mapping[str, Any], name: str) -> int:
    value = message.get(name, 0)
    if isinstance(value, bool) or not isinstance(value, int):
        raise RequestError(f"{name} is {str(value)[:40]!r}; it must be a whole number", where=name)
    return value


def _points(listed: Any) -> Path | None:
    if listed is None:
        return None
    if not isinstance(listed, list) or not 2 <= len(listed) <= MAX_POINTS:
        raise RequestError(f"points are a list of 2 to {MAX_POINTS} places [x, z]", where="points")
    try:
        points = np.array(listed, float)
    except (TypeError, ValueError, OverflowError):
        points = np.zeros(0)
    if points.ndim != 2 or points.shape[1] != 2 or not (np.abs(points) <= _FARTHEST_M).all():
        raise RequestError("points are places [x, z], in metres", where="points")
    return Path(points)
