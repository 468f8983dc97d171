"""USD written: the mannequin with its motion as UsdSkel, for Omniverse, Houdini, Unreal, Blender and film pipelines.

Stages are in metres, y up. Each clip is a SkelRoot with a skeleton, an animation and a skinned mesh. Joint names that
USD cannot use as identifiers are changed in the joints' paths and kept as they were in `jointNames`.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from choreograph._version import __version__
from choreograph.base import quat
from choreograph.base.arrays import Floats
from choreograph.base.errors import FormatError, MissingExtra
from choreograph.figure.mannequin import SkinnedMesh, build_mannequin
from choreograph.formats.atomic import atomic_write, check_writable
from choreograph.formats.figures import KEY, as_figures, describe, moving_joints
from choreograph.formats.usd_read import read_usd, read_usd_clips
from choreograph.motion.clip import Clip
from choreograph.motion.skeleton import Skeleton

__all__ = ["read_usd", "read_usd_clips", "write_usd"]


def write_usd(
    path: str | Path,
    clips: Clip | Sequence[Clip],
    *,
    metres_per_unit: float = 1.0,
    up_axis: str = "y",
    overwrite: bool = False,
) -> None:
    """Write one clip, or several figures that move together, as a USD stage.

    Labels, contacts, roles, end sites and where the motion came from are kept as JSON in each SkelRoot's custom data.

    Args:
        path: A .usda (text), .usdc or .usd (binary) file.
        clips: One clip, or several; time codes are the first one's frames.
        metres_per_unit: Of the stage; figures are scaled to it as a whole.
        up_axis: Of the stage, "y" or "z"; figures are turned to it as a whole.
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
    pxr.UsdGeom.SetStageUpAxis(stage, pxr.UsdGeom.Tokens.z if up_axis == "z" else pxr.UsdGeom.Tokens.y)
    pxr.UsdGeom.SetStageMetersPerUnit(stage, metres_per_unit)
    stage.SetTimeCodesPerSecond(fps)
    stage.SetFramesPerSecond(fps)
    stage.SetStartTimeCode(0)
    stage.SetEndTimeCode(max((len(clip) - 1) * fps / clip.fps for clip in figures))
    layer = stage.GetRootLayer()
    layer.customLayerData = {"creator": f"Choreograph {__version__}"}
    top = pxr.UsdGeom.Xform.Define(stage, "/Motion")
    pxr.Usd.ModelAPI(top).SetKind("group")
    stage.SetDefaultPrim(top.GetPrim())
    if up_axis == "z":
        top.AddRotateXOp().Set(90.0)
    if metres_per_unit != 1.0:
        top.AddScaleOp().Set(pxr.Gf.Vec3f(1.0 / metres_per_unit))
    names = _identifiers(pxr, [clip.name for clip in figures])
    for clip, name in zip(figures, names, strict=True):
        _add_figure(pxr, stage, f"/Motion/{name}", clip, fps)
    with atomic_write(path, overwrite=overwrite) as temporary:
        try:
            whole = layer.Export(str(temporary))
        except Exception as error:  # whatever USD's own classes raise where a disk is full or a folder read-only
            raise FormatError("cannot be written: is the disk full, or the folder not yours?", path=path) from error
        if not whole:
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
    names_out: list[str] = []
    for name in names:
        plain = pxr.Tf.MakeValidIdentifier(name) if name.isascii() else _ascii_identifier(pxr, name)
        unique, count = plain, 2
        while unique in names_out:
            unique, count = f"{plain}_{count}", count + 1
        names_out.append(unique)
    return names_out


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


def _local(skeleton: Skeleton, pos: Floats, rot: Floats) -> tuple[Floats, Floats]:
    """Places and rotations in the parent's frame, from global ones."""
    inner, above = np.arange(1, len(skeleton)), skeleton.parents[1:]
    local_pos, local_rot = np.array(pos), np.array(rot)
    back = quat.inverse(rot[above])
    local_pos[inner] = quat.rotate(back, pos[inner] - pos[above])
    local_rot[inner] = quat.multiply(back, rot[inner])
    return local_pos, local_rot


def _matrices(pxr: Any, pos: Floats, rot: Floats) -> Any:
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


def _add_mesh(pxr: Any, stage: Any, path: str, mesh: SkinnedMesh, lift: Floats, skeleton: Any) -> None:
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


def _bounds(mesh: SkinnedMesh, clip: Clip) -> tuple[Floats, Floats]:
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
