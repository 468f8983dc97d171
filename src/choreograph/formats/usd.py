"""USD: the mannequin with its motion as UsdSkel, for Omniverse, Houdini, Unreal, Blender and film pipelines.

Stages are in metres, y up. Each clip is a SkelRoot with a skeleton, an animation and a skinned mesh. Joint names that
USD cannot use as identifiers are changed in the joints' paths and kept as they were in `jointNames`.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from choreograph._version import __version__
from choreograph.errors import FormatError, MissingExtra
from choreograph.figure.mannequin import SkinnedMesh, build_mannequin
from choreograph.formats.assemble import read_bytes
from choreograph.formats.atomic import atomic_write, check_writable
from choreograph.formats.figures import KEY, as_figures, describe, from_rest, moving_joints, restore_clip
from choreograph.maths import quat
from choreograph.motion.clip import Clip, Note, Source
from choreograph.motion.skeleton import Skeleton

Array = NDArray[np.float64]


def write_usd(path: str | Path, clips: Clip | Sequence[Clip], *, overwrite: bool = False) -> None:
    """Write one clip, or several figures that move together, as a USD stage.

    Labels, contacts, roles, end sites and where the motion came from are kept as JSON in each SkelRoot's custom data.

    Args:
        path: A .usda (text), .usdc or .usd (binary) file.
        clips: One clip, or several; time codes are the first one's frames.
        overwrite: Replace a file that exists.

    Raises:
        MissingExtra: USD is not installed.
    """
    figures = as_figures(clips)
    pxr = _pxr("USD export")
    if Path(path).suffix.lower() not in (".usda", ".usdc", ".usd"):
        raise FormatError("is no USD file name; use .usda, .usdc or .usd", path=path)
    check_writable(path, overwrite=overwrite)
    stage = pxr.Usd.Stage.CreateInMemory()
    fps = figures[0].fps
    pxr.UsdGeom.SetStageUpAxis(stage, pxr.UsdGeom.Tokens.y)
    pxr.UsdGeom.SetStageMetersPerUnit(stage, 1.0)
    stage.SetTimeCodesPerSecond(fps)
    stage.SetFramesPerSecond(fps)
    stage.SetStartTimeCode(0)
    stage.SetEndTimeCode(max((len(clip) - 1) * fps / clip.fps for clip in figures))
    layer = stage.GetRootLayer()
    layer.customLayerData = {"creator": f"Choreograph {__version__}"}
    top = pxr.UsdGeom.Xform.Define(stage, "/Motion")
    pxr.Usd.ModelAPI(top).SetKind("group")
    stage.SetDefaultPrim(top.GetPrim())
    names = _identifiers(pxr, [clip.name for clip in figures])
    for clip, name in zip(figures, names, strict=True):
        _add_figure(pxr, stage, f"/Motion/{name}", clip, fps)
    with atomic_write(path, overwrite=overwrite) as temporary:
        if not layer.Export(str(temporary)):
            raise FormatError("could not be written by USD", path=path)


class _Modules:
    """The parts of pxr that are used, imported once."""

    def __init__(self) -> None:
        from pxr import Gf, Sdf, Tf, Usd, UsdGeom, UsdShade, UsdSkel, Vt

        self.Gf, self.Sdf, self.Tf, self.Usd = Gf, Sdf, Tf, Usd
        self.UsdGeom, self.UsdShade, self.UsdSkel, self.Vt = UsdGeom, UsdShade, UsdSkel, Vt


def _pxr(what: str) -> Any:
    try:
        return _Modules()
    except ImportError as error:
        raise MissingExtra(what, "usd") from error


def _identifiers(pxr: Any, names: Sequence[str]) -> list[str]:
    """Names as USD identifiers, all different."""
    made: list[str] = []
    for name in names:
        plain = pxr.Tf.MakeValidIdentifier(name) if name.isascii() else _ascii_identifier(pxr, name)
        unique, count = plain, 2
        while unique in made:
            unique, count = f"{plain}_{count}", count + 1
        made.append(unique)
    return made


def _ascii_identifier(pxr: Any, name: str) -> str:
    # Not every program that reads USD takes letters beyond ASCII.
    return str(pxr.Tf.MakeValidIdentifier("".join(c if c.isascii() else "_" for c in name)))


# ------------------------------------------------------------------------------------------------------------ writing


def _add_figure(pxr: Any, stage: Any, path: str, clip: Clip, stage_fps: float) -> None:
    mesh = build_mannequin(clip)
    lift = np.array([0.0, -float(mesh.vertices[:, 1].min()), 0.0])
    root = pxr.UsdSkel.Root.Define(stage, path)
    pxr.Usd.ModelAPI(root).SetKind("component")
    root.GetPrim().SetCustomDataByKey(KEY, json.dumps(describe(clip)))
    skeleton = pxr.UsdSkel.Skeleton.Define(stage, f"{path}/Skeleton")
    animation = pxr.UsdSkel.Animation.Define(stage, f"{path}/Animation")
    joints = pxr.Vt.TokenArray(_joint_paths(pxr, clip.skeleton))
    skeleton.CreateJointsAttr(joints)
    skeleton.CreateJointNamesAttr(pxr.Vt.TokenArray(list(clip.skeleton.names)))
    skeleton.CreateBindTransformsAttr(_matrices(pxr, mesh.bind_pos + lift, mesh.bind_rot))
    skeleton.CreateRestTransformsAttr(_matrices(pxr, *_local(clip.skeleton, mesh.bind_pos + lift, mesh.bind_rot)))
    binding = pxr.UsdSkel.BindingAPI.Apply(skeleton.GetPrim())
    binding.CreateAnimationSourceRel().SetTargets([animation.GetPath()])
    _animate(pxr, animation, joints, clip, stage_fps)
    _add_mesh(pxr, stage, path, mesh, lift, skeleton)
    extent = root.CreateExtentAttr()
    low, high = _bounds(mesh, clip)
    for frame in range(len(clip)):
        box = pxr.Vt.Vec3fArray.FromNumpy(np.stack([low[frame], high[frame]]).astype(np.float32))
        extent.Set(box, frame * stage_fps / clip.fps)


def _joint_paths(pxr: Any, skeleton: Skeleton) -> list[str]:
    """Each joint's path from the root, of identifiers: what UsdSkel calls a joint."""
    own = _identifiers(pxr, skeleton.names)
    paths: list[str] = []
    for name, parent in zip(own, skeleton.parents, strict=True):
        paths.append(name if parent < 0 else f"{paths[parent]}/{name}")
    return paths


