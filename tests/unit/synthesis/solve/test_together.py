from __future__ import annotations

import numpy as np
import pytest

from choreograph.errors import Cancelled, RequestError
from choreograph.finishing.settings import FinishSettings
from choreograph.graph.model import MotionGraph
from choreograph.maths.floor import FloorTransform
from choreograph.motion.clip import Clip
from choreograph.synthesis.solve import together
from choreograph.synthesis.solve.group import GroupRequest, Meeting
from choreograph.synthesis.solve.hierarchy import Hierarchy
from choreograph.synthesis.solve.request import BodyTarget, HardFrame, JointTarget, LabelTarget, SolveRequest
from choreograph.synthesis.solve.search import SolveSettings
from choreograph.synthesis.solve.together import GroupAnswer, find_group_limits, solve_together

ANNA = SolveRequest(4.0, (BodyTarget(0.0, (0.0, 0.0), 0.0),))
BEN = SolveRequest(4.0, (BodyTarget(0.0, (1.5, 5.0), np.pi),))
PAIR = Meeting(2.0, ("anna", "ben"), ("walk", "walk_turn_90_left"), (40, 45), 1.0)


def torso(clip: Clip, frame: int) -> FloorTransform:
    place = clip.global_positions()[frame, clip.skeleton.hips]
    return FloorTransform(float(clip.facing()[frame]), float(place[0]), float(place[2]))


def between(one: FloorTransform, other: FloorTransform) -> np.ndarray:
    """The other as the one sees it: x, z and the direction it faces."""
    seen = one.inverse() @ other
    return np.array([seen.x, seen.z, np.cos(seen.yaw), np.sin(seen.yaw)])


def found(walks: MotionGraph, cuts: Hierarchy, *meetings: Meeting, count: int = 1) -> list[GroupAnswer]:
    asked = GroupRequest({"anna": ANNA, "ben": BEN}, meetings)
    cuts_ = {"anna": cuts, "ben": cuts}
    return solve_together(
        walks,
        asked,
        count=count,
        seconds=None,
        evaluations=80_000,
        hierarchies=cuts_,
        settings=SolveSettings(apart_m=0.1),
    )


@pytest.mark.parametrize("place", [None, (0.5, 2.5)])
@pytest.mark.parametrize("offset", [None, (0.2, 1.0, 3.0)])
def test_they_are_to_each_other_as_they_should_be_all_the_while(
    walks: MotionGraph, cuts: Hierarchy, place: tuple[float, float] | None, offset: tuple[float, float, float] | None
) -> None:
    given = {} if place is None else {"position": place, "facing": 0.4}
    meeting = Meeting(2.0, PAIR.who, PAIR.clips, PAIR.frames, 1.0, offset=offset, **given)  # type: ignore[arg-type]
    answer = found(walks, cuts, meeting)[0]
    motions = answer.finished(FinishSettings(clean=False))
    anna, ben = motions["anna"].clip, motions["ben"].clip
    recorded = [walks.clips[walks.find_clip(name)] for name in PAIR.clips]
    if place is not None:
        assert between(FloorTransform(0.4, *place), torso(anna, 60)) == pytest.approx([0, 0, 1, 0], abs=1e-6)
    base = FloorTransform()
    if offset is not None:  # lay the second recording so that they stand as asked for
        base = torso(recorded[0], 40) @ FloorTransform(offset[2], *offset[:2]) @ torso(recorded[1], 45).inverse()
    for step in (0, 7, 15, 30):
        was = between(torso(recorded[0], 40 + step), base @ torso(recorded[1], 45 + step))
        assert between(torso(anna, 60 + step), torso(ben, 60 + step)) == pytest.approx(was, abs=1e-5)
    for motion, clip, first in zip((motions["anna"], motions["ben"]), PAIR.clips, PAIR.frames, strict=True):
        assert (motion.origins.source_clip[60:91] == walks.find_clip(clip)).all()
        assert motion.origins.source_frame[60:91] == pytest.approx(np.arange(first, first + 31))


