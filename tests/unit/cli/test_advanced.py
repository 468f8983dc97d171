"""Advanced settings and the quality of answers: on the command line, in help, as words for a request."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, ClassVar, Literal

import pytest
import typer
from annotated_types import Ge
from pydantic import Field
from typer.testing import CliRunner

from choreograph.base.errors import RequestError
from choreograph.cli.main import TOOLS, load_command
from choreograph.cli.options import add_command, collect, parameters, say_by_options
from choreograph.cli.tool import add_tool
from choreograph.contract.request import Advanced, Option, Quality, Request, read_request
from choreograph.verbs import rooms
from choreograph.verbs.options import as_options


class Costs(Advanced):
    """Of a toy."""

    speed: float | None = 0.5
    """Cost of a second."""


class ToyAdvanced(Advanced):
    """Of a toy."""

    width: Annotated[int, Ge(1)] | None = None
    """Walks that are kept."""
    bend: bool = True
    """Whether it bends."""
    method: Literal["bound", "beam"] = "bound"
    """How it searches."""
    torque: Mapping[str, float] = Field(default_factory=dict)
    """By joint."""
    weights: Costs = Field(default_factory=Costs)
    """Costs."""


class ToyRequest(Request):
    """A toy."""

    presets: ClassVar[Mapping[str, Mapping[str, Any]]] = {"best": {"advanced.width": 9, "advanced.weights.speed": 3.0}}

    files: tuple[str, ...] = ()
    """Its files."""
    round_m: Annotated[float, Option(advanced=True)] = 0.0
    """Round its corners."""
    quality: Quality = "normal"
    advanced: ToyAdvanced = Field(default_factory=ToyAdvanced)
    """How it goes about it."""


def test_a_quality_sets_what_is_left_at_its_default() -> None:
    request = ToyRequest(quality="best")
    assert request.with_quality().advanced == ToyAdvanced(width=9, weights=Costs(3.0))
    assert request.with_(advanced=ToyAdvanced(width=4)).with_quality().advanced.width == 4
    assert ToyRequest().with_quality() == ToyRequest()
    assert ToyRequest(quality="draft").with_quality() == ToyRequest(quality="draft")
    assert request.as_document() == {"quality": "best"}, "the request stays as it was given"


def test_settings_by_name_make_a_request_and_are_made_from_it() -> None:
    words = ["width=7", "weights.speed=null", "method=beam", "bend=false", "torque.knee=0.5"]
    request = read_request(ToyRequest, collect(ToyRequest, {"advanced": words}))
    assert request.advanced == ToyAdvanced(7, False, "beam", {"knee": 0.5}, Costs(None))
    options = as_options(request)
    assert options is not None and set(options) == {"--advanced", *words}
    assert read_request(ToyRequest, collect(ToyRequest, {"advanced": options[1::2]})) == request
    laid = collect(ToyRequest, {"advanced": ["width=7"]}, {"advanced": {"width": 3, "bend": False}})
    assert laid == {"advanced": {"width": 7, "bend": False}}


@pytest.mark.parametrize(
    ("word", "text"),
    [
        ("widht=3", "--advanced has no setting 'widht'; near it: width"),
        ("speed=3", "near it: weights.speed"),
        ("weights=3", "near it: weights.speed"),
        ("width", "--advanced is given as NAME=VALUE; found 'width'"),
        ("width=wide", "--advanced width is 'wide'; it must be a whole number 1 or more"),
        ("width=0", "--advanced width is 0; it must be a number 1 or more"),
    ],
)
def test_mistakes_in_settings(word: str, text: str) -> None:
    with pytest.raises(RequestError) as error:
        read_request(ToyRequest, collect(ToyRequest, {"advanced": [word]}))
    assert text in str(say_by_options(ToyRequest, error.value))


def test_whole_help_lists_what_help_leaves_out() -> None:
    app = typer.Typer(rich_markup_mode="rich")
    asked = []
    add_tool(app, "toy", ToyRequest, asked.append)
    app.command("other")(lambda: None)
    short, whole = (CliRunner().invoke(app, ["toy", option]).output for option in ("--help", "--help-all"))
    assert "--quality" in short and "--round" not in short and "width" not in short
    assert "1 more option and 5 advanced settings: choreograph toy --help-all" in short
    for word in ("--quality", "--round", "--advanced", "weights.speed", "Walks that are kept"):
        assert word in whole
    assert CliRunner().invoke(app, ["toy", "a.bvh", "--round", "2", "--advanced", "width=3"]).exit_code == 0
    assert asked == [ToyRequest(("a.bvh",), 2.0, advanced=ToyAdvanced(3))]


def test_two_options_of_one_name_are_refused() -> None:
    class Twice(Request):
        """Twice the same."""

        smooth_m: float = 0.0
        """One."""
        smooth_s: float = 0.0
        """Another."""

    with pytest.raises(ValueError, match="toy has two options of one name: --smooth"):
        add_command(typer.Typer(), "toy", print, None, parameters(Twice), Twice)


@pytest.mark.parametrize("name", [*rooms(), *TOOLS])
def test_no_command_has_two_options_of_one_name(name: str) -> None:
    command = load_command(name)
    for one in getattr(command, "commands", {"": command}).values():
        names = [flag for parameter in one.params for flag in (*parameter.opts, *parameter.secondary_opts)]
        assert len(names) == len(set(names))
