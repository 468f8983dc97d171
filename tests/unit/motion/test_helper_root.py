"""Helper roots folded into the hips: the body stays where it was."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import choreograph as cg
from choreograph.base import quat
from choreograph.base.errors import SkeletonMismatch
from choreograph.build.graph import add_clips
from choreograph.demo import demo_clip
from choreograph.formats import read_clip, write_clip
from choreograph.motion.clip import Clip
from choreograph.motion.helper_root import fold_helper_root, helper_depth, unite_roots
from choreograph.motion.skeleton import Skeleton

HELPER = "joint_Root"


def with_helper(clip: Clip, *, moving: bool) -> Clip:
    """The clip hung from a helper, which stands still or travels and turns below the hips."""
    old, frames = clip.skeleton, len(clip)
    skeleton = Skeleton(
        (HELPER, *old.names),
        np.concatenate([[-1], old.parents + 1]),
        np.concatenate([np.zeros((1, 3)), old.offsets]),
        old.tip_parents + 1,
        old.tip_offsets,
    )
    place, turn = np.zeros((frames, 3)), np.tile(quat.IDENTITY, (frames, 1))
    if moving:
        place[:, [0, 2]] = clip.root_pos[:, [0, 2]]
        turn = quat.from_yaw(np.linspace(0.0, 1.0, frames))
    back = quat.inverse(turn)
    rot = np.concatenate([turn[:, None], clip.local_rot], axis=1)
    rot[:, 1] = quat.multiply(back, clip.local_rot[:, 0])
    pos = np.tile(skeleton.offsets, (frames, 1, 1))
    pos[:, 0] = place
    pos[:, 1] = quat.rotate(back, clip.root_pos - place)
    return Clip(skeleton, clip.fps, place, rot, f"{clip.name}_helped", local_pos=pos, labels=clip.labels)


@pytest.mark.parametrize("moving", [False, True])
def test_the_body_stays_where_it_was(moving: bool) -> None:
    walk = demo_clip("walk", 30.0)
    helped = with_helper(walk, moving=moving)
    assert helper_depth(helped.skeleton) == 1 and helper_depth(walk.skeleton) == 0
    assert np.allclose(helped.global_positions()[:, 1:], walk.global_positions(), atol=1e-9)
    folded = fold_helper_root(helped)
    assert folded.skeleton.matches(walk.skeleton, 1e-9)
    assert folded.local_pos is None
    assert np.abs(folded.global_positions() - helped.global_positions()[:, 1:]).max() <= 1e-9
    assert np.abs(folded.tip_positions() - helped.tip_positions()).max() <= 1e-9
    assert folded.labels == walk.labels


def test_bones_that_change_length_keep_doing_so() -> None:
    helped = with_helper(demo_clip("walk", 30.0), moving=True)
    pos = np.array(helped.local_pos)
    pos[:, 5] *= np.linspace(1.0, 1.1, len(helped))[:, None]
    stretching = replace(helped, local_pos=pos)
    folded = fold_helper_root(stretching)
    assert folded.local_pos is not None
    assert np.abs(folded.global_positions() - stretching.global_positions()[:, 1:]).max() <= 1e-9


def test_files_with_and_without_a_helper_build_together(tmp_path: Path) -> None:
    walks = [demo_clip(name, 30.0) for name in ("walk", "walk_fast", "walk_slow", "walk_veer_left")]
    write_clip(tmp_path / "bare.bvh", walks[0])
    write_clip(tmp_path / "still.bvh", with_helper(walks[1], moving=False))
    write_clip(tmp_path / "moving.bvh", with_helper(walks[2], moving=True))
    centimetres = with_helper(walks[3], moving=True)
    large = replace(
        centimetres,
        skeleton=centimetres.skeleton.scaled(100.0),
        root_pos=100.0 * centimetres.root_pos,
        local_pos=100.0 * np.asarray(centimetres.local_pos),
    )
    write_clip(tmp_path / "centimetres.bvh", large)
    clips = [read_clip(tmp_path / f"{name}.bvh") for name in ("bare", "still", "moving", "centimetres")]
    graph = cg.build_graph(clips, workers=1)
    assert graph.skeleton.names == walks[0].skeleton.names
    notes = [str(note) for note in graph.notes if note.kind == "folded-root"]
    assert notes == [
        f"'{HELPER}' above '{walks[0].skeleton.names[0]}' is a helper that 2 of 4 clips have: it was folded in"
    ]
    for clip, walk in zip(graph.clips, walks, strict=True):
        assert np.abs(clip.global_positions() - walk.global_positions()).max() < 1e-4
    # Clips with a helper come to a graph without one, and onto a skeleton with one.
    grown = add_clips(graph, [with_helper(demo_clip("walk_weave", 30.0), moving=True)])
    assert len(grown.infos) == 5
    onto = cg.build_graph(clips, onto=clips[2].skeleton, workers=1)
    assert onto.skeleton.names == walks[0].skeleton.names


def test_other_differences_still_count() -> None:
    walk = demo_clip("walk", 30.0)
    helped = with_helper(walk, moving=True)
    assert unite_roots([helped, helped]) == ([helped, helped], [])
    other = replace(walk, skeleton=replace(walk.skeleton, names=tuple(f"x{n}" for n in walk.skeleton.names)))
    with pytest.raises(SkeletonMismatch):
        cg.build_graph([helped, other], onto=False, workers=1)
