"""Figures 2 and 3 of Safonova, Hodgins & Pollard (2004) on CMU recordings: how few dimensions hold a behaviour.

python -m benchmarks.physics_figures [FOLDER]     prints both tables; draws physics-dimensions.png into FOLDER
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np

import choreograph as cg
from choreograph.base.arrays import Floats
from choreograph.dynamics.body import make_body
from choreograph.dynamics.contacts import measure_points
from choreograph.dynamics.dofs import make_dofs
from choreograph.features.pose_space import fit_pose_space
from choreograph.pictures.plots import new_figure, title_figure, write_plot
from choreograph.pictures.theme import CLIP_COLOURS, find_theme
from choreograph.verbs.physics.examples import choose_examples

MOST = 20
SHOWN = (1, 2, 3, 5, 7, 10, 15, 20)
RATE_HZ = 30.0


def trials(subject: int, numbers: Sequence[int]) -> list[str]:
    return [f"{subject:02d}_{number:02d}" for number in numbers]


BEHAVIOURS = {
    "walk": trials(16, (15, 16, 21, 22, 31, 32, 47, 58)) + trials(8, (1, 2, 3)),
    "run": trials(16, (*range(35, 47), *range(48, 57))),
    "jump": trials(16, (1, 2, 3, 4, 5, 6, 7, 9, 10)) + trials(13, (11, 13, 19, 32, 39, 40, 41, 42)),
    "hop and turn": trials(83, (51, 52, 53, 54, 56, 57, 58, 59, 60, 61, 62, 64, 65)),
    "run and leap": trials(127, (25, 26, 27, 28, 33, 34, 35, 36)) + trials(49, (4, 5)),
    "step over": trials(111, (29, 30)) + trials(143, (14, 15, 16)) + trials(141, (9,)),
    "salsa": trials(60, range(1, 11)),
    "back flip": trials(87, (3, 4)),
}
JUMPS = (
    trials(16, (1, 3, 5, 6, 7, 9, 10)) + trials(13, (11, 13, 19, 32, 39, 40, 41)) + trials(83, (40, 41, 45, 46, 48, 49))
)
MIDDLE = "16_06"
RUNS = trials(16, (*range(35, 47), *range(48, 56)))


class Poses:
    """Joint angles of recordings, on one body."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.base = self.read("16_15")
        body = make_body(self.base.skeleton)
        self.dofs, self.points = make_dofs(body, []), measure_points([self.base], body.height)
        self.known: dict[str, Floats] = {}

    def read(self, name: str) -> cg.Clip:
        path = next(self.folder.glob(f"cmu*/{name.partition('_')[0]}/{name}.amc"))
        clip = cg.read_clip(path)
        return cg.repair(clip) if name.startswith("87") else clip

    def angles(self, name: str) -> Floats:
        """(F, n), radians; the root left out."""
        if name not in self.known:
            clip = self.read(name).with_skeleton(self.base.skeleton)
            self.known[name] = self.dofs.angles(clip.resampled(min(clip.fps, RATE_HZ)))[:, 6:]
        return self.known[name]

    def alike(self, name: str, among: Sequence[str], count: int) -> list[str]:
        """Motions whose contacts and direction are most like one's, chosen as a request's `nearest` does."""
        clips = [self.read(other).with_skeleton(self.base.skeleton).with_name(other) for other in among]
        own = self.read(name).with_skeleton(self.base.skeleton).with_name(name)
        return [one.name for one in choose_examples(own, clips, self.points, 0.0, count)]


def errors(of: Floats, basis: Floats) -> Floats:
    """Root mean square distance of poses from the spaces of a basis' first 1 … MOST components, degrees."""
    space = fit_pose_space(basis, min(MOST, len(basis) - 1, basis.shape[1]))
    inside, off = (of - space.mean) @ space.axes.T, of - space.mean
    left = (off**2).sum(axis=1).mean() - np.cumsum((inside**2).mean(axis=0))
    left = np.concatenate([left, np.full(MOST - len(left), left[-1])])
    return np.asarray(np.degrees(np.sqrt(np.maximum(left, 0.0) / of.shape[1])))


def figure_two(poses: Poses) -> dict[str, Floats]:
    return {
        name: np.mean([errors(poses.angles(clip), poses.angles(clip)) for clip in clips], axis=0)
        for name, clips in BEHAVIOURS.items()
    }


def figure_three(poses: Poses) -> dict[str, Floats]:
    every = [name for names in BEHAVIOURS.values() for name in names]
    rows: dict[str, list[Floats]] = {}
    for name in JUMPS:
        others = [other for other in JUMPS if other != name]
        spaces = {
            "(a) itself": [name],
            "(b) three jumps alike": poses.alike(name, others, 3),
            "(c) nineteen other jumps": others,
            "(d) one jump": [MIDDLE if name != MIDDLE else "16_07"],
            "(e) all behaviours": [other for other in every if other != name],
            "(f) twenty runs": RUNS,
        }
        for space, names in spaces.items():
            basis = np.concatenate([poses.angles(other) for other in names])
            rows.setdefault(space, []).append(errors(poses.angles(name), basis))
    return {space: np.mean(values, axis=0) for space, values in rows.items()}


def table(title: str, rows: dict[str, Floats]) -> None:
    print(f"\n| {title}, degrees | " + " | ".join(f"d = {d}" for d in SHOWN) + " |")
    print("|---" * (len(SHOWN) + 1) + "|")
    for name, values in rows.items():
        print(f"| {name} | " + " | ".join(f"{values[d - 1]:.1f}" for d in SHOWN) + " |")


def draw(folder: Path, two: dict[str, Floats], three: dict[str, Floats]) -> None:
    look = find_theme("light")
    figure, panels = new_figure(look, 1, 2, (9.0, 3.6))
    for panel, rows, title in ((panels[0], two, "by behaviour"), (panels[1], three, "jumps in other spaces")):
        for k, (name, values) in enumerate(rows.items()):
            panel.plot(np.arange(1, MOST + 1), values, color=CLIP_COLOURS[k], linewidth=1.5, label=name)
        panel.set_ylim(0, None)
        panel.set_xlabel("dimensions")
        panel.set_ylabel("error (degrees)")
        panel.legend(fontsize=7.5, frameon=False, title=title, title_fontsize=8, labelcolor=look.quiet)
    title_figure(figure, look, "How few dimensions hold a motion", "root mean square per joint axis")
    write_plot(folder / "physics-dimensions.png", figure, overwrite=True)


def main() -> None:
    data = os.environ.get("CHOREOGRAPH_DATA")
    if not data:
        sys.exit("needs real recordings: set CHOREOGRAPH_DATA to their folder")
    poses = Poses(Path(data))
    two = figure_two(poses)
    table("a motion in its own space, by behaviour", two)
    three = figure_three(poses)
    table("twenty jumps in the space of", three)
    if len(sys.argv) > 1:
        draw(Path(sys.argv[1]), two, three)


if __name__ == "__main__":
    main()
