"""A body as a file for robotics programs: MJCF (MuJoCo) or URDF (Pinocchio, Drake, PyBullet …).

Lengths are metres, masses kilograms; y is up, as everywhere here, and MJCF's gravity says so.
"""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree as Xml

import numpy as np

from choreograph.base.arrays import Floats
from choreograph.base.errors import RequestError
from choreograph.dynamics.dofs import Dofs
from choreograph.formats.atomic import atomic_write
from choreograph.motion.facts import GRAVITY_M_S2

SUFFIXES = (".xml", ".mjcf", ".urdf")
_LEAST_KG, _LEAST_INERTIA = 1e-6, 1e-9
"""What links without a body get, since these programs want every link to have mass."""


def write_body(path: str | Path, dofs: Dofs, *, overwrite: bool = False) -> None:
    """Write a body as MJCF (.xml, .mjcf) or URDF (.urdf).

    Args:
        path: The file.
        dofs: The body with its degrees of freedom.
        overwrite: Whether a file that is there is replaced.
    """
    path = Path(path)
    if path.suffix.lower() not in SUFFIXES:
        raise RequestError(f"a body is written as {', '.join(SUFFIXES)}, not {path.suffix or 'without a suffix'}")
    text = as_urdf(dofs) if path.suffix.lower() == ".urdf" else as_mjcf(dofs)
    with atomic_write(path, overwrite=overwrite) as temporary:
        temporary.write_text(text, encoding="utf-8")


def as_mjcf(dofs: Dofs) -> str:
    """The body in MuJoCo's own format: a hinge per axis, slides for the root."""
    root = Xml.Element("mujoco", model="body")
    Xml.SubElement(root, "compiler", angle="radian", boundmass=f"{_LEAST_KG:g}", boundinertia=f"{_LEAST_INERTIA:g}")
    Xml.SubElement(root, "option", gravity=f"0 {-GRAVITY_M_S2:g} 0")
    parents: dict[int, Xml.Element] = {-1: Xml.SubElement(root, "worldbody")}
    for k in range(len(dofs)):
        link = Xml.SubElement(parents[int(dofs.parents[k])], "body", name=_link(dofs, k), pos=_text(dofs.offsets[k]))
        limits = {}
        if dofs.turns[k] and np.isfinite(dofs.lower[k]) and np.isfinite(dofs.upper[k]):
            limits = {"limited": "true", "range": _text(np.array([dofs.lower[k], dofs.upper[k]]))}
        sort = "hinge" if dofs.turns[k] else "slide"
        Xml.SubElement(link, "joint", name=dofs.names[k], type=sort, axis=_text(dofs.axes[k])).attrib.update(limits)
        mass, inertia = _filled(dofs, k)
        six = [inertia[0, 0], inertia[1, 1], inertia[2, 2], inertia[0, 1], inertia[0, 2], inertia[1, 2]]
        Xml.SubElement(
            link, "inertial", pos=_text(dofs.centres[k]), mass=f"{mass:.12g}", fullinertia=_text(np.array(six))
        )
        parents[k] = link
    Xml.indent(root)
    return Xml.tostring(root, encoding="unicode") + "\n"


def as_urdf(dofs: Dofs) -> str:
    """The body as a URDF: a link and a joint per axis, from a link "world"."""
    root = Xml.Element("robot", name="body")
    Xml.SubElement(root, "link", name="world")
    for k in range(len(dofs)):
        link = Xml.SubElement(root, "link", name=_link(dofs, k))
        inertial = Xml.SubElement(link, "inertial")
        mass, inertia = _filled(dofs, k)
        Xml.SubElement(inertial, "origin", xyz=_text(dofs.centres[k]), rpy="0 0 0")
        Xml.SubElement(inertial, "mass", value=f"{mass:.12g}")
        parts = {f"i{a}{b}": f"{inertia['xyz'.index(a), 'xyz'.index(b)]:.12g}" for a in "xyz" for b in "xyz" if a <= b}
        Xml.SubElement(inertial, "inertia").attrib.update(parts)
        low, high = float(dofs.lower[k]), float(dofs.upper[k])
        bounded = bool(np.isfinite(low) and np.isfinite(high))
        sort = ("revolute" if bounded else "continuous") if dofs.turns[k] else "prismatic"
        joint = Xml.SubElement(root, "joint", name=dofs.names[k], type=sort)
        Xml.SubElement(joint, "origin", xyz=_text(dofs.offsets[k]), rpy="0 0 0")
        parent = int(dofs.parents[k])
        Xml.SubElement(joint, "parent", link="world" if parent < 0 else _link(dofs, parent))
        Xml.SubElement(joint, "child", link=_link(dofs, k))
        Xml.SubElement(joint, "axis", xyz=_text(dofs.axes[k]))
        if sort != "continuous":
            low, high = (low, high) if bounded else (-1000.0, 1000.0)
            Xml.SubElement(joint, "limit", lower=f"{low:.9g}", upper=f"{high:.9g}", effort="1000", velocity="50")
    Xml.indent(root)
    return Xml.tostring(root, encoding="unicode") + "\n"


def _link(dofs: Dofs, k: int) -> str:
    return f"{dofs.names[k]}_link"


def _filled(dofs: Dofs, k: int) -> tuple[float, Floats]:
    if dofs.masses[k] > 0:
        return float(dofs.masses[k]), dofs.inertias[k]
    return _LEAST_KG, _LEAST_INERTIA * np.eye(3)


def _text(values: Floats) -> str:
    return " ".join(f"{value:.12g}" for value in np.asarray(values).tolist())
