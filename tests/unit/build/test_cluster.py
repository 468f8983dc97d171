import errno
import os
import signal
import socket
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest

from choreograph.base.errors import GraphFileError, RequestError
from choreograph.base.progress import silent
from choreograph.build.comparison import Windows
from choreograph.build.files import build_file
from choreograph.build.prepare import prepare_clips
from choreograph.distance.library import build_library
from choreograph.distance.minima import WindowMinima, find_minima, make_limits
from choreograph.distance.shards import Question, cut_shards
from choreograph.graph.settings import GraphSettings

pytest.importorskip("distributed")
pytest.importorskip("pyarrow")

from distributed.comm import CommClosedError

from choreograph.build import cluster, shards

SETTINGS = GraphSettings()


@pytest.fixture
def windows(walks):
    prepared = prepare_clips(walks, SETTINGS)
    return Windows(prepared.clips, prepared.infos, SETTINGS)


def write(folder: Path, windows: Windows, most: int = 100) -> tuple[str, list[range]]:
    cut = cut_shards(windows.frames, most)
    return shards.write_shards(str(folder), windows, windows.frames, cut), cut


def test_shards_give_the_windows_back_to_the_last_bit(windows, tmp_path: Path):
    key, cut = write(tmp_path / "shards", windows)
    assert len(cut) > 2
    every = list(windows)
    for number, clips in enumerate(cut):
        first, library = shards.read_shard(str(tmp_path / "shards"), key, number)
        expected = build_library([every[n] for n in clips], level=library.level)
        assert first == clips.start
        for name, value in expected._asdict().items():
            np.testing.assert_array_equal(value, getattr(library, name))
            assert np.asarray(value).dtype == np.asarray(getattr(library, name)).dtype


@pytest.mark.slow
def test_workers_that_outlive_a_build_know_the_next_one_from_it(walks, tmp_path: Path):
    prepared, folder = prepare_clips(walks, SETTINGS), tmp_path / "shards"
    for taper in ("triangle", "uniform"):
        settings = GraphSettings(taper=taper)
        windows = Windows(prepared.clips, prepared.infos, settings)
        key, cut = write(folder, windows)
        limits = make_limits(0.05, None, len(cut[0]))
        question = Question(limits, np.ones(len(cut[0]), bool), 0)
        found, _ = cluster.compare_pair(str(folder), key, (0, 0), question)
        expected = find_minima([clip for _, clip in zip(cut[0], windows, strict=False)], 0.05)
        np.testing.assert_array_equal(found.distance, expected.distance)


def test_shards_that_are_missing_or_of_another_build_are_named(windows, tmp_path: Path):
    folder = str(tmp_path / "shards")
    key, _ = write(tmp_path / "shards", windows)
    with pytest.raises(GraphFileError, match="another build"):
        shards.read_basis(folder, "other")
    with pytest.raises(GraphFileError, match="shard 1 is of another build"):
        shards.read_shard(folder, "other", 1)
    (tmp_path / "shards" / "shard-00001.arrow").unlink()
    with pytest.raises(GraphFileError, match="shard 1 is missing"):
        shards.read_shard(folder, key, 1)
    shards.remove_shards(folder)
    assert not (tmp_path / "shards").exists()
    with pytest.raises(GraphFileError, match="all workers see"):
        shards.read_basis(folder, key)


def test_a_folder_that_cannot_be_written_to_is_said(windows, tmp_path: Path):
    (tmp_path / "file").write_text("")
    with pytest.raises(GraphFileError, match="shards"):
        write(tmp_path / "file" / "shards", windows)


def test_a_shared_folder_that_fills_up_is_said(windows, tmp_path: Path, monkeypatch):
    import fsspec

    class Full:
        def makedirs(self, path: str, exist_ok: bool) -> None:
            pass

        def open(self, path: str, mode: str) -> None:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(fsspec.core, "url_to_fs", lambda folder: (Full(), folder))
    with pytest.raises(GraphFileError, match=r"No space left.*make room.*shards"):
        write(tmp_path, windows)


def test_whoever_compares_holds_two_shards_and_no_more(windows, tmp_path: Path):
    key, cut = write(tmp_path / "shards", windows)
    every = np.ones(len(windows.frames), bool)
    for pair in ((0, 1), (0, 2), (1, 2), (2, 2)):
        clips = np.concatenate([cut[number] for number in sorted(set(pair))])
        question = Question(make_limits(0.05, None, len(clips)), every[clips], 0)
        cluster.compare_pair(str(tmp_path / "shards"), key, pair, question)
    assert cluster._measured.cache_info().currsize == 2


