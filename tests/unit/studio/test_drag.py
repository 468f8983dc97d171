"""Dragging goals and pulling key poses over the socket: the whole motion comes back for the newest request."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from tests.unit.studio.running import Studio, hear, say

from choreograph.base import quat
from choreograph.goals.model import PoseSource
from choreograph.motion import kinematics

ASK: dict[str, Any] = {
    "duration_s": 2.0,
    "goals": [
        {"at_s": 0.0, "pose": {"clip": "walk", "frame": 10}, "as_recorded": True},
        {"at_s": 2.0, "pose": {"clip": "walk", "frame": 70}, "as_recorded": True},
    ],
}


def rows_of(message: dict[str, Any]) -> np.ndarray[Any, Any]:
    return np.frombuffer(message["frames"], "<f4").reshape(message["count"], -1)


def joint_at(studio: Studio, motion: dict[str, Any], row: np.ndarray[Any, Any], name: str) -> np.ndarray[Any, Any]:
    """Where a joint is in a row of frames, by the recorded skeleton's own offsets."""
    from choreograph.demo import demo_clip

    skeleton = demo_clip("walk", 30.0).skeleton
    rot = row[3:].reshape(1, -1, 4)[..., [3, 0, 1, 2]].astype(float)
    pos = kinematics.forward(row[None, :3].astype(float), rot, skeleton.offsets[None], skeleton.parents)[0]
    return np.asarray(pos[0, motion["joints"].index(name)])


def test_a_held_joint_is_dragged_and_the_motion_follows(studio: Studio) -> None:
    with studio.page() as page:
        say(page, "ask", verb="complete", number=1, ask=ASK)
        assert hear(page, "answer", "refused")["type"] == "answer"
        places = [[0.1, 1.2 + 0.02 * k, None] for k in range(5)]
        for position in places:
            goal = {"at_s": 1.0, "joint": "RightHand", "position": position}
            say(page, "drag", number=2, ask={**ASK, "goals": [*ASK["goals"], goal]})
            heard = hear(page, "partial", "refused", "trouble")
            assert heard["type"] == "partial" and heard["verb"] == "complete" and heard["number"] == 2, heard
        assert heard["motion"]["fps"] == 30 and heard["count"] == 61 == heard["motion"]["frames"]
        hand = joint_at(studio, heard["motion"], rows_of(heard)[30], "RightHand")
        np.testing.assert_allclose(hand[:2], [0.1, 1.28], atol=0.01)


def test_a_pose_is_pulled_and_is_a_key_pose_then(studio: Studio) -> None:
    with studio.page() as page:
        say(page, "drag", number=1, ask=ASK)
        begun = hear(page, "partial", "refused")
        row = rows_of(begun)[30]
        turns = row[3:].reshape(-1, 4)[:, [3, 0, 1, 2]].round(5).tolist()
        source = {"root": row[:3].round(4).tolist(), "rotations": turns}
        pose = {"at_s": 1.0, "pose": source, "as_recorded": True}
        asked = {**ASK, "goals": [*ASK["goals"], pose]}
        before = joint_at(studio, begun["motion"], row, "RightHand")
        to = (before + np.array([0.0, 0.25, 0.05])).tolist()
        say(page, "drag", number=2, ask=asked, pull={"goal": 2, "joint": "RightHand", "position": to})
        pulled = hear(page, "partial", "refused")
        assert pulled["type"] == "partial", pulled
        made = rows_of(pulled)[30]
        np.testing.assert_allclose(joint_at(studio, pulled["motion"], made, "RightHand"), to, atol=0.01)
        arms = [pulled["motion"]["joints"].index(name) for name in ("RightArm", "RightForeArm")]
        turned = quat.angle_between(
            made[3:].reshape(-1, 4)[arms][:, [3, 0, 1, 2]], row[3:].reshape(-1, 4)[arms][:, [3, 0, 1, 2]]
        )
        assert turned.max() > 0.1, "the arm follows the hand"
        # What was pulled is asked for as a key pose, and met to the bit that rows have.
        source = {"root": made[:3].tolist(), "rotations": made[3:].reshape(-1, 4)[:, [3, 0, 1, 2]].tolist()}
        say(page, "ask", verb="complete", number=3, ask={**asked, "goals": [*ASK["goals"], {**pose, "pose": source}]})
        answer = hear(page, "answer", "refused")
        assert answer["type"] == "answer" and answer["results"][0]["problems"] == [], answer


@pytest.mark.parametrize(
    ("asked", "why"),
    [
        ({"ask": {"duration_s": 2.0, "goals": [{"at_s": 1, "joint": "Tail", "position": [0, 1, 0]}]}}, "Tail"),
        ({"ask": {**ASK, "goals": [{"at_s": 0, "pose": {"root": [0, 1, 0], "rotations": [[1, 0, 0, 0]]}}]}}, "joints"),
    ],
)
def test_what_cannot_be_dragged_is_refused(studio: Studio, asked: dict[str, Any], why: str) -> None:
    with studio.page() as page:
        say(page, "drag", number=4, **asked)
        refused = hear(page, "refused", "partial")
        assert refused["type"] == "refused" and why in refused["failure"]["error"]
        say(page, "drag", number=5)
        assert "ask" in hear(page, "trouble")["failure"]["error"]


def test_a_pose_of_its_own_is_checked() -> None:
    from choreograph.base.errors import RequestError

    for wrong, why in (
        ({"rotations": ((2.0, 0.0, 0.0, 0.0),), "root": (0.0, 1.0, 0.0)}, "length 1"),
        ({"rotations": ((1.0, 0.0, 0.0, 0.0),)}, "root is missing"),
        ({"root": (0.0, 1.0, 0.0), "clip": "walk"}, "rotations is missing"),
        ({"rotations": ((1.0, 0.0, 0.0, 0.0),), "root": (0.0, 1.0, 0.0), "clip": "walk"}, "beside"),
    ):
        with pytest.raises(RequestError, match=why):
            PoseSource(**wrong)
