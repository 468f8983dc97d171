"""Faces: files, weights from landmarks, completing."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import choreograph as cg
from choreograph.base.errors import FormatError, RequestError
from choreograph.formats.csv import write_csv
from choreograph.formats.face import read_face, read_markers, read_shapes, write_face
from choreograph.formats.face_glb import read_face_glb, write_face_glb
from choreograph.motion.face import Face
from choreograph.motion.head import simple_head
from choreograph.verbs.face.model import LandmarkTargets, complete_landmarks, learn_face

NAMES = ("JawOpen", "MouthSmileLeft", "MouthSmileRight", "EyeBlinkLeft", "EyeBlinkRight", "BrowInnerUp")


@pytest.fixture(scope="module")
def face() -> Face:
    """A minute of a face that talks, smiles and blinks."""
    t = np.arange(1800) / 30
    talk = 0.3 + 0.25 * np.sin(6 * t) * np.sin(0.7 * t)
    smile = 0.4 + 0.35 * np.sin(0.9 * t)
    blink = np.clip(np.sin(1.3 * t) * 8 - 7, 0, 1)
    weights = np.stack([talk, smile, 0.9 * smile, blink, blink, 0.3 + 0.3 * np.sin(0.5 * t + 1)], axis=1)
    return Face(NAMES, weights, 30.0, "talks")


def splined(at: list[int], points: np.ndarray) -> np.ndarray:
    """Landmarks through those at some frames by cubic splines: what a completion is to better."""
    from scipy.interpolate import CubicSpline

    return np.asarray(CubicSpline(at, points)(np.arange(at[-1] + 1)))


def complete(recordings: list[Face] | list[cg.Clip], document: dict[str, object], **how: object) -> cg.FaceResult:
    return cg.face(recordings, cg.read_request(cg.FaceRequest, document), **how)  # type: ignore[arg-type]


def test_weights_come_back_from_csv(face: Face, tmp_path: Path) -> None:
    write_face(tmp_path / "face.csv", face)
    back = read_face(tmp_path / "face.csv")
    assert back.names == face.names and back.fps == 30.0 and back.notes == ()
    np.testing.assert_allclose(back.weights, face.weights, atol=1e-9)


def lines(*rows: str) -> str:
    return "\n".join(["Timecode,BlendShapeCount,JawOpen,HeadYaw", *rows]) + "\n"


def test_a_timecode_that_jumps_is_filled_in_and_noted(tmp_path: Path) -> None:
    path = tmp_path / "face.csv"
    path.write_text(lines("01:00:00:00.0,2,0.0,0", "01:00:00:02.0,2,0.1,0", "01:00:00:04.0,2,0.2,0",
                          "01:00:00:10.0,2,0.5,0", "01:00:00:12.0,2,0.6,0"))  # fmt: skip
    face = read_face(path)
    assert face.fps == 30.0 and len(face) == 7 and face.others == ("HeadYaw",)
    np.testing.assert_allclose(face.weights[:, 0], [0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6], atol=1e-9)
    assert [note.kind for note in face.notes] == ["timecode"]


def test_midnight_is_no_jump(tmp_path: Path) -> None:
    path = tmp_path / "face.csv"
    path.write_text(lines("23:59:59:56.0,2,0,0", "23:59:59:58.0,2,0,0", "00:00:00:00.0,2,0,0"))
    assert len(read_face(path)) == 3


def test_weights_outside_are_clamped_and_noted(tmp_path: Path) -> None:
    path = tmp_path / "face.csv"
    path.write_text(lines("0:0:0:0,2,1.003,0", "0:0:0:2,2,-0.01,0"))
    face = read_face(path)
    assert face.weights[:, 0].tolist() == [1.0, 0.0] and face.notes[0].count == 2


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (lines("0:0:0:0,2,7,0", "0:0:0:2,2,0,0"), "JawOpen is 7 in frame 0; weights are from 0 to 1"),
        (lines("0:0:0:4,2,0,0", "0:0:0:2,2,0,0"), "goes from 0:0:0:4 to 0:0:0:2"),
        (lines("0:0:0:0,2,0"), "line 2: the row has 3 cells"),
        (lines("0:0:0:0,2,x,0"), "line 2"),
        (lines("soon,2,0,0"), "is no time"),
        ("a,b\n1,2\n", "begins with Timecode"),
        ("", "no rows"),
    ],
)
def test_bad_faces_are_refused(text: str, said: str, tmp_path: Path) -> None:
    path = tmp_path / "face.csv"
    path.write_text(text)
    with pytest.raises(FormatError, match=said):
        read_face(path)


def test_morph_tracks_come_back_from_glb(face: Face, tmp_path: Path) -> None:
    head = simple_head()
    write_face_glb(tmp_path / "face.glb", face[:60], head)
    back = read_face_glb(tmp_path / "face.glb")
    assert len(back) == 60 and back.fps == 30.0
    np.testing.assert_allclose(back.weights[:, back.column("jawOpen")], face.weights[:60, 0], atol=1e-6)
    np.testing.assert_allclose(head.landmarks(back), head.landmarks(face[:60]), atol=1e-4)


def test_glb_files_without_a_face_are_refused(tmp_path: Path) -> None:
    from choreograph.demo import demo_clip

    cg.write_clip(tmp_path / "walk.glb", demo_clip("walk", 30.0)[:5])
    with pytest.raises(FormatError, match="no animated mesh with named morph targets"):
        read_face_glb(tmp_path / "walk.glb")


def test_weights_are_solved_from_landmarks_within_bounds(face: Face) -> None:
    head = simple_head()
    marks = head.landmarks(face[:50])
    weights = head.solve_weights(marks)
    assert weights.min() >= 0 and weights.max() <= 1
    again = head.landmarks(Face(head.names, weights, 30.0))
    assert np.linalg.norm(again - marks, axis=-1).mean() < 0.2
    beyond = head.solve_weights(head.neutral[None] + 3 * head.moves[head.names.index("JawOpen")])
    assert beyond.max() == 1.0


def test_landmarks_are_a_clip_that_markers_come_back_from(face: Face, tmp_path: Path) -> None:
    clip = simple_head().as_clip(face[:20])
    write_csv(tmp_path / "marks.csv", clip)
    back = read_markers(tmp_path / "marks.csv")
    np.testing.assert_allclose(back.global_positions()[:, 2:], clip.global_positions()[:, 1:], atol=1e-5)


def test_landmarks_are_a_motion_file(face: Face, tmp_path: Path) -> None:
    clip = simple_head().as_clip(face)
    cg.write_clip(tmp_path / "marks.npz", clip)
    np.testing.assert_allclose(cg.read_clip(tmp_path / "marks.npz").local_pos, clip.local_pos, atol=1e-6)


def test_shapes_are_read_and_checked(tmp_path: Path) -> None:
    path = tmp_path / "shapes.csv"
    head = "shape,landmark,x_mm,y_mm,z_mm\n"
    path.write_text(head + "neutral,0,0,0,0\nneutral,1,1,0,0\nJawOpen,0,0,-9,0\nJawOpen,1,0,-8,0\n")
    assert read_shapes(path).moves[0, 1].tolist() == [0, -8, 0]
    for text, said in (("JawOpen,0,0,1,0\n", "no shape 'neutral'"), ("neutral,0,0,1\n", "no landmark"),
                       ("neutral,0,0,0,0\nneutral,1,0,0,0\nA,0,1,1,1\n", "has 1 landmarks, neutral 2")):  # fmt: skip
        path.write_text(head + text)
        with pytest.raises(FormatError, match=said):
            read_shapes(path)


def test_completing_beats_a_spline(face: Face) -> None:
    head = simple_head()
    model = learn_face([face[:1200]], head)
    true = head.landmarks(face[1300:1391])
    keys, chin = np.array([0, 45, 90]), 8
    at = np.array([(frame, chin) for frame in range(91)])
    points = np.full((91, 3), np.nan)
    points[:, 1] = true[:, chin, 1]
    made = complete_landmarks(model, 91, LandmarkTargets(keys, true[keys], at, points))
    np.testing.assert_allclose(made[keys], true[keys], atol=1e-6)
    plain = splined(keys.tolist(), true[keys])
    assert np.linalg.norm(made - true, axis=-1).mean() < 0.55 * np.linalg.norm(plain - true, axis=-1).mean()


def test_goals_are_shapes_frames_and_landmarks(face: Face) -> None:
    track = ((None, -40.0, None), (None, -35.0, None))
    goals = [
        cg.PoseGoal(0.0, cg.PoseSource("talks", 30)),
        cg.ShapeGoal(1.0, {"jawOpen": 0.9}),
        cg.LandmarkGoal(landmark=57, points_mm=track, start_s=0.2, end_s=0.6),
    ]
    result = cg.face(face, duration_s=1.0, goals=goals)
    assert len(result.face) == 31 and result.face.weights[-1, 0] == pytest.approx(0.9, abs=0.1)
    assert result.landmarks is not None and result.landmarks[12, 57, 1] == pytest.approx(-37.5, abs=1.0)
    assert set(result.metrics) == {"seconds", "goal_error_max", "model_error", "weights_error"}
    np.testing.assert_allclose(
        result.clip.global_positions()[:, 1:] * 1e3, simple_head().landmarks(result.face), atol=1e-9
    )


def test_without_goals_the_first_face_is_what_it_was(face: Face, tmp_path: Path) -> None:
    assert cg.face([face]).face is face
    write_face(tmp_path / "talks.csv", face)
    write_csv(tmp_path / "marks.csv", simple_head().as_clip(face[:20]))
    rows = [line.split(",") for line in (tmp_path / "marks.csv").read_text().splitlines()]
    (tmp_path / "marks.csv").write_text("\n".join(",".join([*row[:2], *row[5:]]) for row in rows))  # without a root
    names = [tmp_path / "talks.csv", tmp_path / "marks.csv"]
    assert [len(cg.face(name).face) for name in (tmp_path / "talks.csv", names, str(tmp_path / "marks.csv"))] == [
        1800, 1800, 20,
    ]  # fmt: skip
    solved = simple_head().landmarks(cg.face(names[1]).face)
    np.testing.assert_allclose(solved, simple_head().landmarks(face[:20]), atol=1.0)
    (tmp_path / "other.csv").write_text("some,table\n1,2\n")
    assert cg.face(tmp_path, duration_s=1.0, goals=[cg.ShapeGoal(0.0, {})]).model is not None, "tables are passed over"


@pytest.mark.parametrize(
    ("document", "said"),
    [
        ({"duration_s": 1.0}, "goals is missing"),
        ({"goals": [{"at_s": 0.0, "shapes": {}}]}, "duration_s is missing"),
        ({"duration_s": 1.0, "goals": [{"at_s": 2.0, "shapes": {}}]}, r"goals\[0\].at_s is 2; it must be"),
        ({"duration_s": 1.0, "goals": [{"at_s": 0.0, "shapes": {"JawOpen": 1.5}}]}, "equal to 1|from 0 to 1"),
        ({"duration_s": 1.0, "goals": [{"at_s": 0.0, "shapes": {"Antlers": 0.5}}]}, "no shape 'Antlers'; there are"),
        ({"duration_s": 1.0, "goals": [{"at_s": 0.0, "pose": {"clip": "sings"}}]}, "there are talks"),
        ({"duration_s": 1.0, "goals": [{"at_s": 0.0, "pose": {"clip": "talks", "frame": 1800}}]}, "frames 0 to 1799"),
        ({"duration_s": 1.0, "goals": [{"at_s": 0.0, "pose": {"file": "a.csv"}}]}, r"goals\[0\].pose.clip is missing"),
        ({"duration_s": 1.0, "goals": [{"start_s": 0.0, "end_s": 1.0, "shapes": {}}]}, r"goals\[0\].at_s is missing"),
        ({"duration_s": 1.0, "goals": [{"landmark": 1, "position_mm": [0, 0, 0]}]}, r"goals\[0\].at_s is missing"),
        ({"duration_s": 1.0, "goals": [{"at_s": 0.5, "shapes": {}}] * 2}, r"goals\[1\].at_s is 0.5, as goals\[0\] has"),
        ({"duration_s": 1.0, "goals": [{"at_s": 0.5, "landmark": 99, "position_mm": [0, 0, 0]}]}, "there are 0 to 67"),
        (
            {"duration_s": 1.0, "goals": [{"at_s": 0.5, "joint": "head", "position": [0, 0, 0]}]},
            "is a joint goal, which face cannot search for",
        ),
    ],
)
def test_mistakes_in_requests_are_named(document: dict[str, object], said: str, face: Face) -> None:
    with pytest.raises(RequestError, match=said):
        complete([face], document)


def test_too_few_frames_say_how_many(face: Face) -> None:
    with pytest.raises(RequestError, match="has 3 frames; a model of order 2 needs 4"):
        learn_face([face[:3]], simple_head())


def test_a_recorded_face_is_learned(recordings: Path) -> None:
    face = read_face(recordings / "face" / "alex_rom_3.csv")
    shapes = read_shapes(recordings / "face" / "landmarks.csv")
    model = learn_face([face[:2800]], shapes, order=2, controls=1)
    assert cg.face_error(model, [face[2800:]]) < 0.25


def test_what_was_learned_of_one_face_holds_for_another(recordings: Path) -> None:
    face = read_face(recordings / "face" / "alex_rom_3.csv")
    other = read_face_glb(recordings / "rigs" / "facecap.glb", fps=30.0)
    shapes = read_shapes(recordings / "face" / "landmarks.csv")
    assert cg.face_error(learn_face([face], shapes, order=2, controls=1), [other]) < 0.25
    assert cg.face_error(learn_face([other], shapes, order=2, controls=1), [face]) < 0.1


def test_a_model_holds_expressions_that_no_recording_shows() -> None:
    head = simple_head()
    swing = np.linspace(0, 20, 200)[:, None]
    talks = Face(("JawOpen", "BrowInnerUp"), 0.5 + 0.4 * np.sin(swing * (1.0, 0.0)), 30.0)
    brows = Face(("JawOpen", "BrowInnerUp"), 0.5 + 0.4 * np.sin(swing * (0.0, 1.0)), 30.0)
    model = learn_face([talks], head)
    raised = head.landmarks(brows).reshape(200, -1)
    np.testing.assert_allclose(model.space.lift(model.space.project(raised)), raised, atol=0.05)
    assert cg.face_error(model, [brows]) < 0.05


def test_a_head_with_arkit_names_is_read(recordings: Path) -> None:
    face = read_face_glb(recordings / "rigs" / "facecap.glb")
    assert face.column("JawOpen") >= 0 and face.weights.max() > 0.3 and len(face.names) == 52
    first = cg.read_head(recordings / "rigs" / "facecap.glb")
    jaw = first.shapes.moves[first.shapes.names.index("jawOpen")]
    assert len(first.shapes) == 2694 and len(first.still) == 3
    lowest, highest = first.shapes.neutral[:, 1].min(), first.shapes.neutral[:, 1].max()
    assert jaw[:, 1].min() < -0.1 * (highest - lowest), "an open jaw moves the chin down by a tenth of the head"
    edges = np.linalg.norm(np.diff(first.shapes.neutral[first.triangles], axis=1), axis=2)
    assert np.median(edges) < 0.05 * (highest - lowest), "triangles join neighbours"


def test_a_face_is_written_on_somebodys_head(recordings: Path, face: Face, tmp_path: Path) -> None:
    made = tmp_path / "made.glb"
    cg.write_face_on_head(made, face, recordings / "rigs" / "facecap.glb")
    back = read_face_glb(made)
    assert len(back) == len(face) and len(back.names) == 52
    jaw = face.column("JawOpen")
    np.testing.assert_allclose(back.weights[:, back.column("JawOpen")], face.weights[:, jaw], atol=1e-5)
    assert len(cg.read_head(made).shapes) == 2694


def test_heads_without_shapes_are_refused(face: Face, tmp_path: Path) -> None:
    from choreograph.demo import demo_clip

    cg.write_clip(tmp_path / "body.glb", demo_clip("walk", 30.0))
    with pytest.raises(FormatError, match="no mesh with named morph targets"):
        cg.read_head(tmp_path / "body.glb")
    with pytest.raises(FormatError, match="has no mesh whose named morph targets"):
        cg.write_face_on_head(tmp_path / "out.glb", face, tmp_path / "body.glb")


def test_our_own_head_is_read(face: Face, tmp_path: Path) -> None:
    cg.write_face_glb(tmp_path / "own.glb", face, simple_head())
    head = cg.read_head(tmp_path / "own.glb")
    np.testing.assert_allclose(head.shapes.neutral, simple_head().neutral * 1e-3, atol=1e-6)


def test_compressed_buffers_are_unpacked_as_the_specification_says() -> None:
    from choreograph.formats._meshopt import decode_attributes, decode_triangles

    # The specification's example of sixteen deltas with four bits each, as the first byte of elements of four.
    group = bytes.fromhex("175ff0bc77a921 00 34b5".replace(" ", ""))
    data = b"\xa0" + b"\x02" + group + b"\x00" * 3 + b"\x00" * 28 + b"\x05\x00\x07\x00"
    made = np.frombuffer(decode_attributes(data, 16, 4), np.uint8).reshape(16, 4)
    deltas = [-1, -4, -3, 26, -91, 0, -6, 6, -4, -4, 5, -5, 1, -1, 0, 0]
    assert made[:, 0].tolist() == [(5 + total) % 256 for total in np.cumsum(deltas)]
    assert set(made[:, 2].tolist()) == {7}
    # Three new vertices, then one more at the edge that was seen last.
    triangles = decode_triangles(b"\xe1" + b"\xf0\x00" + b"\x00" * 16, 6)
    assert triangles.tolist() == [0, 1, 2, 0, 2, 3]
    for broken in (data[:20], b"\xa1" + data[1:]):
        with pytest.raises(FormatError):
            decode_attributes(broken, 16, 4)
    with pytest.raises(FormatError):
        decode_triangles(b"\xe1\xff" + b"\x00" * 4, 3)


@pytest.mark.slow
def test_markers_are_learned_and_completed_without_shapes(face: Face, tmp_path: Path) -> None:
    from choreograph.formats.face import read_markers

    cg.write_clip(tmp_path / "lips.csv", simple_head().as_clip(face))
    clip = read_markers(tmp_path / "lips.csv")
    true = clip.global_positions()[40:101, 1:] * 1e3
    goals: list[dict[str, object]] = [
        {"start_s": 0.0, "end_s": 2.0, "landmark": 8, "points_mm": true[:, 8].tolist()},
        *({"at_s": at / 30, "pose": {"clip": "lips", "frame": 40 + at}} for at in (0, 30, 60)),
    ]
    result = complete([clip], {"duration_s": 2.0, "goals": goals})
    assert not result.problems and result.clip.skeleton.names == clip.skeleton.names
    made = result.clip.global_positions()[:, 1:] * 1e3
    spline = splined([0, 30, 60], true[[0, 30, 60]])
    assert np.linalg.norm(made - true, axis=-1).mean() < 0.6 * np.linalg.norm(spline - true, axis=-1).mean()
    with pytest.raises(RequestError, match="markers have no shapes"):
        complete([clip], {"duration_s": 1.0, "goals": [{"at_s": 0.0, "shapes": {}}]})
    with pytest.raises(RequestError, match="there are no weights"):
        _ = result.face


def test_what_the_face_misses_is_a_problem_of_the_goal(face: Face) -> None:
    goals = [{"at_s": 0.0, "shapes": {}}, {"at_s": 0.5, "landmark": 8, "position_mm": [0, 60, 0]}]
    (problem,) = complete([face], {"duration_s": 1.0, "goals": goals}).problems
    assert (problem.kind, problem.where, problem.unit, problem.at_s) == ("face_missed", "goals[1]", "mm", 0.5)
    assert problem.text.startswith("Landmark 8 is ")


@pytest.mark.slow
def test_weights_of_goals_count(face: Face) -> None:
    def chin(weight: float) -> float:
        point = {"at_s": 0.5, "landmark": 8, "position_mm": [None, -95, None], "weight": weight, "exact": False}
        goals = [{"at_s": 0, "shapes": {}}, {"at_s": 1, "shapes": {}}, point]
        landmarks = complete([face], {"duration_s": 1.0, "goals": goals}).landmarks
        assert landmarks is not None
        return float(landmarks[15, 8, 1])

    assert abs(chin(100.0) + 95) < abs(chin(1e-4) + 95)


def test_a_model_is_learned_once(face: Face) -> None:
    from choreograph.verbs.face.search import FaceSearch

    asked = cg.FaceRequest(1.0, [cg.ShapeGoal(0.0, {})])
    recordings = [face[:300]]
    first = FaceSearch(recordings, asked)
    model = first.run().model
    first.change(asked.with_(duration_s=0.5))
    second = FaceSearch(recordings, asked.with_(advanced=cg.FaceAdvanced(order=3)))
    second.reuse(first)
    assert first.run().model is model and second.run().model is not model


def test_pictures_show_heads_and_curves(face: Face, tmp_path: Path) -> None:
    from choreograph.verbs import find_verb

    verb = find_verb("face")
    result = cg.face(face, duration_s=0.5, goals=[cg.ShapeGoal(0.0, {}), cg.ShapeGoal(0.5, {"JawOpen": 1.0})])
    assert verb.draw is not None
    verb.draw(tmp_path / "face.png", result, False)
    verb.draw(tmp_path / "marks.svg", cg.face([simple_head().as_clip(face)], result.request.with_(
        goals=[cg.LandmarkGoal(0.2, 8, (None, -60.0, None))])), False)  # fmt: skip
    assert (tmp_path / "face.png").read_bytes()[:4] == b"\x89PNG" and "JawOpen" not in (
        tmp_path / "marks.svg"
    ).read_text()
