"""Montages are plain data: layers, weights, where each frame came from."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from choreograph.base import quat
from choreograph.base.errors import RequestError, SkeletonMismatch
from choreograph.base.floor import FloorTransform
from choreograph.demo import demo_clip
from choreograph.finishing.assemble import assemble
from choreograph.motion.clip import Clip
from choreograph.motion.montage import Cuts, Layer, Montage, Poses

EVERY = np.arange(90)


@pytest.fixture(scope="module")
def clips() -> tuple[Clip, ...]:
    """Three walks at different rates."""
    return demo_clip("walk", 60.0), demo_clip("walk_fast", 60.0), demo_clip("walk_slow", 30.0)


def blended(clips: tuple[Clip, ...], layers: list[Layer], **more: object) -> Montage:
    return Montage(clips, tuple(clip.name for clip in clips), clips[0].skeleton, 60.0, layers, **more)  # type: ignore[arg-type]


def test_two_clips_half_and_half(clips: tuple[Clip, ...]) -> None:
    made = assemble(blended(clips, [Layer(at=EVERY, clip=n, frame=EVERY, weight=0.5) for n in (0, 1)]))
    a, b = clips[0][:90], clips[1][:90]
    np.testing.assert_allclose(made.root_pos, (a.root_pos + b.root_pos) / 2, atol=1e-12)
    halfway = quat.slerp(a.local_rot, b.local_rot, np.full(a.local_rot.shape[:2], 0.5))
    assert quat.angle_between(made.local_rot, halfway).max() < 1e-7
    assert len(made) == 90 and made.fps == 60


def test_only_the_ratio_of_weights_counts(clips: tuple[Clip, ...]) -> None:
    def mixed(*weights: float) -> Clip:
        return assemble(blended(clips, [Layer(at=EVERY, clip=n, frame=EVERY, weight=w) for n, w in enumerate(weights)]))

    np.testing.assert_allclose(mixed(1.0, 3.0).local_rot, mixed(0.25, 0.75).local_rot, atol=1e-12)
    np.testing.assert_array_equal(mixed(1.0, 0.0).root_pos, clips[0].root_pos[:90])
    np.testing.assert_allclose(mixed(0.0, 2.0).root_pos, clips[1].root_pos[:90], atol=1e-12)


def test_three_layers_at_their_own_rates(clips: tuple[Clip, ...]) -> None:
    """Positions are the weighted mean; rotations lie between those that are mixed; a clip at 30 Hz is read between."""
    weights = (0.2, 0.3, 0.5)
    frames = (EVERY, EVERY, EVERY / 2)
    layers = [Layer(at=EVERY, clip=n, frame=frames[n], weight=weights[n]) for n in range(3)]
    montage = blended(clips, layers)
    made = assemble(montage)
    own = [clips[0].root_pos[:90], clips[1].root_pos[:90], clips[2].resampled(60.0).root_pos[:90]]
    np.testing.assert_allclose(made.root_pos, sum(w * r for w, r in zip(weights, own, strict=True)), atol=1e-9)
    np.testing.assert_allclose(np.linalg.norm(made.local_rot, axis=-1), 1, atol=1e-12)
    assert (montage.origins.source_clip == 2).all() and (montage.origins.other_clip == 1).all()
    np.testing.assert_allclose(montage.origins.weight, 0.5)
    np.testing.assert_array_equal(montage.origins.source_frame, EVERY / 2)
    np.testing.assert_array_equal(montage.origins.other_frame, EVERY)


def test_layers_cover_only_the_frames_they_name(clips: tuple[Clip, ...]) -> None:
    at = np.arange(30, 60)
    rising = np.linspace(0, 1, 30)
    below = np.ones(90)
    below[at] = 1 - rising
    layers = [
        Layer(at=EVERY, clip=0, frame=EVERY, weight=below),
        Layer(at=at, clip=1, frame=at, weight=rising),
    ]
    montage = blended(clips, layers)
    made, origins = assemble(montage), montage.origins
    np.testing.assert_array_equal(made.root_pos[:30], clips[0].root_pos[:30])
    np.testing.assert_array_equal(made.root_pos[60:], clips[0].root_pos[60:90])
    np.testing.assert_allclose(made.root_pos[59], clips[1].root_pos[59], atol=1e-12)
    assert (origins.other_clip[:30] == -1).all() and np.isnan(origins.other_frame[:30]).all()
    assert origins.source_clip[59] == 1 and origins.other_clip[59] == 0
    assert (origins.weight >= 0.5).all()


def test_frames_may_be_shown_by_different_layers(clips: tuple[Clip, ...]) -> None:
    first, second = np.arange(40), np.arange(40, 90)
    layers = [Layer(at=second, clip=1, frame=second, weight=0.1), Layer(at=first, clip=0, frame=first, weight=7.0)]
    made = assemble(blended(clips, layers))
    np.testing.assert_array_equal(made.root_pos[:40], clips[0].root_pos[:40])
    np.testing.assert_array_equal(made.root_pos[40:], clips[1].root_pos[40:90])


def test_joint_groups_have_weights_of_their_own(clips: tuple[Clip, ...]) -> None:
    joints = len(clips[0].skeleton)
    groups = np.zeros(1 + joints, int)
    groups[1 + joints // 2 :] = 1
    layers = [
        Layer(at=EVERY, clip=0, frame=EVERY, weight=[[1.0, 0.0]]),
        Layer(at=EVERY, clip=1, frame=EVERY, weight=[[0.0, 1.0]]),
    ]
    made = assemble(blended(clips, layers, groups=groups))
    half = joints // 2
    np.testing.assert_array_equal(made.root_pos, clips[0].root_pos[:90])
    assert quat.angle_between(made.local_rot[:, :half], clips[0].local_rot[:90, :half]).max() < 1e-7
    assert quat.angle_between(made.local_rot[:, half:], clips[1].local_rot[:90, half:]).max() < 1e-7


def test_poses_are_laid_on_the_floor(clips: tuple[Clip, ...]) -> None:
    place = FloorTransform(0.7, 2.0, -1.0)
    layer = Layer(at=EVERY, clip=0, frame=EVERY, place=np.array([0.7, 2.0, -1.0]))
    made = assemble(blended(clips, [layer]))
    np.testing.assert_allclose(made.global_positions(), clips[0][:90].moved(place).global_positions(), atol=1e-9)


def test_a_clip_shown_as_it_is(clips: tuple[Clip, ...]) -> None:
    made = assemble(Montage.of_clip(clips[2]))
    np.testing.assert_array_equal(made.local_rot, clips[2].local_rot)
    np.testing.assert_array_equal(made.root_pos, clips[2].root_pos)
    assert made.fps == 30 and made.labels == clips[2].labels


def test_a_skeleton_whose_root_never_moves(walker: Clip) -> None:
    still = replace(walker, root_pos=np.zeros_like(walker.root_pos))
    other = replace(still, local_rot=quat.multiply(still.local_rot, quat.from_rotvec([0.2, 0.0, 0.0])))
    every = np.arange(len(still))
    layers = [Layer(at=every, clip=n, frame=every, weight=w) for n, w in enumerate((0.75, 0.25))]
    montage = Montage((still, other), ("a", "b"), still.skeleton, still.fps, layers, on_floor=False)
    made = assemble(montage)
    assert not made.root_pos.any()
    turned = quat.angle_between(made.local_rot, still.local_rot)
    np.testing.assert_allclose(turned, 0.05, atol=1e-6)


def test_bones_that_change_length_are_mixed_too(walker: Clip) -> None:
    local_pos = np.tile(walker.skeleton.offsets, (len(walker), 1, 1))
    local_pos[:, 1] += [0.0, 0.1, 0.0]
    local_pos[:, 0] = walker.root_pos
    longer, every = replace(walker, local_pos=local_pos), np.arange(len(walker))
    layers = [Layer(at=every, clip=n, frame=every, weight=w) for n, w in enumerate((0.75, 0.25))]
    made = assemble(Montage((walker, longer), ("a", "b"), walker.skeleton, walker.fps, layers))
    assert made.local_pos is not None
    np.testing.assert_allclose(made.local_pos[:, 1, 1], walker.skeleton.offsets[1, 1] + 0.025, atol=1e-12)
    np.testing.assert_allclose(made.local_pos[:, 0], made.root_pos, atol=1e-12)


def test_given_contacts_count_before_the_clips_own(clips: tuple[Clip, ...]) -> None:
    flags = np.zeros((90, len(clips[0].skeleton.feet)), bool)
    flags[10:20, 1] = True
    made = assemble(blended(clips, [Layer(at=EVERY, clip=0, frame=EVERY)], contacts=flags))
    np.testing.assert_array_equal(made.contacts, flags)


def test_clips_are_asked_for_only_if_they_are_shown(clips: tuple[Clip, ...]) -> None:
    class Lazy(list[Clip]):
        def __getitem__(self, index):  # type: ignore[no-untyped-def, override]
            assert index == 1
            return clips[index]

    layers = [Layer(at=EVERY, clip=1, frame=EVERY)]
    assert len(assemble(Montage(Lazy(clips), ("", "", ""), clips[0].skeleton, 60.0, layers))) == 90


def test_what_cannot_be_is_refused(clips: tuple[Clip, ...], walker: Clip) -> None:
    with pytest.raises(ValueError, match="frame or more"):
        blended(clips, [])
    with pytest.raises(ValueError, match="10 frames have no layer that counts, the first of them frame 0"):
        blended(clips, [Layer(at=EVERY[10:], clip=0, frame=EVERY[10:])])
    with pytest.raises(ValueError, match="no layer that counts"):
        blended(clips, [Layer(at=EVERY, clip=0, frame=EVERY, weight=0.0)])
    with pytest.raises(ValueError, match="0 or more"):
        Layer(at=EVERY, clip=0, frame=EVERY, weight=-1.0)
    with pytest.raises(ValueError, match="in order"):
        Layer(at=EVERY[::-1], clip=0, frame=EVERY)
    with pytest.raises(ValueError, match="do not fit"):
        Layer(at=EVERY, clip=np.zeros(3), frame=EVERY)
    with pytest.raises(ValueError, match="groups"):
        blended(clips, [Layer(at=EVERY, clip=0, frame=EVERY, weight=[[1.0, 1.0, 1.0]])])
    with pytest.raises(ValueError, match="exact frames"):
        blended(clips, [Layer(at=EVERY, clip=0, frame=EVERY)], exact=[90])
    with pytest.raises(ValueError, match="each cut needs"):
        Cuts(np.array([1.0]), Poses(clip=0, frame=[1.0]), Poses(clip=0, frame=[]))
    with pytest.raises(RequestError, match="rate"):
        Montage(clips, ("",) * 3, clips[0].skeleton, 0.0, [Layer(at=EVERY, clip=0, frame=EVERY)])
    with pytest.raises(ValueError, match="not within"):
        assemble(blended(clips, [Layer(at=EVERY, clip=0, frame=EVERY + 10_000)]))
    with pytest.raises(SkeletonMismatch, match="other joints"):
        assemble(blended((clips[0], walker), [Layer(at=EVERY, clip=1, frame=EVERY % 20)]))
