"""Finishing by mechanics: smaller residuals, feet in place, smooth ends, nothing less natural, and honest reports."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

import choreograph as cg
from choreograph.cli.main import load_command
from choreograph.contract.result import Metric
from choreograph.demo import demo_clip
from choreograph.dynamics.body import make_body
from choreograph.motion.clip import Clip
from choreograph.verbs import find_verb, rooms
from choreograph.verbs.physics.finish import Mechanical, finish_mechanics
from choreograph.verbs.physics.physics_pass import finish_result, refused_windows
from choreograph.verbs.physics.quality import QUALITY_TEXT, Gauge, Quality

WALK = demo_clip("walk", 60.0)


def too_fast(clip: Clip, times: float = 1.25) -> Clip:
    """A motion played faster than gravity lets bodies fall."""
    slow = clip.resampled(clip.fps / times)
    return Clip(clip.skeleton, clip.fps, slow.root_pos, slow.local_rot, "fast")


JUMP = demo_clip("jump_high", 60.0)
FAST = too_fast(JUMP)


@pytest.fixture(scope="module")
def whole() -> Mechanical:
    """Corrected whatever the figures say."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Quality, "worse_than", lambda *_, **__: [])
        return finish_mechanics(FAST, make_body(FAST.skeleton))


@pytest.fixture(scope="module")
def finished() -> Mechanical:
    return finish_mechanics(FAST, make_body(FAST.skeleton), sources=[JUMP])


def test_forces_of_nobody_are_taken_out(whole: Mechanical) -> None:
    assert whole.windows and all(window.share == 1.0 for window in whole.windows)
    assert whole.residual_after < 0.7 * whole.residual_before
    assert whole.change_m < 0.04
    feet = [Gauge(FAST).measure(clip).depth_m for clip in (FAST, whole.clip)]
    assert feet[1] < feet[0] + 0.01


def test_what_is_outside_of_windows_stays_as_it_is(whole: Mechanical) -> None:
    was = FAST
    changed = np.abs(whole.clip.root_pos - was.root_pos).max(axis=1) > 1e-12
    for frame in np.flatnonzero(changed):
        time = frame / was.fps
        assert any(one.start_s - 0.05 <= time <= one.stop_s + 0.05 for one in whole.windows)
    # No step where a window begins or ends.
    bend = np.abs(np.diff(whole.clip.root_pos - was.root_pos, n=2, axis=0)).max(axis=1)
    edges = np.flatnonzero(np.diff(changed.astype(int)))
    assert len(edges) and max(bend[max(0, k - 2) : k + 2].max(initial=0.0) for k in edges) < 1e-3


def test_no_figure_is_worse_by_more_than_a_tenth(finished: Mechanical) -> None:
    gauge = Gauge(FAST, [JUMP])
    before, after = gauge.measure(FAST), gauge.measure(finished.clip)
    assert after.worse_than(before) == []


def test_a_motion_that_obeys_mechanics_is_left_alone() -> None:
    poses = np.repeat(JUMP.local_rot[:1], 90, axis=0)
    stands = Clip(JUMP.skeleton, 60.0, np.repeat(JUMP.root_pos[:1], 90, axis=0), poses, "stands")
    made = finish_mechanics(stands, make_body(stands.skeleton))
    assert made.change_m < 1e-3


def test_worse_by_more_than_a_tenth_is_worse() -> None:
    one = Quality(0.1, 0.01, 100.0, 10.0, 0.01, 0.0)
    assert one.worse_than(one) == []
    assert Quality(0.112, 0.01, 100.0, 10.0, 0.01, 0.0).worse_than(one) == ["sliding_m_s"]
    assert Quality(0.1, 0.01, 100.0, 10.0, 0.02, 0.001).worse_than(one) == ["novelty_m", "depth_m"]
    assert Quality(0.1, 0.01, 100.0, 10.0, 0.02, 0.0).worse_than(one, Quality(0.1, 0.01, 100.0, 10.0, 0.03, 0.0)) == []
    assert set(QUALITY_TEXT) == {*vars(one), "gain", "change"}


def test_novelty_is_the_distance_to_the_nearest_pose_by_brute_force() -> None:
    gauge = Gauge(WALK, [WALK])
    made = too_fast(WALK)
    poses, known = made.global_positions()[::2], WALK.global_positions()
    found = []
    for pose in poses:
        best = np.inf
        for other in known:
            a, b = pose - pose[:, [0, 1, 2]].mean(axis=0) * [1, 0, 1], other - other.mean(axis=0) * [1, 0, 1]
            za, zb = a[:, 0] + 1j * a[:, 2], b[:, 0] + 1j * b[:, 2]
            turn = np.vdot(zb, za)
            flat = za - zb * turn / max(abs(turn), 1e-12)
            best = min(best, float(np.sqrt(((a[:, 1] - b[:, 1]) ** 2 + np.abs(flat) ** 2).sum() / len(a))))
        found.append(best)
    assert gauge.measure(made).novelty_m == pytest.approx(np.percentile(found, 95), abs=1e-6)


