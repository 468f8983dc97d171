"""Models in files and in the cache: plain arrays and facts, nothing that runs."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from choreograph.base.arrays import Floats, Ints
from choreograph.features.linear_dynamics import LinearDynamics
from choreograph.features.pose_space import PoseSpace
from choreograph.formats.atomic import atomic_write
from choreograph.formats.npz import blamed, read_arrays
from choreograph.graph.cache import Content
from choreograph.motion.skeleton import Skeleton
from choreograph.verbs.complete.encode import TRAVEL, Encoding
from choreograph.verbs.complete.model import MotionModel
from choreograph.verbs.complete.nearest_recording import RecordedStates
from choreograph.verbs.complete.speed_limits import SPANS_S, WAYS

SUFFIX = ".model"
_VERSION = 1  # of the layout; others are refused
_DYNAMICS = ("step", "control", "noise", "weights", "means", "covariances", "start_mean", "start_covariance")
_FASTEST_HZ, _MOST_DIMENSIONS = 1000.0, 1000  # poses per second, and size of the pose space, that a file may have


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
        "held_out": model.held_out if math.isfinite(model.held_out) else None,
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
    if model.limits is not None:
        arrays["limits"] = model.limits
    if model.fastest is not None:
        arrays["fastest"] = model.fastest
    if model.examples is not None:
        arrays |= {"examples": model.examples.states, "example_lengths": model.examples.lengths}
    for n, one in enumerate(model.dynamics):
        arrays |= {f"{name}_{n}": getattr(one, name) for name in _DYNAMICS}
    return Content(facts, arrays)


def unpack(content: Content) -> MotionModel:
    """The model that facts and arrays describe; a ValueError or KeyError where they do not fit together."""
    facts, arrays = content
    if facts["version"] != _VERSION:
        raise ValueError(f"it is of version {str(facts['version'])[:20]}, this program reads {_VERSION}")
    skeleton = Skeleton(
        _words(facts, "joints"),
        _whole(arrays, "parents").astype(np.int32),
        arrays["offsets"],
        _whole(arrays, "tip_parents").astype(np.int32),
        arrays["tip_offsets"],
        _words(facts, "roles"),
    )
    floats = {name: np.array(value, float, order="C") for name, value in arrays.items() if value.dtype.kind == "f"}
    if not all(np.isfinite(value).all() for name, value in floats.items() if name != "standing"):
        raise ValueError("it has numbers that are not finite")
    encoding = Encoding(
        skeleton, _rate(facts, "rate_hz"), floats["mean_rot"], _whole(arrays, "columns"), floats["scale"]
    )
    space = PoseSpace(
        floats["space_mean"], floats["space_axes"], floats["space_variances"], _finite(facts, "total_variance")
    )
    _check_shapes(encoding, space, floats)
    dynamics = tuple(_dynamics(n, entry, floats, len(space.axes)) for n, entry in enumerate(facts["behaviours"]))
    if not dynamics:
        raise ValueError("it has no dynamics")
    return MotionModel(
        encoding,
        space,
        dynamics,
        _words(facts, "clips"),
        floats["left_out"],
        floats["standing"],
        _rate(facts, "recorded_hz"),
        math.nan if facts.get("held_out") is None else _finite(facts, "held_out"),
        floats.get("limits"),
        _examples(arrays, floats, len(space.axes)),
        floats.get("fastest"),
    )


def _check_shapes(encoding: Encoding, space: PoseSpace, floats: dict[str, Floats]) -> None:
    """Raise a ValueError where arrays do not fit each other, or reach beyond each other."""
    joints, k = len(encoding.skeleton), encoding.width
    d = len(space.axes)
    wanted = {
        "mean_rot": (joints, 4), "scale": (k,), "space_mean": (k,), "space_axes": (d, k), "space_variances": (d,),
        "left_out": (k,), "standing": (joints,),
    }  # fmt: skip
    wrong = [name for name, shape in wanted.items() if floats[name].shape != shape]
    if "limits" in floats and (floats["limits"].shape != (2, k) or (floats["limits"][0] > floats["limits"][1]).any()):
        wrong.append("limits")
    if "fastest" in floats and floats["fastest"].shape != (len(SPANS_S), len(WAYS)):
        wrong.append("fastest")
    columns = encoding.columns
    if columns.shape != (joints,) or ((columns < -1) | (columns + 3 + TRAVEL > k)).any():
        wrong.append("columns")
    if wrong or not 0 < d <= _MOST_DIMENSIONS or k < TRAVEL:
        raise ValueError(f"its arrays do not fit together ({', '.join(wrong) or 'sizes'})")
    with np.errstate(over="ignore"):  # what overflows is refused all the same
        turns = np.linalg.norm(encoding.mean_rot, axis=1)
    if not (np.abs(turns - 1) < 1e-3).all() or not (encoding.scale > 0).all() or (space.variances < 0).any():
        raise ValueError("its rotations are no unit quaternions, or its scales are not above 0")


def _examples(arrays: Any, floats: dict[str, Floats], d: int) -> RecordedStates | None:
    if "examples" not in floats:
        return None
    examples = RecordedStates(floats["examples"], _whole(arrays, "example_lengths"))
    fits = examples.states.shape == (examples.lengths.sum(), d) and examples.lengths.ndim == 1
    if not fits or not len(examples.lengths) or (examples.lengths < 1).any():
        raise ValueError("its recordings do not fit its pose space")
    return examples


def _dynamics(n: int, entry: Any, floats: dict[str, Floats], d: int) -> LinearDynamics:
    name, frames = entry
    own = LinearDynamics(name=str(name), frames=int(frames), **{part: floats[f"{part}_{n}"] for part in _DYNAMICS})
    m, q, mixed = own.step.shape[0], own.control.shape[-1], own.weights.shape[0]
    wanted = ((m, d, d), (d, q), (d,), (mixed,), (mixed, q), (mixed, q, q), (m * d,), (m * d, m * d))
    shapes = tuple(getattr(own, part).shape for part in _DYNAMICS)
    if shapes != wanted or min(m, q, mixed) < 1 or not (own.weights > 0).all() or not (own.noise > 0).all():
        raise ValueError("its dynamics do not fit its pose space")
    for covariance in (*own.covariances, own.start_covariance):
        np.linalg.cholesky(covariance)  # a LinAlgError, which is a ValueError, where it is none
    return own


def _words(facts: Any, name: str) -> tuple[str, ...]:
    words = facts[name]
    if not isinstance(words, list) or not all(isinstance(word, str) for word in words):
        raise ValueError(f"its {name} are no list of names")
    return tuple(words)


def _finite(facts: Any, name: str) -> float:
    value = facts[name]
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value) or value < 0:
        raise ValueError(f"its {name} is {str(value)[:40]!r}")
    return float(value)


def _rate(facts: Any, name: str) -> float:
    value = _finite(facts, name)
    if not 1 <= value <= _FASTEST_HZ:
        raise ValueError(f"its {name} is {value:g}")
    return value


def _whole(arrays: Any, name: str) -> Ints:
    if arrays[name].dtype.kind not in "iu":
        raise ValueError(f"its {name} are no whole numbers")
    return np.array(arrays[name], np.int64)


def save_model(path: str | Path, model: MotionModel, *, overwrite: bool = False) -> None:
    """Write a model to a file, whole or not at all.

    >>> from choreograph.demo import demo_clip
    >>> from choreograph.verbs.complete.model import learn
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
    >>> from choreograph.verbs.complete.model import learn
    >>> model = learn([demo_clip("walk", 30.0)])
    >>> save_model("walk.model", model, overwrite=True)
    >>> open_model("walk.model").dimensions == model.dimensions
    True

    Raises:
        FormatError: If it is no model, damaged, or of a later version.
    """
    path = Path(path)
    with blamed(path, "this is no model that was learned and kept (save_model)"):
        arrays = read_arrays(path)
        facts = json.loads(arrays.pop("facts").tobytes())
        return unpack(Content(facts, arrays))


def is_model_file(where: str) -> bool:
    """Whether a name is that of a model's file."""
    return Path(where).suffix.lower() == SUFFIX
