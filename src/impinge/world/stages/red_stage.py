# mypy: allow-untyped-defs, allow-incomplete-defs
"""Red features against red: where overlapping features of two hulls belong to both models, a yes needs no tree.

Lin, Manocha, Cohen and Gottschalk (1996, 4.1.4).  The walk over features has ended at a pair that crosses, or with one
inside the other body.  The triangles of both features are compared exactly; what they do not decide goes on to the
trees.
"""

from __future__ import annotations

from impinge.bvh.leaves.posed_triangles import posed_triangle
from impinge.bvh.tree_handle import obb_body
from impinge.convex.features.voronoi_cells import INSIDE
from impinge.geometry.triangles.intersection import DISJOINT, contact_kind
from impinge.kernels.jit import inner, kernel
from impinge.kernels.record import Record, int64
from impinge.world.stages.hull_triangles import HullTriangles
from impinge.world.stages.pair_table import OPEN, SETTLED, objects_at, pairs_at

GREEN_GREEN, RED_GREEN, RED_RED = 0, 1, 2
FEATURES_MEET = 3
"""Two red features, and triangles on them meet."""


class RedStage(Record):
    """What was found."""

    first = int64
    end = int64
    """Pairs to go through."""
    counts = int64[4]
    """How many pairs of each kind there are."""


stage_at, lists_at = RedStage.at, HullTriangles.at


@inner
def _list_of(lists, kind, feature):
    """Where the triangles of a feature begin and end."""
    if kind >= INSIDE:
        return 0, 0
    place = lists.firsts[kind] + feature
    return lists.starts[place], lists.starts[place + 1]


@inner
def _kind_of(objects, row, a, b):
    """What kinds of features the hulls of a pair overlap with; FEATURES_MEET where triangles on red ones do.

    Triangles that meet become the witness of their pair.
    """
    lists_a, lists_b = lists_at(objects.hull_triangles[a]), lists_at(objects.hull_triangles[b])
    features = row.hulls.features
    first_a, end_a = _list_of(lists_a, features.kind_a, features.feature_a)
    first_b, end_b = _list_of(lists_b, features.kind_b, features.feature_b)
    kind = int(first_a < end_a) + int(first_b < end_b)
    if kind != RED_RED:
        return kind
    body_a, body_b = obb_body(objects.trees[a]), obb_body(objects.trees[b])
    for place_a in range(first_a, end_a):
        triangle_a = posed_triangle(objects.poses, objects.first_pose + a, body_a, lists_a.places[place_a])
        for place_b in range(first_b, end_b):
            triangle_b = posed_triangle(objects.poses, objects.first_pose + b, body_b, lists_b.places[place_b])
            if contact_kind(triangle_a, triangle_b) != DISJOINT:
                row.triangles.meets = True
                row.triangles.places[0] = lists_a.places[place_a]
                row.triangles.places[1] = lists_b.places[place_b]
                return FEATURES_MEET
    return kind


@kernel
def red_stage(objects, pairs, stage):
    """Compare the features with which the hulls of open pairs overlap."""
    objects, pairs, stage = objects_at(objects), pairs_at(pairs), stage_at(stage)
    for i in range(stage.first, stage.end):
        if pairs.states[i] != OPEN:
            continue
        row = pairs.rows[pairs.slots[i]]
        kind = _kind_of(objects, row, pairs.objects[i, 0], pairs.objects[i, 1])
        stage.counts[kind] += 1
        if kind == FEATURES_MEET:
            row.yes = True
            pairs.states[i] = SETTLED
    return 0
