"""Characters: what is written on one is read back, also where the character's file was written here."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from choreograph.demo import demo_clip
from choreograph.formats import read_clip, write_clip
from choreograph.formats.character import read_character, write_character


def test_a_character_of_ours_forgets_the_motion_that_it_came_with(tmp_path: Path) -> None:
    walk = demo_clip("walk", 30.0)
    write_clip(tmp_path / "hero.glb", walk[:20])
    write_character(tmp_path / "walks.glb", read_character(tmp_path / "hero.glb"), walk)
    back = read_clip(tmp_path / "walks.glb")
    assert len(back) == len(walk)
    assert np.allclose(back.root_pos, walk.root_pos, atol=1e-4)
