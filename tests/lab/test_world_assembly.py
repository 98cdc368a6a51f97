"""The benchmark of an assembly, with a small one: what is found and compared, never how long it takes."""

from __future__ import annotations

import io
from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
import trimesh
from rich.console import Console
from rich.table import Table

import impinge
from impinge.arrays import Floats
from impinge.lab import oracle
from impinge.lab.bench import world_assembly as bench
from impinge.lab.bench import world_assembly_peers as peers
from impinge.lab.bench import world_differences as differences
from impinge.lab.bench.__main__ import main
from impinge.lab.bench.world_unrounded import posed_integers
from impinge.lab.scenes.poses import poses, turns
from impinge.lab.scenes.shapes import box, torus
from impinge.mesh.assembly import Assembly, Part
from impinge.mesh.mesh import Mesh

CLEARANCE = 0.25
COLLIDING = {(0, 1), (0, 2)}
NEAR = {(0, 1), (0, 2), (1, 3)}


def stack() -> Assembly:
    """A box on the box 0, another one in it, one a quarter above, and a ring far away."""
    cube = box(1.0, 1.0, 1.0)
    at = [[0.0, 0.0, 0.0], [0.0, 0.0, 1.0], [0.5, 0.5, -0.5], [0.0, 0.0, 2.25]]
    parts = [Part(f"cube {i}", cube, poses(np.eye(3), place)) for i, place in enumerate(at)]
    ring = Part("ring", torus(0.5, 0.2, sides=8, tube_sides=4), poses(np.eye(3), [9.0, 0.0, 0.0]))
    return Assembly((*parts, ring), "mm")


def text_of(table: Table) -> str:
    console = Console(file=io.StringIO(), width=220)
    console.print(table)
    return console.file.getvalue()  # type: ignore[attr-defined,no-any-return]


def test_parts_share_fresh_meshes() -> None:
    parts = bench.placed(stack())
    again = parts.again(solids=True)
    assert again[0] is again[1]
    assert again[0] is not parts.bodies[0]
    assert all(body.solid for body in again)
    assert not any(body.solid for body in parts.again(solids=False))
    assert parts.triangles == 4 * 12 + 64
    assert parts.box_pairs(parts.poses, 0.0) == [(0, 1), (0, 2)]
    assert parts.box_pairs(parts.poses, CLEARANCE) == [(0, 1), (0, 2), (1, 3)]


OURS = (peers.OURS, peers.OURS_WITH_HULLS, peers.OUR_DISTANCES)


@pytest.mark.nojit_slow
def test_worlds_find_all_pairs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bench, "CONTENDERS", {name: peers.CONTENDERS[name] for name in OURS})
    result = bench.measure(stack(), CLEARANCE, 1)
    assert set(result.figures[bench.COLLIDES]) == set(OURS[:2])
    assert set(result.figures[bench.CLOSER_THAN]) == set(OURS)
    for query, found in ((bench.COLLIDES, COLLIDING), (bench.CLOSER_THAN, NEAR)):
        for figures in result.figures[query].values():
            assert figures.found == len(found)
            assert figures.different == 0
            assert 0.0 < figures.taking_in <= figures.first < np.inf
            assert 0.0 < figures.next < np.inf
    assert "within 0.25 mm" in text_of(bench.tables(result)[1])
    assert bench.findings(result)[0].startswith("collides: all pairs decided in ")


@pytest.mark.nojit_slow
@pytest.mark.parametrize("name", [name for name in peers.CONTENDERS if name not in OURS])
def test_peers_are_asked_the_same(name: str) -> None:
    module = "coal" if name == peers.COAL else "fcl"
    pytest.importorskip(module, reason=f"{module} is not installed (the extra bench)")
    parts = bench.placed(stack())
    # Deeper: boxes that only touch are apart for the convex shapes that trimesh makes of them.
    parts.poses[[1, 3], 2, 3] -= 0.125
    ready = peers.CONTENDERS[name](parts.bodies, parts.poses)
    pairs = parts.box_pairs(parts.poses, CLEARANCE)
    assert ready.collides(pairs) == COLLIDING
    if name != peers.MANAGER:
        # A little more than the gap: peers decide in floats.
        assert ready.closer_than(CLEARANCE + 1e-6, pairs) == NEAR
        assert ready.closer_than(CLEARANCE - 1e-3, pairs) == COLLIDING
    moved = parts.poses.copy()
    moved[[1, 3], 2, 3] += 0.25
    ready.move(moved)
    assert ready.collides(pairs) == {(0, 2)}
    if name in (peers.MANAGERS, peers.FCL, peers.COAL):
        assert ready.distance(0, 1) == 0.125
        assert ready.distance(0, 2) == 0.0


