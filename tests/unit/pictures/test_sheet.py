from __future__ import annotations

import numpy as np
import pytest

from choreograph.base.errors import OutputExists, RequestError
from choreograph.base.progress import Recorder
from choreograph.pictures import sheet
from choreograph.pictures.sheet import SheetSettings, draw_overview, draw_sheet, draw_thumbnail, write_sheet

SMALL = SheetSettings(width=320, samples=1)


def test_travelling_clip_stands_along_its_path_from_left_to_right(walker):
    layout = sheet._lay_out(walker, None, None)
    assert not layout.in_place and not layout.shifts.any()
    right = np.array([np.cos(layout.yaw), -np.sin(layout.yaw)])
    assert (np.diff(walker.root_pos[layout.frames][:, [0, 2]] @ right) > 0).all()


def test_clip_that_stays_put_is_laid_out_in_a_row_in_time(stander):
    layout = sheet._lay_out(stander, None, None)
    assert layout.in_place
    right = np.array([np.cos(layout.yaw), -np.sin(layout.yaw)])
    along = (stander.root_pos[layout.frames][:, [0, 2]] + layout.shifts) @ right
    assert np.diff(along).min() > 0.5 * stander.skeleton.height


def test_every_gives_the_frames_asked_for(walker, stander):
    for clip in (walker, stander):
        assert sheet._lay_out(clip, 7, None).frames.tolist() == list(range(0, len(clip), 7))


@pytest.mark.parametrize("name", ["walker", "stander"])
def test_sheet_shows_figures_within_its_margins(name, request):
    image = draw_sheet(request.getfixturevalue(name), SMALL).astype(int)
    assert image.shape[1] == 320 and 80 <= image.shape[0] <= 200
    bright = image.min(axis=2) > 150
    columns = np.flatnonzero(bright.any(axis=0))
    assert columns[0] > 4 and columns[-1] < 316
    assert np.ptp(columns) > 200


def test_a_thumbnail_is_figures_alone(walker):
    image = draw_thumbnail(walker, SheetSettings(288, 128, samples=1)).astype(int)
    assert image.shape == (128, 288, 3)
    assert (image.min(axis=2) > 150).sum() > 200, "somebody is there"
    renamed = draw_thumbnail(walker.with_name("another"), SheetSettings(288, 128, samples=1))
    assert np.array_equal(image, renamed), "nothing is written into it"


def test_one_frame_makes_a_sheet(walker):
    assert draw_sheet(walker[3:4], SMALL).shape[1] == 320


def test_overview_has_a_cell_for_each_clip(walker, stander):
    clips = [walker, stander, walker]
    heard = Recorder()
    image = draw_overview(clips, SheetSettings(width=480, samples=1), progress=heard)
    assert heard.calls[-1] == ("drawing", 3, 3)
    half = image.shape[0] // 2
    lit = [
        part.max() > 150 for part in (image[:half, :240], image[:half, 240:], image[half:, :240], image[half:, 240:])
    ]
    assert lit == [True, True, True, False]


def test_sheet_is_written_whole_and_not_over_another(tmp_path, walker):
    path = tmp_path / "sheet.png"
    write_sheet(path, [walker], SMALL)
    before = path.read_bytes()
    assert before.startswith(b"\x89PNG")
    with pytest.raises(OutputExists):
        write_sheet(path, [walker], SMALL)
    assert path.read_bytes() == before
    assert [p.name for p in tmp_path.iterdir()] == ["sheet.png"]


@pytest.mark.parametrize(
    ("settings", "says"),
    [
        (SheetSettings(width=10), "160"),
        (SheetSettings(every=0), "every"),
        (SheetSettings(samples=0), "samples"),
        (SheetSettings(theme="sepia"), "dark, light"),
    ],
)
def test_senseless_settings_are_refused(walker, settings, says):
    with pytest.raises(RequestError, match=says):
        draw_sheet(walker, settings)


def test_other_suffixes_are_refused(tmp_path, walker):
    with pytest.raises(RequestError, match="png"):
        write_sheet(tmp_path / "sheet.jpg", [walker])
