from __future__ import annotations

import subprocess
import sys

import imageio_ffmpeg
import numpy as np
import pytest
from PIL import Image

from choreograph.base.errors import Cancelled, FormatError, MissingExtra, OutputExists, RequestError
from choreograph.base.progress import Recorder
from choreograph.pictures import mp4
from choreograph.pictures.animation import Film, FilmSettings, check_film, write_film, write_still

SMALL = FilmSettings(size=(96, 54), fps=10, samples=1)


def test_frames_come_in_order_and_as_drawn_one_by_one(walker):
    film = Film([walker], SMALL)
    assert len(film) == 20
    for number, image in enumerate(film.frames()):
        assert image.shape == (54, 96, 3)
        assert np.array_equal(image, film.draw(number))


def test_mp4_has_the_size_rate_length_and_colours_of_the_film(tmp_path, walker):
    path = tmp_path / "walk.mp4"
    heard = Recorder()
    write_film(path, [walker], SMALL, progress=heard)
    assert heard.calls[-1] == ("drawing", 20, 20)
    told, frames = decode(path)
    assert all(word in told for word in ("h264", "yuv420p", "bt709", "96x54", "10 fps"))
    assert len(frames) == 20
    assert np.abs(frames[9] - Film([walker], SMALL).draw(9)).mean() < 4


def decode(path):
    """What ffmpeg says about a film, and its frames."""
    command = [imageio_ffmpeg.get_ffmpeg_exe(), "-i", str(path), "-f", "rawvideo", "-pix_fmt", "rgb24", "-"]
    done = subprocess.run(command, capture_output=True, check=True)
    return done.stderr.decode(), np.frombuffer(done.stdout, np.uint8).reshape(-1, 54, 96, 3).astype(int)


def test_gif_plays_all_frames_in_a_loop(tmp_path, walker):
    path = tmp_path / "walk.gif"
    write_film(path, [walker], SMALL)
    with Image.open(path) as gif:
        assert gif.size == (96, 54) and gif.n_frames == 20
        assert gif.info["duration"] == 100 and gif.info["loop"] == 0
        shown = np.asarray(gif.convert("RGB")).astype(int)
    assert np.abs(shown - Film([walker], SMALL).draw(0)).mean() < 6


@pytest.mark.parametrize("suffix", ["mp4", "gif"])
def test_cancelling_leaves_no_file_and_no_ffmpeg(tmp_path, walker, suffix, monkeypatch):
    started = []
    launch = subprocess.Popen

    def watched(*args, **kwargs):
        started.append(launch(*args, **kwargs))
        return started[-1]

    monkeypatch.setattr(mp4.subprocess, "Popen", watched)
    with pytest.raises(Cancelled):
        write_film(tmp_path / f"walk.{suffix}", [walker], SMALL, progress=Recorder(cancel_after=4))
    assert list(tmp_path.iterdir()) == []
    assert len(started) == (suffix == "mp4")
    assert all(process.poll() is not None for process in started)


def test_an_ffmpeg_that_fails_is_told_and_leaves_nothing(tmp_path, walker, monkeypatch):
    monkeypatch.setattr(mp4, "_encoding", lambda: ["-c:v", "nonsense"])
    with pytest.raises(FormatError, match="nonsense"):
        write_film(tmp_path / "walk.mp4", [walker], SMALL)
    assert list(tmp_path.iterdir()) == []


def test_nothing_is_overwritten_unasked(tmp_path, walker):
    path = tmp_path / "walk.mp4"
    path.write_bytes(b"mine")
    with pytest.raises(OutputExists):
        write_film(path, [walker], SMALL)
    assert path.read_bytes() == b"mine"
    write_film(path, [walker[0:3]], SMALL, overwrite=True)
    assert path.stat().st_size > 500


@pytest.fixture
def no_ffmpeg(monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "imageio_ffmpeg", None)
    monkeypatch.setenv("PATH", str(tmp_path / "nothing"))