class Blind(peers.OurWorld):
    """A contender that sees no collision."""

    def collides(self, pairs: peers.PairsOfBoxes) -> peers.Found:
        return set()


class Missing:
    def __init__(self, bodies: Sequence[Mesh], poses: Floats) -> None:
        raise ImportError

    def collides(self, pairs: peers.PairsOfBoxes) -> peers.Found: ...


@pytest.mark.nojit_slow
def test_goals_follow_the_figures(monkeypatch: pytest.MonkeyPatch) -> None:
    contenders = {peers.OURS: peers.OurWorld, peers.MANAGER: Blind, peers.FCL: Missing}
    monkeypatch.setattr(bench, "CONTENDERS", contenders)
    result = bench.measure(stack(), CLEARANCE, 1)
    figures = result.figures[bench.COLLIDES]
    assert set(figures) == {peers.OURS, peers.MANAGER}
    assert figures[peers.MANAGER].different == len(COLLIDING)
    figures[peers.OURS] = bench.Figures(0.5, 1.0, 0.25)
    figures[peers.MANAGER] = bench.Figures(10.0, 12.0, 0.125)
    said = bench.findings(result)
    assert "that it is 10 s or less holds" in said[0]
    assert said[1].startswith("collides: 12.0 times as fast as trimesh, one manager in the first frame, 0.5 times in")
    assert "holds with all preparation, does not hold without" in said[1]
    assert "12.0x" in text_of(bench.tables(result)[0])


# ---------------------------------------------------------------- who is right


def test_pairs_of_boxes_of_triangles_are_all() -> None:
    rng = np.random.default_rng(3)
    a, b = (rng.normal(size=(count, 1, 3)) + 0.3 * rng.normal(size=(count, 3, 3)) for count in (40, 50))
    for reach in (0.0, 0.25):
        near = [
            [i, j]
            for i in range(40)
            for j in range(50)
            if (a[i].min(axis=0) <= b[j].max(axis=0) + reach).all()
            and (b[j].min(axis=0) <= a[i].max(axis=0) + reach).all()
        ]
        assert differences.box_pairs_of_triangles(a, b, reach).tolist() == near
    assert differences.box_pairs_of_triangles(a, b + 100.0, 0.0).shape == (0, 2)


def test_verdicts_are_those_of_exact_arithmetic() -> None:
    parts = bench.placed(stack())
    touching = differences.verdict(parts, (0, 1))
    assert touching.faces is not None
    first, second = (parts.bodies[i].vertices[parts.bodies[i].faces] + parts.poses[i][:3, 3] for i in (0, 1))
    assert oracle.meets(first[touching.faces[0]], second[touching.faces[1]])
    assert "yes: triangles" in str(touching)
    assert touching.unrounded
    apart = differences.verdict(parts, (1, 3))
    assert (apart.collides, apart.gap) == (False, 0.25)
    assert "gap 0.25" in str(apart)
    # The last bit is enough.
    parts.poses[1, 2, 3] = np.nextafter(1.0, 2.0)
    assert differences.verdict(parts, (0, 1)).gap == np.nextafter(1.0, 2.0) - 1.0
    parts.poses[1, 2, 3] = np.nextafter(1.0, 0.0)
    assert differences.verdict(parts, (0, 1)).collides


def test_a_rounding_may_close_a_gap() -> None:
    parts = bench.placed(stack())
    # One and 2**-60 rounds to one, so that the vertices touch; without rounding a gap is left.
    lifted = box(1.0, 1.0, 1.0).vertices + [0.0, 0.0, 2.0**-60]
    lid = Mesh(lifted, parts.bodies[0].faces)
    pair = bench.Placed(("box", "lid"), (parts.bodies[0], lid), parts.poses[:2])
    found = differences.verdict(pair, (0, 1))
    assert found.collides
    assert not found.unrounded
    assert differences._said(True, found) == "yes (rounded)"
    assert differences._said(False, found) == "no wrong"


