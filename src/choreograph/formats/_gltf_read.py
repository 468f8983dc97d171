"""Reading GLB: the joints of one skin, and their animation sampled into a Clip."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Set
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from choreograph.base import quat
from choreograph.base.arrays import Floats, Indices
from choreograph.base.errors import FormatError
from choreograph.formats._glb import Glb, chunks, index, node_transform, take_names
from choreograph.formats._gltf_bodies import find_bodies, parents_of_nodes
from choreograph.formats.assemble import read_bytes
from choreograph.formats.figures import KEY, find_take, from_rest, name_takes, note_takes, read_each, restore_clip
from choreograph.formats.world import turn_to_front
from choreograph.motion.clip import Clip, Note, Source

_SLOWEST = 10.0
"""Frames per second below which a file's keys are hand-set poses rather than frames; they are sampled at `_USUAL`."""
_USUAL = 30.0  # frames per second
_ROOM = 100_000
"""Joint poses (frames x joints) granted to any file beyond one for each of its bytes."""
_TAKES = 10
"""Times that room for all takes together."""


MAX_JOINTS = 10_000
"""More than any body has; beyond it a file is not worth the time."""


@dataclass(frozen=True, eq=False)
class _Track:
    """Keys of one joint's place or rotation."""

    times: Floats
    values: Floats
    step: bool


@dataclass(frozen=True, eq=False)
class Rig:
    """The joints of a skin in topological order, with their rest transforms and keys."""

    names: list[str]
    parents: list[int]
    pos: Floats
    """Rest places in the parent's frame, (J, 3)."""
    rot: Floats
    """Rest rotations in the parent's frame, (J, 4)."""
    places: dict[int, _Track]
    turns: dict[int, _Track]
    nodes: list[int]
    """The node of each joint."""
    above: tuple[Floats, Floats, float]
    """Shift, rotation and scale of what the root hangs from."""


def read_glb(path: str | Path, *, figure: int = 0, take: int | str = 0) -> Clip:
    """The motion of a skinned figure in a GLB file.

    Files that Choreograph wrote come back whole: names, offsets, roles, end sites, frame rate, labels, contacts. Others
    are read as far as they hold one tree of joints moved by step or linear keys without scaling: the rest pose is the
    nodes' own, the rate is that of the keys.

    Args:
        path: The file.
        figure: Which of the file's bodies, from 0. A body may have several skins.
        take: Which of its animations, by number or name.

    Raises:
        FormatError: The file is damaged, or holds something a Clip cannot.
        RequestError: There is no such take.
    """
    return read_glb_clips(path, figure=figure, take=take)[0]


def read_glb_clips(path: str | Path, *, figure: int | None = None, take: int | str | None = None) -> list[Clip]:
    """Every figure of a GLB file in every take, or those that are named; raises what `read_glb` does."""
    data = read_bytes(path)
    with blaming(path):
        document = Glb(*chunks(data))
        bodies, names = find_bodies(document), take_names(document)
        if not 0 <= (figure or 0) < len(bodies):
            text = f"has {len(bodies)} skinned figures, so there is no number {figure or 0} (they count from 0)"
            raise FormatError(text if bodies else "has no skinned figure: nothing in it is moved by a skeleton")
        chosen = find_take(names, 0 if take is None else take)
        digest, moved = hashlib.sha256(data).hexdigest(), _moved_nodes(document)
        file = _File(Path(path), document, bodies, names, moved, digest, len(data), take is None)
        figures = range(len(bodies)) if figure is None else [figure]
        takes = range(len(names)) if take is None else [chosen]
        return read_each(figures, takes, file.read, len(data) + _TAKES * _ROOM)


@contextmanager
def blaming(path: str | Path) -> Iterator[None]:
    """Name the file in whatever is wrong with it."""
    try:
        yield
    except FormatError as error:
        raise error.at(path) from None
    except RecursionError:
        raise FormatError("its JSON is nested too deeply", path=path) from None
    except ValueError as error:  # a clip's own checks: the file's numbers do not make a motion
        raise FormatError(f"does not hold a motion: {error}", path=path) from error


