"""Retiming in the studio: motions of the project as those to be like, and answers while a key time is dragged."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.unit.studio.running import Studio, hear, say
from typer.testing import CliRunner

from choreograph.base.errors import RequestError
from choreograph.cli.main import app
from choreograph.contract.names import motion_names, with_motions
from choreograph.formats.npz import read_npz
from choreograph.studio.requests import own_motions, read_draft
from choreograph.verbs import find_verb
from choreograph.verbs.retime.request import RetimeRequest


def clips(studio: Studio) -> dict[str, str]:
    return {clip["name"]: f"clip:{clip['id']}" for clip in studio.get("project")["document"]["clips"]}


def retimed(studio: Studio, ask: dict[str, Any], subject: str) -> Any:
    job = studio.wait(studio.send("POST", "jobs", {"kind": "retime", "ask": ask, "subject": subject}))
    assert job["state"] == "done", job
    return studio.get(f"results/{job['results'][-1]}")


def test_names_of_motions_are_told_and_replaced() -> None:
    request = RetimeRequest(duration_s=2, like=("brisk.bvh", "clip:c1", "result:r1/1"))
    names = list(motion_names(request))
    assert names == [("like[0]", "brisk.bvh"), ("like[1]", "clip:c1"), ("like[2]", "result:r1/1")]
    other = with_motions(request, str.upper)
    assert other.like == ("BRISK.BVH", "CLIP:C1", "RESULT:R1/1") and other.duration_s == 2
    assert list(motion_names(RetimeRequest())) == []
    schema = RetimeRequest.model_json_schema()["properties"]
    assert schema["like"]["format"] == "motion"


def test_drafts_name_motions_of_the_project_and_files_of_its_folder(tmp_path: Path) -> None:
    verb, draft = find_verb("retime"), {"like": ["near.npz", "clip:c1"]}
    assert own_motions(verb, draft) == [("like[1]", "clip:c1")] and own_motions(verb, {"like": 3}) == []
    (tmp_path / "near.npz").touch()
    request = read_draft(verb, draft, tmp_path, lambda name: tmp_path / "kept" / name.replace(":", "_"))
    assert isinstance(request, RetimeRequest)
    assert request.like == (str(tmp_path / "near.npz"), str(tmp_path / "kept" / "clip_c1"))
    for outside in ("../there.npz", "/there.npz"):
        with pytest.raises(RequestError, match=r"like\[0\]") as caught:
            read_draft(verb, {"like": [outside]}, tmp_path)
        assert caught.value.where == "like[0]"


def test_a_clip_is_retimed_like_others_of_the_project(
    studio: Studio, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    named = clips(studio)
    first = retimed(studio, {"duration_s": 1.5}, named["walk"])
    ask = {"duration_s": 1.8, "keys": {"20": 0.5}, "like": [named["walk_veer_left"], f"result:{first['id']}"]}
    result = retimed(studio, ask, named["walk_veer_right"])
    assert result["request"] == ask and result["subject"] == named["walk_veer_right"]
    assert result["details"]["references"] == ["walk_veer_left", "walk"]
    wanted = read_npz(studio.session.places.result(result["id"], ".npz"))

    words = shlex.split(result["command"].replace("retime.bvh", "told.npz"), comments=True)
    assert "clip:" not in result["command"] and "result:" not in result["command"]
    ran = CliRunner().invoke(app, [*words[1:], "--best-effort"], catch_exceptions=False)
    assert ran.exit_code == 0, ran.output
    told = read_npz(tmp_path / "told.npz")
    np.testing.assert_array_equal(told.root_pos, wanted.root_pos)
    np.testing.assert_array_equal(told.local_rot, wanted.local_rot)


def test_the_same_request_for_another_clip_leaves_earlier_results(studio: Studio) -> None:
    named = clips(studio)
    first = retimed(studio, {"duration_s": 1.25}, named["walk"])
    retimed(studio, {"duration_s": 1.25}, named["walk_veer_left"])
    assert studio.get(f"results/{first['id']}")["subject"] == named["walk"]


def test_motions_that_are_not_there_are_refused_where_they_are_named(studio: Studio) -> None:
    with studio.page() as page:
        say(page, "hello", protocol="any")
        for name in ("clip:gone", "result:gone"):
            ask = {"like": [clips(studio)["walk"], name]}
            say(page, "ask", verb="retime", number=1, ask=ask, subject=clips(studio)["walk"])
            failure = hear(page, "refused")["failure"]
            assert failure["where"] == "like[1]" and "there is no" in failure["error"]


def test_what_is_asked_while_dragging_makes_room_for_what_comes_next(studio: Studio) -> None:
    subject = clips(studio)["walk"]
    with studio.page() as page:
        say(page, "hello", protocol="any")
        found = []
        for number, second in enumerate((0.5, 0.52, 0.54, 0.56), 1):
            ask = {"duration_s": 1.6, "keys": {"20": second}}
            say(page, "ask", verb="retime", number=number, ask=ask, subject=subject, passing=number < 4)
            answer = hear(page, "answer", "refused")
            assert answer["type"] == "answer" and answer["number"] == number, answer
            found.append(answer["results"][0])
        studio.settle()
    key = {"frame": 20, "seconds": 0.56}
    assert key in found[-1]["details"]["keys"] and found[-1]["problems"] == []
    assert [one["passing"] for one in found] == [True, True, True, False]
    there = {result["id"] for result in studio.get("results")}
    assert [one["id"] in there for one in found] == [False, False, False, True]


def test_copies_of_motions_go_with_the_results_that_name_them(studio: Studio) -> None:
    """What a command reads stays as long as the command is there, whatever becomes of the clip."""
    named, cache = clips(studio), studio.session.places.keep / "cache"
    project = studio.session.project
    for earlier in studio.get("project")["results"]:
        if earlier["verb"] == "retime":
            assert studio.http.delete(f"/api/results/{earlier['id']}").is_success
    project.clean_motions()
    stay = set(cache.glob("*.npz"))
    kept = retimed(studio, {"duration_s": 1.3, "like": [named["walk_veer_left"]]}, named["walk"])
    gone = retimed(studio, {"duration_s": 1.35, "like": [named["walk_turn_90_left"]]}, named["walk"])
    copies = set(cache.glob("*.npz")) - stay
    assert len(copies) == 2
    assert studio.http.delete(f"/api/results/{gone['id']}").is_success
    project.clean_motions(younger_s=3600.0)
    assert set(cache.glob("*.npz")) >= copies, "a request that names one may be under way"
    project.clean_motions()
    (left,) = set(cache.glob("*.npz")) & copies
    assert left.stem in (studio.session.places.result(kept["id"], ".request.yaml")).read_text()
    assert retimed(studio, {"duration_s": 1.35, "like": [named["walk_turn_90_left"]]}, named["walk"])["problems"] == []
