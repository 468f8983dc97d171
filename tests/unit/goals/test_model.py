"""Goals as models: how they are told apart, and what is said about those that are not."""

from typing import get_args

import pytest

from choreograph.base.errors import RequestError
from choreograph.contract.request import Request, read_request
from choreograph.goals.model import TELLS, AnyGoal, Goal, Goals, PlaceGoal, PoseGoal, PoseSource
from choreograph.goals.tolerance import TOLERANCE
from choreograph.studio.typescript import _type

EXAMPLES = {
    "PlaceGoal": {"at_s": 0, "place": [0, 1], "facing_deg": 30},
    "PoseGoal": {"at_s": 1, "pose": {"clip": "walk", "frame": 3}, "place": [1, 2]},
    "JointGoal": {"at_s": 1, "joint": "head", "position": [None, 1.5, None]},
    "TurnGoal": {"at_s": 1, "joint": "head", "rotation": [1, 0, 0, 0]},
    "AngleGoal": {"at_s": 1, "joint": "left_lower_leg", "bend_deg": 30},
    "DistanceGoal": {"start_s": 0, "end_s": 1, "joints": ["left_hand", "right_hand"], "distance_m": 0.2},
    "OffsetGoal": {"at_s": 1, "joint": "head", "of": "hips", "offset": [0, 0.5, 0]},
    "ViewGoal": {
        "at_s": 1, "joint": "head", "camera": {"position": [0, 1, 5], "target": [0, 1, 0]}, "seen": [0.5, 0.5],
    },
    "ContactGoal": {"start_s": 0, "end_s": 1, "foot": "left", "parts": ["heel"]},
    "LabelGoal": {"start_m": 1, "end_m": 2, "label": "run"},
    "SpeedGoal": {"at_s": 1, "speed_m_s": 1.5, "turn_deg_s": 20},
    "PauseGoal": {"at_m": 3, "pause_s": 2},
    "SegmentGoal": {"at_s": 1, "segments": [3, 4]},
    "CostGoal": {"function": "style.py:stay_low"},
    "LandmarkGoal": {"at_s": 1, "landmark": 4, "position_mm": [1, None, 2]},
    "ShapeGoal": {"at_s": 1, "shapes": {"JawOpen": 0.5}},
}  # fmt: skip


class Asked(Request):
    """A request that takes any goal."""

    goals: Goals = ()


@pytest.mark.parametrize("name", EXAMPLES)
def test_the_field_that_only_it_has_tells_a_goal(name: str) -> None:
    request = read_request(Asked, {"goals": [EXAMPLES[name]]})
    assert type(request.goals[0]).__name__ == name
    assert request.as_document() == {"goals": [EXAMPLES[name]]}
    assert Asked(goals=request.goals) == request


def test_every_kind_of_goal_is_told_and_has_an_example() -> None:
    models = {get_args(one)[0] for one in get_args(get_args(AnyGoal)[0])}
    assert models == set(TELLS.values())
    assert {model.__name__ for model in models} == set(EXAMPLES)
    assert all(model.noun for model in models)


@pytest.mark.parametrize(
    ("goal", "where", "text"),
    [
        ({"at_s": 1, "joint": "head", "bend_deg": 3, "rotation": [1, 0, 0, 0]}, "rotation", "another kind of goal (tu"),
        ({"at_s": 1, "pose": {"clip": "walk"}, "foot": "left"}, "foot", "another kind of goal (contact); make two"),
        ({"at_s": 1, "pose": {"clip": "walk", "frme": 1}}, "pose.frme", "which is not known; it can have clip, frame"),
        ({"at_s": 1, "palce": [0, 1]}, "", "it must be a goal, with one of place, facing_deg, pose"),
        ({"at_s": 1, "place": [0, "x"]}, "place[1]", "is 'x'; it must be a number"),
        ({"start_s": 1, "place": [0, 0]}, "end_s", "is missing; an interval has start_s and end_s"),
        ({"start_s": 2, "end_s": 1, "label": "walk"}, "end_s", "is 1, not after its start_s, 2"),
        ({"at_s": 2, "start_m": 1, "end_m": 2, "label": "walk"}, "at_s", "is given beside a stretch of the path"),
        ({"at_s": 2, "foot": "left"}, "start_s", "is missing; a contact lasts from start_s to end_s"),
        ({"at_s": 2, "standing": True}, "", "it must be a goal"),
        ({"at_s": 2, "place": [0, 1], "points": [[0, 0], [1, 1]]}, "points", "is given beside place"),
    ],
)
def test_a_mistake_in_a_goal_names_its_place(goal: dict, where: str, text: str) -> None:
    with pytest.raises(RequestError) as caught:
        read_request(Asked, {"goals": [EXAMPLES["PlaceGoal"], goal]})
    assert caught.value.where == "goals[1]" + (f"{'.' if where else ''}{where}")
    assert text in str(caught.value)


def test_goals_are_made_by_their_first_fields() -> None:
    assert PlaceGoal(1.0, (0.0, 2.0), 90.0).as_document() == {"at_s": 1, "place": [0, 2], "facing_deg": 90}
    goal = PoseGoal(0.5, PoseSource("walk", 40), duration_s=1.0)
    assert goal.span == (0.5, 1.5)
    assert isinstance(goal, Goal) and goal.exact is None


def test_the_schema_of_goals_is_typed() -> None:
    text = _type(Asked.model_json_schema()["properties"]["goals"])
    assert "PlaceGoal" in text and "ShapeGoal" in text and "Plain" not in text


def test_tolerances_are_absolute_or_a_share() -> None:
    assert TOLERANCE["place"].limit(3.0) == 0.05
    assert TOLERANCE["speed"].limit(2.0) == pytest.approx(0.2)