def test_the_verb_finishes_and_says_where_mechanics_and_naturalness_fight() -> None:
    result = cg.physics(FAST, cg.PhysicsRequest(smallest_change=True), examples=[JUMP])
    assert result.finished is not None and len(result.clip) == len(FAST)
    assert result.best.metrics["residual_after"].value <= result.best.metrics["residual_before"].value
    loud = [window for window in result.finished.refused if window.after > 0.25]
    assert len(refused_windows(result.finished)) == len(loud) == len(result.problems)
    assert all(problem.kind == "physics_skipped" for problem in result.problems)


def test_finishing_and_other_changes_exclude_each_other() -> None:
    with pytest.raises(cg.RequestError, match="which only finishes"):
        cg.PhysicsRequest(smallest_change=True, farther_m=0.3)


def test_any_verbs_result_can_be_finished() -> None:
    result = cg.physics(FAST, cg.PhysicsRequest(smallest_change=True))
    again = finish_result(result)
    assert len(again.answers) == 1 and "mechanics_change" in again.best.metrics
    assert again.best.motions[0].raw is not None


def test_a_cancelled_finishing_stops() -> None:
    def stop(stage: str, done: int, total: int) -> None:
        raise cg.Cancelled

    with pytest.raises(cg.Cancelled):
        cg.physics(FAST, cg.PhysicsRequest(smallest_change=True), progress=stop)


def test_without_recordings_poses_change_no_more_than_that_gains() -> None:
    """The same motion a little too fast, and far too fast; Gauge measures against the motion itself."""
    for times, allowed in ((1.04, 0.0031), (1.25, np.inf)):
        fast = too_fast(JUMP, times)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(
                Gauge, "measure", lambda self, clip: Quality(0, 0, 0, 0, self._novelty(clip.global_positions()), 0)
            )
            made = finish_mechanics(fast, make_body(fast.skeleton))
            moved = Gauge(fast).measure(made.clip).novelty_m
        assert not made.recorded and moved <= allowed
        assert made.residual_after <= made.residual_before
        assert all("novelty_m" not in window.worse for window in made.windows)


def test_a_jump_played_too_fast_comes_nearer_to_gravity(recordings: Path) -> None:
    jump = cg.read_clip(recordings / "cmu/16/16_05.amc").resampled(60.0)
    fast = too_fast(jump, 1.2)
    made = finish_mechanics(fast, make_body(fast.skeleton))
    assert made.residual_after < 0.6 * made.residual_before
    assert made.change_m < 0.03


@pytest.mark.slow
def test_a_verbs_metrics_are_measured_anew_and_must_not_suffer() -> None:
    result = cg.physics(FAST, cg.PhysicsRequest(smallest_change=True))
    given = replace(result.best, metrics={"off": Metric(0.1, "m", "is off by")})
    result = replace(result, answers=(given,))
    good = finish_result(result, (), lambda request, answer: {"off": Metric(0.102, "m", "is off by")})
    assert good.best.metrics["off"].value == 0.102 and "mechanics_root" in good.best.metrics
    bad = finish_result(result, (), lambda request, answer: {"off": Metric(0.2, "m", "is off by")})
    assert bad.best.metrics == given.metrics and bad.clip is result.clip
    assert any(one.kind == "physics_skipped" and one.metric in bad.metrics for one in bad.problems)


@pytest.mark.slow
def test_every_verb_that_makes_motion_can_be_finished_by_mechanics(tmp_path: Path) -> None:
    for verb in map(find_verb, rooms()):
        flags = {flag for option in load_command(verb.name).params for flag in option.opts}
        assert ("--mechanics" in flags) == (verb.changes_motion and verb.writes is None and verb.name != "physics"), (
            verb.name
        )
    cg.write_clip(tmp_path / "walk.bvh", demo_clip("walk", 30.0))
    words = [tmp_path / "walk.bvh", "--duration", 5.0, "--mechanics", "-o", tmp_path / "out.bvh", "--best-effort"]
    done = CliRunner().invoke(load_command("retime"), [str(word) for word in words])
    told = ("mechanics moved joints by", "Physics pass left the motion unchanged")  # the demo's feet stand all too well
    assert done.exit_code == 0 and any(words in done.output for words in told), done.output