def _local(skeleton: Skeleton, pos: Array, rot: Array) -> tuple[Array, Array]:
    """Places and rotations in the parent's frame, from global ones."""
    inner, above = np.arange(1, len(skeleton)), skeleton.parents[1:]
    local_pos, local_rot = np.array(pos), np.array(rot)
    back = quat.inverse(rot[above])
    local_pos[inner] = quat.rotate(back, pos[inner] - pos[above])
    local_rot[inner] = quat.multiply(back, rot[inner])
    return local_pos, local_rot


def _matrices(pxr: Any, pos: Array, rot: Array) -> Any:
    """Transforms as USD writes them: row vectors, the place in the last row."""
    matrices = np.tile(np.eye(4), (len(pos), 1, 1))
    matrices[:, :3, :3] = np.swapaxes(quat.as_matrix(rot), -1, -2)
    matrices[:, 3, :3] = pos
    return pxr.Vt.Matrix4dArray.FromNumpy(matrices)


def _animate(pxr: Any, animation: Any, joints: Any, clip: Clip, stage_fps: float) -> None:
    animation.CreateJointsAttr(joints)
    count = len(clip.skeleton)
    animation.CreateScalesAttr(pxr.Vt.Vec3hArray(count, pxr.Gf.Vec3h(1.0)))
    places = np.tile(clip.skeleton.offsets.astype(np.float32), (len(clip), 1, 1))
    places[:, 0] = clip.root_pos
    moving = moving_joints(clip)
    if moving and clip.local_pos is not None:
        places[:, moving] = clip.local_pos[:, moving]
    # Quatf keeps its imaginary part first in memory, whatever it prints.
    turns = quat.normalise(clip.local_rot)[..., [1, 2, 3, 0]].astype(np.float32)
    translations, rotations = animation.CreateTranslationsAttr(), animation.CreateRotationsAttr()
    for frame in range(len(clip)):
        code = frame * stage_fps / clip.fps
        translations.Set(pxr.Vt.Vec3fArray.FromNumpy(np.ascontiguousarray(places[frame])), code)
        rotations.Set(pxr.Vt.QuatfArray.FromNumpy(np.ascontiguousarray(turns[frame])), code)


