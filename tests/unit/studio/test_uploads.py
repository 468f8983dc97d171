"""Files that are dropped in: read, named safely, limited, undone."""

from __future__ import annotations

import errno
import io
import zipfile
from pathlib import Path

import pytest
from tests.unit.studio.running import Studio, opened

from choreograph.demo import demo_clip
from choreograph.formats import write_clip
from choreograph.studio import security, uploads
from choreograph.studio.uploads import safe_name


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    """A walk as BVH, as AMC with its ASF, and as NPZ."""
    folder = tmp_path_factory.mktemp("files")
    clip = demo_clip("walk", 60.0)[:90]
    write_clip(folder / "walk.bvh", clip)
    write_clip(folder / "13_01.amc", clip, asf=folder / "13.asf")
    write_clip(folder / "walk.npz", clip)
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def add(studio: Studio, *files: tuple[str, bytes]) -> dict[str, object]:
    answer = studio.upload(*files)
    assert answer.status_code == 200, answer.text
    return studio.wait(answer.json())


def test_files_become_clips_in_one_step_of_undo(empty: Studio, files: dict[str, bytes]) -> None:
    job = add(empty, *files.items())
    assert job["state"] == "done" and job["error"] is None and len(job["results"]) == 3  # type: ignore[arg-type]
    project = empty.get("project")
    assert project["undo"] == "Add 3 clips" and len(project["clips"]) == len(project["recordings"]) == 3
    assert {one["format"] for one in project["recordings"]} == {"bvh", "amc", "npz"}
    assert len({clip["name"] for clip in project["clips"]}) == 3, "two walks have names of their own"
    empty.send("POST", "undo")
    project = empty.get("project")
    assert not project["clips"] and project["redo"] == "Add 3 clips" and len(project["recordings"]) == 3
    assert len(empty.send("POST", "redo")["clips"]) == 3
    assert not list(empty.session.places.incoming.glob("*")), "what was sent is deleted once it is read"


def test_all_figures_of_a_file_come_in(empty: Studio, tmp_path: Path) -> None:
    clip = demo_clip("walk", 30.0)
    write_clip(tmp_path / "pair.glb", [clip[:40].with_name("lead"), clip[:50].with_name("follow")])
    add(empty, ("pair.glb", (tmp_path / "pair.glb").read_bytes()))
    assert {(clip["name"], clip["frames"]) for clip in empty.get("project")["clips"]} == {("lead", 40), ("follow", 50)}


def test_all_takes_of_a_file_come_in(empty: Studio, tmp_path: Path) -> None:
    clip = demo_clip("walk", 30.0)
    write_clip(tmp_path / "hero.glb", [clip[:40].with_name("idle"), clip[:50].with_name("go")], takes=True)
    add(empty, ("hero.glb", (tmp_path / "hero.glb").read_bytes()))
    assert {(clip["name"], clip["frames"]) for clip in empty.get("project")["clips"]} == {("idle", 40), ("go", 50)}


def test_clips_are_trimmed_mirrored_labelled_and_removed(empty: Studio, files: dict[str, bytes]) -> None:
    add(empty, ("walk.bvh", files["walk.bvh"]))
    entry = empty.get("project")["document"]["clips"][0]
    whole = empty.http.get(f"/api/motions/clip/{entry['id']}/frames").content
    label = {"text": "limp", "start": 0, "stop": 10}
    state = empty.change("Trim", clips=[{**entry, "trim": [10, 50], "labels": [label], "mirrored": True}])
    motion = state["clips"][0]
    assert motion["frames"] == 40 and motion["labels"] == [label]
    part = empty.http.get(f"/api/motions/clip/{entry['id']}/frames").content
    assert len(part) == len(whole) * 40 // 90 and part not in whole, "mirrored"
    state = empty.change("Remove walk", clips=[])
    assert state["clips"] == [] and state["undo"] == "Remove walk"
    empty.send("POST", "undo")
    state = empty.send("POST", "undo")
    assert empty.http.get(f"/api/motions/clip/{entry['id']}/frames").content == whole
    assert state["redo"] == "Trim"
    for wrong, why in (({"trim": [0, 91]}, "trimmed"), ({"source": "nobody"}, "not there"), ({"name": ""}, "name")):
        project = empty.get("project")
        document = {**project["document"], "clips": [{**entry, **wrong}]}
        body = {"base": project["version"], "label": "x", "document": document}
        answer = empty.http.put("/api/document", json=body)
        assert answer.status_code == 422 and why in answer.json()["error"]
    assert empty.http.put("/api/document", json={**body, "base": 1, "document": {}}).status_code == 409


