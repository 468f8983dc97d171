# What the package offers, and where each comes from: read by type checkers, and by `__init__.py` when it is asked for.

from ._version import __version__
from .build.graph import build_graph
from .contract.document import read_request_file
from .contract.request import read_request
from .contract.result import Answer, Result
from .contract.search import Budget
from .dynamics.body import Body, make_body
from .dynamics.inverse import Dynamics
from .editing.bend.request import BendRequest
from .editing.bend.search import BendResult, BendSearch, bend
from .editing.dynamics.request import BodyRequest, DynamicsRequest
from .editing.dynamics.search import DynamicsResult, DynamicsSearch, inverse_dynamics
from .editing.loop.request import LoopRequest
from .editing.loop.search import LoopResult, LoopSearch, loop
from .editing.physics.request import FootprintRequest, KeyPoseRequest, PhysicsLimits, PhysicsRequest, PhysicsWeights
from .editing.physics.search import PhysicsResult, PhysicsSearch, physics
from .editing.retarget.request import RetargetRequest
from .editing.retarget.search import RetargetResult, RetargetSearch, retarget
from .editing.retime.request import RetimeRequest
from .editing.retime.search import RetimeResult, RetimeSearch, retime
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
from .finishing.body import RootTarget
from .finishing.finish import Finished, finish
from .finishing.footskate import clean_feet
from .finishing.hand_contacts import HandContacts, Partner
from .finishing.settings import FinishSettings
from .formats import read_clip, read_figures, write_clip
from .formats.character import read_character, write_character
from .graph.coverage import report_coverage
from .graph.model import MotionGraph
from .graph.report import report_graph
from .graph.settings import GraphSettings
from .graph.store import open_graph, save_graph
from .maths.floor import FloorTransform
from .motion.clip import Clip, Label, concatenate
from .motion.contacts import detect_contacts, find_foot_contacts
from .motion.montage import Layer, Montage
from .motion.repair import repair
from .motion.skeleton import Skeleton
from .motion.trim import suggest_trim, trimmed
from .notebook import show
from .synthesis.follow.measure import measure_path
from .synthesis.follow.request import FollowRequest, FollowSettings, StretchRequest
from .synthesis.follow.search import FollowSearch, follow
from .synthesis.follow.stream import MotionStream
from .synthesis.path import Path, Stretch
from .synthesis.path_files import load_path
from .synthesis.path_shapes import named_path
from .synthesis.perform.examples import Example, SegmentDatabase, build_segments, pair_up, root_example
from .synthesis.perform.live import PerformStream
from .synthesis.perform.prepare import CutSettings, find_segment_database
from .synthesis.perform.recorder import TrajectoryRecorder
from .synthesis.perform.request import CutRequest, PerformRequest, SegmentConstraint
from .synthesis.perform.search import PerformSearch, perform
from .synthesis.perform.store import open_segments, save_segments
from .synthesis.perform.trajectory import Trajectory, read_trajectory
from .synthesis.perform.transcription import write_transcription
from .synthesis.solve.constraints import (
    BodyTarget,
    Box,
    Circle,
    FunctionTarget,
    HardFrame,
    JointTarget,
    LabelTarget,
    Obstacle,
    Polygon,
    PoseTarget,
)
from .synthesis.solve.functions import MotionView
from .synthesis.solve.prepare import find_hierarchy
from .synthesis.solve.request import Character, Meeting, Offset, SolveRequest, SolveSettings
from .synthesis.solve.search import SolveSearch, solve
from .synthesis.solve.splice import Splice
from .synthesis.walk import Walk

__all__ = [
    "Answer",
    "BendRequest",
    "BendResult",
    "BendSearch",
    "Body",
    "BodyRequest",
    "BodyTarget",
    "Box",
    "Budget",
    "Cancelled",
    "Character",
    "ChoreographError",
    "Circle",
    "Clip",
    "CutRequest",
    "CutSettings",
    "DownloadError",
    "Dynamics",
    "DynamicsRequest",
    "DynamicsResult",
    "DynamicsSearch",
    "Example",
    "FinishSettings",
    "Finished",
    "FloorTransform",
    "FollowRequest",
    "FollowSearch",
    "FollowSettings",
    "FootprintRequest",
    "FormatError",
    "FunctionTarget",
    "GraphFileError",
    "GraphSettings",
    "HandContacts",
    "HardFrame",
    "JointTarget",
    "KeyPoseRequest",
    "Label",
    "LabelTarget",
    "Layer",
    "LoopRequest",
    "LoopResult",
    "LoopSearch",
    "Meeting",
    "MissingExtra",
    "Montage",
    "MotionGraph",
    "MotionStream",
    "MotionView",
    "Obstacle",
    "Offset",
    "OutputExists",
    "Partner",
    "Path",
    "PerformRequest",
    "PerformSearch",
    "PerformStream",
    "PhysicsLimits",
    "PhysicsRequest",
    "PhysicsResult",
    "PhysicsSearch",
    "PhysicsWeights",
    "Polygon",
    "PoseTarget",
    "RequestError",
    "Result",
    "RetargetRequest",
    "RetargetResult",
    "RetargetSearch",
    "RetimeRequest",
    "RetimeResult",
    "RetimeSearch",
    "RoleError",
    "RootTarget",
    "SegmentConstraint",
    "SegmentDatabase",
    "Skeleton",
    "SkeletonMismatch",
    "SolveRequest",
    "SolveSearch",
    "SolveSettings",
    "Splice",
    "Stretch",
    "StretchRequest",
    "Trajectory",
    "TrajectoryRecorder",
    "Walk",
    "__version__",
    "bend",
    "build_graph",
    "build_segments",
    "clean_feet",
    "concatenate",
    "detect_contacts",
    "find_foot_contacts",
    "find_hierarchy",
    "find_segment_database",
    "finish",
    "follow",
    "inverse_dynamics",
    "load_path",
    "loop",
    "make_body",
    "measure_path",
    "named_path",
    "open_graph",
    "open_segments",
    "pair_up",
    "perform",
    "physics",
    "read_character",
    "read_clip",
    "read_figures",
    "read_request",
    "read_request_file",
    "read_trajectory",
    "repair",
    "report_coverage",
    "report_graph",
    "retarget",
    "retime",
    "root_example",
    "save_graph",
    "save_segments",
    "show",
    "solve",
    "suggest_trim",
    "trimmed",
    "write_character",
    "write_clip",
    "write_transcription",
]