def _add_mesh(pxr: Any, stage: Any, path: str, mesh: SkinnedMesh, lift: Array, skeleton: Any) -> None:
    surface = pxr.UsdGeom.Mesh.Define(stage, f"{path}/Mannequin")
    points = pxr.Vt.Vec3fArray.FromNumpy(mesh.vertices + lift.astype(np.float32))
    surface.CreatePointsAttr(points)
    surface.CreateExtentAttr(pxr.UsdGeom.PointBased.ComputeExtent(points))
    surface.CreateFaceVertexCountsAttr(pxr.Vt.IntArray(len(mesh.triangles), 3))
    surface.CreateFaceVertexIndicesAttr(pxr.Vt.IntArray.FromNumpy(mesh.triangles.ravel()))
    surface.CreateNormalsAttr(pxr.Vt.Vec3fArray.FromNumpy(mesh.normals))
    surface.SetNormalsInterpolation(pxr.UsdGeom.Tokens.vertex)
    surface.CreateSubdivisionSchemeAttr(pxr.UsdGeom.Tokens.none)
    colours = surface.CreateDisplayColorPrimvar(pxr.UsdGeom.Tokens.vertex)
    colours.Set(pxr.Vt.Vec3fArray.FromNumpy(mesh.colours))
    binding = pxr.UsdSkel.BindingAPI.Apply(surface.GetPrim())
    binding.CreateSkeletonRel().SetTargets([skeleton.GetPath()])
    indices = pxr.Vt.IntArray.FromNumpy(np.ascontiguousarray(mesh.joint_indices, np.int32).ravel())
    weights = pxr.Vt.FloatArray.FromNumpy(mesh.joint_weights.ravel())
    binding.CreateJointIndicesPrimvar(False, 4).Set(indices)
    binding.CreateJointWeightsPrimvar(False, 4).Set(weights)
    binding.CreateGeomBindTransformAttr(pxr.Gf.Matrix4d(1.0))
    pxr.UsdShade.MaterialBindingAPI.Apply(surface.GetPrim()).Bind(_clay(pxr, stage, f"{path}/Clay"))


def _clay(pxr: Any, stage: Any, path: str) -> Any:
    """A matte material that takes its colour from the mesh."""
    types = pxr.Sdf.ValueTypeNames
    material = pxr.UsdShade.Material.Define(stage, path)
    reader = pxr.UsdShade.Shader.Define(stage, f"{path}/Colour")
    reader.CreateIdAttr("UsdPrimvarReader_float3")
    reader.CreateInput("varname", types.String).Set("displayColor")
    colour = reader.CreateOutput("result", types.Float3)
    surface = pxr.UsdShade.Shader.Define(stage, f"{path}/Surface")
    surface.CreateIdAttr("UsdPreviewSurface")
    surface.CreateInput("diffuseColor", types.Color3f).ConnectToSource(colour)
    surface.CreateInput("roughness", types.Float).Set(0.75)
    surface.CreateInput("metallic", types.Float).Set(0.0)
    material.CreateSurfaceOutput().ConnectToSource(surface.CreateOutput("surface", types.Token))
    return material


def _bounds(mesh: SkinnedMesh, clip: Clip) -> tuple[Array, Array]:
    """Corners of a box around the figure in every frame, (F, 3) each.

    A skinned point is a mean of places, each as far from its joint as it was in the bind pose: so a ball around every
    joint holds all that follows it.
    """
    reach = np.full(len(clip.skeleton), -np.inf)
    for k in range(4):
        joints = mesh.joint_indices[:, k]
        distance = np.linalg.norm(mesh.vertices - mesh.bind_pos[joints], axis=1)
        used = mesh.joint_weights[:, k] > 0
        np.maximum.at(reach, joints[used], distance[used])
    carrying = np.isfinite(reach)
    places, reach = clip.global_positions()[:, carrying], reach[carrying, None]
    return (places - reach).min(axis=1), (places + reach).max(axis=1)


# ------------------------------------------------------------------------------------------------------------ reading


