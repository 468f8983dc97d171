"""Every address of the REST part."""

from __future__ import annotations

import struct
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.unit.studio.running import CLIPS, Studio, opened

from choreograph.demo import demo_clip
from choreograph.formats import read_clip, write_clip
from choreograph.formats.npz import read_npz
from choreograph.studio.facts import Curve, GraphSummary, Matrix, Project, Result
from choreograph.studio.protocol import PROTOCOL
from choreograph.verbs import rooms

PATH = [[0.0, 0.0], [0.0, 3.0], [1.5, 5.0]]


@pytest.fixture(scope="module")
def walked(studio: Studio) -> dict[str, Any]:
    """A result."""
    job = studio.wait(studio.send("POST", "jobs", {"kind": "follow", "ask": {"points": PATH}}))
    assert job["state"] == "done", job
    result: dict[str, Any] = studio.get(f"results/{job['results'][0]}")
    return result


def test_the_project_has_all_that_a_page_needs(studio: Studio) -> None:
    project = Project.model_validate(studio.get("project"))
    assert project.protocol == PROTOCOL
    assert [clip.name for clip in project.clips] == sorted(CLIPS)
    assert [motion.id for motion in project.clips] == [f"clip:{entry.id}" for entry in project.document.clips]
    assert project.graph is not None and project.graph.current and project.graph.transitions > 0
    assert {".bvh", ".glb", ".mp4"} <= set(project.formats) and ".bvh" in project.readable
    assert project.undo == f"Add {len(CLIPS)} clips"


def test_verbs_are_those_of_the_registry_with_their_schemas(studio: Studio) -> None:
    verbs = {one["name"]: one for one in studio.get("verbs")}
    assert list(verbs) == list(rooms())
    follow = verbs["follow"]
    assert (
        follow["title"] == "Follow" and follow["subject"] == "graph" and follow["summary"].startswith("Follow a path")
    )
    fields = follow["request"]["$defs"]["FollowRequest"]["properties"]
    assert fields["smooth_m"]["unit"] == "m" and fields["smooth_m"]["maximum"] == 100 and fields["points"]["hidden"]
    assert follow["request"]["$defs"]["FollowAdvanced"]["panel"] == "Advanced"


