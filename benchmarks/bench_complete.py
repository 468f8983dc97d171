"""How near completed motion comes to what was recorded, beside splines and slerp, how clean it is, and how fast.

    CHOREOGRAPH_DATA=<folder with cmu/ and face/> python -m benchmarks.bench_complete [model] [walks] [jumps] [gaps]
        [clean] [speed] [drag] [face] [people]

One clip is left out at a time, the model is learned from the others, and the clip is completed from three keyframes
(first, middle, last), alone and with hands and ankles tracked. Errors are means over all frames: degrees over joints
that turn, centimetres over all joints. Gaps are filled from ten frames before and one behind. Times are CPU seconds of
one thread, warm.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator, Sequence

import numpy as np

from benchmarks.bench_bend import Feet, novelty, turning
from benchmarks.datasets import find_recordings
from choreograph.base import quat
from choreograph.finishing.settings import FinishSettings
from choreograph.formats import read_clip
from choreograph.goals.target import Target
from choreograph.motion.clip import Clip
from choreograph.motion.face import Face, FaceShapes
from choreograph.motion.trim import trimmed
from choreograph.verbs.complete.completion import finish_estimate, solve_targets
from choreograph.verbs.complete.interactive import Dragging
from choreograph.verbs.complete.model import MotionModel, learn, reconstruction_error
from choreograph.verbs.complete.settings import LearnSettings
from choreograph.verbs.complete.solver import SolverSettings

WALKS = [f"16_{n}" for n in (15, 16, 21, 22, 31, 32)]
JUMPS = {
    "13": [f"13_{n}" for n in (11, 13, 19, 32, 39, 40, 41, 42)],
    "16": [f"16_{n}" for n in ("01", "02", "03", "04", "05", "06", "07", "09", "10")],
}
PEOPLE = {
    "walks, long strides and slow ones (08)": [f"08_{n}" for n in ("01", "02", "03", "05", "07", "11")],
    "hops with turns (83)": [f"83_{n}" for n in (40, 41, 45, 46, 48, 49, 51, 52, 53, 54, 56, 57)],
    "jogs (108)": [f"108_{n:02d}" for n in range(4, 15)],
    "ducking and crouching (108)": [f"108_{n}" for n in range(21, 27)],
    "runs over something (127)": [f"127_{n}" for n in (25, 26, 27, 28, 33, 34, 35, 36)],
    "walking there and back (36)": [f"36_{n}" for n in ("02", "03", "09")],
    "salsa (60)": [f"60_{n:02d}" for n in range(1, 7)],
    "leaps, learned from a single clip (49)": ["49_04", "49_05"],
}
"""Others than those that settings were chosen on; only where `people` is asked for."""
HELD_OUT = (4, 7, 12, 16, 18, 22, 26, 29, 34, 36, 41, 47, 50, 54, 57)
"""Trials of subject 16 that gaps are cut out of: walks, turns, runs, stops and jumps; the rest is learned from."""
TRACKED = ("left_hand", "right_hand", "left_foot", "right_foot")
GAPS = {5: 0.62, 15: 0.52, 30: 0.55, 45: 0.65}
_PAST, _EVERY = 10, 10
_LONG_S, _PART_S = 8.0, 2.0
"""Clips that last longer are cut into stretches that last so long."""


def read(names: Sequence[str]) -> list[Clip]:
    folders = [find_recordings() / part for part in ("cmu", "cmu_more")]
    files = [next(f for f in (folder / name.split("_")[0] / f"{name}.amc" for folder in folders) if f.is_file())
             for name in names]  # fmt: skip
    return [trimmed(read_clip(file)).with_name(file.stem) for file in files]


def pose_targets(clip: Clip, frames: Sequence[int]) -> list[Target]:
    hips, facing = clip.global_positions()[:, clip.skeleton.hips], clip.facing()
    made = []
    for frame in frames:
        place = np.array([[hips[frame, 0], hips[frame, 2], facing[frame]]])
        at = frame / clip.fps
        made.append(Target("poses", "pose", at, at, (clip.skeleton.hips,), place, True, pose=clip[frame : frame + 1]))
    return made


def tracks(clip: Clip, roles: Sequence[str]) -> list[Target]:
    last, pos = (len(clip) - 1) / clip.fps, clip.global_positions()
    joints = [clip.skeleton.need(role) for role in roles]
    return [Target("joints", "position", 0.0, last, (joint,), pos[:, joint], True) for joint in joints]


def completed(model: MotionModel, targets: list[Target], frames: int, rate: float) -> tuple[Clip, float, float]:
    """The finished motion, and CPU seconds without and with finishing."""
    began = time.process_time()
    _, estimate = solve_targets(model, targets, frames, SolverSettings())
    solved = time.process_time() - began
    _, clip = finish_estimate(model, estimate, targets, FinishSettings(rate_hz=rate))
    return clip, solved, time.process_time() - began


def splined(clip: Clip, keys: Sequence[int]) -> Clip:
    """Cubic splines through the keyframes' quaternions and root positions."""
    from scipy.interpolate import CubicSpline

    at, every = np.array(keys), np.arange(len(clip))
    rot = CubicSpline(at, quat.make_continuous(clip.local_rot[at]))(every)
    return clip.with_frames(CubicSpline(at, clip.root_pos[at])(every), quat.normalise(rot))