def test_a_broken_file_does_not_keep_the_others_out(empty: Studio, files: dict[str, bytes]) -> None:
    job = add(empty, ("broken.bvh", b"HIERARCHY\nROOT"), ("walk.bvh", files["walk.bvh"]))
    assert job["state"] == "done" and "broken.bvh" in str(job["error"]) and len(job["results"]) == 1  # type: ignore[arg-type]
    job = add(empty, ("broken.bvh", b"HIERARCHY\nROOT"), ("13_01.amc", files["13_01.amc"]))
    assert job["state"] == "failed" and "13.asf" in str(job["error"])
    assert str(empty.session.places.keep) not in str(job["error"])


@pytest.mark.parametrize(
    "name",
    ["../../../evil.bvh", "/etc/evil.bvh", "..\\..\\evil.bvh", ".choreograph/x.json.bvh", "a\0b.bvh", "…/é ü.bvh"],
)
def test_names_are_never_paths(empty: Studio, files: dict[str, bytes], name: str, tmp_path: Path) -> None:
    before = {path for path in tmp_path.parent.rglob("*") if ".choreograph" not in path.parts}
    job = add(empty, (name, files["walk.bvh"]))
    assert job["state"] == "done"
    assert {path for path in tmp_path.parent.rglob("*") if ".choreograph" not in path.parts} == before
    assert "/" not in safe_name(name) and "\\" not in safe_name(name) and not safe_name(name).startswith(".")


def test_archives_and_other_files_are_refused(empty: Studio, files: dict[str, bytes]) -> None:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("walk.bvh", files["walk.bvh"])
    for name, content, status, why in (
        ("walks.zip", packed.getvalue(), 415, "archives are not taken"),
        ("walks.bvh", packed.getvalue(), 415, "is an archive"),
        ("virus.exe", b"MZ", 415, "motion files end in"),
        ("13.asf", files["13.asf"], 422, "skeleton alone"),
    ):
        answer = empty.upload((name, content))
        assert answer.status_code == status and why in answer.json()["error"], answer.text
    assert empty.http.post("/api/recordings", data={"files": "no file"}).status_code == 415
    assert empty.http.post("/api/recordings", files={"other": ("", b"")}).status_code in (400, 422)
    assert not list(empty.session.places.incoming.glob("*"))


def test_too_much_is_refused(empty: Studio, files: dict[str, bytes], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(uploads, "MOST_FILES", 3)
    answer = empty.upload(*[(f"{k}.bvh", files["walk.bvh"]) for k in range(4)])
    assert answer.status_code == 413 and "at most 3 files" in answer.json()["error"]
    monkeypatch.setattr(uploads, "FILE_BYTES", 1000)
    answer = empty.upload(("walk.bvh", files["walk.bvh"]))
    assert answer.status_code == 413 and "walk.bvh is larger" in answer.json()["error"]
    monkeypatch.setitem(security.UPLOAD_BYTES, "/api/recordings", 100_000)
    assert empty.upload(("walk.bvh", bytes(200_000))).status_code == 413

    def endless() -> object:  # a body that tells no length
        for _ in range(50):
            yield b"x" * 10_000

    headers = {"content-type": "multipart/form-data; boundary=x"}
    answer = empty.http.post("/api/recordings", content=endless(), headers=headers)  # type: ignore[arg-type]
    assert answer.status_code in (400, 413)
    answer = empty.http.put("/api/view", content=b" " * (security.BODY_BYTES + 1))
    assert answer.status_code == 413
    assert empty.get("project")["clips"] == []


def test_a_full_disk_leaves_nothing_behind(
    empty: Studio, files: dict[str, bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(source: object, target: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(uploads.shutil, "copyfileobj", full)
    answer = empty.upload(("walk.bvh", files["walk.bvh"]))
    assert answer.status_code == 507 and "No space left" in answer.json()["error"]
    assert not list(empty.session.places.incoming.glob("*"))
    assert empty.session.uploading == 0


def test_so_many_uploads_at_once(empty: Studio, files: dict[str, bytes], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(empty.session, "uploading", uploads.MOST_UPLOADS)
    answer = empty.upload(("walk.bvh", files["walk.bvh"]))
    assert answer.status_code == 429 and "wait" in answer.json()["error"]


def test_a_restart_finds_everything_again(tmp_path: Path, files: dict[str, bytes]) -> None:
    with opened(tmp_path) as studio:
        add(studio, ("walk.bvh", files["walk.bvh"]))
        studio.change("Rename", name="Dance")
        studio.send("POST", "undo")
        before = studio.get("project")
    with opened(tmp_path) as studio:
        after = studio.get("project")
        assert {**after, "jobs": []} == {**before, "jobs": []}
        assert studio.send("POST", "redo")["document"]["name"] == "Dance"
