"""What is said of a path that was not walked to its end."""

from __future__ import annotations

import pytest

from choreograph.scene.path import Path
from choreograph.verbs.follow.problems import _advice


@pytest.mark.parametrize(
    ("points", "left", "said"),
    [
        ([(0, 0), (0, 0.2)], 0.02, "shorter than a step"),
        ([(0, 0), (0, 5)], 0.1, "No step ends there"),
        ([(0, 0), (0, 2), (2, 2), (2, 7)], 0.5, "No step ends there"),
        ([(0, 0), (0, 5), (2, 5)], 2.1, "gentler path"),
        ([(0, 0), (0, 5), (0.3, 5)], 0.1, "gentler path"),
    ],
)
def test_advice_fits_how_the_path_ends(points: list[tuple[float, float]], left: float, said: str) -> None:
    assert said in _advice(Path(points), left)
