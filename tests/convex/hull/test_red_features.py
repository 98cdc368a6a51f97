"""Red faces: the two ways in which a triangle finds its polygon, and what does not count as cover."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from impinge.convex.hull import red_features
from impinge.convex.hull.convex_hull import ConvexHull
from impinge.lab.hard_input import random_pose
from impinge.lab.hard_solids import solid_pair
from impinge.lab.scenes.shapes import box
from impinge.mesh.mesh import Mesh

UNDECIDED = -2


def hard_meshes() -> list[Mesh]:
    """Small solids as they are, turned (so that coplanar faces are not quite coplanar), and in float32."""
    found = []
    for seed in range(12):
        rng = np.random.default_rng(seed)
        solid = solid_pair(rng).a
        vertices = np.asarray(solid.vertices, dtype=np.float64)
        turned = vertices @ random_pose(rng)[:3, :3].T
        found += [Mesh(each, solid.faces) for each in (vertices, turned, turned.astype(np.float32).astype(np.float64))]
    return found


def test_the_grid_of_normals_says_what_the_tree_says(monkeypatch: pytest.MonkeyPatch) -> None:
    by_grid = [ConvexHull(mesh) for mesh in hard_meshes()]
    propose = red_features.propose_polygons
    clear = 0

    def nothing_is_clear(points: Any, faces: Any, planes: Any, normals: Any, nearest: Any) -> bool:
        nonlocal clear
        if not propose(points, faces, planes, normals, nearest):
            return False
        clear += int((nearest != UNDECIDED).sum())
        first = np.unique(np.sort(faces, axis=1), axis=0, return_index=True)[1]
        nearest[first] = UNDECIDED
        return True

    monkeypatch.setattr(red_features, "propose_polygons", nothing_is_clear)
    by_tree = [ConvexHull(mesh) for mesh in hard_meshes()]
    assert clear > 100
    for one, other in zip(by_grid, by_tree, strict=True):
        assert one.red_faces.tolist() == other.red_faces.tolist()
        assert one.red_edges.tolist() == other.red_edges.tolist()
    assert any(hull.red_faces.any() for hull in by_grid) and not all(hull.red_faces.all() for hull in by_grid)


def cube() -> Mesh:
    return box(1, 1, 1)


def red_count(faces: Any) -> int:
    return int(ConvexHull(Mesh(cube().vertices, faces)).red_faces.sum())


def test_a_triangle_counts_once_however_often_and_whichever_way_it_is_given() -> None:
    faces = cube().faces
    again = np.concatenate([faces, faces[:3], faces[4:7, ::-1], np.roll(faces[7:], 1, axis=1), [[0, 0, 1], [2, 2, 2]]])
    assert red_count(faces) == red_count(again) == red_count(faces[:, ::-1]) == 6


def test_half_a_side_is_green() -> None:
    assert red_count(cube().faces[1:]) == 5
    tetrahedron = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1.0]])
    three = ConvexHull(Mesh(tetrahedron, [[0, 2, 1], [0, 1, 3], [0, 3, 2]]))
    assert three.red_faces.tolist() == [True, True, True, False]
    assert three.red_edges.all()


def test_a_tiny_solid_has_the_colours_of_a_large_one() -> None:
    """Where squares of sides vanish, the tree decides."""
    for mesh in hard_meshes()[::3]:
        tiny = ConvexHull(Mesh(mesh.vertices * 2.0**-900, mesh.faces))
        assert tiny.red_faces.tolist() == ConvexHull(mesh).red_faces.tolist()