def slerped(clip: Clip, first: int, last: int) -> Clip:
    """Straight from one frame to another: rotations by slerp, the root linearly."""
    share = (np.arange(first, last + 1) - first) / (last - first)
    joints = len(clip.skeleton)
    ends = [np.repeat(clip.local_rot[f][None], len(share), axis=0) for f in (first, last)]
    rot = quat.slerp(*ends, np.repeat(share[:, None], joints, axis=1))
    root = clip.root_pos[first] + share[:, None] * (clip.root_pos[last] - clip.root_pos[first])
    return clip[first : last + 1].with_frames(root, rot)


def errors(model: MotionModel, clip: Clip, other: Clip) -> tuple[float, float]:
    """Degrees over joints that turn, and centimetres."""
    turns = model.encoding.columns >= 0
    angles = quat.angle_between(clip.local_rot[:, turns], other.local_rot[:, turns])
    apart = np.linalg.norm(clip.global_positions() - other.global_positions(), axis=-1)
    return float(np.degrees(angles).mean()), float(100 * apart.mean())


def bench_model() -> None:
    clips = read(WALKS)
    for settings in (LearnSettings(order=3, controls=4, variance=0.9998), LearnSettings()):
        model = learn(clips, settings)
        own = model.dynamics[0]
        held = []
        for n in range(len(clips)):
            rest = learn(clips[:n] + clips[n + 1 :], settings)
            held.append(reconstruction_error(rest, clips[n : n + 1]))
        print(
            f"walking, m = {own.order}, dim u = {own.controls}, d = {model.dimensions}: one step to "
            f"{reconstruction_error(model, clips):.2f}° (bar 0.8, moonshot 0.5), held out {np.mean(held):.2f}°"
        )


