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
from choreograph.finishing.perform_stream import PerformStream
from choreograph.finishing.performed import PerformedSettings, finish_performance
from choreograph.finishing.pipeline import FinishSettings, finish
from choreograph.finishing.splice import SpliceSettings, finish_splice, finish_together
from choreograph.finishing.stream import MotionStream
from choreograph.formats import read_clip, read_figures, write_clip
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
from choreograph.synthesis.perform.examples import Example, SegmentBase, build_base, own_track, pair_up
from choreograph.synthesis.perform.recorder import TrajectoryRecorder
from choreograph.synthesis.perform.request import PerformSettings, Wish
from choreograph.synthesis.perform.request import from_clip as control_from_clip
from choreograph.synthesis.perform.request import from_trajectory as control_from_trajectory
from choreograph.synthesis.perform.search import Interpretation, interpret
from choreograph.synthesis.perform.store import CutSettings, open_base, save_examples
from choreograph.synthesis.perform.trajectory import Trajectory, read_trajectory
from choreograph.synthesis.perform.transcription import write_transcription
from choreograph.synthesis.solve.cuts import find_cuts, keep_cuts
from choreograph.synthesis.solve.functions import Candidate
from choreograph.synthesis.solve.group import GroupRequest, Meeting
from choreograph.synthesis.solve.reach import OutOfReach
from choreograph.synthesis.solve.request import (
    BodyTarget,
    FunctionTarget,
    HardFrame,
    JointTarget,
    LabelTarget,
    Obstacle,
    PoseTarget,
    SolveRequest,
)
from choreograph.synthesis.solve.request_files import load_request
from choreograph.synthesis.solve.search import Answer, Solver, SolveSettings, solve
from choreograph.synthesis.solve.splice import Splice
from choreograph.synthesis.solve.together import GroupAnswer, solve_together
from choreograph.synthesis.walk import Walk

__all__ = [
    "Answer",
    "BlendSettings",
    "BodyTarget",
    "Cancelled",
    "Candidate",
    "ChoreographError",
    "Clip",
    "CutSettings",
    "DownloadError",
    "Example",
    "FinishSettings",
    "FloorTransform",
    "FollowSettings",
    "FormatError",
    "FunctionTarget",
    "GraphFileError",
    "GraphSettings",
    "GroupAnswer",
    "GroupRequest",
    "HardFrame",
    "Interpretation",
    "JointTarget",
    "Label",
    "LabelTarget",
    "Meeting",
    "MissingExtra",
    "MotionGraph",
    "MotionStream",
    "Obstacle",
    "OutOfReach",
    "OutputExists",
    "Path",
    "PerformSettings",
    "PerformStream",
    "PerformedSettings",
    "PoseTarget",
    "RequestError",
    "RoleError",
    "SegmentBase",
    "Skeleton",
    "SkeletonMismatch",
    "SolveRequest",
    "SolveSettings",
    "Solver",
    "Splice",
    "SpliceSettings",
    "Stretch",
    "Trajectory",
    "TrajectoryRecorder",
    "Walk",
    "Wish",
    "__version__",
    "build_base",
    "build_graph",
    "clean_feet",
    "concatenate",
    "control_from_clip",
    "control_from_trajectory",
    "detect_contacts",
    "find_candidates",
    "find_cuts",
    "find_plants",
    "finish",
    "finish_performance",
    "finish_splice",
    "finish_together",
    "follow_path",
    "interpret",
    "keep_cuts",
    "load_path",
    "load_request",
    "measure_path",
    "named_path",
    "open_base",
    "open_graph",
    "own_track",
    "pair_up",
    "read_clip",
    "read_figures",
    "read_trajectory",
    "report_graph",
    "save_examples",
    "save_graph",
    "solve",
    "solve_together",
    "suggest_trim",
    "trimmed",
    "write_clip",
    "write_transcription",
]
