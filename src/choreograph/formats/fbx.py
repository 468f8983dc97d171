"""Reading FBX: the joints of figures and the file's takes, sampled into clips."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import numpy as np

from choreograph.base import quat
from choreograph.base.arrays import Floats
from choreograph.base.errors import FormatError
from choreograph.formats import world
from choreograph.formats._fbx_curves import FbxCurve
from choreograph.formats._fbx_scene import FbxScene, FbxTake, Node, is_joint, local_matrices, read_scene
from choreograph.formats._fbx_tree import read_tree
from choreograph.formats.assemble import FileMotion, assemble, read_bytes
from choreograph.formats.figures import find_take, from_rest, name_takes, note_takes, read_each
from choreograph.motion.clip import Clip, Note
from choreograph.motion.skeleton import Skeleton

_SLOWEST = 10.0
"""Keys fewer than these a second are poses set by hand; they are sampled at the rate that the file states."""
_ROOM = 200_000
"""Joint poses (frames x joints) granted to any file beyond one for each of its bytes."""
_TAKES = 10
"""Times that room for all takes together."""
_EVEN = 1e-3
"""Share by which a joint's axes may differ in length and still count as scaled evenly."""


def read_fbx(
    path: str | Path,
    *,
    figure: int = 0,
    take: int | str = 0,
    fps: float | None = None,
    unit: world.FileUnit | None = None,
    up_axis: str | None = None,
) -> Clip:
    """The motion of a figure in an FBX file, binary or text, from version 7 on.

    The rest pose is the one in which the skin was bound, where the file has it, else the joints' own. Curves are
    sampled at the rate of their keys; between keys their tangents count.

    Args:
        path: The file.
        figure: Which of the file's skeletons, the one with the most joints first.
        take: Which of its animations, by number or name.
        fps: Frames per second, instead of the keys' own.
        unit: Unit of length, instead of the one that the file states.
        up_axis: "y", "z" …, instead of the one that the file states.

    Raises:
        FormatError: The file is damaged, or holds something a Clip cannot.
    """
    clips = read_fbx_clips(path, figure=figure, take=take, fps=fps, unit=unit, up_axis=up_axis)
    return clips[0]


def read_fbx_clips(
    path: str | Path,
    *,
    figure: int | None = None,
    take: int | str | None = None,
    fps: float | None = None,
    unit: world.FileUnit | None = None,
    up_axis: str | None = None,
) -> list[Clip]:
    """Every figure of an FBX file in every take, or those that are named; raises what `read_fbx` does."""
    data = read_bytes(path)
    with _blaming(path):
        scene = read_scene(read_tree(data)[1])
        figures, names = figures_of(scene), [take.name for take in scene.takes]
        if not figures:
            raise FormatError("holds no skeleton")
        if figure is not None and not 0 <= figure < len(figures):
            raise FormatError(f"has {len(figures)} skeletons, so there is no number {figure} (they count from 0)")
        chosen = find_take(names, 0 if take is None else take)

    def read(which: int, number: int) -> Clip:
        with _blaming(path):
            motion, notes = _read(scene, figures[which], scene.takes[number], len(data), fps)
            if len(names) > 1 and take is not None:
                notes.insert(0, note_takes(names, names[number]))
            if len(figures) > 1:
                notes.insert(0, Note("several-figures", f"holds {len(figures)} figures; this is number {which}"))
            own = unit
            if own is None:
                own, odd = unit_of(scene, motion.skeleton)
                notes += odd
            # How the file stands is known; assemble turns it y up.
            clip = assemble(path, data, "fbx", motion, unit=own, up_axis=up_axis or scene.up_axis(), notes=notes)
            assert clip.source is not None
            source = replace(clip.source, take=names[number] if len(names) > 1 else "")
            return replace(clip, name=name_takes(clip.name, names)[number], source=source)

    everyone = range(len(figures)) if figure is None else [figure]
    with _blaming(path):
        takes = range(len(names)) if take is None else [chosen]
        return read_each(everyone, takes, read, len(data) + _TAKES * _ROOM)


@contextmanager
def _blaming(path: str | Path) -> Iterator[None]:
    """Name the file in whatever is wrong with it."""
    try:
        yield
    except FormatError as error:
        raise error.at(path) from None
    except (ValueError, OverflowError, KeyError, IndexError, TypeError, AttributeError) as error:
        raise FormatError(f"does not hold a motion: {error}", path=path) from error