def leave_one_out(names: Sequence[str], bars: tuple[str, str]) -> None:
    clips = read(names)
    rows: dict[str, list[tuple[float, float]]] = {"spline": [], "keys": [], "tracked": []}
    seconds: dict[str, list[float]] = {"keys": [], "tracked": []}
    size = 0
    known = []
    for n, whole in enumerate(clips):
        model = learn(clips[:n] + clips[n + 1 :])
        size = model.dimensions
        known.append(model.held_out)
        for clip in parts_of(whole.resampled(model.encoding.rate_hz)):
            keys = (0, len(clip) // 2, len(clip) - 1)
            rows["spline"].append(errors(model, clip, splined(clip, keys)))
            for kind, roles in (("keys", ()), ("tracked", TRACKED)):
                targets = [*pose_targets(clip, keys), *tracks(clip, roles)]
                made, solved, _ = completed(model, targets, len(clip), clip.fps)
                rows[kind].append(errors(model, clip, made))
                seconds[kind].append(solved)
    means = {kind: np.mean(values, axis=0) for kind, values in rows.items()}
    base = means["spline"]
    print(
        f"{names[0]} … {names[-1]}, {len(names)} clips, d = {size}: spline {base[0]:.1f}° {base[1]:.1f} cm; the "
        f"model says {np.nanmean(known) if np.isfinite(known).any() else np.nan:.2f} × a spline's error over a second"
    )
    for kind, bar in zip(("keys", "tracked"), bars, strict=True):
        mean = means[kind]
        print(
            f"  three keyframes{' + hands and ankles' if kind == 'tracked' else ''}: {mean[0]:.2f}° {mean[1]:.2f} cm, "
            f"{mean[1] / base[1]:.2f} × spline, CPU {np.mean(seconds[kind]):.2f} s (bar {bar})"
        )


def parts_of(clip: Clip) -> list[Clip]:
    """A clip, or of a long one every third stretch of a few seconds: three keyframes tell little about a minute."""
    if clip.seconds <= _LONG_S:
        return [clip]
    frames = round(_PART_S * clip.fps) + 1
    return [clip[first : first + frames] for first in range(0, len(clip) - frames, 3 * frames)]


def bench_people() -> None:
    for title, names in PEOPLE.items():
        print(title)
        bench_clean(names, sorted({0, len(names) // 2, len(names) - 1}) if len(names) > 2 else [1])


def windows(clips: Sequence[Clip], gap: int) -> Iterator[Clip]:
    for clip in clips:
        whole = _PAST + gap + 1
        for first in range(0, len(clip) - whole + 1, _EVERY):
            yield clip[first : first + whole]


def bench_gaps() -> None:
    held = {f"16_{n:02d}" for n in HELD_OUT}
    clips = read([f"16_{n:02d}" for n in range(1, 59)])
    model = learn([clip for clip in clips if clip.name not in held])
    out = [clip.resampled(30.0) for clip in clips if clip.name in held]
    for gap, bar in GAPS.items():
        own, base, own_rot, base_rot = [], [], [], []
        for window in windows(out, gap):
            keys = [*range(_PAST), _PAST + gap]
            made, _, _ = completed(model, pose_targets(window, keys), len(window), 30.0)
            plain = slerped(window, _PAST - 1, _PAST + gap)
            inner, true = slice(_PAST, _PAST + gap), window.global_positions()[_PAST : _PAST + gap]
            own.append(np.linalg.norm(made.global_positions()[inner] - true, axis=-1).mean())
            base.append(np.linalg.norm(plain.global_positions()[1:-1] - true, axis=-1).mean())
            own_rot.append(quat.angle_between(made.local_rot[inner], window.local_rot[inner]).mean())
            base_rot.append(quat.angle_between(plain.local_rot[1:-1], window.local_rot[inner]).mean())
        print(
            f"gap of {gap} frames, {len(own)} windows: {100 * np.mean(own):.2f} cm, slerp {100 * np.mean(base):.2f}; "
            f"positions {np.mean(own) / np.mean(base):.2f} × (bar {bar}, moonshot 0.4), rotations "
            f"{np.mean(own_rot) / np.mean(base_rot):.2f} ×"
        )


def bench_clean(names: Sequence[str], left_out: Sequence[int] | None = None) -> None:
    """Finished motion beside clips that were left out, all in turn or some, both measured against the clips that were
    learned from."""
    clips = read(names)
    rows: dict[str, list[tuple[float, ...]]] = {"recorded": [], "finished": []}
    for n in range(len(clips)) if left_out is None else left_out:
        rest = clips[:n] + clips[n + 1 :]
        model = learn(rest)
        feet = [Feet(other) for other in rest]
        still = np.percentile(np.concatenate([one.wander for one in feet]), 95)
        floor = np.median([one.floor for one in feet], axis=0)
        turns = np.percentile(np.concatenate([turning(other) for other in rest]), 99.9)
        for clip in parts_of(clips[n])[:2]:
            ratio = round(clip.fps / 30)
            frames = (len(clip) - 1) // ratio + 1
            whole = clip[: (frames - 1) * ratio + 1]
            keys = (0, frames // 2 * ratio, (frames - 1) * ratio)
            made, _, _ = completed(model, pose_targets(whole, keys), frames, clip.fps)
            off = (*errors(model, whole, made), *errors(model, whole, splined(whole, keys)))
            for kind, one in (("recorded", whole), ("finished", made)):
                wander = np.percentile(Feet(one, floor).wander or [0.0], 95) / still
                turned = np.percentile(turning(one), 99.9) / turns
                rows[kind].append((wander, turned, 100 * novelty(one, rest), *off))
    off = tuple(np.mean(rows["finished"], axis=0)[3:])
    print(
        f"{names[0]} … {names[-1]} at {clips[0].fps:g} Hz, three keyframes: {off[0]:.1f}° {off[1]:.1f} cm, spline "
        f"{off[2]:.1f}° {off[3]:.1f} cm; against the clips learned from:"
    )
    for kind, found in rows.items():
        mean, worst = np.mean(found, axis=0), np.max(found, axis=0)
        print(
            f"  {kind}: planted feet wander {mean[0]:.2f} ×, at most {worst[0]:.2f} (bar 0.6), turning peaks "
            f"{worst[1]:.2f} × (bar 1.1), poses {mean[2]:.1f} cm from recorded ones, at most {worst[2]:.1f} (bar 3)"
        )


def bench_speed() -> None:
    clips = read(WALKS)
    model = learn(clips[:-1])
    clip = clips[-1].resampled(30.0)
    frames = min(151, len(clip))
    clip = clip[:frames]
    hand = clip.skeleton.need("right_hand")
    targets = pose_targets(clip, (0, frames // 2, frames - 1))
    for frame in np.linspace(5, frames - 5, 11).astype(int):
        at, where = frame / 30, clip.global_positions()[frame, hand]
        targets.append(Target("joints", "position", at, at, (hand,), where[None], True))
    completed(model, targets, frames, 30.0)
    times = [completed(model, targets, frames, 30.0)[1:] for _ in range(5)]
    solved, whole = np.median(times, axis=0)
    print(
        f"{frames / 30:.1f} s at 30 fps, three keys and 11 hand targets: {solved:.3f} s CPU (bar 0.5, moonshot 0.1), "
        f"{whole:.3f} s with finishing"
    )


def bench_drag() -> None:
    clips = read(WALKS)
    model = learn(clips[1:])
    clip = clips[0].resampled(30.0)[:100]
    drag = Dragging.of_clip(model, clip, (0, 50, 99))
    hand = clip.skeleton.need("right_hand")
    begin = clip.global_positions()[30, hand]
    drag.pull("right_hand", 1.0, tuple(begin))
    times, off = [], []
    for n in range(30):
        # About half a metre a second at 30 updates a second, up and outwards.
        goal = begin + n * np.array([-0.006, 0.012, 0.01])
        began = time.process_time()
        made = drag.pull("right_hand", 1.0, tuple(goal))
        times.append(time.process_time() - began)
        off.append(float(np.linalg.norm(made.global_positions()[30, hand] - goal)))
    print(
        f"dragging, {len(clip)} frames: {1000 * np.median(times):.1f} ms an update (bar 30, moonshot 8), at most "
        f"{1000 * max(times):.1f}; the hand is {100 * max(off):.2f} cm off at most (bar 0.5)"
    )


def bench_face() -> None:
    from choreograph.formats.face import read_face, read_shapes
    from choreograph.formats.face_glb import read_face_glb

    folder = find_recordings()
    shapes = read_shapes(folder / "face/landmarks.csv")
    face, other = read_face(folder / "face/alex_rom_3.csv"), read_face_glb(folder / "rigs/facecap.glb", fps=30.0)
    cut, third = round(0.7 * len(face)), len(other) // 3
    bench_one_face("face", face[:cut], face[cut:], shapes)
    bench_one_face("another face, learned from its other parts", other[third:], other[:third], shapes)
    bench_one_face("another face, learned from the first one", face, other, shapes)


def bench_one_face(title: str, known: Face, held: Face, shapes: FaceShapes) -> None:
    """What is learned from one recording, tried on another one."""
    from scipy.interpolate import CubicSpline

    from choreograph.verbs.face.model import LandmarkTargets, complete_landmarks, face_error, learn_face

    simple = learn_face([known], shapes, order=2, controls=1)
    print(
        f"{title}, {known.seconds:.0f} and {held.seconds:.0f} s, m = 2, dim u = 1, d = {simple.dimensions}: one step "
        f"to {face_error(simple, [known]):.2f} mm, held out {face_error(simple, [held]):.2f} (bar 0.25, moonshot 0.1)"
    )
    model, whole = learn_face([known], shapes), shapes.landmarks(held)
    tracked = ((8, 1), (48, 0), (62, 1))
    # Windows of 4 s; of a short recording, one as long as it.
    frames = min(121, len(whole) - 1)
    own, base, keys = [], [], np.array([0, frames // 2, frames - 1])
    for first in range(0, len(whole) - frames, 60):
        true = whole[first : first + frames]
        at = np.array([(frame, landmark) for landmark, _ in tracked for frame in range(frames)])
        points = np.full((len(at), 3), np.nan)
        for n, (landmark, axis) in enumerate(tracked):
            points[n * frames : (n + 1) * frames, axis] = true[:, landmark, axis]
        made = complete_landmarks(model, frames, LandmarkTargets(keys, true[keys], at, points))
        own.append(np.linalg.norm(made - true, axis=-1).mean())
        base.append(np.linalg.norm(CubicSpline(keys, true[keys])(np.arange(frames)) - true, axis=-1).mean())
    print(
        f"  {frames / 30:.0f} s, keys {frames / 60:.0f} s apart and three tracked coordinates, {len(own)} windows "
        f"held out: {np.mean(own):.2f} mm, "
        f"spline {np.mean(base):.2f}: {np.mean(own) / np.mean(base):.2f} × (bar 0.55)"
    )


SECTIONS = {
    "model": bench_model,
    "walks": lambda: leave_one_out(
        WALKS, ("4.2° 6 cm, 0.5 × spline; moonshot 3° 4 cm", "2.8° 1.6 cm; moonshot 2° 1 cm")
    ),
    "jumps": lambda: [leave_one_out(names, ("none", "5.6° 4.5 cm; moonshot 4° 3 cm")) for names in JUMPS.values()],
    "gaps": bench_gaps,
    "clean": lambda: [bench_clean(names) for names in (WALKS, *JUMPS.values())],
    "speed": bench_speed,
    "drag": bench_drag,
    "face": bench_face,
    "people": bench_people,
}


def main() -> None:
    wanted = [word for word in sys.argv[1:] if word in SECTIONS] or [name for name in SECTIONS if name != "people"]
    for name in wanted:
        SECTIONS[name]()


if __name__ == "__main__":
    main()