@dataclass(frozen=True, eq=False)
class _File:
    """A file that is open, of which figures and takes are read."""

    path: Path
    document: Glb
    bodies: list[dict[str, Any]]
    names: list[str]
    """Of its takes."""
    moved: Set[int]
    """Nodes that any take moves."""
    sha256: str
    size: int
    all_takes: bool

    def read(self, figure: int, number: int) -> Clip:
        """One figure in one take."""
        with blaming(self.path):
            return self._read(figure, number)

    def _read(self, figure: int, number: int) -> Clip:
        document, skin, names = self.document, self.bodies[figure], self.names
        take = document.items("animations")[number]
        about = _about(take) or _about(skin)
        places, turns = _tracks(document, take, len(document.items("nodes")))
        rig = lay_out(document, skin, places, turns, self.moved)
        notes = []
        if len(names) > 1 and not self.all_takes:
            notes.append(note_takes(names, names[number]))
        if len(self.bodies) > 1:
            notes.append(Note("several-figures", f"holds {len(self.bodies)} figures; this is number {figure}"))
        source = Source(
            str(self.path), "glb", self.sha256, unit_reason="stated by the format", up_reason="stated by the format",
            notes=tuple(notes), take=names[number] if len(names) > 1 else "",
        )  # fmt: skip
        start, fps, frames = _timing(rig, about)
        if frames * len(rig.names) > self.size + _ROOM:
            raise FormatError(
                f"its keys stand for {frames} frames of {len(rig.names)} joints: more than so small a file holds"
            )
        times = start + np.arange(frames) / fps
        pos = np.stack([_sample_places(rig, j, times) for j in range(len(rig.names))], axis=1)
        rot = np.stack([_sample_turns(rig, j, times) for j in range(len(rig.names))], axis=1)
        if isinstance(about, dict):
            stretching = any(j in rig.places for j in range(1, len(rig.names)))
            return restore_clip(about, rig.names, rig.parents, fps, pos, rot, stretching=stretching, source=source)
        skeleton, rot, local_pos = from_rest(rig.names, rig.parents, rig.pos, rig.rot, pos, rot)
        # A program's own name for the only body, such as "Armature", is the same in all of its files.
        own = str((len(self.bodies) > 1 and skin.get("name")) or self.path.stem)
        name = name_takes(own, names)[number]
        skeleton, root, rot, local_pos = turn_to_front(skeleton, pos[:, 0], rot, local_pos)
        return Clip(skeleton, fps, root, quat.make_continuous(rot), name=name, local_pos=local_pos, source=source)


def _about(item: dict[str, Any]) -> Any:
    """What Choreograph kept beside a skin or an animation."""
    return item["extras"].get(KEY) if isinstance(item.get("extras"), dict) else None


# ---------------------------------------------------------------------------------------------------------- the joints


def _moved_nodes(document: Glb) -> set[int]:
    """Nodes that any of the takes moves: all takes are of one body."""
    moved = set()
    for take in document.items("animations"):
        channels = take.get("channels")
        for channel in channels if isinstance(channels, list) else ():
            target = channel.get("target") if isinstance(channel, dict) else None
            if isinstance(target, dict) and target.get("path") in ("translation", "rotation"):
                moved.add(target.get("node"))
    return {node for node in moved if isinstance(node, int)}


def lay_out(
    document: Glb,
    skin: dict[str, Any],
    places: dict[int, _Track],
    turns: dict[int, _Track],
    moved: Set[int] = frozenset(),
) -> Rig:
    """The joints of a skin with those of the tracks that move them; `moved` are nodes that others move too."""
    nodes = document.items("nodes")
    parents = parents_of_nodes(nodes)
    listed = skin.get("joints")
    if not isinstance(listed, list) or not listed:
        raise FormatError("its skin has no joints")
    if len(listed) > MAX_JOINTS:
        raise FormatError(f"its skin has {len(listed)} joints; {MAX_JOINTS} are read at most")
    joints = {index(j, len(nodes), "nodes") for j in listed}
    animated = places.keys() | turns.keys() | moved
    root = _root(joints, parents, animated)
    # Nodes between joints, and moving ones above them, are joints too.
    wanted = {root}
    for joint in joints:
        while joint not in wanted:
            wanted.add(joint)
            joint = parents[joint]
    order = _descend(root, wanted, parents)
    at = {node: k for k, node in enumerate(order)}
    transforms = [node_transform(nodes[n]) for n in order]
    pos, rot = np.array([t[0] for t in transforms]), np.array([t[1] for t in transforms])
    if any(abs(t[2] - 1) > 1e-3 for t in transforms):
        raise FormatError("its joints are scaled, which a motion cannot hold; apply the scale before exporting")
    shift, turn, scale = _above(nodes, parents, root)
    place_tracks = {at[n]: _Track(t.times, t.values * scale, t.step) for n, t in places.items() if n in at}
    turn_tracks = {at[n]: t for n, t in turns.items() if n in at}
    pos = pos * scale
    pos[0], rot[0] = shift + quat.rotate(turn, pos[0]), quat.multiply(turn, rot[0])
    if 0 in place_tracks:
        track = place_tracks[0]
        place_tracks[0] = _Track(track.times, shift + quat.rotate(turn, track.values), track.step)
    if 0 in turn_tracks:
        track = turn_tracks[0]
        turn_tracks[0] = _Track(track.times, quat.multiply(turn, track.values), track.step)
    above = [-1, *(at[parents[n]] for n in order[1:])]
    return Rig(_names(nodes, order), above, pos, rot, place_tracks, turn_tracks, order, (shift, turn, scale))


