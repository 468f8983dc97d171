from __future__ import annotations

import base64
import importlib.util
import io
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from PIL import Image

import choreograph.notebook
from choreograph.base.errors import RequestError
from choreograph.motion.clip import Clip
from choreograph.notebook.still import SIZE, Still

WIDGET = "application/vnd.jupyter.widget-view+json"


@pytest.fixture
def built(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """As if the page's side had been built."""
    view = pytest.importorskip("choreograph.notebook.view", reason="needs the notebook extra")
    stage = tmp_path / "stage.js"
    stage.write_text("export default {};")
    monkeypatch.setattr(view, "STAGE", stage)


@pytest.fixture
def kernel(monkeypatch: pytest.MonkeyPatch) -> None:
    """As if Jupyter were asking."""
    shell = SimpleNamespace(kernel=object())
    monkeypatch.setitem(sys.modules, "IPython", SimpleNamespace(get_ipython=lambda: shell))  # type: ignore[arg-type]


@pytest.fixture
def without_anywidget(monkeypatch: pytest.MonkeyPatch) -> None:
    real = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None if name == "anywidget" else real(name))


def picture_size(png: str) -> tuple[int, int]:
    return Image.open(io.BytesIO(base64.b64decode(png))).size


@pytest.mark.usefixtures("built")
def test_the_widget_carries_frames_figures_and_paths(human: Clip) -> None:
    view = choreograph.notebook.show(human, human.mirrored(), path=[[0, 0], [0, 3]], height=300, ghosts=True)
    state: dict[str, Any] = view.get_state()
    assert [figure["motion"]["name"] for figure in state["figures"]] == ["restless", "restless_mirrored"]
    assert isinstance(state["figures"][0]["frames"], bytes)
    assert set(state["meshes"]) == {figure["motion"]["skeleton"] for figure in state["figures"]}
    assert state["paths"] == [[[0, 0], [0, 3]]]
    assert (state["height"], state["ghosts"], state["theme"]) == (300, True, "auto")
    assert state["follow"] is False, "two people may part"
    assert view._esm == "export default {};"
    assert "restless" in repr(view) and len(repr(view)) < 200


@pytest.mark.usefixtures("built")
def test_the_widget_s_figures_cannot_be_set_but_its_switches_can(human: Clip) -> None:
    import traitlets

    view = choreograph.notebook.show(human)
    assert view.follow
    view.playing, view.time = False, 0.3
    with pytest.raises(traitlets.TraitError):
        view.figures = []
    with pytest.raises(traitlets.TraitError):
        view.theme = "pink"


@pytest.mark.usefixtures("built", "kernel")
def test_a_clip_in_a_notebook_is_a_widget_with_a_picture_behind_it(human: Clip) -> None:
    data, _ = human._repr_mimebundle_()
    assert data[WIDGET]["model_id"]
    assert picture_size(data["image/png"]) == SIZE
    assert data["text/plain"].startswith("restless: 0.67 s")


def test_a_clip_in_a_terminal_is_its_text(human: Clip) -> None:
    assert human._repr_mimebundle_() == {}


@pytest.mark.usefixtures("kernel", "without_anywidget")
def test_without_anywidget_there_is_a_picture_and_what_to_install(human: Clip) -> None:
    data = human._repr_mimebundle_()
    assert "pip install &#x27;choreograph[notebook]&#x27;" in data["text/html"]
    assert WIDGET not in data
    assert picture_size(data["text/html"].split("base64,")[1].split('"')[0]) == SIZE


def test_a_stage_that_was_not_built_says_how(
    human: Clip, built: None, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr("choreograph.notebook.view.STAGE", tmp_path / "none.js")
    shown = choreograph.notebook.show(human)
    assert isinstance(shown, Still) and "make page" in repr(shown)


def test_names_in_a_picture_s_html_are_text(human: Clip) -> None:
    made = Still(choreograph.notebook.scene.set_scene([human.with_name('<b>"x"')]), "advice")
    assert "<b>" not in made._repr_mimebundle_()["text/html"]


@pytest.mark.parametrize(("options", "words"), [({"theme": "pink"}, "auto, dark, light"), ({"height": 5}, "120")])
def test_options_that_make_no_sense_are_refused(human: Clip, options: dict[str, Any], words: str) -> None:
    with pytest.raises(RequestError, match=words):
        choreograph.notebook.show(human, **options)


def test_importing_the_package_does_not_import_the_notebook() -> None:
    code = "import sys, choreograph; print('choreograph.notebook' in sys.modules, 'anywidget' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False", "False"]
