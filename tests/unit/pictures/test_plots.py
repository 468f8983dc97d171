from __future__ import annotations

import numpy as np
import pytest

from choreograph.base import quat
from choreograph.base.errors import OutputExists, RequestError, RoleError
from choreograph.pictures.plots import PLOTS, find_joints, plot_angles, plot_feet, unwrap_rotations, write_plot

MAGIC = {"png": b"\x89PNG", "svg": b"<?xml", "pdf": b"%PDF"}


@pytest.mark.parametrize("kind", PLOTS)
@pytest.mark.parametrize("suffix", MAGIC)
def test_every_plot_is_written_in_every_format(tmp_path, walker, kind, suffix):
    path = tmp_path / f"plot.{suffix}"
    write_plot(path, PLOTS[kind](walker, theme="dark"))
    assert path.read_bytes().startswith(MAGIC[suffix])
    with pytest.raises(OutputExists):
        write_plot(path, PLOTS[kind](walker))


def test_the_same_motion_gives_the_same_vector_file(tmp_path, walker):
    for name in ("a.svg", "b.svg"):
        write_plot(tmp_path / name, PLOTS["path"](walker))
    assert (tmp_path / "a.svg").read_bytes() == (tmp_path / "b.svg").read_bytes()
    assert "walker" in (tmp_path / "a.svg").read_text()  # letters stay letters


def test_path_plot_is_not_mirrored(walker):
    """The walker goes along z, to the right; its left footprints are above the path."""
    axes = PLOTS["path"](walker).axes[0]
    way = axes.lines[0].get_xydata()
    assert way[-1, 0] - way[0, 0] == pytest.approx(1.2 * 59 / 30, rel=1e-6)
    filled = [patch for patch in axes.patches if patch.get_facecolor()[3] > 0]
    assert filled and all(patch.get_xy()[:, 1].mean() > 0.05 for patch in filled)


def test_angles_are_those_of_the_chosen_joint_in_degrees(walker):
    figure = plot_angles(walker, joints=["LeftUpLeg"])
    about_x = figure.axes[0].lines[0].get_ydata()
    assert about_x.max() == pytest.approx(np.degrees(0.5), rel=0.02)


def test_feet_plot_marks_the_planted_spans(walker):
    panel = plot_feet(walker).axes[0]
    spans = [path.get_extents() for path in panel.collections[0].get_paths()]
    assert np.array([(span.x0, span.x1) for span in spans]) == pytest.approx(np.array([(0.0, 0.5), (1.0, 1.5)]))


def test_clip_without_feet_is_refused_with_a_sentence(walker):
    nobody = walker.with_skeleton(walker.skeleton.with_roles({"other": list(walker.skeleton.names)}))
    with pytest.raises(RoleError, match="foot"):
        plot_feet(nobody)
    assert PLOTS["path"](nobody).axes


def test_joints_by_name_and_role(walker):
    assert find_joints(walker, ["LeftLeg", "right_foot", "LeftLeg"]) == [5, 10]
    assert find_joints(walker, [])[:2] == [4, 8]
    with pytest.raises(RequestError, match="LeftLeg"):
        find_joints(walker, ["elbow"])


def test_unwrapped_rotations_pass_half_a_turn_without_a_leap():
    angles = np.linspace(0, 7.0, 200)
    vectors = quat.as_rotvec(quat.from_axis_angle((0.0, 1.0, 0.0), angles))
    assert unwrap_rotations(vectors)[:, 1] == pytest.approx(angles)


def test_other_suffixes_are_refused(tmp_path, walker):
    with pytest.raises(RequestError, match="pdf"):
        write_plot(tmp_path / "a.jpg", PLOTS["path"](walker))
