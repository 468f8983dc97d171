"""From clips to what pictures show: posed mannequins, paths and footprints on the floor."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path

import numpy as np

from choreograph.base import quat
from choreograph.base.arrays import Floats, Floats32, Indices
from choreograph.figure.mannequin import SkinnedMesh, build_mannequin, has_natural_rest, skin
from choreograph.formats.character import read_character
from choreograph.formats.surface import CharacterSurface, read_surface
from choreograph.motion.clip import Clip
from choreograph.motion.contacts import runs, with_detected_contacts
from choreograph.motion.skeleton import Skeleton
from choreograph.pictures.camera import body_points
from choreograph.pictures.raster import Figure, Stroke
from choreograph.pictures.theme import CLIP_COLOURS, TEAL, from_hex


@dataclass(frozen=True, eq=False)
class Actor:
    """A clip with its mannequin, ready to be posed."""

    clip: Clip
    mesh: SkinnedMesh
    colours: Floats32
    surface: CharacterSurface | None = None
    """A character's own surface, instead of the mannequin's."""

    def points(self) -> Floats:
        """Points that hold the figure in every frame, (F, P, 3)."""
        if self.surface is None:
            return body_points(self.clip)
        skeleton = self.clip.skeleton
        rest = skeleton.rest_positions()
        ends = rest[skeleton.tip_parents] + skeleton.tip_offsets
        joints = np.concatenate([rest, ends])
        vertices, _ = self.surface.pose(rest, np.tile(quat.IDENTITY, (len(rest), 1)))
        beyond = np.stack([joints.min(axis=0) - vertices.min(axis=0), vertices.max(axis=0) - joints.max(axis=0)])
        beyond[:, [0, 2]] = beyond[:, [0, 2]].max()  # it may turn
        return body_points(self.clip, np.maximum(beyond, 0.02 * max(skeleton.height, 0.2)))

    def pose(self, frame: int, shift: tuple[float, float] = (0.0, 0.0)) -> Figure:
        """The figure of one frame, moved on the floor by (x, z) metres; beyond the end, the last one."""
        frame = min(frame, len(self.clip) - 1)
        positions, rotations = self.clip.global_positions()[frame], self.clip.global_rotations()[frame]
        if self.surface is not None:
            vertices, normals = self.surface.pose(positions, rotations)
        else:
            vertices, normals = skin(self.mesh, positions, rotations)
        vertices = vertices + np.array([shift[0], 0.0, shift[1]], np.float32)
        return Figure(vertices, normals, self.mesh.triangles, self.colours)


def cast(clips: Sequence[Clip], bodies: Sequence[str | None] = ()) -> list[Actor]:
    """An actor for each clip: plain clay for one alone, tinted by clip where there are several.

    Clips on the body of a character whose file is given have its surface and colours, where its meshes can be read.
    """
    actors = []
    for number, clip in enumerate(clips):
        surface = surface_of(bodies[number], clip) if number < len(bodies) else None
        if surface is not None:
            actors.append(Actor(clip, surface.mesh, surface.mesh.colours, surface))
            continue
        standing = stand(clip)
        mesh = mannequin_of(clip)
        colours = mesh.colours
        if len(clips) > 1:
            tint = from_hex(CLIP_COLOURS[number % len(CLIP_COLOURS)])
            grey = colours.mean(axis=1, keepdims=True)
            colours = (0.35 * colours + 0.65 * grey * tint / tint.mean() * 0.85).astype(np.float32)
        actors.append(Actor(standing, mesh, colours))
    return actors


def surface_of(body: str | None, clip: Clip) -> CharacterSurface | None:
    """The surface of the character in a file, kept; None where it has none that can be read, or other joints."""
    if body is None:
        return None
    surface = _read_once(body, Path(body).stat().st_mtime_ns)
    return surface[1] if surface[1] is not None and surface[0].same_joints(clip.skeleton) else None


@lru_cache(maxsize=4)
def _read_once(body: str, when: int) -> tuple[Skeleton, CharacterSurface | None]:
    character = read_character(body)
    return character.skeleton, read_surface(character)


def mannequin_of(body: Skeleton | Clip) -> SkinnedMesh:
    """The mannequin of a skeleton, kept: files of one subject bring equal skeletons, and building takes a while.

    Where the rest pose is no pose of a body, a clip's mannequin is made from its motion instead, as `build_mannequin`
    does.
    """
    skeleton = body if isinstance(body, Skeleton) else body.skeleton
    if isinstance(body, Clip) and not has_natural_rest(skeleton):
        return build_mannequin(body)
    arrays = (skeleton.parents, skeleton.offsets, skeleton.tip_parents, skeleton.tip_offsets)
    return _build_once(skeleton.names, skeleton.roles, *(array.tobytes() for array in arrays))


@lru_cache(maxsize=16)
def _build_once(
    names: tuple[str, ...], roles: tuple[str, ...], parents: bytes, offsets: bytes, tips: bytes, tip_offsets: bytes
) -> SkinnedMesh:
    skeleton = Skeleton(
        names,
        np.frombuffer(parents, np.int32),
        np.frombuffer(offsets).reshape(-1, 3),
        np.frombuffer(tips, np.int32),
        np.frombuffer(tip_offsets).reshape(-1, 3),
        roles,
    )
    return build_mannequin(skeleton)


def stand(clip: Clip) -> Clip:
    """The clip with its feet on the floor: raised or lowered where its lowest points are a shin's length off."""
    lowest = np.concatenate([clip.global_positions(), clip.tip_positions()], axis=1)[..., 1].min(axis=1)
    off = float(np.percentile(lowest, 5))
    return clip.raised(-off) if abs(off) > 0.2 * max(clip.skeleton.height, 0.1) else clip


