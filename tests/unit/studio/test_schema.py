"""Every address against its description, with requests made up by schemathesis, right ones and wrong ones."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from schemathesis.generation import GenerationMode
from schemathesis.specs.openapi.checks import positive_data_acceptance
from tests.unit.studio.running import LONG_S, Studio, opened

from choreograph.studio import api, characters, faces, uploads, verb_api

MADE_UP = 10
"""Requests of each kind for each address."""
ROUTES: list[Any] = [route for part in (api, uploads, faces, characters, verb_api) for route in part.router.routes]
ADDRESSES = [(route.path, method) for route in ROUTES for method in route.methods]


@pytest.fixture(scope="module")
def described(studio: Studio, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """The description that a studio gives of itself: one of its own, since it is undone and changed at random."""
    graph = tmp_path_factory.mktemp("described") / "people.mog"
    graph.write_bytes(studio.session.places.graph.read_bytes())
    with opened(graph) as other:
        other.settle()
        yield schemathesis.openapi.from_url(f"http://127.0.0.1:{other.port}/api/openapi.json")


@pytest.mark.parametrize("mode", list(GenerationMode), ids=lambda mode: mode.name.lower())
@pytest.mark.parametrize(("path", "method"), ADDRESSES)
def test_it_does_what_its_description_says(described: Any, path: str, method: str, mode: GenerationMode) -> None:
    operation = described[path][method]
    about = described.raw_schema["paths"][path][method.lower()]
    if mode is GenerationMode.NEGATIVE and not about.get("parameters") and "requestBody" not in about:
        pytest.skip("takes nothing that could be wrong")

    @given(case=operation.as_strategy(generation_mode=mode))
    @settings(
        max_examples=MADE_UP,
        deadline=None,
        derandomize=True,
        database=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    def check(case: Any) -> None:
        # What is well-formed may still name a clip, or a shape, that is not there.
        case.call_and_validate(excluded_checks=[positive_data_acceptance], timeout=LONG_S)

    check()


def test_every_address_is_explained_and_fails_with_a_sentence(described: Any) -> None:
    assert len(ADDRESSES) == sum(len(methods) for methods in described.raw_schema["paths"].values())
    for path, methods in described.raw_schema["paths"].items():
        for method, about in methods.items():
            assert about["description"], f"{method} {path} is not explained"
            assert about["responses"]["422"]["content"]["application/json"]["schema"]["$ref"].endswith("/Failure")
