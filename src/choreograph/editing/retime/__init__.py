"""The same poses with another timing: guided time warping.

After Hsu, da Silva & Popović, "Guided Time Warping for Motion Editing" (2007): every pose is kept, in order, and the
speeds and accelerations between them are taken from a reference motion, or from the motion itself.
"""

from choreograph.editing.retime.baselines import blend_warps, linear_warp, spline_warp
from choreograph.editing.retime.curve import TimeWarp
from choreograph.editing.retime.keys import KeyTime, check_keys, length_keys
from choreograph.editing.retime.references import Part, Suggestion, suggest_references
from choreograph.editing.retime.render import render_warp
from choreograph.editing.retime.retime import Retimed, RetimeMetrics, RetimeProblem, retime_clip, retime_prepared
from choreograph.editing.retime.settings import RetimeSettings
from choreograph.editing.retime.warp import GuidedWarp, Retimer

__all__ = [
    "GuidedWarp",
    "KeyTime",
    "Part",
    "RetimeMetrics",
    "RetimeProblem",
    "RetimeSettings",
    "Retimed",
    "Retimer",
    "Suggestion",
    "TimeWarp",
    "blend_warps",
    "check_keys",
    "length_keys",
    "linear_warp",
    "render_warp",
    "retime_clip",
    "retime_prepared",
    "spline_warp",
    "suggest_references",
]
