"""USD read in a child process: the numbers of a stage's figures, as they stand in the file.

Only layers of the file's own folder are read. What a stage composes from elsewhere is refused, named.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np

from choreograph.base.errors import FormatError
from choreograph.formats.channels import check_growth
from choreograph.formats.child import answer, set_limits

MAX_LAYERS = 1000
"""Layers that one stage may be composed of."""
MAX_SKELETONS = 1000  # of one stage
MAX_JOINTS = 4096  # of one skeleton


def main() -> None:
    """Answer with the figures of a stage, or with why there are none.

    Arguments: three limits, the file, the entry that keeps what Choreograph wrote, and a figure's number or
    "all".
    """
    memory, seconds, output, path, key, which = sys.argv[1:]
    set_limits(int(memory), int(seconds), int(output))
    try:
        facts, arrays = _read(Path(path), key, which)
    except FormatError as error:
        facts, arrays = {"error": error.reason}, {}
    except MemoryError:
        raise
    except Exception as error:  # whatever USD's own classes raise: TypeError, Tf.ErrorException …
        facts, arrays = {"error": f"USD cannot read it: {_reason(error)}"}, {}
    answer(sys.stdout.buffer, facts, arrays)


def _reason(error: Exception) -> str:
    lines = str(error).strip().splitlines()[-1:] or ["no reason given"]
    # What USD says begins with where in its own source it says so: Error in '…' at line … in file … : 'why'
    return lines[0].rpartition(" : ")[2].strip("'")[:200]


def _read(path: Path, key: str, which: str) -> tuple[dict[str, Any], dict[str, Any]]:
    from pxr import Sdf, Usd, UsdGeom, UsdSkel

    layer = Sdf.Layer.FindOrOpen(str(path))
    if not layer:
        raise FormatError("is not a USD file that can be opened")
    folder = path.parent.resolve()
    _check_layers(Sdf, layer, folder)
    stage = Usd.Stage.Open(layer)
    if not stage:
        raise FormatError("is not a USD file that can be opened")
    skeletons = []
    for prim in stage.Traverse():
        if prim.IsA(UsdSkel.Skeleton):
            skeletons.append(prim)
            if len(skeletons) > MAX_SKELETONS:
                raise FormatError(f"has more than {MAX_SKELETONS} skeletons")
    facts: dict[str, Any] = {
        "count": len(skeletons),
        "metres": float(UsdGeom.GetStageMetersPerUnit(stage)),
        "up": str(UsdGeom.GetStageUpAxis(stage)),
        "rate": float(stage.GetTimeCodesPerSecond()),
        "figures": [],
    }
    arrays: dict[str, Any] = {}
    numbers = range(len(skeletons)) if which == "all" else [int(which)]
    if not all(0 <= number < len(skeletons) for number in numbers) or not skeletons:
        wanted = 0 if which == "all" else int(which)
        raise FormatError(f"has {len(skeletons)} skeletons, so there is no number {wanted} (they count from 0)")
    size = sum(_size(used) for used in stage.GetUsedLayers())
    for number in numbers:
        figure, own = _figure(UsdSkel, UsdGeom, skeletons[number], key, size)
        facts["figures"].append(figure)
        arrays.update({f"{name}{len(facts['figures']) - 1}": array for name, array in own.items()})
    # Value clips are opened when a value is asked for, so only now is it known what was used.
    for used in stage.GetUsedLayers(True):
        _check_place(Sdf, used.identifier, used.identifier, folder)
    return facts, arrays


def _size(layer: Any) -> int:
    try:
        return Path(layer.realPath).stat().st_size
    except OSError:
        return 0


def _check_layers(sdf: Any, layer: Any, folder: Path) -> None:
    """Raise a FormatError if a layer, or one that it is composed of, stands outside of the folder."""
    left, seen = [layer], {layer.identifier}
    while left:
        own = left.pop()
        for asset in own.GetCompositionAssetDependencies():
            if "`" in asset:
                raise FormatError(f"it is composed of {asset[:100]!r}, which is worked out while reading; not read")
            identifier = own.ComputeAbsolutePath(asset)
            _check_place(sdf, identifier, asset, folder)
            if identifier in seen:
                continue
            seen.add(identifier)
            if len(seen) > MAX_LAYERS:
                raise FormatError(f"it is composed of more than {MAX_LAYERS} layers")
            opened = sdf.Layer.FindOrOpen(identifier)
            if opened:
                left.append(opened)


def _check_place(sdf: Any, identifier: str, named: str, folder: Path) -> None:
    if identifier.startswith("anon:"):
        return
    plain = sdf.Layer.SplitIdentifier(identifier)[0].partition("[")[0]
    if not (folder / plain).resolve().is_relative_to(folder):
        raise FormatError(
            f"it is composed of {named[:200]!r}, which is outside of its folder and is not read; "
            "put both into one folder, or flatten the stage"
        )


def _figure(skel: Any, geom: Any, prim: Any, key: str, size: int) -> tuple[dict[str, Any], dict[str, Any]]:
    skeleton = skel.Skeleton(prim)
    source = skel.BindingAPI(prim).GetInheritedAnimationSource()
    animation = skel.Animation(source) if source else None
    if not animation:
        raise FormatError("its skeleton has no animation")
    joints = [str(joint) for joint in skeleton.GetJointsAttr().Get() or ()]
    if not 0 < len(joints) <= MAX_JOINTS:
        raise FormatError(f"its skeleton has {len(joints)} joints; 1 to {MAX_JOINTS} are read")
    if [str(joint) for joint in animation.GetJointsAttr().Get() or ()] != joints:
        raise FormatError("its animation moves other joints than its skeleton has")
    arrays = _samples(animation, len(joints), size)
    rest = np.array(skeleton.GetRestTransformsAttr().Get() or (), float)
    if rest.shape == (len(joints), 4, 4):
        arrays["rest"] = rest
    place = geom.XformCache(float(arrays["codes"][0])).GetLocalToWorldTransform(prim)
    arrays["world"] = np.array(place, float)
    above = prim.GetParent()
    data = above.GetCustomDataByKey(key) if above else None
    names = [str(name) for name in skeleton.GetJointNamesAttr().Get() or ()]
    return {"joints": joints, "names": names, "kept": data if isinstance(data, str) else None}, arrays


def _samples(animation: Any, count: int, size: int) -> dict[str, Any]:
    """Time codes, places (F, J, 3) and rotations (F, J, 4) wxyz of an animation, as the file has them."""
    places, turns = animation.GetTranslationsAttr(), animation.GetRotationsAttr()
    codes = np.union1d(places.GetTimeSamples(), turns.GetTimeSamples())
    if not len(codes):
        codes = np.zeros(1)
    check_growth(size, len(codes), count)
    pos, rot = np.empty((len(codes), count, 3)), np.empty((len(codes), count, 4))
    for frame, code in enumerate(codes):
        place, turn = np.array(places.Get(code) or (), float), np.array(turns.Get(code) or (), float)
        if place.shape != (count, 3) or turn.shape != (count, 4):
            raise FormatError(f"its animation does not give every joint a place and a rotation at time {code:g}")
        pos[frame], rot[frame] = place, turn[:, [3, 0, 1, 2]]
    scales = animation.GetScalesAttr()
    for code in scales.GetTimeSamples() or [codes[0]]:
        scale = np.array(scales.Get(code) or (), float)
        if scale.size and not np.abs(scale - 1).max() <= 1e-2:
            raise FormatError("its animation scales joints, which a motion cannot hold")
    return {"codes": codes, "pos": pos, "rot": rot}


if __name__ == "__main__":
    main()