@dataclass(frozen=True, eq=False)
class Footprint:
    """A foot that stands on the floor for frames [start, stop)."""

    left: bool
    start: int
    stop: int
    heel: Floats
    """(x, z), metres."""
    toe: Floats
    """(x, z), metres."""

    def moved(self, shift: Floats) -> Footprint:
        """The same print elsewhere: moved by (x, z), metres."""
        return replace(self, heel=self.heel + shift, toe=self.toe + shift)

    def stroke(self, colour: str = TEAL, opacity: float = 0.8) -> Stroke:
        """Its mark on the floor: filled for the left foot, an outline for the right."""
        size = max(float(np.linalg.norm(self.toe - self.heel)), 0.05)
        return Stroke(np.array([self.heel, self.toe]), colour, 0.2 * size, opacity, 0.0 if self.left else 0.04 * size)


def find_footprints(clip: Clip, *, shortest_s: float = 0.1) -> list[Footprint]:
    """Where and when feet stand on the floor, in the order of their beginnings; none for a clip without feet.

    Plants of one foot in one place with a short gap between them make one print.
    """
    feet, contacts = clip.skeleton.feet, with_plants(clip).contacts
    if contacts is None:
        return []
    prints: list[Footprint] = []
    for side in ("left", "right"):
        columns = [k for k, joint in enumerate(feet) if clip.skeleton.roles[joint].startswith(side)]
        if not columns:
            continue
        down = np.asarray(contacts[:, columns].any(axis=1))
        heel, toe = _sole(clip, side)
        own: list[Footprint] = []
        for start, stop in runs(down):
            if stop - start < shortest_s * clip.fps:
                continue
            middle = slice(start + (stop - start) // 4, stop - (stop - start) // 4)
            back, front = np.median(heel[middle], axis=0), np.median(toe[middle], axis=0)
            near = own and np.linalg.norm(own[-1].toe - front) < 0.06 and start - own[-1].stop < 0.3 * clip.fps
            if near:
                own[-1] = replace(own[-1], stop=stop)
            else:
                own.append(Footprint(side == "left", start, stop, back, front))
        prints += own
    return sorted(prints, key=lambda footprint: footprint.start)


def with_plants(clip: Clip) -> Clip:
    """The clip with its foot plants, found where it has none; a clip without known feet as it is."""
    return with_detected_contacts(clip) if clip.skeleton.feet else clip


def _sole(clip: Clip, side: str) -> tuple[Floats, Floats]:
    """Heel and toe end of a foot's sole on the floor in each frame, both (F, 2)."""
    skeleton, points = clip.skeleton, clip.global_positions()
    ankle, ball = skeleton.find(f"{side}_foot"), skeleton.find(f"{side}_toe")
    if ankle is None or ball is None:
        only = points[:, ankle if ankle is not None else ball or 0][:, [0, 2]]
        ahead = np.stack([np.sin(clip.facing()), np.cos(clip.facing())], axis=1) * 0.06 * skeleton.height
        return only - 0.5 * ahead, only + ahead
    back, front = points[:, ankle][:, [0, 2]], points[:, ball][:, [0, 2]]
    along = front - back
    # The ankle sits about a third of the foot ahead of the heel, the ball about a quarter behind the toes.
    return back - 0.15 * along, front + 0.20 * along


def thin_path(points: Floats, tolerance: float = 0.004) -> tuple[Floats, Indices]:
    """The points of a polyline (N, 2) that keep it within `tolerance` metres (Douglas and Peucker 1973), and which."""
    keep = np.zeros(len(points), bool)
    keep[[0, -1]] = True
    spans = [(0, len(points) - 1)]
    while spans:
        a, b = spans.pop()
        if b - a < 2:
            continue
        chord, rest = points[b] - points[a], points[a + 1 : b] - points[a]
        along = np.clip(rest @ chord / max(float(chord @ chord), 1e-12), 0, 1)
        far = np.linalg.norm(rest - along[:, None] * chord, axis=1)
        worst = a + 1 + int(far.argmax())
        # Some points are kept on straights too, where opacity changes along the line.
        if far[worst - a - 1] > tolerance or b - a > 16:
            worst = worst if far[worst - a - 1] > tolerance else (a + b) // 2
            keep[worst] = True
            spans += [(a, worst), (worst, b)]
    return points[keep], np.flatnonzero(keep)