@pytest.mark.parametrize("turned", [[0.0, 0.0, 0.0], [0.3, 0.5, 0.7]])
def test_integers_are_posed_vertices(turned: list[float]) -> None:
    pose = poses(turns(turned), [1.0 / 3.0, 1e-20, -1e5])
    points = np.array([[0.1, 2.0, -3e-7], [0.0, 0.0, 0.0]])
    integers, exponent = posed_integers(pose, points)
    for row, point in zip(integers.tolist(), points.tolist(), strict=True):
        for i, number in enumerate(row):
            exact = sum(Fraction(pose[i, j]) * Fraction(point[j]) for j in range(3)) + Fraction(pose[i, 3])
            assert number * Fraction(2) ** exponent == exact


def test_a_guess_that_is_too_small_is_told() -> None:
    a = np.array([[[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]])
    assert differences.exact_distance(a, a + [0.0, 0.0, 2.0], 2.0) == 2.0
    assert differences.exact_distance(a, a + [0.0, 0.0, 2.0], 1.0) == np.inf


class Forgetful:
    """A peer that takes touching for apart, and measures a millimetre too much."""

    def __init__(self, bodies: Sequence[Mesh], poses: Floats) -> None:
        self._bodies, self._poses = bodies, poses

    def collides(self, pairs: peers.PairsOfBoxes) -> peers.Found:
        return {pair for pair in pairs if pair == (0, 2)}

    def closer_than(self, clearance: float, pairs: peers.PairsOfBoxes) -> peers.Found:
        return {pair for pair in pairs if self.distance(*pair) <= clearance}

    def distance(self, a: int, b: int) -> float:
        return 1.0 + float(impinge.distance(self._bodies[a], self._bodies[b], self._poses[a], self._poses[b]).value)


@pytest.mark.nojit_slow
def test_differences_are_listed_with_a_verdict(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(differences, "PEERS", {"forgetful": Forgetful, "missing": Missing})
    found = differences.compare(stack(), CLEARANCE)
    assert [here.place for here in found] == list(differences.places(1.0))
    here = found[0]
    assert (here.ours, here.found, here.near) == (2, {"forgetful": 1}, 3)
    assert [each.pair for each in here.differences] == [(0, 1)]
    assert here.differences[0].ours == here.differences[0].verdict.collides
    assert here.near_differences == {"forgetful": 3}
    measured = here.distances["forgetful"]
    assert (measured.worst, measured.ours, measured.theirs, measured.exact) == ((1, 3), 0.25, 1.25, 0.25)
    for each in (difference for other in found for difference in other.differences):
        assert each.ours == each.verdict.collides
    names = bench.placed(stack()).names
    assert "no WRONG" in text_of(differences.table(found, names))
    assert "cube 1, cube 3" in text_of(differences.distance_table(found, names))
    assert "1 pairs differ; wrong: impinge 0, forgetful 1; without" in differences.findings(found)[0]


# ---------------------------------------------------------------- the command


@pytest.mark.nojit_slow
def test_the_command_takes_a_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    scene = trimesh.Scene()
    cube = trimesh.creation.box()
    scene.add_geometry(cube, node_name="one")
    scene.add_geometry(cube, node_name="two", transform=poses(np.eye(3), [0.5, 0.25, 0.125]))
    file = tmp_path / "two.glb"
    scene.export(file)
    monkeypatch.setattr(bench, "CONTENDERS", {peers.OURS: peers.OurWorld})
    monkeypatch.setattr(differences, "PEERS", {"forgetful": Forgetful})
    assert main(["world", "assembly", "--assembly", str(file), "--rounds", "1"]) == 0
    told = capsys.readouterr().out
    assert "Assembly(2 parts" in told
    assert "Do these parts collide?" in told


@pytest.mark.parametrize(
    "arguments",
    [["assembly"], ["nonsense"], ["--polytopes", "0"], ["assembly", "--assembly", "no.glb", "--frames", "0"]],
)
def test_wrong_options(arguments: list[str]) -> None:
    with pytest.raises(SystemExit):
        main(["world", *arguments])
