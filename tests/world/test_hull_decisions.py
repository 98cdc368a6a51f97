"""What the stages of hulls and of their features decide in a frame, against exact arithmetic."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import impinge
from impinge import ConvexHull, FrameStatistics, Mesh, World
from impinge.arrays import Floats
from impinge.bvh.search import tree_handle_of
from impinge.geometry.exact.integers import collinear
from impinge.geometry.pose import posed_vertices
from impinge.lab import convex_oracle
from impinge.lab.hard_input import EXACT_ROTATIONS
from impinge.lab.scenes import chain, combs, hollows
from impinge.lab.scenes.poses import poses, random_turns, turns
from impinge.lab.scenes.shapes import blocks, box, cylinder
from impinge.world.stages.hull_triangles import hull_triangles
from impinge.world.stages.narrow_phase import NarrowPhase
from impinge.world.stages.pair_table import OPEN, SETTLED

HULLS = ("gjk", "vclip", "lin-canny")
WALKS = ("vclip", "lin-canny")


def sized(mesh: Mesh, size: float, solid: bool = True) -> Mesh:
    return Mesh(mesh.vertices * size, mesh.faces, solid=solid)


def plate(cuts: int = 5) -> Mesh:
    """A unit square, 0.5 thick, with a fifth and more vertices in its faces that the hull does not have."""
    steps = np.linspace(0.0, 1.0, cuts)
    return blocks(steps, steps, (0.0, 0.5))


@dataclass
class Said:
    """What stages said about pairs of bodies."""

    apart: list[tuple[Any, ...]] = field(default_factory=list)
    """(a, b, pose of a, pose of b, clearance)"""
    open: int = 0
    meeting: list[tuple[Any, ...]] = field(default_factory=list)


@pytest.fixture
def said(monkeypatch: pytest.MonkeyPatch) -> Said:
    """Filled by every World while a test runs."""
    heard = Said()
    compare_hulls, compare_features = NarrowPhase.compare_hulls, NarrowPhase.compare_features

    def described(stages: NarrowPhase, which: Any) -> list[tuple[Any, ...]]:
        shapes, poses, found = stages._objects.shape_by_object, stages._objects.poses, []
        for i in np.flatnonzero(which).tolist():
            a, b = stages._pairs.objects[i].tolist()
            limit = float(stages._pairs.clearances[i])
            found.append((shapes[a].body, shapes[b].body, poses[a].copy(), poses[b].copy(), limit))
        return found

    def hulls(self: NarrowPhase) -> None:
        pairs, before = self._pairs, self._pairs.states == OPEN
        compare_hulls(self)
        # For distances a no of convex bodies means that they do not meet, and nothing of the clearance.
        convex = self._objects.bodies["convex"][self._objects.shape_of][pairs.objects].all(axis=1)
        settled = before & (pairs.states == SETTLED)
        heard.apart += described(self, settled & ~convex)
        heard.open += int(
            np.count_nonzero(before & ((pairs.states != SETTLED) | (convex & pairs.rows["yes"][pairs.slots])))
        )

    def features(self: NarrowPhase) -> None:
        before = self._pairs.states == OPEN
        compare_features(self)
        heard.meeting += described(self, before & (self._pairs.states == SETTLED))

    monkeypatch.setattr(NarrowPhase, "compare_hulls", hulls)
    monkeypatch.setattr(NarrowPhase, "compare_features", features)
    return heard


def assert_said_right(said: Said) -> None:
    for a, b, pose_a, pose_b, clearance in said.apart:
        assert not impinge.closer_than(a, b, clearance, pose_a, pose_b, method="brute")
    for a, b, pose_a, pose_b, _ in said.meeting:
        assert impinge.collides(a, b, pose_a, pose_b, method="brute")


# --- apart


def at(turn: Floats, place: Any) -> Floats:
    return poses(turn, np.asarray(place, dtype=np.float64))


def nearly_touching(rng: np.random.Generator, body: Mesh, far: float, count: int) -> Iterator[tuple[Floats, Floats]]:
    """Two equal bodies face to face, turned together: rounding decides whether they meet, some ulps decide for sure."""
    width = np.ptp(body.vertices, axis=0)
    for number in range(count):
        turn = EXACT_ROTATIONS[rng.integers(24)] if number % 3 == 0 else random_turns(rng, 1)[0]
        axis = int(rng.integers(3))
        aside = rng.uniform(-0.5, 0.5, size=3) * width
        aside[axis] = width[axis]
        place = far * rng.uniform(-1.0, 1.0, size=3)
        other = place + turn @ aside
        steps = int(rng.integers(-3, 4))
        other += steps * np.spacing(np.abs(other).max()) * turn[:, axis]
        yield at(turn, place), at(turn, other)


@pytest.mark.nojit_slow
@pytest.mark.parametrize("far", [1.0, 1e5, 2.0**40])
@pytest.mark.parametrize("hulls", HULLS)
def test_faces_that_touch_up_to_rounding(said: Said, hulls: str, far: float) -> None:
    rng = np.random.default_rng(1)
    meeting = 0
    for body in (plate(), hollows.channel(), hollows.angle_bar(), sized(combs.comb(2), 1.0)):
        world = World(hulls=hulls)
        for pose in (at(np.eye(3), (0, 0, 0)), at(np.eye(3), (50, 0, 0))):
            world.add(body, pose)
        for pose_a, pose_b in nearly_touching(rng, body, far, 36):
            world.set_poses([pose_a, pose_b])
            expected = bool(impinge.collides(body, body, pose_a, pose_b, method="brute"))
            assert bool(world.detect()) == expected
            assert bool(world.detect("contacts")) == expected
            assert (world.detect("distance", within=0.0).smallest == 0.0) == expected
            meeting += expected
    assert 0 < meeting < 4 * 36
    assert said.open > 0
    assert_said_right(said)


@pytest.mark.nojit_slow
@pytest.mark.parametrize("hulls", HULLS)
def test_exactly_at_their_clearance(said: Said, hulls: str) -> None:
    """A gap of g along an axis, in numbers that are exact: within g, and not within the number below."""
    body = plate()
    for gap in (0.0, 0.25, 1.0, 1024.0, 2.0**-40):
        world = World(hulls=hulls)
        world.add(body)
        world.add(body, at(np.eye(3), (0.25, 0.25, 0.5 + gap)))
        world.clearance = gap
        assert world.detect("closer_than")
        assert world.detect("distance", within=gap).smallest == gap
        if gap:
            world.clearance = np.nextafter(gap, 0.0)
            assert not world.detect("closer_than")
            assert not world.detect("distance", within=float(np.nextafter(gap, 0.0)))
    assert_said_right(said)


@pytest.mark.nojit_slow
@pytest.mark.parametrize("hulls", HULLS)
def test_apart_in_rational_arithmetic(said: Said, hulls: str) -> None:
    """What hulls call apart has hulls of posed vertices that are farther apart than the clearance."""
    rng = np.random.default_rng(2)
    bodies = (hollows.channel(), hollows.angle_bar(), plate(3), box(1, 2, 3))
    world = World(hulls=hulls, clearance=0.125)
    for body in bodies:
        world.add(body)
    for number in range(24):
        turn = np.stack([EXACT_ROTATIONS[rng.integers(24)] for _ in bodies])
        place = rng.integers(-6, 7, size=(len(bodies), 3)) * 0.5
        if number % 2:
            turn, place = random_turns(rng, len(bodies)), place + 1e6
        world.set_poses(poses(turn, place))
        for query in ("collides", "closer_than"):
            world.detect(query)
        world.detect("distance", within=0.5)
    assert len(said.apart) > 20
    for a, b, pose_a, pose_b, clearance in said.apart:
        squared = convex_oracle.squared_distance(posed_vertices(pose_a, a.vertices), posed_vertices(pose_b, b.vertices))
        assert squared > Fraction(clearance) ** 2


# --- red against red


def assert_sums(statistics: FrameStatistics, walks: bool, both_hulls: int = 0) -> None:
    """Of a yes or no; ``both_hulls`` pairs of convex bodies are decided by hulls."""
    assert statistics.narrow_pairs <= statistics.filtered_pairs <= statistics.box_pairs
    assert statistics.hull_pairs == statistics.narrow_pairs
    assert 0 <= statistics.apart_by_hulls <= statistics.hull_pairs
    left = statistics.hull_pairs - statistics.apart_by_hulls
    kinds = statistics.green_green + statistics.red_green + statistics.red_red
    assert statistics.decided_by_features <= statistics.red_red
    assert left - both_hulls <= statistics.tree_pairs + statistics.decided_by_features <= left
    assert kinds == (statistics.tree_pairs + statistics.decided_by_features if walks else 0)
    assert statistics.nested_pairs <= statistics.tree_pairs


def crowd(hulls: str, seed: int) -> tuple[World, np.random.Generator]:
    rng = np.random.default_rng(seed)
    world = World(hulls=hulls, clearance=0.05)
    for body in (
        hollows.angle_bar(), hollows.angle_bar(), hollows.channel(), sized(combs.comb(3), 0.5),
        sized(hollows.spool(sides=8), 0.5), sized(chain.ring(), 1.5), hollows.golf_ball(1),
        sized(box(2, 2, 2), 1.0, solid=False),
    ):  # fmt: skip
        world.add(body, at(random_turns(rng, 1)[0], rng.uniform(0.0, 6.0, size=3)))
    return world, rng


@pytest.mark.nojit_slow
@pytest.mark.parametrize("hulls", HULLS)
def test_all_kinds_of_features(said: Said, hulls: str) -> None:
    world, rng = crowd(hulls, 3)
    sums: dict[str, int] = dict.fromkeys(("green_green", "red_green", "red_red", "decided_by_features"), 0)
    for number in range(60):
        placed = np.stack([each.pose for each in world])
        size = 0.05 if number % 6 else 1.0
        placed[:, :3, :3] = random_turns(rng, len(placed)) if number % 6 == 0 else placed[:, :3, :3]
        placed[:, :3, :3] = turns(size * rng.normal(size=(len(placed), 3))) @ placed[:, :3, :3]
        placed[:, :3, 3] = np.clip(placed[:, :3, 3] + size * rng.normal(size=(len(placed), 3)), 0.0, 6.0)
        world.set_poses(placed)
        for query in ("collides", "closer_than"):
            frame = world.detect(query)
            assert_sums(frame.statistics, hulls in WALKS)
            for name in sums:
                sums[name] += getattr(frame.statistics, name)
    assert all((count > 0) == (hulls in WALKS) for count in sums.values()), sums
    assert len(said.meeting) == sums["decided_by_features"]
    assert len(said.apart) > 0
    assert_said_right(said)


@pytest.mark.parametrize("hulls", WALKS)
def test_two_feet_that_belong_to_both(said: Said, hulls: str) -> None:
    """Angles with their mouths to each other: their feet meet, where edges of the hulls are edges of the models."""
    bar = hollows.angle_bar()
    world = World(hulls=hulls)
    world.add(bar)
    world.add(bar)
    facing = np.diag([-1.0, 1.0, -1.0]) @ turns([0.02, 0.01, 0.03])
    for shift in (3.6, 3.7, 3.8, 3.9):
        world.move(1, at(facing, (shift, 0.5, shift)))
        frame = world.detect()
        assert len(frame) == impinge.collides(bar, bar, None, world[1].pose, method="brute") == 1
        assert frame.statistics.red_red == frame.statistics.decided_by_features == 1
        assert frame.statistics.tree_pairs == 0
        assert_sums(frame.statistics, walks=True)
    assert_said_right(said)
    # What was found without trees is no less right for the questions that need them.
    contacts = world.detect("contacts")
    assert contacts.contacts is not None
    assert len(contacts.contacts) == len(impinge.contacts(bar, bar, None, world[1].pose, method="brute"))


@pytest.mark.parametrize("hulls", WALKS)
def test_waists_of_two_spools(said: Said, hulls: str) -> None:
    """Hulls that overlap where neither spool has anything: green against green, and trees say no."""
    spool = hollows.spool()
    world = World(hulls=hulls)
    world.add(spool)
    across = turns([0.5 * np.pi, 0.0, 0.0]).round()
    world.add(spool, at(across, (5.75, 2.0, 2.0)))
    for number in range(5):
        world.move(1, at(turns([0.0, 0.01 * number, 0.0]) @ across, (5.75, 2.0, 2.0)))
        frame = world.detect()
        assert len(frame) == impinge.collides(spool, spool, None, world[1].pose, method="brute") == 0
        assert (frame.statistics.apart_by_hulls, frame.statistics.green_green) == (0, 1)
        assert (frame.statistics.red_red, frame.statistics.tree_pairs) == (0, 1)
        assert_sums(frame.statistics, walks=True)
    assert_said_right(said)


@pytest.mark.nojit_slow
@pytest.mark.parametrize("hulls", WALKS)
def test_convex_and_flat_bodies_among_others(said: Said, hulls: str) -> None:
    """Features of hulls that are bodies themselves, of flat ones and of a needle."""
    rng = np.random.default_rng(4)
    flat = Mesh([[0, 0, 0], [2, 0, 0], [0, 2, 0], [2, 2, 0], [1, 1, 0]], [[0, 1, 4], [1, 3, 4], [3, 2, 4], [2, 0, 4]])
    needle = Mesh([[0, 0, 0], [1, 0, 0], [2, 0, 0]], [[0, 1, 2]])
    bodies: list[Any] = [
        flat, needle, ConvexHull(flat), ConvexHull(needle), ConvexHull(box(1, 1, 1)), hollows.angle_bar(),
        ConvexHull(hollows.golf_ball(1)), ConvexHull(rng.normal(size=(30, 3))), cylinder(1.0, 1.0, 8),
    ]  # fmt: skip
    world = World(hulls=hulls)
    for body in bodies:
        world.add(body)
    for number in range(20):
        turn = random_turns(rng, len(bodies)) if number % 2 else np.eye(3)
        world.set_poses(poses(turn, rng.integers(-2, 3, size=(len(bodies), 3)) * 0.5))
        frame = world.detect()
        assert_sums(frame.statistics, walks=True, both_hulls=10)
        together = {(a, b) for a, b in frame.pairs.tolist()}
        for i in range(len(bodies)):
            for j in range(i + 1, len(bodies)):
                hulls_only = all(isinstance(bodies[each], ConvexHull) for each in (i, j))
                method = "gjk" if hulls_only else "brute"
                given = bodies[i], bodies[j], world[i].pose, world[j].pose
                assert ((i, j) in together) == impinge.collides(*given, method=method), (number, i, j)
    assert len(said.meeting) > 0
    assert_said_right(said)


SHELLS = hollows.nested_shells(2, sides=8)


@pytest.mark.parametrize(
    "mesh",
    [hollows.angle_bar(), hollows.golf_ball(1), plate(), combs.comb(3), chain.ring(), SHELLS],
    ids=["angle", "golf ball", "plate", "comb", "ring", "shells"],
)
def test_triangles_on_features_of_hulls(mesh: Mesh) -> None:
    """A triangle has the vertex, a side on the edge, or lies in the face; green features have none."""
    hull, lists = ConvexHull(mesh), hull_triangles(mesh)
    order = tree_handle_of(mesh).order
    found = [order[lists.places[first:end]] for first, end in zip(lists.starts[:-1], lists.starts[1:], strict=True)]
    features: list[Any] = [[vertex] for vertex in range(len(hull.vertices))]
    red = [*hull.red_vertices, *hull.red_edges, *hull.red_faces]
    features += [*hull.edges.tolist(), *hull.faces]
    assert len(found) == len(features) == len(red)
    for number, (triangles, feature) in enumerate(zip(found, features, strict=True)):
        assert (len(triangles) > 0) == red[number]
        corners = hull.vertices[np.asarray(feature)]
        for triangle in mesh.vertices[mesh.faces[triangles]]:
            if number < lists.firsts[1]:
                assert (triangle == corners[0]).all(axis=1).any()
            elif number < lists.firsts[2]:
                assert sum(collinear(*corners.tolist(), point) for point in triangle.tolist()) >= 2
            else:
                assert all(_coplanar(corners[:3], point) for point in triangle)


def _coplanar(plane: Floats, point: Floats) -> bool:
    a, b, c, d = ([Fraction(float(x)) for x in each] for each in (*plane, point))
    u, v, w = ([x - y for x, y in zip(each, a, strict=True)] for each in (b, c, d))
    return (
        u[0] * (v[1] * w[2] - v[2] * w[1]) - u[1] * (v[0] * w[2] - v[2] * w[0]) + u[2] * (v[0] * w[1] - v[1] * w[0])
    ) == 0


def test_vertices_inside_a_tiny_hull() -> None:
    """Of some smallest floats, posing moves a vertex on an edge of the hull beyond it by one of them."""
    rng = np.random.default_rng(0)
    for turn in random_turns(rng, 12):
        corners = np.array([[-8.0, 0.0, 0.0], [0.0, 0.0, 0.0], [8.0, 0.0, 0.0], [0.0, 9.0, 0.0]])
        mesh = Mesh((corners * rng.integers(1, 9) + rng.integers(-20, 20, 3)) * 5e-324, [[0, 1, 3], [1, 2, 3]])
        pose = at(turn, (0.0, 0.0, 0.0))
        point = Mesh(np.repeat(posed_vertices(pose, mesh.vertices[1:2]), 3, axis=0), [[0, 1, 2]])
        assert impinge.collides(mesh, point, pose)
        for hulls in ("gjk", "vclip", "lin-canny"):
            world = World(hulls=hulls)
            world.add(mesh, pose)
            world.add(point)
            assert len(world.detect().pairs) == 1


@pytest.mark.parametrize("below", [5e-324, 1e-300])
@pytest.mark.parametrize("hulls", ["gjk", "vclip", "lin-canny"])
def test_a_world_sees_the_smallest_gap(hulls: str, below: float) -> None:
    cube = ConvexHull(box(1.0, 1.0, 1.0))
    wedge = ConvexHull([[2, -below, 0.5], [1, -below, 0.5], [1, -3, 0.2], [2, -3, 0.5]])
    for turn in (np.eye(3), *EXACT_ROTATIONS[3:9:3]):
        pose = at(turn, (0.0, 0.0, 0.0))
        world = World(hulls=hulls, clearance=0.5)
        world.add(cube, pose)
        world.add(wedge, pose)
        assert len(world.detect().pairs) == 0
        assert not impinge.collides(cube, wedge, pose, pose, method=hulls)
        assert world.detect("distance").values.tolist() == [below]