class Leaving:
    """A client of a cluster that goes away after some tasks."""

    def __init__(self, tasks: int) -> None:
        self.left = tasks

    def scheduler_info(self, n_workers: int) -> dict[str, dict[str, str]]:
        return {"workers": {}}

    def submit(self, function, *values, retries: int, pure: bool):
        class Task:
            def result(task) -> tuple[WindowMinima, int]:
                self.left -= 1
                if self.left < 0:
                    raise CommClosedError("gone")
                return function(*values)

        return Task()


def test_a_build_goes_on_after_its_cluster_went_away(walks, tmp_path: Path, monkeypatch):
    monkeypatch.setattr(cluster, "_LEAST_FRAMES", 1)
    monkeypatch.setattr(cluster, "_SHARD_FRAMES", 1)  # a batch for each clip
    count = len(walks)
    settings = GraphSettings(max_blend_s=0)  # whose search would ask once more
    away = cluster.ClusterComparison(Leaving(count + (count - 1) + 1), str(tmp_path / "shards"))
    with pytest.raises(RequestError, match=r"went away.*goes on from what was compared"):
        build_file(tmp_path / "c.mog", walks, settings, workers=away)
    assert (tmp_path / "c.mog.partial").exists() and not list(tmp_path.glob("shards/*"))
    rest = Leaving(100)
    graph = build_file(
        tmp_path / "c.mog", walks, settings, workers=cluster.ClusterComparison(rest, str(tmp_path / "shards"))
    )
    assert 100 - rest.left == (count - 2) * (count - 1) // 2, "what was compared was compared again"
    alone = build_file(tmp_path / "a.mog", walks, settings)
    for name, column in alone.edges.columns().items():
        np.testing.assert_array_equal(column, getattr(graph.edges, name))


class Workers:
    """A client whose workers say which version they have, and its scheduler too."""

    def __init__(self, *versions: str, scheduler: str | None = cluster.__version__, why: str | None = None) -> None:
        self._versions, self.scheduler, self._why = versions, scheduler, why

    def wait_for_workers(self, count: int, timeout: float) -> None:
        if len(self._versions) < count:
            raise TimeoutError

    def run(self, function, folder: str = "", on_error: str = "raise") -> dict[str, str | None]:
        if function is cluster._unreachable:
            return {f"tcp://{n}": self._why for n in range(len(self._versions))}
        return {f"tcp://{n}": version for n, version in enumerate(self._versions)}

    def run_on_scheduler(self, function) -> str:
        if self.scheduler is None:
            raise ModuleNotFoundError("No module named 'choreograph'")
        return self.scheduler


@pytest.mark.parametrize(
    ("versions", "said"),
    [
        ((), "no workers"),
        ((cluster.__version__, "! No module named 'choreograph'"), r"tcp://1 cannot compare.*pip install"),
        ((cluster.__version__, "0.0.1"), r"tcp://1 has choreograph 0\.0\.1"),
    ],
)
def test_workers_that_cannot_compare_are_said_at_once(versions, said):
    with pytest.raises(RequestError, match=said):
        cluster._check_workers(Workers(*versions), "tcp://here", "shards")
    cluster._check_workers(Workers(cluster.__version__), "tcp://here", "shards")


def test_a_scheduler_without_the_package_is_said_at_once():
    with pytest.raises(RequestError, match=r"scheduler at tcp://here cannot compare: No module.*pip install"):
        cluster._check_workers(Workers(cluster.__version__, scheduler=None), "tcp://here", "shards")
    with pytest.raises(RequestError, match=r"scheduler at tcp://here has choreograph 0\.0\.1"):
        cluster._check_workers(Workers(cluster.__version__, scheduler="0.0.1"), "tcp://here", "shards")


def test_an_address_that_files_cannot_be_kept_at_is_said_at_once():
    with pytest.raises(RequestError, match=r"at nosuch://x: Protocol not known: nosuch; .*\(shards\)"):
        cluster.open_cluster("local:1", "nosuch://x").__enter__()
    with pytest.raises(RequestError, match="worker tcp://0 cannot read what is kept at s3://x: Install s3fs"):
        cluster._check_workers(Workers(cluster.__version__, why="Install s3fs"), "tcp://here", "s3://x")


