"""Contacts joined into polylines."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import ArrayLike

from impinge.arrays import Floats
from impinge.lab.hard_input import quarter_turn, random_pose
from impinge.lab.scenes.shapes import blocks, box, cylinder, lathe, torus, unit_circle
from impinge.mesh.mesh import Mesh
from impinge.queries.verbs import contacts
from impinge.results import ContactKind, ContactLoop, Contacts


def moved(*offset: float) -> Floats:
    pose = np.eye(4)
    pose[:3, 3] = offset
    return pose


def upright(*offset: float) -> Floats:
    """A quarter of a turn about x, then a shift."""
    pose = moved(*offset)
    pose[:3, :3] = [[1, 0, 0], [0, 0, -1], [0, 1, 0]]
    return pose


def sheet(columns: int, rows: int, size: float = 1.0) -> Mesh:
    """An open flat grid in the plane z = 0, of squares in two triangles."""
    x, y = np.meshgrid(np.arange(columns + 1) * size, np.arange(rows + 1) * size, indexing="ij")
    index = np.arange(x.size).reshape(x.shape)
    a, b, c, d = (part.ravel() for part in (index[:-1, :-1], index[1:, :-1], index[1:, 1:], index[:-1, 1:]))
    faces = np.concatenate([np.stack([a, b, c], axis=1), np.stack([a, c, d], axis=1)])
    return Mesh(np.column_stack([x.ravel(), y.ravel(), np.zeros(x.size)]), faces)


def sphere(radius: float, sides: int = 16) -> Mesh:
    angle = np.linspace(-np.pi / 2.0, np.pi / 2.0, sides // 2 + 1)
    return lathe(radius * np.column_stack([np.cos(angle) * (np.abs(angle) < 1.57), np.sin(angle)]), sides)


def loops_of(
    a: Mesh, b: Mesh, pose_a: ArrayLike | None = None, pose_b: ArrayLike | None = None
) -> tuple[Contacts, list[ContactLoop]]:
    """Contacts and loops, after the checks that hold for all of them."""
    found = contacts(a, b, pose_a, pose_b, method="brute")
    loops = found.loops(a, b, pose_a, pose_b)
    listed = np.concatenate([np.zeros(0, dtype=np.int64), *(loop.contacts for loop in loops)])
    crossing = np.flatnonzero(found.kind == ContactKind.CROSSING)
    assert sorted(listed[np.isin(listed, crossing)].tolist()) == crossing.tolist()
    assert [(loop.pose, loop.contacts.min()) for loop in loops] == sorted(
        (loop.pose, loop.contacts.min()) for loop in loops
    )
    for loop in loops:
        segments = len(loop.points) if loop.closed else max(len(loop.points) - 1, 1)
        assert loop.contacts.shape == loop.segment.shape
        assert np.unique(loop.segment).tolist() == list(range(segments))
        assert (np.diff(loop.segment) >= 0).all()
        assert (found.pose[loop.contacts] == loop.pose).all()
        chord = found.kind[loop.contacts] == ContactKind.CROSSING
        ends = np.stack([loop.points, np.roll(loop.points, -1, axis=0)], axis=1)[loop.segment[chord]]
        stored = found.segments[loop.contacts[chord]]
        error = np.minimum(np.abs(ends - stored), np.abs(ends[:, ::-1] - stored)).max(axis=(1, 2), initial=0.0)
        assert (error <= 16 * np.spacing(np.abs(stored).max(axis=(1, 2), initial=0.0))).all()
    return found, loops


def shape_of(loops: list[ContactLoop]) -> list[tuple[bool, int]]:
    return sorted((loop.closed, len(loop.points)) for loop in loops)


# ---------------------------------------------------------------------------- crossing surfaces


@pytest.mark.parametrize(
    ("pose", "expected"), [(moved(0.7, 0.31, 0.05), 2), (moved(2.3, 0.1, 0.0), 1), (moved(0, 0, 9), 0)]
)
def test_two_tori_cross_in_closed_loops(pose: Floats, expected: int) -> None:
    ring = torus(1.0, 0.3, 24, 12)
    _, loops = loops_of(ring, ring, None, pose)
    assert all(loop.closed for loop in loops)
    assert [loop.region for loop in loops] == list(range(expected))


@pytest.mark.nojit_slow
def test_closed_surfaces_in_any_pose_cross_in_closed_loops() -> None:
    rng = np.random.default_rng(3)
    poses = np.stack([random_pose(rng) for _ in range(40)])
    ring = torus(1.0, 0.3, 16, 8)
    found, loops = loops_of(ring, ring, None, poses.reshape(5, 8, 4, 4))
    assert (found.kind == ContactKind.CROSSING).all()
    assert sum(len(loop.contacts) for loop in loops) == len(found) > 1000
    assert all(loop.closed for loop in loops)
    for i, pose in enumerate(poses):
        _, alone = loops_of(ring, ring, None, pose)
        together = [loop for loop in loops if loop.pose == i]
        assert [loop.points.tolist() for loop in together] == [loop.points.tolist() for loop in alone]
        assert [loop.region - together[0].region for loop in together] == [loop.region for loop in alone]


@pytest.mark.parametrize("height", [0.0, 0.1, 1.0])
def test_a_sphere_through_a_sheet_leaves_one_circle(height: float) -> None:
    """At height 0 all vertices of the equator lie on the sheet, at height 1 only the pole."""
    floor, ball = sheet(4, 4), sphere(1.0)
    _, (loop,) = loops_of(ball, floor, moved(2.0, 2.0, height))
    if height == 1.0:
        assert loop.points.tolist() == [[2.0, 2.0, 0.0]]
        assert not loop.closed
        assert loop.length == 0.0
    else:
        assert loop.closed
        radius = np.linalg.norm(loop.points - [2.0, 2.0, 0.0], axis=1)
        assert (radius < 1.001).all()
        assert (radius > 0.9).all()
        assert 0.95 < loop.length / (2.0 * np.pi * np.sqrt(1.0 - height**2)) < 1.0


def test_the_corner_of_a_box_in_a_box() -> None:
    _, (loop,) = loops_of(box(2, 2, 2), box(2, 2, 2), None, moved(1.0, 0.5, 0.25))
    assert loop.closed
    assert loop.contacts.tolist()[0] == 0
    assert loop.length == 2.0 * (1.0 + 1.5 + 1.75)
    assert repr(loop) == "ContactLoop(closed, 12 points, 12 contacts)"


def test_open_sheets_cross_in_one_open_line() -> None:
    _, (loop,) = loops_of(sheet(3, 1), sheet(3, 2), moved(0, 0.25, 0), upright(0.5, 0.75, -0.5))
    assert not loop.closed
    assert loop.points[[0, -1]].tolist() in ([[0.5, 0.75, 0.0], [3.0, 0.75, 0.0]], [[3.0, 0.75, 0.0], [0.5, 0.75, 0.0]])
    steps = np.diff(loop.points[:, 0])
    assert (steps > 0).all() or (steps < 0).all()


def test_lines_are_broken_at_an_edge_of_three_faces() -> None:
    wing = [[0, 0, -1], [0, 0, 1]]
    tips = [[2, 0.5, 0.0], [-1, 1, 0.1], [-1.5, -1, -0.3]]
    _, loops = loops_of(Mesh(wing + tips, [[0, 1, 2], [0, 1, 3], [1, 0, 4]]), sheet(6, 6), None, moved(-3.1, -3.2, 0))
    assert len(loops) == 3
    assert {loop.region for loop in loops} == {0}
    assert all([0.0, 0.0, 0.0] in loop.points[[0, -1]].tolist() for loop in loops)


def test_loops_that_meet_in_a_point_stay_loops() -> None:
    """Two boxes that share an edge, cut across: a figure of eight."""
    pair = blocks((0, 1, 2), (0, 1, 2), (0, 1), [[[True], [False]], [[False], [True]]])
    _, loops = loops_of(pair, sheet(1, 1, 9.0), None, moved(-1.0, -2.0, 0.5))
    assert [loop.closed for loop in loops] == [True, True]
    assert {loop.region for loop in loops} == {0}
    assert [loop.length for loop in loops] == [4.0, 4.0]


# ------------------------------------------------------------------------- touching surfaces


def test_a_box_on_a_table_leaves_the_outline_of_its_foot() -> None:
    found, (loop,) = loops_of(box(1, 1, 1), sheet(5, 5), moved(1.5, 2.25, 0.0))
    assert loop.closed
    assert loop.length == 4.0
    assert np.count_nonzero(found.kind == ContactKind.COPLANAR) > 4
    kinds = set(found.kind[loop.contacts].tolist())
    assert kinds == {ContactKind.COPLANAR, ContactKind.TOUCHING}


@pytest.mark.parametrize(
    ("pose", "points"),
    [
        (moved(1, 1, 1), [[1, 1, 1]]),  # corner on corner
        (moved(1, 1, 0.5), [[1, 1, 0.5], [1, 1, 1]]),  # edge on edge
    ],
)
def test_boxes_that_touch_in_a_corner_or_along_an_edge(pose: Floats, points: list[list[float]]) -> None:
    _, (loop,) = loops_of(box(1, 1, 1), box(1, 1, 1), None, pose)
    assert not loop.closed
    assert sorted(loop.points.tolist()) == points
    assert loop.length == (len(points) - 1) * 0.5


def test_a_seat_of_two_walls_has_one_outline() -> None:
    """The overlap is bent over an edge of the seat: what lies inside the patch is left out."""
    seat = blocks((0, 1, 4), (0, 4), (0, 1, 4), [[[True, True]], [[True, False]]])
    _, (loop,) = loops_of(box(1, 1, 1), seat, moved(1, 1.5, 1))
    assert loop.closed
    assert loop.length == 6.0


def test_tubes_in_each_other_have_two_rings() -> None:
    ring = unit_circle(8)
    points = np.concatenate([np.column_stack([ring, np.full(8, z)]) for z in (0.0, 2.0)])
    tube = Mesh(points, [[i, (i + 1) % 8, 8 + (i + 1) % 8, 8 + i] for i in range(8)])
    _, loops = loops_of(tube, tube, None, moved(0, 0, 1.0))
    assert [loop.closed for loop in loops] == [True, True]
    assert {loop.region for loop in loops} == {0}
    assert sorted(set(loop.points[:, 2].tolist()).pop() for loop in loops) == [1.0, 2.0]


def test_a_closed_surface_on_itself_has_no_outline() -> None:
    ball = sphere(1.0, 8)
    found, loops = loops_of(ball, ball)
    assert len(found) > len(ball.faces)
    assert loops == []


# ------------------------------------------------------------------------------- dirty meshes


def test_repeated_faces_change_nothing_but_the_number_of_contacts() -> None:
    ring, pose = torus(1.0, 0.3, 12, 8), moved(0.7, 0.31, 0.05)
    double = Mesh(ring.vertices, np.concatenate([ring.faces, ring.faces[::-1, [1, 2, 0]]]))
    _, single = loops_of(ring, ring, None, pose)
    _, loops = loops_of(double, double, None, pose)
    assert shape_of(loops) == shape_of(single)
    assert [len(loop.contacts) for loop in loops] == [4 * len(loop.contacts) for loop in single]
    table = sheet(2, 2, 4.0)
    foot = box(1, 1, 1)
    twice = Mesh(foot.vertices, np.concatenate([foot.faces, foot.faces]))
    _, (loop,) = loops_of(twice, table, moved(1, 2.5, 0))
    assert loop.length == 4.0


def test_vertices_repeated_for_each_face_are_one() -> None:
    ring, pose = torus(1.0, 0.3, 12, 8), moved(0.7, 0.31, 0.05)
    soup = Mesh(ring.triangles.reshape(-1, 3), np.arange(3 * len(ring.faces)).reshape(-1, 3))
    _, one = loops_of(ring, ring, None, pose)
    _, other = loops_of(soup, soup, None, pose)
    assert [loop.points.tolist() for loop in other] == [loop.points.tolist() for loop in one]


@pytest.mark.parametrize("closed_by_a_sliver", [True, False])
def test_at_a_t_vertex_a_line_goes_on_only_over_a_sliver(closed_by_a_sliver: bool) -> None:
    """The right triangle has one long edge, the left side two: vertex 4 stands on it."""
    points = [[0, 0, 0], [0, 4, 0], [3, 1, 0], [-3, 1, 0], [0, 2, 0]]
    faces = [[0, 2, 1], [0, 4, 3], [4, 1, 3]] + [[0, 1, 4]] * closed_by_a_sliver
    knife = Mesh([[-9, 1, -1], [9, 1.5, -1], [0, 1.25, 7]], [[0, 1, 2]])
    _, loops = loops_of(Mesh(points, faces), knife)
    assert [loop.closed for loop in loops] == [False] * (1 if closed_by_a_sliver else 2)
    assert len({loop.region for loop in loops}) == len(loops)


# ---------------------------------------------------------------------------- scale and place


@pytest.mark.parametrize("exponent", [-900, -40, 33, 130])
def test_scaling_by_a_power_of_two_changes_nothing(exponent: int) -> None:
    pose = random_pose(np.random.default_rng(1), 0.5)
    scale = np.ldexp(1.0, exponent)
    ring, hose = torus(1.0, 0.3, 16, 8), cylinder(0.4, 2.0, 12)
    large_pose = pose.copy()
    large_pose[:3, 3] *= scale
    large = [Mesh(mesh.vertices * scale, mesh.faces) for mesh in (ring, hose)]
    _, loops = loops_of(ring, hose, None, pose)
    _, scaled = loops_of(*large, None, large_pose)
    assert len(loops) > 0
    for one, other in zip(loops, scaled, strict=True):
        assert (one.closed, one.region, one.contacts.tolist()) == (other.closed, other.region, other.contacts.tolist())
        assert (one.points * scale).tolist() == other.points.tolist()


@pytest.mark.parametrize("offset", [1e6, -(2.0**40), 2.0**50])
def test_far_from_the_origin(offset: float) -> None:
    """Neighbouring ends differ by roundings here; at 2**50 the coordinates are multiples of a quarter."""
    ring = torus(16.0, 5.0, 16, 8)
    turn = random_pose(np.random.default_rng(2), 0.0)
    pose = turn.copy()
    pose[:3, 3] = [offset + 11.0, offset, -offset]
    _, loops = loops_of(ring, ring, moved(offset, offset, -offset), pose)
    assert len(loops) > 0
    assert all(loop.closed for loop in loops)


def test_swapping_the_bodies_keeps_the_loops() -> None:
    rng = np.random.default_rng(9)
    for _ in range(5):
        pose = random_pose(rng)
        ring, hose = torus(1.0, 0.3, 16, 8), cylinder(0.4, 2.0, 12)
        assert shape_of(loops_of(ring, hose, None, pose)[1]) == shape_of(loops_of(hose, ring, pose, None)[1])


@settings(max_examples=40)
@given(st.integers(0, 2**32 - 1))
def test_blocks_on_a_grid_in_exact_poses(seed: int) -> None:
    """Faces, edges and corners meet in every way: loops_of checks what must hold."""
    rng = np.random.default_rng(seed)
    lines = [0.0, 1.0, 2.0]
    one, other = (blocks(lines, lines, lines, _some_cells(rng)) for _ in range(2))
    pose = quarter_turn(rng, 2)
    found, loops = loops_of(one, other, None, pose)
    listed = np.concatenate([np.zeros(0, dtype=np.int64), *(loop.contacts for loop in loops)])
    extended = (found.segments[:, 0] != found.segments[:, 1]).any(axis=1)
    flat = found.kind == ContactKind.COPLANAR
    if not flat.any():
        assert sorted(listed[extended[listed]].tolist()) == np.flatnonzero(extended).tolist()
    if len(found):
        assert len(loops) > 0 or flat.any()


def _some_cells(rng: np.random.Generator) -> np.ndarray:
    cells = rng.random((2, 2, 2)) < 0.4
    cells[tuple(rng.integers(0, 2, 3))] = True
    return cells


# ------------------------------------------------------------------------------------- results


def test_no_contacts_no_loops() -> None:
    assert loops_of(box(1, 1, 1), box(1, 1, 1), None, moved(9, 9, 9))[1] == []


def test_other_bodies_or_poses_are_refused() -> None:
    a, b, pose = box(2, 2, 2), sheet(4, 4), moved(1, 1, -0.5)
    found = contacts(a, b, pose, method="brute")
    with pytest.raises(ValueError, match=r"triangle .* but there are 2"):
        found.loops(a, sheet(1, 1), pose)
    with pytest.raises(ValueError, match=r"contact \d+ is not one of triangle .* found for"):
        found.loops(a, b)
    with pytest.raises(ValueError, match=r"pose_a .* does not broadcast"):
        found.loops(a, b, np.stack([pose, pose]))


def test_a_cut_set_says_so() -> None:
    found = contacts(box(2, 2, 2), sheet(4, 4), moved(1, 1, -0.5), method="brute")
    assert found.complete
    assert "incomplete" not in repr(found)
    part = Contacts(
        found.pose, found.face_a, found.face_b, found.segments, found.normal, found.kind, (), complete=False
    )
    assert "incomplete" in repr(part)