@pytest.mark.usefixtures("no_ffmpeg")
def test_without_ffmpeg_an_mp4_says_what_to_install_before_anything_is_drawn(tmp_path, walker):
    heard = Recorder()
    with pytest.raises(MissingExtra, match=r"pip install 'choreograph\[film\]'") as refused:
        write_film(tmp_path / "walk.mp4", [walker], SMALL, progress=heard)
    assert refused.value.extra == "film" and heard.calls == []
    with pytest.raises(MissingExtra):
        check_film("walk.mp4")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.usefixtures("no_ffmpeg")
def test_without_ffmpeg_there_are_still_gifs_and_pictures(tmp_path, walker):
    check_film("walk.gif")
    write_film(tmp_path / "walk.gif", [walker[0:6]], SMALL)
    write_still(tmp_path / "walk.png", [walker], 3, SMALL)
    assert {path.name for path in tmp_path.iterdir()} == {"walk.gif", "walk.png"}


def test_an_ffmpeg_on_the_path_serves_too(tmp_path, walker, monkeypatch):
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "ffmpeg").symlink_to(imageio_ffmpeg.get_ffmpeg_exe())
    monkeypatch.setitem(sys.modules, "imageio_ffmpeg", None)
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    assert mp4.find_ffmpeg() == str(tmp_path / "bin" / "ffmpeg")
    write_film(tmp_path / "walk.mp4", [walker[0:6]], SMALL)
    assert b"ftyp" in (tmp_path / "walk.mp4").read_bytes()[:16]


def test_settings_suit_the_file(tmp_path, walker):
    assert FilmSettings.for_file("a.MP4") == FilmSettings() == FilmSettings(size=(960, 540), fps=30.0)
    assert FilmSettings.for_file(tmp_path / "a.gif") == FilmSettings(size=(640, 360), fps=25.0)
    write_film(tmp_path / "walk.gif", [walker[0:6]])
    with Image.open(tmp_path / "walk.gif") as gif:
        assert gif.size == (640, 360) and gif.info["duration"] == 40


@pytest.mark.parametrize(
    ("name", "settings", "says"),
    [
        ("a.avi", SMALL, r"\.mp4"),
        ("a.mp4", FilmSettings(size=(97, 54)), "even"),
        ("a.mp4", FilmSettings(size=(4, 4)), "4x4"),
        ("a.mp4", FilmSettings(fps=0), "frames a second"),
        ("a.mp4", FilmSettings(camera="drone"), "drone"),
    ],
)
def test_senseless_requests_are_refused(tmp_path, walker, name, settings, says):
    with pytest.raises(RequestError, match=says):
        write_film(tmp_path / name, [walker], settings)
    assert list(tmp_path.iterdir()) == []


def test_still_shows_its_frame(tmp_path, walker):
    settings = FilmSettings(size=(96, 54), samples=1)
    write_still(tmp_path / "a.png", [walker], 30, settings)
    with Image.open(tmp_path / "a.png") as picture:
        assert np.array_equal(np.asarray(picture), Film([walker], settings).draw(30))
    with pytest.raises(RequestError, match="0 to 59"):
        write_still(tmp_path / "b.png", [walker], 60, settings)


def test_path_grows_prints_fade_and_bare_films_have_neither(walker):
    film = Film([walker], SMALL)
    strokes = film._strokes(19)
    path = strokes[0].points
    assert path[-1] == pytest.approx([0.0, 1.2 * 1.9], abs=0.05) and path[0] == pytest.approx([0.0, 0.0], abs=1e-9)
    assert len(film._strokes(0)) == 2  # the beginning of the path, and the first plant
    opacities = [stroke.opacity for stroke in strokes[1:]]
    assert opacities == sorted(opacities) and opacities[0] < opacities[-1]
    bare = Film([walker], FilmSettings(size=(96, 54), paths=False, plants=False, caption=False))
    assert bare._strokes(10) == []


def test_two_clips_share_the_stage_until_the_longer_ends(walker, stander):
    assert len(Film([walker, stander], SMALL)) == 20
    with pytest.raises(RequestError, match="no clip"):
        Film([], SMALL)