def test_a_free_place_moves_to_where_it_suits_both(
    walks: MotionGraph, cuts: Hierarchy, monkeypatch: pytest.MonkeyPatch
) -> None:
    answer = found(walks, cuts, PAIR)[0]
    off = {
        name: [e.metres for e in each.errors if e.constraint == "meet[0]"] for name, each in answer.answers.items()
    }  # fmt: skip
    assert {name: len(values) for name, values in off.items()} == {"anna": 2, "ben": 2}  # its beginning and end
    # Left where the first has it, all that is missing is the second's to make up for.
    monkeypatch.setattr(together, "_brought_together", lambda stage, cast, search, share: cast)
    before = found(walks, cuts, PAIR)[0]
    missing = [e.metres for e in before.answers["ben"].errors if e.constraint == "meet[0]"]
    assert answer.cost < 0.7 * before.cost and max(off["anna"] + off["ben"]) < 0.8 * max(missing)
    assert answer.cost == pytest.approx(sum(each.cost for each in answer.answers.values()))


def test_several_answers_and_the_same_again(walks: MotionGraph, cuts: Hierarchy) -> None:
    meeting = Meeting(2.0, PAIR.who, PAIR.clips, PAIR.frames, position=(0.5, 2.5), facing=0.0)
    first, second = found(walks, cuts, meeting, count=3), found(walks, cuts, meeting, count=3)
    assert len(first) > 1 and [a.cost for a in first] == sorted(a.cost for a in first)
    assert [a.cost for a in first] == [a.cost for a in second]


def test_three_people_and_two_meetings(walks: MotionGraph, cuts: Hierarchy) -> None:
    carl = SolveRequest(4.0)
    later = Meeting(3.5, ("ben", "carl"), ("walk_turn_90_left", "walk"), (90, 90), offset=(0.0, 1.5, np.pi))
    asked = GroupRequest({"anna": ANNA, "ben": BEN, "carl": carl}, (PAIR, later))
    answer = solve_together(walks, asked, seconds=None, evaluations=60_000)[0]
    motions = answer.finished(FinishSettings(clean=False))
    seen = between(torso(motions["ben"].clip, 105), torso(motions["carl"].clip, 105))
    assert seen == pytest.approx([0, 1.5, -1, 0], abs=1e-5)


def test_limits_are_named_with_whom_they_concern(walks: MotionGraph, cuts: Hierarchy) -> None:
    high = SolveRequest(4.0, ANNA.body, (JointTarget(1.0, "head", (None, 4.0, None)),))
    far = Meeting(1.0, PAIR.who, PAIR.clips, PAIR.frames, position=(0.0, 60.0), facing=0.0)
    asked = GroupRequest({"anna": high, "ben": BEN}, (far,))
    both = dict.fromkeys(("anna", "ben"), walks), dict.fromkeys(("anna", "ben"), cuts)
    found_ = find_group_limits(both[0], asked, both[1])
    assert [entry.constraint for entry in found_] == [
        "characters.anna.joints[0]", "characters.anna.meet[0]", "characters.ben.meet[0]", "characters.ben.meet[0]",
    ]  # fmt: skip
    assert "turned by" in found_[3].message
    assert "characters.anna: meet[0]: 60.0 m from body[0]" in found_[1].message


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"who": ("anna", "dora")}, r"meet\[0\].who has 'dora', which is no character; there are: anna, ben"),
        ({"who": ("anna", "anna")}, "two different characters"),
        ({"at_s": 5.0}, r"meet\[0\].at_s is 5.0; it must be a number from 0 to 4"),
        ({"lasts_s": 3.0}, r"meet\[0\].lasts_s is 3.0; .* must end with the motions"),
        ({"position": (0.0, 0.0)}, r"meet\[0\] has one of position and facing"),
        ({"offset": (0.0, float("nan"), 0.0)}, r"meet\[0\].offset is nan"),
    ],
)
def test_meetings_that_cannot_be(change: dict, said: str) -> None:  # type: ignore[type-arg]
    values = {"at_s": 2.0, "who": PAIR.who, "clips": PAIR.clips, "frames": PAIR.frames, "lasts_s": 1.0, **change}
    with pytest.raises(RequestError, match=said):
        GroupRequest({"anna": ANNA, "ben": BEN}, (Meeting(**values),))