def _root(joints: set[int], parents: list[int], animated: set[int]) -> int:
    """The joint that all others hang from, or the highest moving node above it."""
    under_joint: dict[int, bool] = {}
    tops = []
    for joint in sorted(joints):
        way, above = [], parents[joint]
        while above != -1 and above not in joints and above not in under_joint:
            way.append(above)
            above = parents[above]
        hangs = above != -1 and (above in joints or under_joint[above])
        under_joint.update(dict.fromkeys(way, hangs))
        if not hangs:
            tops.append(joint)
    if len(tops) != 1:
        raise FormatError(f"its skin has {len(tops)} root joints; one tree of joints is read")
    root = above = tops[0]
    while above != -1:
        if above in animated:
            root = above
        above = parents[above]
    return root


def _descend(root: int, wanted: set[int], parents: list[int]) -> list[int]:
    """The wanted nodes from the root down, every parent before its children, in the file's order."""
    children: dict[int, list[int]] = {}
    for node in sorted(wanted):
        children.setdefault(parents[node], []).append(node)
    order, level = [], [root]
    while level:
        order += level
        level = [child for node in level for child in children.get(node, [])]
    # A file written from a topological list keeps its own order.
    given = sorted(wanted)
    place = {n: k for k, n in enumerate(given)}
    if given[0] == root and all(place[parents[n]] < place[n] for n in given[1:]):
        return given
    return order


def _names(nodes: list[dict[str, Any]], order: list[int]) -> list[str]:
    """A different name for every joint."""
    names: list[str] = []
    used: set[str] = set()
    for node in order:
        name = nodes[node].get("name")
        name = name if isinstance(name, str) and name else f"joint_{node}"
        if name in used:
            name = f"{name}_{node}"
        while name in used:
            name += "_"
        used.add(name)
        names.append(name)
    return names


def _above(nodes: list[dict[str, Any]], parents: list[int], root: int) -> tuple[Floats, Floats, float]:
    """What the resting nodes above the root do to it: shift, rotation, even scale."""
    shift, turn, scale = np.zeros(3), np.array(quat.IDENTITY), 1.0
    above = parents[root]
    while above != -1:
        place, rotation, size = node_transform(nodes[above])
        shift, turn, scale = place + quat.rotate(rotation, shift * size), quat.multiply(rotation, turn), scale * size
        above = parents[above]
    return shift, turn, scale


# ------------------------------------------------------------------------------------------------------- the animation


