from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from choreograph.base import quat
from choreograph.base.errors import RequestError
from choreograph.base.floor import FloorTransform
from choreograph.build.graph import build_graph
from choreograph.demo import demo_clip
from choreograph.finishing.body import RootTarget, meet_body
from choreograph.finishing.cuts import smoothing
from choreograph.finishing.finish import finish
from choreograph.finishing.settings import FinishSettings
from choreograph.graph.model import MotionGraph
from choreograph.graph.settings import GraphSettings
from choreograph.verbs.solve.splice import Splice

BODY = (RootTarget(0.0, (1.0, 1.0), 0.5), RootTarget(1.0, (1.5, 2.0)), RootTarget(2.0, (1.0, 3.5), -3.0))


@pytest.fixture(scope="module")
def graph() -> MotionGraph:
    clips = [demo_clip(name, 60.0) for name in ("walk", "walk_turn_90_left")]
    return build_graph(clips, GraphSettings(threshold_m=0.001))


@pytest.fixture(scope="module")
def splice(graph: MotionGraph) -> Splice:
    """Three pieces that fit badly, laid so that the torso goes on where it was, and 61 frames of them."""
    clip, start, stop = np.array([0, 1, 0]), np.array([5, 20, 12]), np.array([30, 41, 27])
    lying = [FloorTransform(0.4, 1.0, -1.0)]
    torsos = []
    for number in (0, 1):
        at_rate = graph.clips[number].resampled(graph.rate_hz)
        hips = at_rate.global_positions()[:, at_rate.skeleton.hips]
        torsos.append(FloorTransform(at_rate.facing(), hips[:, 0], hips[:, 2]))
    for k in (0, 1):
        left, entered = torsos[clip[k]], torsos[clip[k + 1]]
        here = FloorTransform(left.yaw[stop[k]], left.x[stop[k]], left.z[stop[k]])
        at = start[k + 1]
        there = FloorTransform(entered.yaw[at], entered.x[at], entered.z[at])
        lying.append(lying[-1] @ here @ there.inverse())
    return Splice(
        graph, clip, start, stop, FloorTransform(*(np.array([getattr(t, n) for t in lying]) for n in ("yaw", "x", "z")))
    )


@pytest.mark.parametrize(("rises", "fades"), [(1.0, 1.0), (1.5, 0.5), (0.2, 1.0)])
def test_the_smoothing_curve_closes_a_jump_of_one_and_fades_away(rises: float, fades: float) -> None:
    time = np.linspace(-2, 2, 4001)
    left, right = (smoothing(time, np.full(4001, before), rises, fades) for before in (True, False))
    at = 2000
    assert left[at] - right[at] == pytest.approx(1.0)
    assert left[at] == pytest.approx(rises / (rises + fades))
    assert left[time <= -rises] == pytest.approx(0) and right[time >= fades] == pytest.approx(0)
    assert left[at] - left[at - 1] == pytest.approx(right[at + 1] - right[at], rel=0.02)  # as fast before as behind
    assert smoothing(np.array([-0.5]), np.array([True]), 1.0, 1.0) == pytest.approx(0.125)  # the paper's curve


def test_raw_frames_are_the_recorded_ones(graph: MotionGraph, splice: Splice) -> None:
    motion = finish(splice, FinishSettings(clean=False))
    assert motion.raw.fps == 60 and len(motion.raw) == 121  # from the first graph frame to the last
    assert len(motion.origins) == 121 and set(motion.origins.other_clip) == {-1}
    for frame in (0, 60, 110):
        own = graph.clips[motion.origins.source_clip[frame]]
        at = int(motion.origins.source_frame[frame])
        assert np.allclose(quat.angle_between(motion.raw.local_rot[frame, 1:], own.local_rot[at, 1:]), 0, atol=1e-6)


def test_jumps_are_closed(splice: Splice) -> None:
    motion = finish(splice, FinishSettings(clean=False))

    def most(clip, frame: int) -> float:  # type: ignore[no-untyped-def]
        return float(quat.angle_between(clip.local_rot[frame - 1], clip.local_rot[frame]).max())

    usual = max(most(motion.raw, f) for f in range(10, 40))
    for cut in (50, 92):
        assert most(motion.raw, cut) > 2 * usual
        assert most(motion.clip, cut) < 1.5 * usual