def test_frames_are_the_clips_own(studio: Studio) -> None:
    project = studio.get("project")
    entry = project["document"]["clips"][0]
    clip = demo_clip(entry["name"], 30.0)
    data = studio.http.get(f"/api/motions/clip/{entry['id']}/frames").content
    rows = np.frombuffer(data, "<f4").reshape(len(clip), -1)
    np.testing.assert_allclose(rows[:, :3], clip.root_pos, atol=1e-5)
    quats = rows[:, 3:].reshape(len(clip), -1, 4)
    np.testing.assert_allclose(quats[..., [3, 0, 1, 2]], clip.local_rot, atol=1e-5)
    part = studio.http.get(f"/api/motions/clip/{entry['id']}/frames", params={"start": 5, "stop": 8}).content
    assert part == data[5 * len(data) // len(clip) : 8 * len(data) // len(clip)]
    beyond = studio.http.get(f"/api/motions/clip/{entry['id']}/frames", params={"start": 10**9})
    assert beyond.status_code == 200 and beyond.content == b""
    motion = studio.get(f"motions/clip/{entry['id']}")
    assert motion["frames"] == len(clip) and motion["joints"] == list(clip.skeleton.names)
    assert clip.contacts is not None
    standing = np.zeros_like(clip.contacts)
    for column, stretches in enumerate(motion["contacts"]):
        for start, stop in stretches:
            standing[start:stop, column] = True
    np.testing.assert_array_equal(standing, clip.contacts)


def test_a_result_follows_its_path_and_says_how_well(studio: Studio, walked: dict[str, Any]) -> None:
    result = Result.model_validate(walked)
    assert result.status == "complete" and result.metrics["path_mean"].value < 0.15
    assert result.metrics["path_mean"].said.endswith(" cm") and result.metrics["path_mean"].unit == "m"
    motion = result.motions[0]
    kept = read_npz(studio.session.places.result(result.id, ".npz"))
    data = studio.http.get(f"/api/motions/result/{result.id}/frames").content
    rows = np.frombuffer(data, "<f4").reshape(motion.frames, -1)
    np.testing.assert_allclose(rows[:, :3], kept.root_pos, atol=1e-4)
    assert motion.sources[0].start == 0 and motion.sources[-1].stop == motion.frames
    assert all(a.stop == b.start for a, b in zip(motion.sources, motion.sources[1:], strict=False))
    assert {run.clip for run in motion.sources} <= set(CLIPS)
    assert studio.get(f"motions/result/{result.id}/0")["id"] == motion.id
    assert studio.http.get(f"/api/motions/result/{result.id}/0/frames").content == data
    assert studio.http.get(f"/api/motions/result/{result.id}/1").status_code == 404
    assert result.id in [other["id"] for other in studio.get("results")]


def test_figures_have_the_motions_joints_as_bones(studio: Studio, tmp_path: Path) -> None:
    motion = studio.get("project")["clips"][0]
    answer = studio.http.get(f"/api/figures/{motion['skeleton']}.glb")
    assert answer.headers["content-type"] == "model/gltf-binary"
    (tmp_path / "figure.glb").write_bytes(answer.content)
    figure = read_clip(tmp_path / "figure.glb")
    assert list(figure.skeleton.names) == motion["joints"] and len(figure) == 1
    assert studio.http.get("/api/figures/s123.glb").status_code == 404


@pytest.mark.parametrize("theme", ["dark", "light"])
def test_thumbnails_are_small_pictures(studio: Studio, walked: dict[str, Any], theme: str) -> None:
    clip = studio.get("project")["document"]["clips"][0]["id"]
    for path in (f"clips/{clip}", f"results/{walked['id']}"):
        answer = studio.http.get(f"/api/{path}/thumbnail.png", params={"theme": theme})
        assert answer.status_code == 200 and answer.content.startswith(b"\x89PNG")
        assert struct.unpack(">II", answer.content[16:24]) == (288, 128)


def test_the_graph_its_curve_and_a_matrix(studio: Studio) -> None:
    graph = GraphSummary.model_validate(studio.get("graph"))
    assert len(graph.clips) == len(CLIPS) and 0 < graph.shown <= graph.frames
    curve = Curve.model_validate(studio.get("graph/curve"))
    assert curve.threshold_m[-1] >= 3 * graph.threshold_m - 1e-9, "joins look beyond the threshold"
    assert curve.shown_share == sorted(curve.shown_share) and 0.5 < curve.shown_share[-1] <= 1
    matrix = Matrix.model_validate(studio.get("graph/matrix", a="walk", b="walk_veer_left"))
    assert matrix.minima and all(
        one.frame_a < matrix.rows and one.frame_b < matrix.columns and one.distance_m <= matrix.largest_m
        for one in matrix.minima
    )
    answer = studio.http.get("/api/graph/matrix.png", params={"a": "walk", "b": "walk_veer_left", "theme": "light"})
    assert struct.unpack(">II", answer.content[16:24]) == (matrix.columns, matrix.rows)
    assert studio.http.get("/api/graph/matrix", params={"a": "walk", "b": "nobody"}).status_code == 422


def test_a_minimum_can_be_looked_at(studio: Studio) -> None:
    nearest = studio.get("graph/matrix", a="walk", b="walk_veer_left")["minima"][0]
    ask = {
        "clip_a": "walk",
        "frame_a": nearest["frame_a"],
        "clip_b": "walk_veer_left",
        "frame_b": nearest["frame_b"],
    }
    result = Result.model_validate(studio.send("POST", "graph/preview", ask))
    assert result.verb == "preview" and result.motions[0].sources[-1].clip == "walk_veer_left"
    assert studio.http.get(f"/api/motions/result/{result.id}/frames").status_code == 200
    assert result.id not in [other["id"] for other in studio.get("results")]
    refused = studio.http.post("/api/graph/preview", json={**ask, "frame_a": 10**6})
    assert refused.status_code == 422 and "does not fit" in refused.json()["error"]


@pytest.mark.parametrize("suffix", [".bvh", ".glb", ".npz", ".amc", ".csv", ".png"])
def test_results_are_exported(studio: Studio, walked: dict[str, Any], suffix: str, tmp_path: Path) -> None:
    ask = {"motion": f"result:{walked['id']}", "suffix": suffix}
    job = studio.wait(studio.send("POST", "jobs", {"kind": "export", "ask": ask}))
    assert job["state"] == "done", job
    assert len(job["results"]) == (2 if suffix == ".amc" else 1)
    for name in job["results"]:
        answer = studio.http.get(f"/api/exports/{job['id']}/{name}")
        assert answer.status_code == 200 and "attachment" in answer.headers["content-disposition"]
        (tmp_path / name).write_bytes(answer.content)
    if suffix not in (".csv", ".png"):
        motion = read_clip(next(tmp_path.glob(f"*{suffix}")))
        assert len(motion) == walked["motions"][0]["frames"]
    assert studio.http.get(f"/api/exports/{job['id']}/..%2f..%2fproject.json").status_code == 404


def test_a_clip_is_exported_as_a_film(studio: Studio) -> None:
    clip = studio.get("project")["document"]["clips"][0]["id"]
    job = studio.send("POST", "jobs", {"kind": "export", "ask": {"motion": f"clip:{clip}", "suffix": ".mp4"}})
    job = studio.wait(job)
    assert job["state"] == "done", job
    film = studio.http.get(f"/api/exports/{job['id']}/{job['results'][0]}").content
    assert film[4:8] == b"ftyp"


def test_named_shapes_have_points(studio: Studio) -> None:
    points = np.array(studio.get("path", text="circle:radius=2"))
    np.testing.assert_allclose(np.linalg.norm(points - [2, 0], axis=1), 2, atol=0.01)
    refused = studio.http.get("/api/path", params={"text": "/etc/passwd"})
    assert refused.status_code == 422 and "unknown shape" in refused.json()["error"]


def test_keeping_a_result_is_a_step_of_undo(studio: Studio, walked: dict[str, Any]) -> None:
    assert studio.send("PUT", f"results/{walked['id']}/kept", {"kept": True})["kept"]
    assert studio.get("project")["document"]["kept"] == [walked["id"]]
    studio.send("POST", "undo")
    assert not studio.get(f"results/{walked['id']}")["kept"]


def test_a_result_can_be_deleted(studio: Studio) -> None:
    job = studio.wait(studio.send("POST", "jobs", {"kind": "follow", "ask": {"points": PATH, "seed": 7}}))
    name = job["results"][0]
    assert studio.http.delete(f"/api/results/{name}").status_code == 204
    assert studio.http.get(f"/api/results/{name}").status_code == 404
    assert not list((studio.session.places.keep / "results").glob(f"{name}*"))


def test_what_is_found_once_more_is_listed_once(studio: Studio, walked: dict[str, Any]) -> None:
    def ask(**more: Any) -> str:
        job = studio.wait(studio.send("POST", "jobs", {"kind": "follow", "ask": {"points": PATH, **more}}))
        assert job["state"] == "done", job
        return str(job["results"][0])

    def listed() -> set[str]:
        return {made["id"] for made in studio.get("results")}

    first = ask(seed=3)
    second = ask(seed=3)
    assert second in listed() and first not in listed(), "the newer one takes its place"
    # What another verb works on, or somebody called something, stays as well.
    studio.change("Bend it", subjects={"bend": f"result:{second}"})
    third = ask(seed=3)
    studio.change("Name it", subjects={}, names={third: "the good one"})
    fourth = ask(seed=3)
    assert second not in listed() and {third, fourth} <= listed()
    studio.change("Forget it", names={})
    # The motion is the same, the request is not.
    assert ask(seed=3, smooth_m=0.0) in listed() and fourth in listed() and walked["id"] in listed()


def test_the_view_is_kept(studio: Studio) -> None:
    view = {**studio.get("project")["view"], "theme": "light", "ghosts": True}
    assert studio.send("PUT", "view", view) == view
    assert studio.get("project")["view"] == view


def test_what_cannot_be_had_is_refused_with_a_sentence(studio: Studio) -> None:
    for ask, why in (
        ({"kind": "follow", "ask": {"points": []}}, ""),
        ({"kind": "fly"}, "kind"),
        ({"kind": "export", "ask": {"motion": "clip:nobody", "suffix": ".bvh"}}, "no clip 'nobody'"),
        ({"kind": "export", "ask": {"motion": "nonsense", "suffix": ".bvh"}}, "names no motion"),
        ({"kind": "export", "ask": {"motion": "clip:a", "suffix": ".exe"}}, "not .exe"),
        ({"kind": "build", "ask": {"rate_hz": -3}}, "ask.rate_hz"),
        ({"kind": "follow", "ask": {"points": PATH, "seeds": 3}}, "'seeds', which is not known"),
        ({"kind": "follow", "ask": {"points": PATH, "count": 0}}, "count is 0"),
    ):
        answer = studio.http.post("/api/jobs", json=ask)
        if why:
            assert answer.status_code in (404, 422) and why in answer.json()["error"], answer.text
        else:
            job = studio.wait(answer.json())
            assert job["state"] == "failed" and "draw a path" in job["error"]
    assert studio.http.get("/api/jobs/j0").status_code == 404
    assert studio.http.post("/api/jobs", content=b"{", headers={"content-type": "application/json"}).status_code == 400


@pytest.mark.parametrize("name", ["/etc/passwd", "../people.csv", "/tmp/x.svg"])
def test_requests_name_files_of_the_project_only(studio: Studio, name: str) -> None:
    job = studio.wait(studio.send("POST", "jobs", {"kind": "follow", "ask": {"path": name}}))
    assert job["state"] == "failed" and "files of its own folder" in job["error"]


def test_a_file_of_the_project_is_followed(studio: Studio) -> None:
    (studio.session.places.folder / "line.csv").write_text("x,z\n0,0\n0,3\n")
    job = studio.wait(studio.send("POST", "jobs", {"kind": "follow", "ask": {"path": "line.csv"}}))
    assert job["state"] == "done", job


def test_drafts_are_kept_and_nonsense_is_not(studio: Studio) -> None:
    before = studio.get("project")["document"]["requests"]
    draft = {"points": [], "goals": [{"pause_s": 1.0}]}  # neither drawn nor placed
    assert studio.change("Begin", requests={"follow": draft})["document"]["requests"]["follow"] == draft
    project = studio.get("project")
    for wrong, why in (({"speed": 3}, "'speed', which is not known"), ({"points": "no"}, "requests.follow: points")):
        document = {**project["document"], "requests": {"follow": wrong}}
        body = {"base": project["version"], "label": "x", "document": document}
        answer = studio.http.put("/api/document", json=body)
        assert answer.status_code == 422 and why in answer.json()["error"], answer.text
    other = {"verb of another installation": {"anything": 1}}
    assert studio.change("Open", requests=other)["document"]["requests"] == other
    studio.change("As it was", requests=before)


def test_a_request_is_a_file_of_the_command_line(studio: Studio) -> None:
    draft = {"points": PATH, "smooth_m": 0.3, "prefer": {"60_03": 0.01}}
    answer = studio.http.post("/api/verbs/follow/request.yaml", json={"request": draft})
    assert answer.status_code == 200 and "'60_03': 0.01" in answer.text
    assert studio.http.post("/api/verbs/fly/request.yaml", json={}).status_code == 404


def test_a_scene_is_opened_from_a_file_or_a_drawing(studio: Studio) -> None:
    def draft(name: str, text: str, **more: object) -> Any:
        return studio.http.post("/api/verbs/plan/draft", json={"name": name, "text": text, **more})

    scene = {"goals": [{"place": [0, 4]}], "scene": {"obstacles": [{"centre": [0, 2], "radius_m": 0.3}]}}
    saved = studio.http.post("/api/verbs/plan/request.yaml", json={"request": scene}).text
    assert draft("scene.yaml", saved).json()["request"] == scene
    svg = "<svg viewBox='0 0 4 4' width='4cm' height='4cm'><g id='stones'><circle cx='1' cy='1' r='0.1'/></g></svg>"
    drawn = draft("plan.SVG", svg, request=scene).json()["request"]
    assert drawn["scene"]["obstacles"] == scene["scene"]["obstacles"]
    assert len(drawn["scene"]["stones"]) == 1 and "drawing" not in drawn["scene"]
    for name, text, why in (
        ("plan.svg", "<svg><g id='sofas'/></svg>", "no layer that is named after a part"),
        ("scene.yaml", "{goals: [{place: [0, .nan]}]}", "scene.yaml, line 1: .nan is no number"),
        ("scene.txt", "x", "'scene.txt' is no .yaml"),
    ):
        answer = draft(name, text, request=scene)
        assert answer.status_code == 422 and why in answer.json()["error"], answer.text
    assert studio.http.post("/api/verbs/fly/draft", json={"name": "a.yaml", "text": ""}).status_code == 404


def test_a_mog_file_opens_with_its_clips_and_its_graph(studio: Studio, tmp_path: Path) -> None:
    (tmp_path / "people.mog").write_bytes(studio.session.places.graph.read_bytes())
    with opened(tmp_path / "people.mog") as other:
        other.settle()
        project = other.get("project")
        assert project["document"]["name"] == "people" and len(project["clips"]) == len(CLIPS)
        assert project["graph"]["current"] and project["graph"]["transitions"] == studio.get("graph")["transitions"]
        job = other.wait(other.send("POST", "jobs", {"kind": "follow", "ask": {"points": PATH}}))
        assert job["state"] == "done", job
        assert (tmp_path / ".choreograph-people" / "results").is_dir()
    with opened(tmp_path / "people.mog") as again:
        assert again.get("project")["graph"]["current"] and not again.get("jobs")


def test_an_empty_project_says_what_is_missing(empty: Studio) -> None:
    assert empty.get("project")["graph"] is None
    for path in ("graph", "graph/curve"):
        assert empty.http.get(f"/api/{path}").status_code == 404
    assert empty.http.get("/api/graph/matrix", params={"a": "x", "b": "y"}).status_code == 422
    job = empty.wait(empty.send("POST", "jobs", {"kind": "build"}))
    assert job["state"] == "failed" and "drop motion files" in job["error"]
    job = empty.wait(empty.send("POST", "jobs", {"kind": "follow", "ask": {"points": PATH}}))
    assert job["state"] == "failed" and "build one first" in job["error"]


@pytest.mark.slow
def test_files_of_the_folder_that_change_are_read_again(tmp_path: Path) -> None:
    write_clip(tmp_path / "walk.npz", demo_clip("walk", 30.0)[:60])
    (tmp_path / "broken.bvh").write_text("HIERARCHY\nnonsense")
    with opened(tmp_path) as first:
        first.settle()
        job = first.get("jobs")[0]
        assert job["state"] == "done" and "broken.bvh" in job["error"] and str(tmp_path) not in job["error"]
        assert [motion["frames"] for motion in first.get("project")["clips"]] == [60]
    with opened(tmp_path) as second:
        assert not second.get("jobs"), "nothing has changed, nothing is read"
    write_clip(tmp_path / "walk.npz", demo_clip("walk", 30.0)[:90], overwrite=True)
    with opened(tmp_path) as third:
        third.settle()
        project = third.get("project")
        assert [motion["frames"] for motion in project["clips"]] == [90] and project["undo"] == "Read changed files"
        third.send("POST", "undo")
        assert [motion["frames"] for motion in third.get("project")["clips"]] == [60]


@pytest.mark.slow
def test_takes_of_a_file_that_changes_are_read_again(tmp_path: Path) -> None:
    """One is longer now, one is as it was: what was done with it stays; one is new."""
    walk = demo_clip("walk", 30.0)
    takes = [walk[:60].with_name("idle"), walk[:70].with_name("go")]
    write_clip(tmp_path / "hero.glb", takes, takes=True)
    with opened(tmp_path) as first:
        first.settle()
        ids = {clip["name"]: clip["id"] for clip in first.get("project")["document"]["clips"]}
    write_clip(tmp_path / "hero.glb", [takes[0], walk[:90].with_name("go"), walk[:50].with_name("jump")], takes=True,
               overwrite=True)  # fmt: skip
    with opened(tmp_path) as second:
        second.settle()
        project = second.get("project")
        assert {clip["name"]: clip["frames"] for clip in project["clips"]} == {"idle": 60, "go": 90, "jump": 50}
        assert {clip["name"]: clip["id"] for clip in project["document"]["clips"]}.items() >= ids.items()


@pytest.mark.slow
def test_clips_of_another_kind_of_body_are_retargeted_and_said(tmp_path: Path) -> None:
    for name in ("walk", "walk_veer_left"):
        write_clip(tmp_path / f"{name}.npz", demo_clip(name, 30.0))
    odd = demo_clip("walk", 30.0)
    names = tuple(f"x{name}" for name in odd.skeleton.names)
    write_clip(tmp_path / "odd.npz", replace(odd, skeleton=replace(odd.skeleton, names=names), name="odd"))
    with opened(tmp_path) as studio:
        studio.settle()
        assert studio.wait(studio.send("POST", "jobs", {"kind": "build"}))["state"] == "done"
        studio.settle()
        graph = studio.get("project")["graph"]
        assert {clip["name"] for clip in graph["clips"]} == {"walk", "walk_veer_left", "odd"} and graph["current"]
        assert [note for note in graph["notes"] if "odd" in note and "retargeted" in note], graph["notes"]
        code = studio.send("POST", "code", {"kind": "build"})
        assert "odd" in code["python"] and "walk_veer_left" in code["python"]
