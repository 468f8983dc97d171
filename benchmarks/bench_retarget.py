"""How well a motion stays itself on other bodies: every rig and skeleton at hand, there, cleaned and back.

    CHOREOGRAPH_DATA=<folder with cmu/, rigs/ and odd_files/> python -m benchmarks retarget

For each body, over clips of subject 16: angles between recorded and retargeted bones of arms and legs, ankles in body
heights, how far joints are off after going there and back, how far planted ankles and balls wander on the body, in the
median and at most, beside the cleaned recording's own, the same on the way back, cleaned again, and seconds of motion
retargeted and cleaned per CPU second, by the median of nine plain calls.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path

import numpy as np

from benchmarks.datasets import find_recordings
from choreograph.base.arrays import Flags
from choreograph.demo import demo_clip
from choreograph.finishing.footskate import clean_feet
from choreograph.finishing.retarget_clean import put_on
from choreograph.formats import read_clip
from choreograph.motion.clip import Clip
from choreograph.motion.contacts import detect_contacts, runs
from choreograph.motion.foot_geometry import FootGeometry, recorded_stance
from choreograph.motion.retarget import leg_length, retarget
from choreograph.motion.role_map import SIDES
from choreograph.motion.roles import FOOT_ROLES
from choreograph.motion.skeleton import Skeleton
from choreograph.verbs.retarget.measure import ARMS, LEGS, ankle_offsets, bone_angles
from choreograph.verbs.retarget.search import read_body

TRIALS = ("16_15", "16_17", "16_45", "16_47")
CALLS = 9
BODIES = (
    *("rigs/Xbot.glb", "rigs/CesiumMan.glb", "rigs/RiggedFigure.glb", "rigs/RobotExpressive.glb"),
    *("rigs/Samba_Dancing.fbx", "odd_files/mixamo_samba_mixed_orders_colon_names.bvh"),
    *("odd_files/pybvh_mixed_orders_CRLF.bvh", "odd_files/test_freebvh.bvh", "odd_files/three_pirouette.bvh"),
    *("odd_files/vicon_6ch_all_scinot.bvh", "odd_files/geno_6ch_75joints_2frames.bvh", "cmu_bvh/16_47.bvh"),
    "cmu_more/108/108_01.amc",
)
BACK = ("hips", "head", *(f"{s}_{p}" for s in SIDES for p in ("foot", "toe", "lower_leg", "forearm", "hand")))


def wander(clip: Clip, recorded: Clip, flags: Flags, by: Skeleton | None = None) -> list[float]:
    """How far each planted joint goes from the middle of its plant along the floor, metres.

    Plants are the recording's, while its joint is slower than 0.3 m/s, 0.1 s or more, so that all bodies are asked the
    same; on the way back those of joints that the body in between has, too.
    """
    found = []
    roles = [role for role in FOOT_ROLES if recorded.skeleton.find(role) is not None]
    for column, role in enumerate(roles):
        here = clip.skeleton.find(role)
        if here is None or (by is not None and by.find(role) is None):
            continue
        there = recorded.global_positions()[:, recorded.skeleton.need(role)]
        speed = np.linalg.norm(np.gradient(there, 1 / clip.fps, axis=0), axis=1)
        path = clip.global_positions()[:, here][:, [0, 2]]
        for start, stop in runs(flags[:, column] & (speed < 0.3)):
            if stop - start >= 0.1 * clip.fps:
                part = path[start:stop]
                found.append(float(np.linalg.norm(part - part.mean(axis=0), axis=1).max()))
    return found


def back_errors(clip: Clip, back: Clip) -> dict[str, float]:
    """Mean distance of joints by role, metres; those that both bodies have."""
    one, other = clip.global_positions(), back.global_positions()
    found = {}
    for role in BACK:
        here, there = clip.skeleton.find(role), back.skeleton.find(role)
        if here is not None and there is not None:
            found[role] = float(np.linalg.norm(one[:, here] - other[:, there], axis=1).mean())
    return found


def body(folder: Path, name: str) -> tuple[Skeleton, FootGeometry | None]:
    return (demo_clip("walk", 30.0).skeleton, None) if name == "mannequin" else read_body(str(folder / name))


def measure(clips: list[Clip], skeleton: Skeleton, stance: FootGeometry | None) -> str:
    arms, legs, ankles, back, slips, own, returned = [], [], [], [], [], [], []
    spent = seconds = 0.0
    for clip in clips:
        took = []
        for number in range(CALLS):
            fresh = clip.with_name(f"{number}")  # a clip that nothing is known of yet
            began = time.process_time()
            both = put_on(fresh, skeleton, stance=stance)
            took.append(time.process_time() - began)
        spent += float(np.median(took))
        made, clean = both.raw, both.clip
        seconds += clip.seconds
        arms.append(bone_angles(clip, made, ARMS).mean() if bone_angles(clip, made, ARMS).size else 0.0)
        legs.append(bone_angles(clip, made, LEGS).mean())
        ankles.append(ankle_offsets(clip, made).mean())
        back.append(back_errors(clip, retarget(made, clip.skeleton, stance=recorded_stance(clip))))
        flags = detect_contacts(clip)
        scale = leg_length(skeleton) / leg_length(clip.skeleton)
        slips += [slip / max(scale, 1.0) for slip in wander(clean, clip, flags)]
        home = put_on(clean, clip.skeleton, stance=recorded_stance(clip)).clip
        returned += wander(home, clip, flags, skeleton)
        own += wander(clean_feet(clip.with_name("own")), clip, flags)
    worst = {role: np.mean([one[role] for one in back]) for role in back[0]}
    role = max(worst, key=lambda r: worst[r])
    return (
        f"{np.degrees(np.mean(arms)):>5.1f} {np.degrees(np.mean(legs)):>5.1f} {np.mean(ankles):>8.4f}"
        f" {100 * np.mean(list(worst.values())):>7.2f} {100 * worst[role]:>6.2f} {role:<16}"
        f" {1000 * np.median(slips):>5.1f} {1000 * max(slips):>6.1f}"
        f" ({1000 * np.median(own):.1f} {1000 * max(own):.1f})"
        f" {1000 * np.median(returned):>5.1f} {1000 * max(returned):.1f}"
        f" {seconds / spent:>6.0f}x"
    )


def main() -> None:
    """Print the table."""
    folder = find_recordings()
    clips = [read_clip(folder / "cmu" / "16" / f"{name}.amc") for name in TRIALS]
    print("there and back: mean over joints, cm, and the worst joint's; plants: median and most, mm (the recording's)")
    print(f"{'':<30} arms° legs° ankles/h  back cm  worst {'':<16} plants mm {'':<8} back again   speed")
    for name in (*BODIES, "mannequin"):
        if len(sys.argv) > 1 and not any(word in name for word in sys.argv[1:]):
            continue
        skeleton, stance = body(folder, name)
        print(f"{Path(name).stem[:30]:<30} {measure(clips, skeleton, stance)}", flush=True)


if __name__ == "__main__":
    main()