def _tracks(document: Glb, take: dict[str, Any], nodes: int) -> tuple[dict[int, _Track], dict[int, _Track]]:
    """Keys of places and rotations by node, from an animation."""
    places: dict[int, _Track] = {}
    turns: dict[int, _Track] = {}
    samplers, channels = take.get("samplers"), take.get("channels")
    if not isinstance(samplers, list) or not isinstance(channels, list):
        raise FormatError("its animation lacks channels or samplers")
    known_times: dict[Any, Floats] = {}
    for channel in channels:
        target = channel.get("target") if isinstance(channel, dict) else None
        if not isinstance(target, dict):
            raise FormatError("an animation channel has no target")
        if "node" not in target or target.get("path") == "weights":
            continue
        node = index(target["node"], nodes, "nodes")
        sampler = samplers[index(channel.get("sampler"), len(samplers), "samplers")]
        if not isinstance(sampler, dict):
            raise FormatError("an animation sampler is not an object")
        how = sampler.get("interpolation", "LINEAR")
        if how not in ("LINEAR", "STEP"):
            raise FormatError(f"its keys are joined by {str(how)[:20]}; export with every frame sampled (linear keys)")
        path = target.get("path")
        number = sampler.get("input")
        if not isinstance(number, int):
            raise FormatError("an animation sampler has no times")
        if number not in known_times:
            known_times[number] = document.array(number, 1)
            if known_times[number][0] < 0 or (np.diff(known_times[number]) <= 0).any():
                raise FormatError("its key times do not rise")
        times = known_times[number]
        values = document.array(sampler.get("output"), 4 if path == "rotation" else 3)
        if len(values) != len(times):
            raise FormatError(f"has {len(values)} keys for {len(times)} times")
        if path == "rotation":
            turns[node] = _Track(times, quat.normalise(values[:, [3, 0, 1, 2]]), how == "STEP")
        elif path == "translation":
            places[node] = _Track(times, values, how == "STEP")
        elif np.abs(values - values[0]).max() > 1e-3 or np.ptp(values[0]) > 1e-3:
            raise FormatError("its animation scales joints, which a motion cannot hold")
    return places, turns


def _timing(rig: Rig, about: Any) -> tuple[float, float, int]:
    """Time of the first frame, frames per second, number of frames."""
    tracks = [*rig.places.values(), *rig.turns.values()]
    if not tracks:
        raise FormatError("its animation moves none of the skin's joints")
    if isinstance(about, dict):
        fps, frames = about.get("fps"), about.get("frames")
        if not isinstance(fps, int | float) or not 0 < fps < 1e6 or not isinstance(frames, int) or frames < 1:
            raise FormatError(f"its {KEY!r} entry has no sensible frame rate or count")
        if any(len(t.times) != frames for t in tracks):
            raise FormatError(f"its {KEY!r} entry speaks of {frames} frames, its keys of others")
        return 0.0, float(fps), frames
    start, stop = min(float(t.times[0]) for t in tracks), max(float(t.times[-1]) for t in tracks)
    longest = max(tracks, key=lambda t: len(t.times)).times
    fps = _USUAL
    if len(longest) > 1:
        fps = 1 / float(np.median(np.diff(longest)))
        fps = float(round(fps)) if abs(fps - round(fps)) < 2e-3 * fps else fps
        fps = fps if fps >= _SLOWEST else _USUAL
    return start, fps, int(min((stop - start) * fps + 1.5, 1e12))


def _sample_places(rig: Rig, joint: int, times: Floats) -> Floats:
    track = rig.places.get(joint)
    if track is None:
        return np.broadcast_to(rig.pos[joint], (len(times), 3))
    low, share = _between(track, times)
    high = np.minimum(low + 1, len(track.times) - 1)
    return np.asarray(track.values[low] + share[:, None] * (track.values[high] - track.values[low]))


def _sample_turns(rig: Rig, joint: int, times: Floats) -> Floats:
    track = rig.turns.get(joint)
    if track is None:
        return np.broadcast_to(rig.rot[joint], (len(times), 4))
    low, share = _between(track, times)
    if not share.any():
        return np.asarray(track.values[low])
    high = np.minimum(low + 1, len(track.times) - 1)
    return quat.slerp(track.values[low], track.values[high], share)


def _between(track: _Track, times: Floats) -> tuple[Indices, Floats]:
    """The key before each time, and how far on towards the next one it is."""
    keys = track.times
    # Key times are stored in single precision: a frame a hair off its key is meant to be on it.
    slack = 1e-5 + 2e-7 * float(keys[-1])
    low = np.clip(np.searchsorted(keys, times + slack, side="right") - 1, 0, len(keys) - 1)
    gap = times - keys[low]
    if track.step or len(keys) == 1:
        return low, np.zeros(len(times))
    spans = np.append(np.diff(keys), np.inf)[low]
    return low, np.where(np.abs(gap) <= slack, 0.0, np.clip(gap / spans, 0.0, 1.0))
