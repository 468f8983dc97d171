"""The example notebook: as small as it should be, and it runs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

NOTEBOOK = Path(__file__).parents[3] / "examples" / "11_notebook.ipynb"


def test_the_example_runs_from_top_to_bottom() -> None:
    cells: list[dict[str, Any]] = json.loads(NOTEBOOK.read_text(encoding="utf-8"))["cells"]
    world: dict[str, Any] = {}
    for cell in cells:
        if cell["cell_type"] == "code":
            assert cell["outputs"] == [] and cell["execution_count"] is None, "strip the outputs"
            exec("".join(cell["source"]), world)
    assert world["found"].status == "complete"
    assert world["view"].scene.title.startswith("walk_veer_left, walk_veer_right: ")
