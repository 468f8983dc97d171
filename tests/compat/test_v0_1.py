"""What version 0.1 wrote opens and means the same: requests, options, models, segments, searches, results, projects.

The files in `v0_1` were made by 0.1 and are never made again:

- `requests/` and `requests.json`: request files, and of each its verb, its document as 0.1 held it and, where options
  can say it, the words that say the same on the command line;
- `options.json`: of each verb, options with the fields that they set, and fields with type, default, bounds and unit;
- `walks.model` by `learn`, `segments.mog` by `segment`; `results/`, the JSON of each verb's results;
- `searches/`: request, answers and kept search of `solve`, on `graph_v6.mog`, and of `plan`;
- `studio_project.json`: the document of a project in which all of the requests were drafts, one after the other, and
  the last step undone; its recordings and results are those of `studio_v1.tar.xz`.
"""

from __future__ import annotations

import json
import tarfile
from pathlib import Path
from typing import Any

import pytest

import choreograph as cg
from choreograph.cli.main import load_command
from choreograph.cli.old_options import current_options
from choreograph.cli.options import collect
from choreograph.contract.document import load_document, parse_document
from choreograph.contract.migrate import rules_of
from choreograph.contract.request import Request
from choreograph.verbs import find_verb, rooms

HERE = Path(__file__).parent
OLD = HERE / "v0_1"
MEANT: dict[str, dict[str, Any]] = json.loads((OLD / "requests.json").read_text("utf-8"))
OPTIONS: dict[str, dict[str, Any]] = json.loads((OLD / "options.json").read_text("utf-8"))["verbs"]
RESULTS = sorted((OLD / "results").glob("*.json"))


def model_of(verb: str) -> type[Request]:
    return find_verb(verb).request


def document_of(verb: str, document: Any) -> dict[str, Any]:
    """Today's document of a request that 0.1 held as this one."""
    return cg.read_request(model_of(verb), document).as_document()


def test_all_requests_are_there() -> None:
    assert {path.name for path in (OLD / "requests").iterdir()} == set(MEANT)
    assert {one["verb"] for one in MEANT.values()} == {*rooms()}


@pytest.mark.parametrize("name", MEANT)
def test_a_request_file_means_what_it_meant(name: str) -> None:
    meant = MEANT[name]
    found = load_document(OLD / "requests" / name)
    if "subject" in meant:
        assert found.value.pop("graph") == meant["subject"]
    request = parse_document(model_of(meant["verb"]), found)
    assert request.as_document() == document_of(meant["verb"], meant["document"])


@pytest.mark.parametrize("name", [name for name, meant in MEANT.items() if meant.get("options")])
def test_options_say_what_they_said(name: str) -> None:
    verb, words = MEANT[name]["verb"], MEANT[name]["options"]
    subject = ["x.bvh"] if find_verb(verb).subject.name == "clip" else ["x.mog"]
    command = load_command(verb)
    known = {word for one in command.params for word in (*one.opts, *one.secondary_opts)}
    words, _ = current_options(verb, words, known)
    values = command.make_context(verb, [*subject, *words, "-o", "y.bvh"]).params
    assert document_of(verb, collect(model_of(verb), values)) == document_of(verb, MEANT[name]["document"])


@pytest.mark.parametrize("verb", OPTIONS)
def test_every_option_is_still_known(verb: str) -> None:
    rules = [rules_of(name).options for name in (verb, "finish", "export")]
    known = {word for one in load_command(verb).params for word in (*one.opts, *one.secondary_opts)}.union(*rules)
    asked = {word for word in (*OPTIONS[verb]["options"], *OPTIONS[verb]["command"]) if word.startswith("-")}
    assert asked <= known, asked - known


def test_a_model_opens_and_completes() -> None:
    model = cg.open_model(OLD / "walks.model")
    assert model.order == 2
    goals = [cg.PlaceGoal(at_s=0.0, place=(0.0, 0.0), facing_deg=0.0), cg.PlaceGoal(at_s=1.0, place=(0.0, 1.2))]
    result = cg.complete(model, cg.CompleteRequest(1.0, goals=goals))
    assert result.problems == () and abs(result.clip.seconds - 1.0) < 0.1


def test_segments_open_and_perform() -> None:
    base = cg.open_segments(OLD / "segments.mog")
    assert len(base) == 8
    result = cg.perform(base, cg.PerformRequest(trajectory=str(OLD / "way.csv")))
    kept = json.loads((OLD / "results" / "perform.json").read_text("utf-8"))["answers"][0]
    assert result.metrics["way_mean"].value == pytest.approx(kept["metrics"]["way_mean"]["value"], abs=1e-3)
    assert [run.clip for run in result.best.motions[0].sources] == [
        run["clip"] for run in kept["motions"][0]["sources"]
    ]


def test_a_kept_search_goes_on() -> None:
    folder = OLD / "searches"
    request = cg.read_request_file(cg.SolveRequest, folder / "solve.yaml")
    search = cg.SolveSearch(cg.open_graph(HERE / "graph_v6.mog"), request)
    search.resume(json.loads((folder / "solve" / "search.json").read_text("utf-8")))
    kept = json.loads((folder / "solve" / "answers.json").read_text("utf-8"))["answers"][0]
    assert search.best().best.cost == pytest.approx(kept["cost"], rel=1e-6)


@pytest.mark.parametrize("path", RESULTS, ids=[path.stem for path in RESULTS])
def test_requests_of_results_can_be_asked_again(path: Path) -> None:
    plain = json.loads(path.read_text("utf-8"))
    assert plain["choreograph"].startswith("0.1") and plain["answers"]
    assert document_of(plain["verb"], plain["request"]) == document_of(path.stem, plain["request"])


def test_a_project_of_the_studio_opens(tmp_path: Path) -> None:
    from choreograph.studio.project import Project
    from choreograph.studio.project_paths import find_places

    with tarfile.open(HERE / "studio_v1.tar.xz") as archive:
        archive.extractall(tmp_path, filter="data")
    (tmp_path / ".choreograph" / "project.json").write_text((OLD / "studio_project.json").read_text("utf-8"))
    project = Project(find_places(tmp_path))
    project.redo()
    for verb, draft in project.document.requests.items():
        last = [meant["document"] for meant in MEANT.values() if meant["verb"] == verb][-1]
        assert document_of(verb, draft) == document_of(verb, last), verb
    assert set(project.document.requests) == set(rooms()) - {"face"}
    while project.undo_label:
        project.undo()
    for verb, draft in project.document.requests.items():
        cg.read_request(model_of(verb), draft)
