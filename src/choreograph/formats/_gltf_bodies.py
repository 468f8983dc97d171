"""Which skins of a GLB file belong to one body: a character often has a skin for each of its meshes."""

from __future__ import annotations

from typing import Any

from choreograph.base.errors import FormatError
from choreograph.formats._glb import Glb, index


def find_bodies(document: Glb) -> list[dict[str, Any]]:
    """One skin for each body of a file, that with the most joints, in the order in which the bodies first come.

    Skins are of one body where they share joints, or where the joints of one hang from the other's.
    """
    skins, nodes = document.items("skins"), document.items("nodes")
    if len(skins) < 2:
        return skins
    joints = [_joints(skin, len(nodes)) for skin in skins]
    tops = _tops(set().union(*joints), parents_of_nodes(nodes))
    bodies: list[tuple[set[int], list[int]]] = []  # what a body hangs from, and its skins
    for k, own in enumerate(joints):
        hangs, members = {tops[joint] for joint in own}, [k]
        for body in [body for body in bodies if body[0] & hangs]:
            bodies.remove(body)
            hangs, members = hangs | body[0], body[1] + members
        bodies.append((hangs, members))
    members_of = sorted(sorted(members) for _, members in bodies)
    return [skins[max(members, key=lambda k: (len(joints[k]), -k))] for members in members_of]


def parents_of_nodes(nodes: list[dict[str, Any]]) -> list[int]:
    """The parent of every node, -1 for none; each node has one at most, and there are no circles."""
    parents = [-1] * len(nodes)
    for number, node in enumerate(nodes):
        children = node.get("children", [])
        if not isinstance(children, list):
            raise FormatError("a node's children are not a list")
        for child in children:
            child = index(child, len(nodes), "nodes")
            if parents[child] != -1:
                raise FormatError(f"node {child} has two parents")
            parents[child] = number
    seen = [0] * len(nodes)
    for number in range(len(nodes)):
        at = number
        while at != -1 and seen[at] == 0:
            seen[at] = number + 1
            at = parents[at]
        if at != -1 and seen[at] == number + 1:
            raise FormatError("its nodes hang from each other in a circle")
    return parents


def _joints(skin: dict[str, Any], count: int) -> set[int]:
    """The nodes that a skin lists; what is wrong with the list is said where the skin is read."""
    listed = skin.get("joints")
    return {j for j in listed if isinstance(j, int) and 0 <= j < count} if isinstance(listed, list) else set()


def _tops(joints: set[int], parents: list[int]) -> dict[int, int]:
    """The highest joint above each joint, or the joint itself."""
    tops: dict[int, int] = {-1: -1}
    for joint in joints:
        way, at = [], joint
        while at not in tops:
            way.append(at)
            at = parents[at]
        top = tops[at]
        for node in reversed(way):
            if top == -1 and node in joints:
                top = node
            tops[node] = top
    return tops
