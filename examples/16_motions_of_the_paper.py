"""How well are the motions of Safonova, Hodgins & Pollard (2004) made, from a few recordings each?

Jumps of many lengths and turns from one basis, runs over stones, a leap over water, walks, steps over something, back
flips, and what the paper shows as failing. Each is solved, verified between the solver's nodes, and written as motion,
picture and, with --films, as a film from the side.

    choreograph fetch cmu 08 13 16 49 75 83 87 127 143 --cache recordings
    python examples/16_motions_of_the_paper.py recordings [--only runs] [--films] [--out FOLDER]
"""

import argparse
import time
from dataclasses import replace
from itertools import groupby
from pathlib import Path

import numpy as np
from paper_motions import Made, Recordings, all_motions

import choreograph as cg
from choreograph.base import quat
from choreograph.pictures.animation import FilmSettings, write_film
from choreograph.pictures.plots import new_figure, title_figure, write_plot
from choreograph.pictures.theme import find_theme
from choreograph.verbs.physics.plot import draw_figures

HEAD = (
    "| motion | status | iterations | CPU | COM off | L drift | slip | residual | peak | below | positions against "
    "a straight line's |\n|---|---|---|---|---|---|---|---|---|---|---|"
)


def solve(made: Made, recordings: Recordings, out: Path) -> tuple[cg.PhysicsResult, float]:
    """The motion, and the CPU seconds it took."""
    recording, request = recordings.read(made.clip), made.request
    examples = [recordings.read(name).with_skeleton(recording.skeleton) for name in made.examples]
    if made.poses:
        part, poses = recording[round((request.start_s or 0) * recording.fps) :], []
        for number, pose in enumerate(made.poses):
            at, frame = pose(part)
            file = out / f"{slug(made)}-pose-{number + 1}.npz"
            cg.write_clip(file, frame.with_name("pose"), overwrite=True)
            poses.append({"at_s": at, "pose": {"file": str(file)}})
        request = request.with_(goals=poses)
    if made.prints:
        plain = cg.physics(recording, request, examples=examples)
        request = request.with_(goals=made.prints(plain.best.details["footprints"]))
    began = time.process_time()
    result = cg.physics(recording, request, examples=examples)
    return result, time.process_time() - began


def slug(made: Made) -> str:
    return (
        "".join(letter if letter.isalnum() else "-" for letter in f"{made.group} {made.name}")
        .replace("--", "-")
        .strip("-")
    )


def off_line(result: cg.PhysicsResult) -> float:
    """Mean distance of joints from the recorded ones, over that of a straight line between first and last."""
    recorded = result.recorded
    at = np.rint(np.linspace(0, len(recorded) - 1, len(result.clip))).astype(int)
    real, share = recorded.global_positions()[at], np.linspace(0, 1, len(at))[:, None, None]
    line = real[0] + share * (real[-1] - real[0])
    gap = np.linalg.norm(result.clip.global_positions() - real, axis=2).mean()
    return float(gap / np.linalg.norm(line - real, axis=2).mean())


def row(made: Made, result: cg.PhysicsResult, seconds: float) -> str:
    checked, flies = result.verification, result.verification.com_off_m > 0
    air = (f"{1000 * checked.com_off_m:.2f} mm", f"{100 * checked.spin_drift:.1f} %") if flies else ("–", "–")
    cells = (
        f"{made.group}: {made.name}", result.status, str(result.best.details["iterations"]), f"{seconds:.1f} s", *air,
        f"{1000 * checked.slip_m:.1f} mm", f"{checked.residual:.2f} BW", f"{checked.peak_force:.1f} BW",
        f"{1000 * checked.below_m:.1f} mm", f"{off_line(result):.2f}" if made.same else "–",
    )  # fmt: skip
    return "| " + " | ".join(cells) + " |"


def natural(result: cg.PhysicsResult) -> str:
    """What sets a natural motion apart from one that only obeys mechanics."""

    def arms(clip: cg.Clip) -> float:
        joints = [clip.skeleton.need(f"{side}_upper_arm") for side in ("left", "right")]
        turns = quat.multiply(quat.inverse(clip.local_rot[:1, joints]), clip.local_rot[:, joints])
        return float(np.degrees(np.linalg.norm(quat.as_rotvec(turns), axis=-1)).max())

    dofs = result.solved.problem.dofs
    known = np.concatenate([dofs.angles(one.resampled(30.0))[:, 6:] for one in (*result.examples, result.recorded)])
    made = dofs.angles(result.clip.resampled(30.0))[:, 6:]
    nearest = [np.sqrt(((known - pose) ** 2).mean(axis=1)).min() for pose in made]
    return (
        f"arms move through {arms(result.clip):.0f}° (recorded {arms(result.recorded):.0f}°); poses are "
        f"{np.degrees(np.mean(nearest)):.1f}° from the nearest recorded one; squared torques "
        f"{(result.best.mechanics.torques**2).sum(axis=1).mean() / 1e4:.2f}·10⁴ (N·m)²"
    )


def draw(group: str, results: list[tuple[Made, cg.PhysicsResult]], out: Path) -> Path:
    """One picture of a group: each motion from the side, above the recording it is a sketch of."""
    look = find_theme("light")
    figure, panels = new_figure(look, len(results), 1, (9.0, 2.5 * len(results)))
    for panel, (made, result) in zip(np.atleast_1d(panels), results, strict=True):
        draw_figures(panel, result, look, 15, 12.0)
        panel.set_ylabel(made.name, fontsize=8)
        panel.set_yticks([])
    title_figure(figure, look, group, "above: made, with ground forces and centre of mass · below: the recording")
    file = out / f"{group.replace('°', '').replace(' ', '-')}.png"
    write_plot(file, figure, overwrite=True)
    return file


def film(made: Made, result: cg.PhysicsResult, out: Path) -> None:
    settings = FilmSettings.for_file(out / "film.mp4")
    file = out / f"{slug(made)}.mp4"
    write_film(file, [result.clip], replace(settings, size=(640, 360), camera="side"), overwrite=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("recordings", type=Path, help="folder with CMU subjects, each in a folder of its number")
    parser.add_argument("--only", default="", help="groups whose name has this in it")
    parser.add_argument("--films", action="store_true", help="also make films, from the side")
    parser.add_argument("--out", type=Path, default=Path("out"), help="folder to write to")
    args = parser.parse_args()
    args.out.mkdir(parents=True, exist_ok=True)
    recordings = Recordings(args.recordings)
    print(HEAD)
    wanted = [made for made in all_motions() if args.only in f"{made.group}: {made.name}"]
    for group, motions in groupby(wanted, key=lambda made: made.group):
        done = []
        for made in motions:
            try:
                result, seconds = solve(made, recordings, args.out)
            except cg.RequestError as error:
                print(f"| {made.group}: {made.name} | refused: {error} |" + " |" * 9, flush=True)
                continue
            print(row(made, result, seconds), flush=True)
            for problem in result.problems:
                print(f"    {problem.text}", flush=True)
            if made.group == "negative":
                print(f"    {natural(result)}", flush=True)
            cg.write_clip(args.out / f"{slug(made)}.bvh", result.clip, overwrite=True)
            if args.films:
                film(made, result, args.out)
            done.append((made, result))
        if done:
            print(f"wrote {draw(group, done, args.out)}", flush=True)


if __name__ == "__main__":
    main()
