"""MP4 films, through an ffmpeg that runs as a program of its own.

H.264 is what every browser, Blender and slide program plays, and x264, which encodes it, is under the GPL. So ffmpeg is
an optional part and a process apart: it is neither a dependency of the core nor linked into it.
"""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import numpy as np

from choreograph.base.arrays import Bytes
from choreograph.base.errors import FormatError, MissingExtra


def find_ffmpeg() -> str | None:
    """The ffmpeg that makes films: the optional part's, or what `$IMAGEIO_FFMPEG_EXE` names; else the system's.

    None if there is neither.
    """
    try:
        import imageio_ffmpeg
    except ImportError:
        return shutil.which("ffmpeg")
    with suppress(RuntimeError):  # the part is there without its program, as on platforms for which it has none
        return str(imageio_ffmpeg.get_ffmpeg_exe())
    return None


def require_ffmpeg() -> str:
    """The ffmpeg that films are made with, or MissingExtra."""
    path = find_ffmpeg()
    if path is None:
        raise MissingExtra("writing .mp4 films (.gif films and pictures do without)", "film")
    return path


class Mp4:
    """Pictures written one after another."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        """Take a running ffmpeg."""
        assert process.stdin is not None
        self._pipe = process.stdin

    def write(self, image: Bytes) -> None:
        """Add a picture (height, width, 3), sRGB."""
        self._pipe.write(np.ascontiguousarray(image).data)


@contextmanager
def open_mp4(path: Path, size: tuple[int, int], fps: float) -> Iterator[Mp4]:
    """An MP4 file to write pictures to, whole when the block ends; ffmpeg has ended then, well or not.

    Raises:
        MissingExtra: there is no ffmpeg.
        FormatError: ffmpeg failed; its words say why.
    """
    source = ["-f", "rawvideo", "-pix_fmt", "rgb24", "-s", f"{size[0]}x{size[1]}", "-r", f"{fps:.10g}", "-i", "-"]
    command = [require_ffmpeg(), "-hide_banner", "-loglevel", "error", "-y", *source, *_encoding(), str(path)]
    with tempfile.TemporaryFile() as words:
        process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=words)
        assert process.stdin is not None
        try:
            with suppress(BrokenPipeError):  # ffmpeg gave up; its words say why
                yield Mp4(process)
                process.stdin.close()
            if process.wait() != 0:
                words.seek(0)
                lines = words.read().decode(errors="replace").strip().splitlines()
                raise FormatError(f"ffmpeg could not write the film: {lines[0] if lines else 'it gave no reason'}")
        finally:
            if process.poll() is None:
                process.kill()
                process.wait()
            with suppress(BrokenPipeError):
                process.stdin.close()


def _encoding() -> list[str]:
    # High-definition colour, stated: players guess the older matrix for small pictures, and teal turns green.
    colour = ["-vf", "scale=out_color_matrix=bt709:out_range=tv", "-colorspace", "bt709"]
    colour += ["-color_primaries", "bt709", "-color_trc", "bt709", "-color_range", "tv"]
    # On these pictures "veryfast" makes files as small as "fast" and as good (42.5 against 42.8 dB) in 0.4 of the time.
    quality = ["-c:v", "libx264", "-preset", "veryfast", "-crf", "18", "-pix_fmt", "yuv420p", "-movflags", "+faststart"]
    return [*colour, *quality, "-f", "mp4"]