def test_groups_that_cannot_be(walks: MotionGraph, cuts: Hierarchy) -> None:
    with pytest.raises(RequestError, match="characters is empty"):
        GroupRequest({})
    with pytest.raises(RequestError, match="last 3 to 4 s; give one length"):
        GroupRequest({"anna": ANNA, "ben": SolveRequest(3.0)})
    with pytest.raises(RequestError, match=r"meet\[1\].at_s is 2, before meet\[0\] at 3"):
        GroupRequest({"anna": ANNA, "ben": BEN}, (Meeting(3.0, PAIR.who, PAIR.clips, PAIR.frames), PAIR))
    for change, said in (
        ({"clips": ("walk", "swim")}, r"^meet\[0\].clips\[1\]: no clip of the graph is called 'swim'"),
        ({"frames": (40, 9999)}, r"^meet\[0\].frames\[1\] is 9999; 'walk_turn_90_left' has frames 0 to"),
        (
            {"at_s": 0.0},
            r"^meet\[0\].at_s is 0: it says where anna is at 0 s, and characters.anna.body\[0\] does so too",
        ),
        (
            {"clips": ("walk", "jog"), "frames": (40, 100), "lasts_s": 2.0},
            r"^meet\[0\].lasts_s is 2; 'jog' goes on",
        ),
    ):
        values = {"at_s": 2.0, "who": PAIR.who, "clips": PAIR.clips, "frames": PAIR.frames, **change}
        with pytest.raises(RequestError, match=said):
            found(walks, cuts, Meeting(**values))  # type: ignore[arg-type]
    for own, said in (
        (
            {"frames": (HardFrame(1.0, "jog", 20),)},
            r"shows characters.anna.frames\[0\] \(jog, 1 s\) and meet\[0\] \(walk,",
        ),
        ({"frames": (HardFrame(2.0, "walk", 9),)}, r"^meet\[0\].at_s is 2, not after characters.anna.frames\[0\] at 2"),
        ({"labels": (LabelTarget(0.0, 1.0, "swim"),)}, r"^characters.anna.labels\[0\].label is 'swim'"),
    ):
        asked = GroupRequest({"anna": SolveRequest(4.0, **own), "ben": BEN}, (PAIR,))  # type: ignore[arg-type]
        with pytest.raises(RequestError, match=said):
            solve_together(walks, asked, hierarchies={"anna": cuts, "ben": cuts}, evaluations=100)
    with pytest.raises(RequestError, match=r"^characters.carl: nothing is asked for"):
        solve_together(walks, GroupRequest({"carl": SolveRequest(4.0)}), hierarchies={"carl": cuts}, evaluations=100)
    follows = Meeting(3.0, PAIR.who, PAIR.clips, PAIR.frames)
    with pytest.raises(
        RequestError, match=r"^meet\[1\].at_s is 3: it says where anna is at 3 s, and meet\[0\] does so"
    ):
        found(walks, cuts, PAIR, follows)


def test_who_may_meet_anywhere_meets_at_different_places(walks: MotionGraph, cuts: Hierarchy) -> None:
    answers = found(walks, cuts, PAIR, count=4)
    assert len(answers) == 4
    places = []
    for answer in answers:
        motions = answer.finished(FinishSettings(clean=False))
        meets = torso(motions["anna"].clip, round(PAIR.at_s * motions["anna"].clip.fps))
        places.append(complex(float(meets.x), float(meets.z)))
    assert min(abs(a - b) for k, a in enumerate(places) for b in places[:k]) > 0.02


@pytest.mark.parametrize("after", [1, 3, 6])
def test_stopped_there_is_what_was_found_by_then(walks: MotionGraph, cuts: Hierarchy, after: int) -> None:
    heard = 0

    def stop(stage: str, done: int, total: int) -> None:
        nonlocal heard
        heard += 1
        if heard > after:
            raise Cancelled

    asked = GroupRequest({"anna": ANNA, "ben": BEN}, (PAIR,))
    both = {"anna": cuts, "ben": cuts}
    answers = solve_together(walks, asked, seconds=600.0, hierarchies=both, progress=stop)
    assert heard == after + 1
    assert set(answers[0].answers) == {"anna", "ben"} and all(
        len(each.splice) == 121 for each in answers[0].answers.values()
    )