def list_fbx_takes(path: str | Path) -> list[str]:
    """The names of a file's animations."""
    return [take.name for take in _scene(path).takes]


def _scene(path: str | Path) -> FbxScene:
    try:
        return read_scene(read_tree(read_bytes(path))[1])
    except FormatError as error:
        raise error.at(path) from None


def figures_of(scene: FbxScene) -> list[list[Node]]:
    """The joints of each skeleton, parents before children, the largest skeleton first.

    What stands between joints counts as one; a file without bones has its moving empties instead.
    """
    bones = {node.id for node in scene.nodes if is_joint(node)}
    if not bones:
        moved = {key for take in scene.takes for key in take.curves}
        bones = {node.id for node in scene.nodes if node.kind == "Null" and (node.id in moved or node.children)}
    wanted: dict[int, Node] = {}
    tops: dict[int, Node] = {}
    for node in scene.nodes:
        if node.id not in bones:
            continue
        way, at, top = [node], node.parent, node
        while at is not None:
            way.append(at)
            if at.id in bones:
                top = at
                wanted.update((one.id, one) for one in way)
                way = []
            at = at.parent
        wanted[node.id] = node
        tops[top.id] = top
    moving = {key for take in scene.takes for key in take.curves}
    figures = []
    for top in tops.values():
        above = top.parent
        while above is not None:  # what moves the whole figure belongs to it
            if above.id in moving:
                at = top
                while at.parent is not None and at is not above:
                    at = at.parent
                    wanted[at.id] = at
                top = above
            above = above.parent
        order, level = [], [top]
        while level:
            order += level
            level = [child for node in level for child in node.children if child.id in wanted]
        figures.append(order)
    unique = {order[0].id: order for order in figures}
    return sorted(unique.values(), key=len, reverse=True)


def _read(
    scene: FbxScene, joints: list[Node], take: FbxTake, size: int, fps: float | None
) -> tuple[FileMotion, list[Note]]:
    notes: list[Note] = []
    start, rate, frames = _timing(scene, take, joints, fps)
    if frames * len(joints) > size + _ROOM:
        raise FormatError(
            f"its keys stand for {frames} frames of {len(joints)} joints: more than so small a file holds"
        )
    times = start + np.arange(frames) / rate
    moving = _world_matrices(joints, take, times)
    rest = rest_matrices(scene, joints)
    parents = joint_parents(joints)
    place, turn, uneven = split_matrices(moving)
    rest_place, rest_turn, _ = split_matrices(rest[None])
    if uneven:
        notes.append(Note("uneven-scale", "joints are scaled unevenly, which a motion cannot hold: places are kept"))
    local_pos, local_rot = _local(place, turn, parents)
    at_rest, turned = _local(rest_place, rest_turn, parents)
    skeleton, rot, pos = from_rest(joint_names(joints), parents, at_rest[0], turned[0], local_pos, local_rot)
    # World places are single precision in most files: bones that wander by less than a tenth of a millimetre are still.
    inner = None if pos is None else pos[:, 1:] - pos[:, 1:].mean(axis=0)
    if pos is not None and inner is not None and np.abs(inner).max(initial=0.0) * scene.metres() < 1e-4:
        skeleton = Skeleton(skeleton.names, skeleton.parents, pos.mean(axis=0), roles=skeleton.roles)
        pos = None
    motion = FileMotion(skeleton, rate, local_pos[:, 0], quat.make_continuous(rot), pos)
    return motion, notes


def _timing(scene: FbxScene, take: FbxTake, joints: list[Node], fps: float | None) -> tuple[float, float, int]:
    """First second, frames per second and number of frames, by the keys of the joints' curves."""
    own = [
        curve
        for node in joints
        for three in take.curves.get(node.id, {}).values()
        for curve in three
        if isinstance(curve, FbxCurve)
    ]
    if not own:
        raise FormatError(f"its take {take.name!r} moves none of the joints")
    start, stop = min(c.times[0] for c in own), max(c.times[-1] for c in own)
    longest = max(own, key=lambda c: len(c.times)).times
    rate = scene.rate()
    if len(longest) > 1:
        keyed = 1 / float(np.median(np.diff(longest)))
        keyed = float(round(keyed)) if abs(keyed - round(keyed)) < 2e-3 * keyed else keyed
        rate = keyed if _SLOWEST <= keyed <= 1000 else rate
    rate = fps or rate
    return float(start), rate, int(min((stop - start) * rate + 1.0 + 1e-3, 1e12))