def test_a_worker_that_does_not_see_the_shards_says_so(tmp_path: Path):
    with pytest.raises(GraphFileError, match="one that all workers see"):
        cluster.compare_pair(str(tmp_path), f"{cluster.__version__}-5", (0, 1), None)


def test_a_worker_of_another_version_that_came_later_is_said(tmp_path: Path):
    with pytest.raises(RequestError, match=r"came later.*not 0\.0\.1"):
        cluster.compare_pair(str(tmp_path), "0.0.1-5", (0, 1), None)


def test_what_else_is_in_the_folder_of_shards_stays(walks, tmp_path: Path):
    shared = tmp_path / "shared"
    shared.mkdir()
    (shared / "mine.arrow").write_text("somebody's own")
    compare = cluster.ClusterComparison(Leaving(100), str(shared))
    build_file(tmp_path / "c.mog", walks, GraphSettings(max_blend_s=0), workers=compare)
    assert [path.name for path in shared.iterdir()] == ["mine.arrow"]


def test_shards_that_a_killed_cluster_left_go_once_the_graph_is_built(walks, tmp_path: Path):
    left = tmp_path / "c.mog.shards"
    left.mkdir()
    (left / "shard-00000.arrow").write_text("of before")
    build_file(tmp_path / "c.mog", walks, GraphSettings(max_blend_s=0))
    assert not left.exists()


def test_each_output_has_a_folder_of_shards_of_its_own(tmp_path: Path):
    one, two = (shards.shards_folder("s3://bucket/x/", tmp_path / name / "a.mog") for name in ("one", "two"))
    assert one != two and one.startswith("s3://bucket/x/a.mog-")
    assert shards.shards_folder("shared", tmp_path / "a.mog").startswith(str(Path("shared").absolute()))
    assert shards.shards_folder(None, tmp_path / "a.mog") == str(tmp_path / "a.mog.shards")


def test_a_folder_that_filled_up_is_emptied(windows, tmp_path: Path, monkeypatch):
    def fill(folder: str, *rest) -> str:
        Path(folder).mkdir()
        (Path(folder) / "shard-00000.arrow").write_text("half of it")
        raise GraphFileError("shards cannot be written: No space left on device", path=folder)

    monkeypatch.setattr(cluster, "write_shards", fill)
    compare = cluster.ClusterComparison(Leaving(1), str(tmp_path / "shards"))
    with pytest.raises(GraphFileError, match="No space left"):
        list(compare(windows, 0.05, progress=silent))
    assert not (tmp_path / "shards").exists()


def test_a_cluster_that_is_not_there_or_makes_no_sense_is_said(tmp_path: Path):
    with pytest.raises(RequestError, match="local:4"), cluster.open_cluster("local:many", str(tmp_path)):
        pass
    with pytest.raises(RequestError, match="no cluster answers"), cluster.open_cluster("nowhere", str(tmp_path)):
        pass


@pytest.fixture
def other_cluster():
    """Somebody has the port that a cluster would take."""
    with socket.socket() as taken:
        with suppress(OSError):  # unless somebody really has it
            taken.bind(("127.0.0.1", 8787))
            taken.listen()
        yield


@pytest.mark.slow
@pytest.mark.usefixtures("other_cluster")
def test_processes_find_the_same_though_one_is_killed(windows, walks, tmp_path: Path, monkeypatch):
    monkeypatch.setattr(cluster, "_LEAST_FRAMES", 1)
    monkeypatch.setattr(cluster, "_SHARD_FRAMES", 50)
    expected = find_minima(list(windows), 0.05, prune=False)
    with cluster.open_cluster("local:2", str(tmp_path / "shards")) as compare:
        victim = next(iter(compare._client.run(os.getpid).values()))
        killed = []

        def progress(stage: str, done: int, total: int) -> None:
            if stage == "comparing windows" and not killed:
                killed.append(victim)
                os.kill(victim, signal.SIGKILL)

        found = WindowMinima.concatenate([batch.minima for batch in compare(windows, 0.05, progress=progress)])
        assert killed and len(found) > 0
        for name, column in vars(expected).items():
            np.testing.assert_array_equal(column, getattr(found, name))
        graph = build_file(tmp_path / "c.mog", walks, SETTINGS, workers=compare)
    alone = build_file(tmp_path / "a.mog", walks, SETTINGS)
    for name, column in alone.edges.columns().items():
        np.testing.assert_array_equal(column, getattr(graph.edges, name))
    assert not list(tmp_path.glob("shards/*"))
