# What the package offers, and where each comes from: read by type checkers, and by `__init__.py` when it is asked for.

from ._version import __version__
from .base.errors import (
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
from .base.floor import FloorTransform
from .build.graph import build_graph
from .contract.document import read_request_file
from .contract.request import read_request
from .contract.result import Answer, Result
from .contract.search import Budget
from .dynamics.body import Body, make_body
from .dynamics.inverse import Dynamics
from .dynamics.request import BodyRequest
from .finding.request import FindRequest
from .finding.search import FindResult, find
from .finishing.body import RootTarget
from .finishing.finish import Finished, finish
from .finishing.footskate import clean_feet
from .finishing.hand_contacts import HandContacts, Partner
from .finishing.settings import FinishSettings
from .formats import read_clip, read_clips, read_figures, write_clip
from .formats.character import read_character, write_character
from .formats.export import ExportSettings, export_clip
from .formats.face import read_face, read_markers, read_shapes, write_face
from .formats.face_glb import read_face_glb, write_face_glb
from .formats.head_glb import Head, read_head, write_face_on_head
from .goals.model import (
    AngleGoal,
    Camera,
    ContactGoal,
    CostGoal,
    DistanceGoal,
    JointGoal,
    LabelGoal,
    LandmarkGoal,
    OffsetGoal,
    PauseGoal,
    PlaceGoal,
    PoseGoal,
    PoseSource,
    SegmentGoal,
    ShapeGoal,
    SpeedGoal,
    TurnGoal,
    ViewGoal,
)
from .graph.coverage import report_coverage
from .graph.model import MotionGraph
from .graph.report import report_graph
from .graph.settings import GraphSettings
from .graph.store import open_graph, save_graph
from .motion.clip import Clip, Label, concatenate
from .motion.contacts import detect_contacts, find_foot_contacts
from .motion.face import Face, FaceShapes
from .motion.head import simple_head
from .motion.montage import Layer, Montage
from .motion.repair import repair
from .motion.root_motion import in_place, with_root_bone
from .motion.skeleton import Skeleton
from .motion.trim import suggest_trim, trimmed
from .notebook import show
from .scene.model import Obstacle, ObstacleMove, ObstacleScene, Scene, Shape, Start, StepOver
from .scene.path import Path, Stretch
from .scene.path_files import load_path
from .scene.path_request import PathSource
from .scene.path_shapes import named_path
from .verbs.bend.request import BendRequest
from .verbs.bend.search import BendResult, BendSearch, bend
from .verbs.complete.interactive import Dragging, pulled_pose
from .verbs.complete.model import MotionModel, learn, reconstruction_error
from .verbs.complete.request import Between, CompleteAdvanced, CompleteRequest, CompleteWeights
from .verbs.complete.search import CompleteResult, CompleteSearch, complete
from .verbs.complete.settings import LearnSettings
from .verbs.complete.store import open_model, save_model
from .verbs.dynamics.request import DynamicsRequest
from .verbs.dynamics.search import DynamicsResult, DynamicsSearch, inverse_dynamics
from .verbs.face.model import FaceModel, face_error, learn_face
from .verbs.face.request import FaceAdvanced, FaceRequest
from .verbs.face.search import FaceResult, FaceSearch, face
from .verbs.face.sources import open_faces
from .verbs.follow.measure import measure_path
from .verbs.follow.request import (
    EarlierWalk,
    FollowAdvanced,
    FollowRequest,
    FollowSettings,
    FollowStart,
    FollowWeights,
)
from .verbs.follow.search import FollowSearch, follow
from .verbs.follow.stream import MotionStream
from .verbs.layer.request import LayerRequest
from .verbs.layer.search import LayerSearch, layer
from .verbs.loop.request import LoopRequest
from .verbs.loop.search import LoopSearch, loop
from .verbs.perform.examples import Example, SegmentDatabase, build_segments, pair_up, root_example
from .verbs.perform.live import PerformStream
from .verbs.perform.prepare import CutSettings, find_segment_database, open_segments, save_segments
from .verbs.perform.recorder import TrajectoryRecorder
from .verbs.perform.request import CutAdvanced, CutRequest, PerformAdvanced, PerformRequest
from .verbs.perform.search import PerformSearch, perform
from .verbs.perform.trajectory import Trajectory, read_trajectory
from .verbs.perform.transcription import write_transcription
from .verbs.physics.request import PhysicsFinish, PhysicsRequest
from .verbs.physics.search import PhysicsResult, PhysicsSearch, physics
from .verbs.physics.settings import PhysicsAdvanced, PhysicsLimits, PhysicsWeights
from .verbs.plan.prepare import find_plan_graph
from .verbs.plan.request import Corridor, PlanAdvanced, PlanRequest
from .verbs.plan.search import PlanSearch, plan
from .verbs.retarget.request import RetargetRequest
from .verbs.retarget.search import RetargetSearch, retarget
from .verbs.retime.request import RetimeRequest
from .verbs.retime.search import RetimeResult, RetimeSearch, retime
from .verbs.solve.functions import MotionView
from .verbs.solve.prepare import find_hierarchy
from .verbs.solve.request import Character, Meeting, Offset, SolveAdvanced, SolveRequest, SolveWeights
from .verbs.solve.search import SolveSearch, solve
from .verbs.solve.splice import Splice
from .verbs.steer.basis import Dimension
from .verbs.steer.controller import SteerPolicy
from .verbs.steer.costs import SteerAdvanced, SteerWeights
from .verbs.steer.crowd import Crowd
from .verbs.steer.frame_pool import build_frame_pool
from .verbs.steer.goals import MovingObstacle, SteerGoal
from .verbs.steer.prepare import load_policy
from .verbs.steer.request import SteerRequest, SteerStart
from .verbs.steer.search import SteerSearch, steer
from .verbs.steer.tasks import SteerTask
from .verbs.walk import Walk

__all__ = [
    "AngleGoal",
    "Answer",
    "BendRequest",
    "BendResult",
    "BendSearch",
    "Between",
    "Body",
    "BodyRequest",
    "Budget",
    "Camera",
    "Cancelled",
    "Character",
    "ChoreographError",
    "Clip",
    "CompleteAdvanced",
    "CompleteRequest",
    "CompleteResult",
    "CompleteSearch",
    "CompleteWeights",
    "ContactGoal",
    "Corridor",
    "CostGoal",
    "Crowd",
    "CutAdvanced",
    "CutRequest",
    "CutSettings",
    "Dimension",
    "DistanceGoal",
    "DownloadError",
    "Dragging",
    "Dynamics",
    "DynamicsRequest",
    "DynamicsResult",
    "DynamicsSearch",
    "EarlierWalk",
    "Example",
    "ExportSettings",
    "Face",
    "FaceAdvanced",
    "FaceModel",
    "FaceRequest",
    "FaceResult",
    "FaceSearch",
    "FaceShapes",
    "FindRequest",
    "FindResult",
    "FinishSettings",
    "Finished",
    "FloorTransform",
    "FollowAdvanced",
    "FollowRequest",
    "FollowSearch",
    "FollowSettings",
    "FollowStart",
    "FollowWeights",
    "FormatError",
    "GraphFileError",
    "GraphSettings",
    "HandContacts",
    "Head",
    "JointGoal",
    "Label",
    "LabelGoal",
    "LandmarkGoal",
    "Layer",
    "LayerRequest",
    "LayerSearch",
    "LearnSettings",
    "LoopRequest",
    "LoopSearch",
    "Meeting",
    "MissingExtra",
    "Montage",
    "MotionGraph",
    "MotionModel",
    "MotionStream",
    "MotionView",
    "MovingObstacle",
    "Obstacle",
    "ObstacleMove",
    "ObstacleScene",
    "Offset",
    "OffsetGoal",
    "OutputExists",
    "Partner",
    "Path",
    "PathSource",
    "PauseGoal",
    "PerformAdvanced",
    "PerformRequest",
    "PerformSearch",
    "PerformStream",
    "PhysicsAdvanced",
    "PhysicsFinish",
    "PhysicsLimits",
    "PhysicsRequest",
    "PhysicsResult",
    "PhysicsSearch",
    "PhysicsWeights",
    "PlaceGoal",
    "PlanAdvanced",
    "PlanRequest",
    "PlanSearch",
    "PoseGoal",
    "PoseSource",
    "RequestError",
    "Result",
    "RetargetRequest",
    "RetargetSearch",
    "RetimeRequest",
    "RetimeResult",
    "RetimeSearch",
    "RoleError",
    "RootTarget",
    "Scene",
    "SegmentDatabase",
    "SegmentGoal",
    "Shape",
    "ShapeGoal",
    "Skeleton",
    "SkeletonMismatch",
    "SolveAdvanced",
    "SolveRequest",
    "SolveSearch",
    "SolveWeights",
    "SpeedGoal",
    "Splice",
    "Start",
    "SteerAdvanced",
    "SteerGoal",
    "SteerPolicy",
    "SteerRequest",
    "SteerSearch",
    "SteerStart",
    "SteerTask",
    "SteerWeights",
    "StepOver",
    "Stretch",
    "Trajectory",
    "TrajectoryRecorder",
    "TurnGoal",
    "ViewGoal",
    "Walk",
    "__version__",
    "bend",
    "build_frame_pool",
    "build_graph",
    "build_segments",
    "clean_feet",
    "complete",
    "concatenate",
    "detect_contacts",
    "export_clip",
    "face",
    "face_error",
    "find",
    "find_foot_contacts",
    "find_hierarchy",
    "find_plan_graph",
    "find_segment_database",
    "finish",
    "follow",
    "in_place",
    "inverse_dynamics",
    "layer",
    "learn",
    "learn_face",
    "load_path",
    "load_policy",
    "loop",
    "make_body",
    "measure_path",
    "named_path",
    "open_faces",
    "open_graph",
    "open_model",
    "open_segments",
    "pair_up",
    "perform",
    "physics",
    "plan",
    "pulled_pose",
    "read_character",
    "read_clip",
    "read_clips",
    "read_face",
    "read_face_glb",
    "read_figures",
    "read_head",
    "read_markers",
    "read_request",
    "read_request_file",
    "read_shapes",
    "read_trajectory",
    "reconstruction_error",
    "repair",
    "report_coverage",
    "report_graph",
    "retarget",
    "retime",
    "root_example",
    "save_graph",
    "save_model",
    "save_segments",
    "show",
    "simple_head",
    "solve",
    "steer",
    "suggest_trim",
    "trimmed",
    "with_root_bone",
    "write_character",
    "write_clip",
    "write_face",
    "write_face_glb",
    "write_face_on_head",
    "write_transcription",
]