def joint_parents(joints: list[Node]) -> list[int]:
    """The place of each joint's parent in the list; -1 for the first."""
    at = {node.id: k for k, node in enumerate(joints)}
    return [-1, *(at[node.parent.id] for node in joints[1:] if node.parent is not None)]


def joint_names(joints: list[Node]) -> list[str]:
    """A different name for every joint."""
    names: list[str] = []
    used: set[str] = set()
    for k, node in enumerate(joints):
        name = node.name or f"joint_{k}"
        while name in used:
            name += f"_{k}"
        used.add(name)
        names.append(name)
    return names


def _world_matrices(joints: list[Node], take: FbxTake | None, times: Floats) -> Floats:
    """Transforms of joints in the world, (F, J, 4, 4)."""
    out = np.empty((len(times), len(joints), 4, 4))
    at = {node.id: k for k, node in enumerate(joints)}
    above = np.broadcast_to(np.eye(4), (len(times), 4, 4))
    way, node = [], joints[0].parent
    while node is not None:
        way.append(node)
        node = node.parent
    for one in reversed(way):
        above = above @ local_matrices(one, take, times)
    for k, one in enumerate(joints):
        parent = above if k == 0 or one.parent is None else out[:, at[one.parent.id]]
        out[:, k] = parent @ local_matrices(one, take, times)
    return out


def rest_matrices(scene: FbxScene, joints: list[Node]) -> Floats:
    """Transforms of joints in the rest pose, (J, 4, 4): as they were bound; below those, as they stand."""
    still = _world_matrices(joints, None, np.zeros(1))[0]
    parents = joint_parents(joints)
    known = [node.id in scene.bind for node in joints]
    if not any(known):
        return still
    rest = still.copy()
    for k, node in enumerate(joints):
        if known[k]:
            rest[k] = scene.bind[node.id]
        elif k and abs(np.linalg.det(still[parents[k]][:3, :3])) > 1e-12:
            rest[k] = rest[parents[k]] @ np.linalg.inv(still[parents[k]]) @ still[k]
    return rest


def split_matrices(matrices: Floats) -> tuple[Floats, Floats, bool]:
    """Places (F, J, 3) and rotations (F, J, 4) of transforms, and whether some are scaled unevenly."""
    linear = matrices[..., :3, :3]
    lengths = np.linalg.norm(linear, axis=-2)
    if not np.isfinite(matrices).all() or lengths.min() < 1e-9:
        raise FormatError("a joint is flattened to nothing, or has no place")
    if (np.linalg.det(linear) < 0).any():
        raise FormatError("a joint is mirrored (negative scale), which a motion cannot hold; apply the scale first")
    uneven = bool((np.ptp(lengths, axis=-1) > _EVEN * lengths.max(axis=-1)).any())
    turned = linear / lengths[..., None, :]
    if uneven:  # the nearest rotation
        u, _, vt = np.linalg.svd(turned)
        turned = u @ vt
    return matrices[..., :3, 3], quat.normalise(quat.from_matrix(turned)), uneven


def _local(place: Floats, turn: Floats, parents: list[int]) -> tuple[Floats, Floats]:
    """Places and rotations in the parents' frames."""
    pos, rot = place.copy(), turn.copy()
    for j, parent in enumerate(parents):
        if parent >= 0:
            back = quat.inverse(turn[:, parent])
            pos[:, j] = quat.rotate(back, place[:, j] - place[:, parent])
            rot[:, j] = quat.multiply(back, turn[:, j])
    return pos, rot


def unit_of(scene: FbxScene, skeleton: Skeleton) -> tuple[world.FileUnit, list[Note]]:
    """The unit of length: as stated, unless only another one makes the body a person."""
    metres = scene.metres()
    if world.makes_person(skeleton, metres):
        return world.FileUnit(metres, "stated by the file"), []
    judged = world.judge_unit(skeleton)
    if not judged.sure:
        return world.FileUnit(metres, "stated by the file"), []
    note = Note("unit-differs", f"states a unit of {metres:g} m; {judged.reason}")
    return judged, [note]