def test_a_foot_that_jumps_far_at_a_cut_steps(graph: MotionGraph) -> None:
    """Held throughout the cut, it would stand a hand's breadth from where either piece has it."""
    plants = []
    for jump in (0.0, 0.05, 0.12):
        lying = FloorTransform(np.zeros(2), np.array([0.0, jump]), np.zeros(2))
        walk = Splice(graph, np.array([0, 0]), np.array([5, 30]), np.array([30, 50]), lying)
        motion = finish(walk, FinishSettings(clean=False))
        assert motion.raw.contacts is not None and motion.clip.contacts is not None
        plants.append(motion.clip.contacts)
        assert (motion.raw.contacts == plants[0]).all()
    at = 50  # the cut, at 60 Hz
    assert plants[0][at].any() and (plants[1] == plants[0]).all()
    assert not plants[2][at - 3 : at + 4].any()
    assert (plants[2] == plants[0])[[*range(at - 4), *range(at + 4, len(plants[0]))]].all()


@pytest.mark.parametrize("clean", [True, False])
def test_body_constraints_are_met_exactly(splice: Splice, clean: bool) -> None:
    clip = finish(splice, FinishSettings(clean=clean, root_correction_m_s=1.0), body=BODY).clip
    hips, facing = clip.global_positions()[:, clip.skeleton.hips], clip.facing()
    for target in BODY:
        frame = round(target.at_s * clip.fps)
        assert np.allclose(hips[frame, [0, 2]], target.position, atol=1e-9)
        if target.facing is not None:
            assert abs(np.angle(np.exp(1j * (facing[frame] - target.facing)))) < 1e-9


def test_what_is_missing_is_spread_evenly(splice: Splice) -> None:
    raw = finish(splice, FinishSettings(clean=False)).clip
    moved = meet_body(raw, BODY).root_pos - raw.root_pos
    assert np.allclose(np.diff(moved[:61], n=2, axis=0)[:, [0, 2]], 0, atol=1e-9)
    assert np.allclose(np.diff(moved[60:], n=2, axis=0)[:, [0, 2]], 0, atol=1e-9)
    assert meet_body(raw, ()) is raw


def test_nobody_glides_to_where_he_could_not_get(splice: Splice) -> None:
    far = (BODY[0], BODY[1], RootTarget(2.0, (30.0, 0.0), 0.0))
    glide = FinishSettings(root_correction_m_s=1.0, bend_body=False)
    motion = finish(splice, glide, body=far)
    raw = finish(splice, glide, body=far[:2]).clip
    hips = motion.clip.skeleton.hips
    torso, alone = (c.global_positions()[:, hips][:, [0, 2]] for c in (motion.clip, raw))
    assert np.allclose(torso[60], BODY[1].position, atol=1e-9)
    # In a second it is brought as far as nobody minds, and said how far it stays away.
    assert np.linalg.norm(torso[120] - alone[120]) == pytest.approx(1.0, abs=0.05)
    left = np.linalg.norm(torso[120] - far[2].position)
    assert motion.missed_m == pytest.approx((0.0, 0.0, left)) and left > 20
    assert motion.glide_m_s == pytest.approx(1.0, abs=0.05)
    met = finish(splice, glide, body=BODY)
    assert met.missed_m == met.missed_rad == (0.0, 0.0, 0.0)
    turn = (BODY[0], replace(BODY[1], facing=0.5), RootTarget(1.2, (1.5, 2.0), 0.5 + np.pi))
    quick = finish(splice, glide, body=turn)
    left = quick.clip.facing()[72] - (0.5 + np.pi)
    assert quick.missed_rad[2] == pytest.approx(abs(np.angle(np.exp(1j * left)))) and quick.missed_rad[2] > 1
    assert quick.missed_rad[:2] == (0.0, 0.0)
    brought = finish(splice, FinishSettings(root_correction_m_s=None), body=far)
    assert brought.missed_m == (0.0, 0.0, 0.0)
    assert np.allclose(brought.clip.global_positions()[120, hips, [0, 2]], far[2].position, atol=1e-9)


def test_settings_and_pieces_are_checked(graph: MotionGraph) -> None:
    with pytest.raises(RequestError, match="smooth_s is 0"):
        FinishSettings(cut_smooth_s=0)
    with pytest.raises(ValueError, match="within its clip"):
        Splice(graph, np.array([0]), np.array([5]), np.array([9999]), FloorTransform())
