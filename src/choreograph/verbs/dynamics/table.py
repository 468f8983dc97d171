"""A motion's mechanics as a table, a row per frame, for spreadsheets and statistics."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np

from choreograph.base.arrays import Floats
from choreograph.dynamics.inverse import Dynamics
from choreograph.formats.atomic import atomic_write
from choreograph.motion.clip import Clip


def columns(dynamics: Dynamics, clip: Clip) -> dict[str, Floats]:
    """Columns by name, each (F,); names end in their unit."""
    out: dict[str, Floats] = {"frame": np.arange(len(clip), dtype=float), "time_s": np.arange(len(clip)) / clip.fps}

    def put(name: str, unit: str, values: Floats) -> None:
        for k, axis in enumerate("xyz"):
            out[f"{name}.{axis}_{unit}"] = values[:, k]

    put("com", "m", dynamics.com)
    put("com_velocity", "m_s", dynamics.com_velocity)
    put("com_acceleration", "m_s2", dynamics.com_acceleration)
    put("momentum", "kg_m_s", dynamics.momentum)
    put("angular_momentum", "kg_m2_s", dynamics.angular_momentum)
    put("ground_force", "N", dynamics.ground_force)
    for side, name in enumerate(("left", "right")):
        force, centre = dynamics.foot_forces(side)
        put(f"{name}_foot_force", "N", force)
        put(f"{name}_centre_of_pressure", "m", centre)
    put("residual_force", "N", dynamics.residual_force)
    put("residual_moment", "Nm", dynamics.residual_moment)
    for j, name in enumerate(clip.skeleton.names):
        if j:
            put(f"torque.{name}", "Nm", dynamics.torques[:, j])
            out[f"power.{name}_W"] = dynamics.powers[:, j]
    return out


def write_table(path: Path, dynamics: Dynamics, clip: Clip, *, overwrite: bool = False) -> None:
    """Write the table as CSV; cells without a value, such as a centre of pressure in the air, are empty."""
    table = columns(dynamics, clip)
    rows = np.stack(list(table.values()), axis=1).tolist()
    with atomic_write(path, overwrite=overwrite) as temporary, temporary.open("w", encoding="utf-8", newline="") as out:
        csv.writer(out, lineterminator="\n").writerow(table)
        for row in rows:
            out.write(",".join("" if cell != cell else f"{cell:.7g}" for cell in row) + "\n")
