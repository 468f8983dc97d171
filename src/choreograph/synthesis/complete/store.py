"""Models in files and in the cache: plain arrays and facts, nothing that runs."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from choreograph.errors import FormatError
from choreograph.features.pose_space import PoseSpace
from choreograph.formats.atomic import atomic_write
from choreograph.graph.cache import Content
from choreograph.motion.skeleton import Skeleton
from choreograph.synthesis.complete.encode import Encoding
from choreograph.synthesis.complete.model import Dynamics, MotionModel

SUFFIX = ".model"
_VERSION = 1
_DYNAMICS = ("step", "control", "noise", "weights", "means", "covariances", "start_mean", "start_covariance")
_MOST_BYTES = 1 << 30


def pack(model: MotionModel) -> Content:
    """A model as plain facts and arrays."""
    own, skeleton = model.encoding, model.encoding.skeleton
    facts: dict[str, Any] = {
        "version": _VERSION,
        "joints": list(skeleton.names),
        "roles": list(skeleton.roles),
        "rate_hz": own.rate_hz,
        "total_variance": model.space.total_variance,
        "clips": list(model.names),
        "recorded_hz": model.recorded_hz,
        "behaviours": [[one.name, one.frames] for one in model.dynamics],
    }
    arrays: dict[str, NDArray[Any]] = {
        "parents": skeleton.parents,
        "offsets": skeleton.offsets,
        "tip_parents": skeleton.tip_parents,
        "tip_offsets": skeleton.tip_offsets,
        "mean_rot": own.mean_rot,
        "columns": own.columns,
        "scale": own.scale,
        "space_mean": model.space.mean,
        "space_axes": model.space.axes,
        "space_variances": model.space.variances,
        "left_out": np.zeros(own.width) if model.left_out is None else model.left_out,
        "standing": np.full(len(skeleton), np.nan) if model.standing is None else model.standing,
    }
    for n, one in enumerate(model.dynamics):
        arrays |= {f"{name}_{n}": getattr(one, name) for name in _DYNAMICS}
    return Content(facts, arrays)


def unpack(content: Content) -> MotionModel:
    """The model that facts and arrays describe; a ValueError or KeyError where they do not fit together."""
    facts, arrays = content
    if facts["version"] != _VERSION:
        raise ValueError(f"it is of version {facts['version']}, this program reads {_VERSION}")
    skeleton = Skeleton(
        tuple(facts["joints"]),
        arrays["parents"],
        arrays["offsets"],
        arrays["tip_parents"],
        arrays["tip_offsets"],
        tuple(facts["roles"]),
    )
    floats = {name: np.array(value, float, order="C") for name, value in arrays.items() if value.dtype.kind == "f"}
    encoding = Encoding(
        skeleton, float(facts["rate_hz"]), floats["mean_rot"], np.array(arrays["columns"], np.int64), floats["scale"]
    )
    space = PoseSpace(
        floats["space_mean"], floats["space_axes"], floats["space_variances"], float(facts["total_variance"])
    )
    d, k = space.axes.shape
    columns = encoding.columns
    fits = encoding.mean_rot.shape == (len(skeleton), 4) and columns.shape == (len(skeleton),) and k == encoding.width
    if not fits or columns.max(initial=0) + 3 + 4 > k or space.mean.shape != (k,):
        raise ValueError("its arrays do not fit together")
    dynamics = []
    for n, (name, frames) in enumerate(facts["behaviours"]):
        own = Dynamics(name=str(name), frames=int(frames), **{part: floats[f"{part}_{n}"] for part in _DYNAMICS})
        if own.step.shape[1:] != (d, d) or own.control.shape[0] != d or own.noise.shape != (d,):
            raise ValueError("its dynamics do not fit its pose space")
        dynamics.append(own)
    if not dynamics or not all(np.isfinite(value).all() for name, value in floats.items() if name != "standing"):
        raise ValueError("it has no dynamics, or numbers that are not finite")
    return MotionModel(
        encoding,
        space,
        tuple(dynamics),
        tuple(facts["clips"]),
        floats["left_out"],
        floats["standing"],
        float(facts["recorded_hz"]),
    )


def save_model(path: str | Path, model: MotionModel, *, overwrite: bool = False) -> None:
    """Write a model to a file, whole or not at all.

    >>> from choreograph.demo import demo_clip
    >>> from choreograph.synthesis.complete.model import learn
    >>> model = learn([demo_clip("walk", 30.0)])
    >>> save_model("walk.model", model, overwrite=True)
    >>> open_model("walk.model").dimensions == model.dimensions
    True

    Args:
        path: Ends in .model.
        model: What was learned.
        overwrite: Whether a file there is replaced.

    Raises:
        OutputExists: If the file is there and may not be replaced.
    """
    facts, arrays = pack(model)
    text = np.frombuffer(json.dumps(dict(facts)).encode(), np.uint8)
    with atomic_write(path, overwrite=overwrite) as temporary, temporary.open("wb") as out:
        np.savez_compressed(out, allow_pickle=False, facts=text, **arrays)  # type: ignore[arg-type]


def open_model(path: str | Path) -> MotionModel:
    """The model in a file.

    >>> from choreograph.demo import demo_clip
    >>> from choreograph.synthesis.complete.model import learn
    >>> model = learn([demo_clip("walk", 30.0)])
    >>> save_model("walk.model", model, overwrite=True)
    >>> open_model("walk.model").dimensions == model.dimensions
    True

    Raises:
        FormatError: If it is no model, damaged, or of a later version.
    """
    try:
        with zipfile.ZipFile(path) as parts:
            if sum(entry.file_size for entry in parts.infolist()) > _MOST_BYTES:
                raise ValueError("it is larger than a model can be")
        with np.load(path, allow_pickle=False) as stored:
            arrays = {name: stored[name] for name in stored.files}
        facts = json.loads(arrays.pop("facts").tobytes())
        return unpack(Content(facts, arrays))
    except FileNotFoundError:
        raise FormatError("there is no such file", path=path) from None
    except (ValueError, KeyError, TypeError, IndexError, OSError, EOFError, zipfile.BadZipFile) as error:
        raise FormatError(f"this is no model that `choreograph learn` wrote ({error})", path=path) from None


def is_model_file(where: str) -> bool:
    """Whether a name is that of a model's file."""
    return Path(where).suffix.lower() == SUFFIX
