"""The mannequin: a closed, well-weighted surface of plausible size for any skeleton and rest pose."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from choreograph.base import quat
from choreograph.figure.mannequin import SkinnedMesh, build_mannequin, skin, skin_numpy, straightest_frame
from choreograph.motion.clip import Clip, concatenate
from choreograph.motion.skeleton import Skeleton


@pytest.fixture
def body(human: Clip) -> Skeleton:
    return human.skeleton


def chain(lengths: list[float], tip: float | None = 0.1) -> Skeleton:
    offsets = [[0, length, 0] for length in lengths]
    tips = ([], []) if tip is None else ([len(lengths) - 1], [[0, tip, 0]])
    return Skeleton([f"j{k}" for k in range(len(lengths))], list(range(-1, len(lengths) - 1)), offsets, *tips)


def turned(skeleton: Skeleton, **degrees: tuple[float, float, float]) -> Skeleton:
    """The skeleton with another rest pose: bones below the named joints are turned by a rotation vector."""
    clip = posed(skeleton, **degrees)
    world = clip.global_positions()[0]
    offsets = world.copy()
    offsets[1:] -= world[skeleton.parents[1:]]
    tips = clip.tip_positions()[0] - world[skeleton.tip_parents]
    return replace(skeleton, offsets=offsets, tip_offsets=tips)


def posed(skeleton: Skeleton, **degrees: tuple[float, float, float]) -> Clip:
    rot = np.tile(quat.IDENTITY, (1, len(skeleton), 1))
    for name, vector in degrees.items():
        rot[0, skeleton.index(name)] = quat.from_rotvec(np.radians(vector))
    return Clip(skeleton, 30.0, skeleton.offsets[:1], rot)


def volume(vertices: np.ndarray, mesh: SkinnedMesh) -> float:
    corners = vertices[mesh.triangles].astype(float)
    return float(np.einsum("ta,ta->", corners[:, 0], np.cross(corners[:, 1], corners[:, 2])) / 6)


def check_sound(mesh: SkinnedMesh, joints: int) -> None:
    count = len(mesh.vertices)
    assert mesh.vertices.dtype == mesh.normals.dtype == mesh.colours.dtype == mesh.joint_weights.dtype == np.float32
    assert mesh.triangles.dtype == np.int32 and mesh.joint_indices.dtype == np.uint16
    assert np.isfinite(mesh.vertices).all() and count > 0
    assert np.allclose(np.linalg.norm(mesh.normals, axis=1), 1, atol=1e-5)
    assert np.allclose(mesh.joint_weights.sum(axis=1), 1, atol=1e-6) and (mesh.joint_weights >= 0).all()
    assert mesh.joint_indices.max() < joints
    assert (mesh.joint_indices[mesh.joint_weights == 0] == 0).all()
    assert mesh.triangles.min() >= 0 and mesh.triangles.max() < count
    assert (mesh.colours > 0).all() and (mesh.colours < 1).all()


def test_human_mesh_is_sound_closed_and_of_human_size(body):
    mesh = build_mannequin(body)
    check_sound(mesh, len(body))
    assert 2000 < len(mesh.vertices) < 10_000
    edges = Counter((int(a), int(b)) for t in mesh.triangles for a, b in zip(t, np.roll(t, -1), strict=True))
    assert max(edges.values()) == 1
    assert all((b, a) in edges for a, b in edges)
    # Parts overlap inside, so the sum of their volumes is a little above a person's 60 to 80 litres.
    assert 0.055 < volume(mesh.vertices, mesh) < 0.105
    size = np.ptp(mesh.vertices, axis=0)
    assert 1.65 < size[1] < 1.85
    assert 0.15 < size[2] < 0.35


def test_trunk_and_limbs_are_one_surface(body):
    """From the head to either foot and to the wrists one can go along edges."""
    mesh = build_mannequin(body)
    count = len(mesh.vertices)
    links = coo_array(
        (np.ones(3 * len(mesh.triangles)), (mesh.triangles.ravel(), np.roll(mesh.triangles, 1, 1).ravel()))
    )
    links.resize((count, count))
    _, piece = connected_components(links, directed=False)
    main = np.bincount(piece).argmax()
    for name in ("Head", "Hips", "LeftArm", "RightForeArm", "LeftUpLeg", "RightFoot", "LeftToeBase"):
        carried = (mesh.joint_indices[:, 0] == body.index(name)) & (mesh.joint_weights[:, 0] > 0.9)
        assert (piece[carried] == main).any(), name


def test_the_face_looks_ahead(body):
    mesh = build_mannequin(body)
    head = mesh.vertices[(mesh.joint_indices[:, 0] == body.index("Head")) & (mesh.joint_weights[:, 0] > 0.99)]
    nose = head[head[:, 2].argmax()]
    middle = (head.min(axis=0) + head.max(axis=0)) / 2
    assert abs(nose[0] - middle[0]) < 0.004 and nose[1] < middle[1]
    assert head[:, 2].max() - middle[2] > 0.004 + (middle[2] - head[:, 2].min()) * 0.95


def test_normals_point_out(body):
    mesh = build_mannequin(body)
    corners = mesh.vertices[mesh.triangles].astype(float)
    faces = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    along = np.einsum("ta,tka->tk", faces, mesh.normals[mesh.triangles])
    assert (along > -1e-7).mean() > 0.99


def test_same_skeleton_same_mesh(body):
    first, second = build_mannequin(body), build_mannequin(body)
    for field in ("vertices", "normals", "triangles", "joint_indices", "joint_weights", "colours"):
        assert np.array_equal(getattr(first, field), getattr(second, field))
        assert not getattr(first, field).flags.writeable


def test_left_and_right_mirror_each_other_but_for_the_tint(body):
    mesh = build_mannequin(body)
    mirrored = mesh.vertices * np.float32([-1, 1, 1])
    order, twin = np.lexsort(np.round(mesh.vertices, 4).T), np.lexsort(np.round(mirrored, 4).T)
    assert np.abs(np.sort(mesh.vertices[order], axis=0) - np.sort(mirrored[twin], axis=0)).max() < 3e-3
    hand = {side: mesh.joint_indices[:, 0] == body.index(f"{side}Hand") for side in ("Left", "Right")}
    left, right = (mesh.colours[hand[side]].mean(axis=0) for side in ("Left", "Right"))
    assert left[2] > right[2] * 1.1 and right[0] > left[0] * 1.1


def test_joints_are_darker_than_limbs(body):
    mesh = build_mannequin(body)
    knee = mesh.bind_pos[body.index("LeftLeg")]
    near = np.abs(mesh.vertices[:, 1] - knee[1]) < 0.01
    mid = np.abs(mesh.vertices[:, 1] - knee[1] - 0.15) < 0.03
    leg = mesh.vertices[:, 0] > 0.03
    assert mesh.colours[near & leg].sum(axis=1).max() < 0.9 * mesh.colours[mid & leg].sum(axis=1).max()


@pytest.mark.parametrize("kernel", [skin, skin_numpy])
def test_skinning_keeps_the_bind_pose_and_follows_rigid_motion(body, kernel):
    mesh = build_mannequin(body)
    vertices, normals = kernel(mesh, mesh.bind_pos, mesh.bind_rot)
    assert np.abs(vertices - mesh.vertices).max() < 1e-6
    assert np.abs(normals - mesh.normals).max() < 1e-5
    turn, shift = quat.from_rotvec([0.3, -1.2, 0.7]), np.array([1.0, 2.0, -3.0])
    vertices, _ = kernel(mesh, shift + quat.rotate(turn, mesh.bind_pos), quat.multiply(turn, mesh.bind_rot))
    assert np.abs(vertices - (shift + quat.rotate(turn, mesh.vertices))).max() < 1e-5


@pytest.mark.parametrize("batch", [(), (3,), (2, 3), (0,)])
def test_compiled_and_plain_skinning_agree(body, batch):
    rng = np.random.default_rng(5)
    mesh = build_mannequin(body)
    pos, rot = rng.normal(size=(*batch, len(body), 3)), quat.normalise(rng.normal(size=(*batch, len(body), 4)))
    fast, plain = skin(mesh, pos, rot), skin_numpy(mesh, pos, rot)
    assert fast[0].shape == fast[1].shape == (*batch, len(mesh.vertices), 3)
    for a, b in zip(fast, plain, strict=True):
        assert np.abs(a - b).max(initial=0.0) < 2e-5


@pytest.mark.parametrize(
    ("joint", "bend"), [("LeftLeg", (120, 0, 0)), ("RightForeArm", (0, 120, 0)), ("LeftUpLeg", (-100, 0, 0))]
)
def test_bent_limbs_keep_their_flesh(body, joint, bend):
    mesh = build_mannequin(body)
    clip = posed(body, **{joint: bend})
    vertices, _ = skin(mesh, clip.global_positions()[0], clip.global_rotations()[0])
    assert volume(vertices, mesh) > 0.97 * volume(mesh.vertices, mesh)
    # No gap: points stay as near to some joint that carries them as they were.
    carried = mesh.joint_weights > 0
    before = np.linalg.norm(mesh.vertices[:, None] - mesh.bind_pos[mesh.joint_indices], axis=-1)
    after = np.linalg.norm(vertices[:, None] - clip.global_positions()[0][mesh.joint_indices], axis=-1)
    assert ((after - before)[carried] < 0.08).all()


@pytest.mark.parametrize(
    "rest",
    [
        {"LeftUpLeg": (0, 0, 20), "RightUpLeg": (0, 0, -20)},
        {"LeftArm": (0, 0, -60), "RightArm": (0, 0, 60)},
        {"Hips": (0, 90, 0)},
        {"Hips": (-90, 0, 0)},
        {"LeftLeg": (40, 0, 0), "RightForeArm": (0, 50, 0)},
    ],
    ids=["legs astride", "arms down", "facing x", "lying", "bent"],
)
def test_rest_poses_make_the_same_body(body, rest):
    plain, other = build_mannequin(body), build_mannequin(turned(body, **rest))
    assert len(plain.vertices) == pytest.approx(len(other.vertices), rel=0.05)
    assert volume(other.vertices, other) == pytest.approx(volume(plain.vertices, plain), rel=0.03)
    for name in ("LeftLeg", "RightForeArm", "LeftFoot", "Head"):
        sizes = []
        for mesh in (plain, other):
            mine = (mesh.joint_indices[:, 0] == body.index(name)) & (mesh.joint_weights[:, 0] > 0.99)
            sizes.append(np.linalg.norm(mesh.vertices[mine] - mesh.bind_pos[body.index(name)], axis=1).max())
        assert sizes[0] == pytest.approx(sizes[1], rel=0.05)


def test_soles_are_flat_and_level_under_upright_shins(body):
    mesh = build_mannequin(body)
    for side in ("Left", "Right"):
        ankle = body.index(f"{side}Foot")
        foot = mesh.vertices[(mesh.joint_indices[:, 0] == ankle) & (mesh.joint_weights[:, 0] > 0.99)]
        toes = mesh.vertices[mesh.joint_indices[:, 0] == body.index(f"{side}ToeBase")]
        assert foot[:, 1].min() == pytest.approx(toes[:, 1].min(), abs=0.006)
        assert 0.04 < mesh.bind_pos[ankle, 1] - foot[:, 1].min() < 0.10


def test_missing_tips_leave_head_hands_and_toes(body):
    whole, bare = build_mannequin(body), build_mannequin(replace(body, tip_parents=None, tip_offsets=None))
    assert np.abs(np.ptp(bare.vertices, axis=0) - np.ptp(whole.vertices, axis=0)).max() < 0.15
    check_sound(bare, len(body))


def test_rest_pose_that_is_no_body_is_replaced_by_a_frame(body):
    """Programs that lay every bone along x give a rest pose that says nothing about the body."""
    good = body
    world = np.tile(quat.IDENTITY, (len(good), 1))
    child = {int(p): j for j, p in reversed(list(enumerate(good.parents))) if p >= 0}
    for j in range(len(good)):
        bone = good.offsets[child[j]] if j in child else good.offsets[j]
        world[j] = quat.between_vectors(np.array([1.0, 0.0, 0.0]), bone + 1e-3)
    offsets = np.array(good.offsets)
    offsets[1:] = quat.rotate(quat.inverse(world[good.parents[1:]]), good.offsets[1:])
    tips = quat.rotate(quat.inverse(world[good.tip_parents]), good.tip_offsets)
    local = np.array(world)
    local[1:] = quat.multiply(quat.inverse(world[good.parents[1:]]), world[1:])
    odd = replace(good, offsets=offsets, tip_offsets=tips)
    clip = Clip(odd, 30.0, good.offsets[:1], local[None])
    assert np.abs(clip.global_positions()[0] - posed(good).global_positions()[0]).max() < 1e-9
    pose = clip.global_positions()[0], clip.global_rotations()[0]
    ours, true = build_mannequin(clip), build_mannequin(good)
    drawn, _ = skin(ours, *pose)
    meant, _ = skin(true, pose[0], np.tile(quat.IDENTITY, (len(good), 1)))
    assert drawn.shape == meant.shape
    assert np.abs(np.ptp(drawn, axis=0) - np.ptp(meant, axis=0)).max() < 0.06
    assert volume(drawn, ours) == pytest.approx(volume(meant, true), rel=0.05)


ODD = {
    "one joint": Skeleton(["a"], [-1], [[0, 0, 0]]),
    "one joint and tip": Skeleton(["a"], [-1], [[0, 0, 0]], [0], [[0, 0.3, 0]]),
    "chain": chain([0, 0.3, 0.3, 0.2]),
    "chain without tip": chain([0, 0.3, 0.3, 0.2], tip=None),
    "zero lengths": chain([0, 0, 0.3, 0, 0.2, 0], tip=0.0),
    "all in one place": chain([0, 0, 0], tip=None),
    "star": Skeleton(["a", "b", "c", "d"], [-1, 0, 0, 0], [[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]]),
    "several tips": Skeleton(["a", "b"], [-1, 0], [[0, 0, 0], [0, 1, 0]], [1, 1, 0], [[1, 0, 0], [0, 1, 0], [1, 0, 0]]),
    "tiny": chain([0, 1e-3, 1e-3]),
    "huge": chain([0, 900.0, 800.0]),
}


@pytest.mark.parametrize("skeleton", ODD.values(), ids=ODD.keys())
def test_odd_skeletons_get_a_sound_mesh(skeleton):
    mesh = build_mannequin(skeleton)
    check_sound(mesh, len(skeleton))
    assert volume(mesh.vertices, mesh) > 0


def test_every_bone_of_an_unknown_skeleton_is_covered():
    skeleton = ODD["star"]
    mesh = build_mannequin(skeleton)
    for end in np.eye(3):
        middle = np.abs(mesh.vertices - end / 2).max(axis=1) < 0.15
        assert middle.any()


def test_extra_joints_on_a_human_are_drawn_too(body):
    tail = Skeleton(
        (*body.names, "tail1", "tail2"),
        [*body.parents, 0, len(body)],
        [*body.offsets, (0, 0, -0.3), (0, 0, -0.3)],
        body.tip_parents,
        body.tip_offsets,
    )
    mesh = build_mannequin(tail)
    check_sound(mesh, len(tail))
    assert mesh.vertices[:, 2].min() < -0.5


def test_neck_not_below_the_hips_is_no_crash(body):
    parents = np.array(body.parents)
    odd = Skeleton(("Root", *body.names), [-1, *(parents + 1)], [[0, 0, 0], *body.offsets])
    above = np.array(odd.parents)
    above[odd.index("Neck")] = 0
    check_sound(build_mannequin(replace(odd, parents=above)), len(odd))


def test_the_straightest_frame_is_found(body):
    bent = posed(body, Spine=(80, 0, 0), LeftUpLeg=(-90, 0, 0))
    straight = posed(body)
    frames = concatenate([bent, bent, straight, bent])
    assert straightest_frame(frames) == 2
    assert straightest_frame(Clip(chain([0.1, 0.2]), 30, np.zeros((3, 3)), np.tile(quat.IDENTITY, (3, 2, 1)))) == 0
