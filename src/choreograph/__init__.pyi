# What the package offers, and where each comes from: read by type checkers, and by `__init__.py` when it is asked for.

from ._version import __version__
from .build.graph import build_graph
from .errors import (
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
from .finishing.blend import BlendSettings
from .finishing.footskate import clean_feet
from .finishing.perform_stream import PerformStream
from .finishing.pipeline import finish
from .finishing.settings import FinishSettings
from .finishing.splice import SpliceSettings, finish_splice, finish_together
from .finishing.stream import MotionStream
from .formats import read_clip, read_figures, write_clip
from .graph.model import MotionGraph
from .graph.report import report_graph
from .graph.settings import GraphSettings
from .graph.store import open_graph, save_graph
from .maths.floor import FloorTransform
from .motion.clip import Clip, Label, concatenate
from .motion.contacts import detect_contacts, find_foot_contacts
from .motion.skeleton import Skeleton
from .motion.trim import suggest_trim, trimmed
from .notebook import show
from .synthesis.follow.measure import measure_path
from .synthesis.follow.request import FollowRequest, FollowSettings, StretchRequest
from .synthesis.follow.search import FollowSearch, follow
from .synthesis.path import Path, Stretch
from .synthesis.path_files import load_path
from .synthesis.path_shapes import named_path
from .synthesis.perform.examples import Example, SegmentDatabase, build_segments, pair_up, root_example
from .synthesis.perform.recorder import TrajectoryRecorder
from .synthesis.perform.request import CutRequest, PerformRequest, SegmentConstraint
from .synthesis.perform.search import PerformSearch, perform
from .synthesis.perform.store import CutSettings, open_segments, save_segments
from .synthesis.perform.trajectory import Trajectory, read_trajectory
from .synthesis.perform.transcription import write_transcription
from .synthesis.solve.cuts import find_cuts, keep_cuts
from .synthesis.solve.functions import MotionView
from .synthesis.solve.group import GroupRequest, Meeting
from .synthesis.solve.reach import OutOfReach
from .synthesis.solve.request import (
    BodyTarget,
    FunctionTarget,
    HardFrame,
    JointTarget,
    LabelTarget,
    Obstacle,
    PoseTarget,
    SolveRequest,
)
from .synthesis.solve.request_files import load_request, parse_request, request_schema
from .synthesis.solve.search import Answer, Solver, SolveSettings, solve
from .synthesis.solve.splice import Splice
from .synthesis.solve.together import GroupAnswer, solve_together
from .synthesis.walk import Walk

__all__ = [
    "Answer",
    "BlendSettings",
    "BodyTarget",
    "Cancelled",
    "ChoreographError",
    "Clip",
    "CutRequest",
    "CutSettings",
    "DownloadError",
    "Example",
    "FinishSettings",
    "FloorTransform",
    "FollowRequest",
    "FollowSearch",
    "FollowSettings",
    "FormatError",
    "FunctionTarget",
    "GraphFileError",
    "GraphSettings",
    "GroupAnswer",
    "GroupRequest",
    "HardFrame",
    "JointTarget",
    "Label",
    "LabelTarget",
    "Meeting",
    "MissingExtra",
    "MotionGraph",
    "MotionStream",
    "MotionView",
    "Obstacle",
    "OutOfReach",
    "OutputExists",
    "Path",
    "PerformRequest",
    "PerformSearch",
    "PerformStream",
    "PoseTarget",
    "RequestError",
    "RoleError",
    "SegmentConstraint",
    "SegmentDatabase",
    "Skeleton",
    "SkeletonMismatch",
    "SolveRequest",
    "SolveSettings",
    "Solver",
    "Splice",
    "SpliceSettings",
    "Stretch",
    "StretchRequest",
    "Trajectory",
    "TrajectoryRecorder",
    "Walk",
    "__version__",
    "build_graph",
    "build_segments",
    "clean_feet",
    "concatenate",
    "detect_contacts",
    "find_cuts",
    "find_foot_contacts",
    "finish",
    "finish_splice",
    "finish_together",
    "follow",
    "keep_cuts",
    "load_path",
    "load_request",
    "measure_path",
    "named_path",
    "open_graph",
    "open_segments",
    "pair_up",
    "parse_request",
    "perform",
    "read_clip",
    "read_figures",
    "read_trajectory",
    "report_graph",
    "request_schema",
    "root_example",
    "save_graph",
    "save_segments",
    "show",
    "solve",
    "solve_together",
    "suggest_trim",
    "trimmed",
    "write_clip",
    "write_transcription",
]