def read_usd(path: str | Path, *, figure: int = 0) -> Clip:
    """The motion of a UsdSkel figure in a USD file.

    Files that Choreograph wrote come back whole. Others are read as far as their joints make one tree, moved by a
    SkelAnimation without scaling; units and up-axis are those that the stage states.

    Args:
        path: The file.
        figure: Which of the stage's skeletons, from 0.

    Raises:
        FormatError: The file is damaged, or holds something a Clip cannot.
        MissingExtra: USD is not installed.
    """
    data = read_bytes(path)
    with _opened(path) as (pxr, stage):
        return _read(pxr, stage, Path(path), hashlib.sha256(data).hexdigest(), figure)


def count_usd_figures(path: str | Path) -> int:
    """How many skeletons a USD file holds."""
    read_bytes(path)
    with _opened(path) as (pxr, stage):
        return len(_skeletons(pxr, stage))


@contextmanager
def _opened(path: str | Path) -> Iterator[tuple[Any, Any]]:
    """USD itself, and the stage of a file; whatever is wrong with it is said with its name."""
    pxr = _pxr("reading USD")
    try:
        # Anonymous, so that a file that changed since is not served from USD's own memory.
        layer = pxr.Sdf.Layer.OpenAsAnonymous(str(path))
        stage = pxr.Usd.Stage.Open(layer) if layer else None
        if stage is None:
            raise FormatError("is not a USD file that can be opened")
        yield pxr, stage
    except FormatError as error:
        raise error.at(path) from None
    except pxr.Tf.ErrorException as error:
        said = str(error).strip().splitlines()[-1:] or ["no reason given"]
        # What USD says begins with where in its own source it says so: Error in '…' at line … in file … : 'why'
        why = said[0].rpartition(" : ")[2].strip("'")
        raise FormatError(f"USD cannot read it: {why[:200]}", path=path) from error
    except ValueError as error:  # a clip's own checks: the file's numbers do not make a motion
        raise FormatError(f"does not hold a motion: {error}", path=path) from error


def _skeletons(pxr: Any, stage: Any) -> list[Any]:
    return [prim for prim in stage.Traverse() if prim.IsA(pxr.UsdSkel.Skeleton)]


def _read(pxr: Any, stage: Any, path: Path, digest: str, figure: int) -> Clip:
    found = _skeletons(pxr, stage)
    if not 0 <= figure < len(found):
        raise FormatError(f"has {len(found)} skeletons, so there is no number {figure} (they count from 0)")
    skeleton = pxr.UsdSkel.Skeleton(found[figure])
    sources = pxr.UsdSkel.BindingAPI(found[figure]).GetInheritedAnimationSource()
    animation = pxr.UsdSkel.Animation(sources) if sources else None
    if not animation:
        raise FormatError("its skeleton has no animation")
    joints = [str(j) for j in skeleton.GetJointsAttr().Get() or ()]
    names, parents = _hierarchy(joints, [str(n) for n in skeleton.GetJointNamesAttr().Get() or ()])
    order = [str(j) for j in animation.GetJointsAttr().Get() or ()]
    if order != joints:
        raise FormatError("its animation moves other joints than its skeleton has")
    codes, pos, rot = _samples(animation, len(joints))
    root = found[figure].GetParent()
    text = root.GetCustomDataByKey(KEY) if root else None
    metres, up = pxr.UsdGeom.GetStageMetersPerUnit(stage), str(pxr.UsdGeom.GetStageUpAxis(stage)).lower()
    notes = [Note("several-figures", f"holds {len(found)} figures; this is number {figure}")] if len(found) > 1 else []
    source = Source(str(path), "usd", digest, metres, up, "stated in the file", "stated in the file", tuple(notes))
    if isinstance(text, str):
        try:
            about = json.loads(text)
            fps = float(about["fps"])
        except (ValueError, KeyError, TypeError, RecursionError) as error:
            raise FormatError(f"its {KEY!r} entry cannot be read: {error}") from error
        stretching = bool((np.ptp(pos[:, 1:], axis=0) > 0).any()) if pos.shape[1] > 1 else False
        return restore_clip(about, names, parents, fps, pos, rot, stretching=stretching, source=source)
    fps = float(stage.GetTimeCodesPerSecond())
    if len(codes) > 1:
        fps /= float(np.median(np.diff(codes)))
    rest = np.array(skeleton.GetRestTransformsAttr().Get() or ())
    if rest.shape != (len(joints), 4, 4):
        raise FormatError("its skeleton has no rest pose")
    rest_pos, rest_rot = rest[:, 3, :3], quat.from_matrix(_rigid(np.swapaxes(rest[:, :3, :3], -1, -2)))
    cache = pxr.UsdGeom.XformCache(codes[0])
    shift, turn, scale = _placing(np.array(cache.GetLocalToWorldTransform(found[figure])), metres, up)
    for places, turns in ((rest_pos[None], rest_rot[None]), (pos, rot)):
        places *= scale
        places[:, 0] = shift + quat.rotate(turn, places[:, 0])
        turns[:, 0] = quat.multiply(turn, turns[:, 0])
    made, local_rot, local_pos = from_rest(names, parents, rest_pos, rest_rot, pos, rot)
    return Clip(
        made, fps, pos[:, 0], quat.make_continuous(local_rot), name=path.stem, local_pos=local_pos, source=source
    )


