"""Getting recordings from public databases: the CMU Graphics Lab Motion Capture Database."""

from choreograph.recordings.cmu import CITATION, LICENCE, frame_rate
from choreograph.recordings.download import DownloadSettings
from choreograph.recordings.fetch import FetchFailure, FetchReport, cache_folder, fetch_cmu

__all__ = [
    "CITATION",
    "LICENCE",
    "DownloadSettings",
    "FetchFailure",
    "FetchReport",
    "cache_folder",
    "fetch_cmu",
    "frame_rate",
]
