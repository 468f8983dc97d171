"""Choreograph turns a folder of motion capture into new motion on demand."""

from choreograph._version import __version__
from choreograph.errors import (
    Cancelled,
    ChoreographError,
    DownloadError,
    FormatError,
    GraphFileError,
    MissingExtra,
    OutputExists,
    RequestError,
    RoleError,
    SkeletonMismatch,
)
from choreograph.finishing.blend import BlendSettings
from choreograph.finishing.footskate import clean_feet
from choreograph.finishing.pipeline import FinishSettings, finish
from choreograph.finishing.splice import SpliceSettings, finish_splice
from choreograph.finishing.stream import MotionStream
from choreograph.formats import read_clip, write_clip
from choreograph.graph.build import build_graph
from choreograph.graph.model import MotionGraph
from choreograph.graph.report import report_graph
from choreograph.graph.settings import GraphSettings
from choreograph.graph.store import open_graph, save_graph
from choreograph.maths.floor import FloorTransform
from choreograph.motion.clip import Clip, Label, concatenate
from choreograph.motion.contacts import detect_contacts, find_plants
from choreograph.motion.skeleton import Skeleton
from choreograph.motion.trim import suggest_trim, trimmed
from choreograph.synthesis.follow.measure import measure_path
from choreograph.synthesis.follow.request import FollowSettings
from choreograph.synthesis.follow.search import find_candidates, follow_path
from choreograph.synthesis.path import Path, Stretch
from choreograph.synthesis.path_files import load_path
from choreograph.synthesis.path_shapes import named_path
from choreograph.synthesis.solve.cuts import find_cuts, keep_cuts
from choreograph.synthesis.solve.request import (
    BodyTarget,
    HardFrame,
    JointTarget,
    LabelTarget,
    Obstacle,
    PoseTarget,
    SolveRequest,
)
from choreograph.synthesis.solve.request_files import load_request
from choreograph.synthesis.solve.search import Solver, SolveSettings, solve
from choreograph.synthesis.solve.splice import Splice
from choreograph.synthesis.walk import Walk

__all__ = [
    "BlendSettings",
    "BodyTarget",
    "Cancelled",
    "ChoreographError",
    "Clip",
    "DownloadError",
    "FinishSettings",
    "FloorTransform",
    "FollowSettings",
    "FormatError",
    "GraphFileError",
    "GraphSettings",
    "HardFrame",
    "JointTarget",
    "Label",
    "LabelTarget",
    "MissingExtra",
    "MotionGraph",
    "MotionStream",
    "Obstacle",
    "OutputExists",
    "Path",
    "PoseTarget",
    "RequestError",
    "RoleError",
    "Skeleton",
    "SkeletonMismatch",
    "SolveRequest",
    "SolveSettings",
    "Solver",
    "Splice",
    "SpliceSettings",
    "Stretch",
    "Walk",
    "__version__",
    "build_graph",
    "clean_feet",
    "concatenate",
    "detect_contacts",
    "find_candidates",
    "find_cuts",
    "find_plants",
    "finish",
    "finish_splice",
    "follow_path",
    "keep_cuts",
    "load_path",
    "load_request",
    "measure_path",
    "named_path",
    "open_graph",
    "read_clip",
    "report_graph",
    "save_graph",
    "solve",
    "suggest_trim",
    "trimmed",
    "write_clip",
]