def _hierarchy(joints: list[str], given: list[str]) -> tuple[list[str], list[int]]:
    """Names and parents from the joints' paths."""
    if not joints or len(set(joints)) != len(joints):
        raise FormatError("its skeleton has no joints, or the same one twice")
    at = {joint: k for k, joint in enumerate(joints)}
    parents = []
    for k, joint in enumerate(joints):
        above = joint.rpartition("/")[0]
        while above and above not in at:
            above = above.rpartition("/")[0]
        parent = at.get(above, -1)
        if (parent == -1) != (k == 0) or parent >= k:
            raise FormatError("its joints do not make one tree with every parent before its children")
        parents.append(parent)
    names = given if len(set(given)) == len(joints) == len(given) else [j.rpartition("/")[2] for j in joints]
    return (names if len(set(names)) == len(names) else joints), parents


def _samples(animation: Any, count: int) -> tuple[Array, Array, Array]:
    """Time codes, places (F, J, 3) and rotations (F, J, 4) of an animation."""
    places, turns = animation.GetTranslationsAttr(), animation.GetRotationsAttr()
    codes = np.union1d(places.GetTimeSamples(), turns.GetTimeSamples())
    if not len(codes):
        codes = np.zeros(1)
    pos, rot = np.empty((len(codes), count, 3)), np.empty((len(codes), count, 4))
    for frame, code in enumerate(codes):
        place, turn = np.array(places.Get(code) or ()), np.array(turns.Get(code) or ())
        if place.shape != (count, 3) or turn.shape != (count, 4):
            raise FormatError(f"its animation does not give every joint a place and a rotation at time {code:g}")
        pos[frame], rot[frame] = place, quat.normalise(turn[:, [3, 0, 1, 2]])
    scales = animation.GetScalesAttr()
    for code in scales.GetTimeSamples() or [codes[0]]:
        size = np.array(scales.Get(code) or (), float)
        if size.size and np.abs(size - 1).max() > 1e-2:
            raise FormatError("its animation scales joints, which a motion cannot hold")
    if not (np.isfinite(pos).all() and np.isfinite(rot).all()):
        raise FormatError("its animation holds values that are not finite numbers")
    return codes, pos, rot


def _rigid(linear: Array) -> Array:
    """The rotations themselves, once they are found to be rotations."""
    if np.abs(np.swapaxes(linear, -1, -2) @ linear - np.eye(3)).max() > 1e-3 or (np.linalg.det(linear) < 0).any():
        raise FormatError("its rest pose scales or mirrors joints, which a motion cannot hold")
    return linear


def _placing(world: Array, metres: float, up: str) -> tuple[Array, Array, float]:
    """Shift, rotation and scale from a skeleton's space to metres, y up."""
    linear = world[:3, :3].T
    size = float(np.cbrt(max(np.linalg.det(linear), 0.0)))
    if size <= 0:
        raise FormatError("its skeleton stands in a mirrored or flattened space")
    turn = quat.from_matrix(_rigid(linear / size))
    shift = world[3, :3] * metres
    if up == "z":
        tilt = quat.from_axis_angle((1.0, 0.0, 0.0), -np.pi / 2)
        turn, shift = quat.multiply(tilt, turn), quat.rotate(tilt, shift)
    return shift, turn, size * metres
