"""How fast films are drawn: frames a second at 960x540, where the time goes, and how much compiling brings.

    python -m benchmarks.bench_render [FILE] [--frames 120]

Everything is measured in one run on one machine, CPU time beside wall time, against two yardsticks: copying a frame
in memory (a floor no renderer can go below) and the plain NumPy twins of the kernels.
"""

from __future__ import annotations

import argparse
import resource
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
from tests.unit.pictures import plain_shaders

from choreograph.motion.clip import Clip
from choreograph.pictures import _compiled
from choreograph.pictures.animation import Film, FilmSettings, write_film
from choreograph.pictures.figures import mannequin_of
from choreograph.pictures.gif import choose_palette, open_gif
from choreograph.pictures.mp4 import open_mp4

SIZE = (960, 540)


def example_clip(seconds: float) -> Clip:
    """A figure that walks with swinging limbs, where no recording is given."""
    from choreograph.base import quat
    from choreograph.motion.skeleton import Skeleton

    body = [
        ("Hips", -1, 0, 0.95, 0),
        ("Spine", 0, 0, 0.12, 0),
        ("Chest", 1, 0, 0.25, 0),
        ("Neck", 2, 0, 0.2, 0),
        ("Head", 3, 0, 0.1, 0),
    ]
    for side, sign in (("Left", 1), ("Right", -1)):
        k = len(body)
        body += [
            (f"{side}UpLeg", 0, 0.1 * sign, 0, 0),
            (f"{side}Leg", k, 0, -0.43, 0),
            (f"{side}Foot", k + 1, 0, -0.42, 0),
            (f"{side}ToeBase", k + 2, 0, -0.07, 0.15),
        ]
        k = len(body)
        body += [
            (f"{side}Shoulder", 2, 0.05 * sign, 0.15, 0),
            (f"{side}Arm", k, 0.14 * sign, 0, 0),
            (f"{side}ForeArm", k + 1, 0.28 * sign, 0, 0),
            (f"{side}Hand", k + 2, 0.25 * sign, 0, 0),
        ]
    names, parents = [b[0] for b in body], np.array([b[1] for b in body])
    skeleton = Skeleton(tuple(names), parents, np.array([b[2:] for b in body], float))
    times = np.arange(round(seconds * 30)) / 30
    root = np.stack([0 * times, 0.95 + 0 * times, 1.3 * times], axis=1)
    rot = np.tile(quat.IDENTITY, (len(times), len(names), 1))
    for name, sign in (("LeftUpLeg", 1), ("RightUpLeg", -1)):
        rot[:, names.index(name)] = quat.from_axis_angle((1.0, 0, 0), sign * 0.5 * np.sin(6 * times))
    for name, sign in (("LeftArm", -1), ("RightArm", 1)):
        rot[:, names.index(name)] = quat.from_axis_angle((0, 0, 1.0), sign * (1.2 + 0.2 * np.sin(6 * times)))
    return Clip(skeleton, 30.0, root, rot, name="example")


def timed(work: Callable[[], object]) -> tuple[float, float]:
    """Wall seconds, and CPU seconds of this process and the children that ended meanwhile."""

    def spent() -> float:
        uses = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
        return sum(use.ru_utime + use.ru_stime for use in uses)

    wall, cpu = time.perf_counter(), spent()
    work()
    return time.perf_counter() - wall, spent() - cpu


def report(what: str, count: int, wall: float, cpu: float) -> None:
    print(f"{what:24s}{count / wall:8.1f} frames/s{1e3 * cpu / count:9.2f} ms of CPU a frame")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", nargs="?", help="a motion file; without it, a figure made here")
    parser.add_argument("--frames", type=int, default=120)
    options = parser.parse_args()
    if options.file:
        from choreograph.formats import read_clip

        clip = read_clip(options.file)
    else:
        clip = example_clip(options.frames / 30)
    clip = clip.resampled(30.0)[: options.frames]
    settings = FilmSettings(size=SIZE)
    film = Film([clip], settings)
    film.draw(0)  # compiles
    count = len(film)
    mesh = mannequin_of(clip.skeleton)
    print(
        f"{clip.name}: {count} frames at {SIZE[0]}x{SIZE[1]}, {len(mesh.triangles)} triangles, shadows, "
        f"{settings.samples}x{settings.samples} samples"
    )

    images: list[np.ndarray] = []
    wall, drawing = timed(lambda: images.extend(film.draw(f) for f in range(count)))
    report("drawing, one thread", count, wall, drawing)
    report("drawing, two threads", count, *timed(lambda: list(film.frames())))
    with tempfile.TemporaryDirectory() as folder:

        def encode() -> None:
            with open_mp4(Path(folder, "a.mp4"), SIZE, settings.fps) as out:
                for image in images:
                    out.write(image)

        def encode_gif() -> None:
            with open_gif(Path(folder, "a.gif"), choose_palette(images[:: max(1, count // 16)]), settings.fps) as out:
                for image in images:
                    out.write(image)

        wall, encoding = timed(encode)
        report("encoding as MP4", count, wall, encoding)
        report("encoding as GIF", count, *timed(encode_gif))
        report("whole film, MP4", count, *timed(lambda: write_film(Path(folder, "b.mp4"), [clip], settings)))
        report("whole film, GIF", count, *timed(lambda: write_film(Path(folder, "b.gif"), [clip], settings)))
        for file in sorted(Path(folder).iterdir()):
            print(f"{file.name}: {file.stat().st_size / 1e3:.0f} kB")
    print(f"of the work, drawing is {drawing / (drawing + encoding):.0%}, encoding the rest")
    buffer = np.empty_like(images[0])
    wall, copying = timed(lambda: [np.copyto(buffer, image) for image in images * 10])
    report("copying drawn frames", 10 * count, wall, copying)
    print(f"drawing a frame takes as long as copying it {drawing / (copying / 10):.0f} times")
    compare_triangles(film)


def compare_triangles(film: Film) -> None:
    """The triangle kernel against its plain twin on one frame's mesh, small."""
    figure = film._actors[0].pose(0)
    screen = film._cameras[0].project(figure.vertices, (192, 108))

    def run(kernels: object) -> None:
        depth, owner = np.zeros((108, 192), np.float32), np.full((108, 192), -1, np.int32)
        kernels.draw_triangles(screen, figure.triangles, depth, owner)  # type: ignore[attr-defined]

    run(_compiled)
    fast = min(timed(lambda: run(_compiled))[0] for _ in range(5))
    plain, _ = timed(lambda: run(plain_shaders))
    print(
        f"triangles, compiled       {len(figure.triangles) / fast / 1e6:7.2f} million/s, "
        f"{plain / fast:.0f} times the plain twin's rate"
    )


if __name__ == "__main__":
    main()
