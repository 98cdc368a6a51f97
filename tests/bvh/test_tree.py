"""What holds for every tree: structure, containment, files, memory, and that validate finds what is wrong."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from impinge import Mesh
from impinge.bvh.layout import EMPTY, NOTHING, WIDTH
from impinge.bvh.tree import Tree
from impinge.bvh.volumes.aabb import AABBTree
from impinge.bvh.volumes.obb import OBBTree
from impinge.bvh.volumes.sphere import SphereTree

TREES: dict[str, Callable[[Mesh], Tree]] = {
    "obb": OBBTree,
    "aabb": AABBTree,
    "sphere": SphereTree,
    "vertices mean": lambda mesh: OBBTree(mesh, "vertices", "mean"),
    "hull sah": lambda mesh: OBBTree(mesh, "hull", "sah"),
    "hull-area mean": lambda mesh: OBBTree(mesh, "hull-area", "mean"),
}
KINDS = ["obb", "aabb", "sphere"]
HALF_LENGTHS = {"obb": slice(12, 15), "aabb": slice(3, 6), "sphere": slice(3, 4)}


def soup(points: np.ndarray) -> Mesh:
    """Triangles that share no vertex."""
    flat = np.asarray(points, dtype=np.float64).reshape(-1, 3)
    return Mesh(flat, np.arange(len(flat)).reshape(-1, 3))


def torus(around: int = 16, across: int = 12) -> Mesh:
    u, v = np.meshgrid(np.arange(around), np.arange(across), indexing="ij")
    a, b = u * 2 * np.pi / around, v * 2 * np.pi / across
    points = np.stack([(2 + np.cos(b)) * np.cos(a), (2 + np.cos(b)) * np.sin(a), np.sin(b)], axis=-1).reshape(-1, 3)
    right, up = (u + 1) % around, (v + 1) % across
    corners = [u * across + v, right * across + v, right * across + up, u * across + up]
    return Mesh(points, np.stack(corners, axis=-1).reshape(-1, 4))


def _hard_meshes() -> dict[str, Mesh]:
    rng = np.random.default_rng(5)
    base, cloud = rng.normal(size=(3, 3)), rng.uniform(-1, 1, size=(60, 3, 3))
    turned = np.linalg.qr(rng.normal(size=(3, 3)))[0]
    flat = cloud * [1, 1, 0]
    powers = 2.0 ** -np.arange(0.0, 300.0, 3.0)[:, None, None]
    return {
        **{f"{n} triangles": soup(rng.normal(size=(n, 3, 3))) for n in (1, 2, 3, 7, 8, 9, 10, 17)},
        "identical": soup(np.tile(base, (70, 1, 1))),
        "one point": soup(np.ones((1, 3, 3))),
        "one point many times": soup(np.full((70, 3, 3), 0.1)),
        "many points": soup(np.repeat(rng.normal(size=(60, 1, 3)), 3, axis=1)),
        "coplanar": soup(flat),
        "coplanar, turned": soup(flat @ turned),
        "on an axis": soup(cloud * [1, 0, 0]),
        "on a line": soup((cloud * [1, 0, 0]) @ turned),
        "smaller and smaller": soup(base * powers),
        "nearer and nearer": soup(base * powers**2 + powers * [3.0, 0.0, 0.0]),
        "same shape at distances": soup(base + powers * [3.0, 0.0, 0.0]),
        "huge": soup(cloud * 2.0**150),
        "least normal numbers": soup(cloud * 2.0**-1022),
        "subnormal": soup(cloud * 2.0**-1060),
        "least numbers": soup(cloud * 2.0**-1073),
        "far away": soup(cloud * 2.0**-45 + 1.0),
        "1e-9 beside 1e6": soup(np.concatenate([cloud * 1e-9, cloud * 1e6])),
        "1e-9 beside 1e6, off centre": soup(np.concatenate([cloud * 1e-9 + 1e3, cloud * 1e6])),
        "1e-300 beside 1e45": soup(np.concatenate([cloud * 1e-300, cloud * 1e45])),
        "needles": soup(cloud * [1, 1e-12, 1e-12] @ turned),
        "torus": torus(),
        "unused vertices": Mesh([[0, 0, 0], [1, 0, 0], [0, 1, 0], [1e40, 0, 0], [0, -1e40, 0]], [[0, 1, 2]]),
    }


HARD = _hard_meshes()


@pytest.mark.parametrize("kind", TREES)
@pytest.mark.parametrize("name", HARD)
def test_every_volume_holds_what_is_below_it(name: str, kind: str) -> None:
    mesh = HARD[name]
    tree = TREES[kind](mesh)
    tree.validate()
    assert np.isfinite(tree.rows).all()
    assert np.isfinite(tree.corners).all()
    assert np.array_equal(tree.triangles, mesh.triangles[tree.order])
    assert np.abs(tree.local(tree.triangles)).max() <= 1.0
    assert np.frexp(tree.unit)[0] == 0.5  # a power of two


@settings(max_examples=60)
@given(
    st.lists(
        st.tuples(st.floats(-1, 1), st.integers(-1074, 150)).map(lambda x: float(np.ldexp(*x))),
        min_size=9,
        max_size=180,
    ),
    st.sampled_from(KINDS),
)
def test_numbers_of_any_scale(numbers: list[float], kind: str) -> None:
    TREES[kind](soup(np.array(numbers[: len(numbers) // 9 * 9]))).validate()


@pytest.mark.parametrize("kind", KINDS)
def test_unused_slots_hold_nothing(kind: str) -> None:
    tree = TREES[kind](torus())
    unused = np.flatnonzero(tree.child == EMPTY)
    rows = tree.rows[unused // WIDTH, :, unused % WIDTH]
    assert (rows[:, HALF_LENGTHS[kind]] == NOTHING).all()
    centre = slice(9, 12) if kind == "obb" else slice(0, 3)
    assert (rows[:, centre] == 0.0).all()
    if kind == "obb":
        assert (rows[:, :9] == np.eye(3).ravel()).all()


@pytest.mark.parametrize("kind", KINDS)
def test_size_is_the_largest_half_length(kind: str) -> None:
    tree = TREES[kind](torus())
    size = {"obb": 15, "aabb": 6, "sphere": 3}[kind]
    assert np.array_equal(tree.rows[:, size], tree.rows[:, HALF_LENGTHS[kind]].max(axis=1))


@pytest.mark.parametrize("kind", TREES)
def test_the_same_mesh_gives_the_same_tree(kind: str) -> None:
    one, other = TREES[kind](torus()), TREES[kind](torus())
    _require_equal(one, other)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("exponent", [-900, 140])
def test_a_power_of_two_changes_nothing_but_the_unit(kind: str, exponent: int) -> None:
    mesh = torus()
    one = TREES[kind](mesh)
    other = TREES[kind](Mesh(np.ldexp(mesh.vertices, exponent), mesh.faces))
    assert other.unit == np.ldexp(one.unit, exponent)
    for name in ("order", "child", "slots", "corners", "rows"):
        assert np.array_equal(getattr(one, name), getattr(other, name)), name


def test_of_builds_once_for_each_choice() -> None:
    mesh = torus()
    tree = OBBTree.of(mesh)
    assert OBBTree.of(mesh, "fast", "sah") is tree
    assert OBBTree.of(mesh, "vertices") is not tree
    assert AABBTree.of(mesh) is AABBTree.of(mesh)
    assert isinstance(SphereTree.of(mesh), SphereTree)


def test_repr_says_how_large_and_how_built() -> None:
    tree = OBBTree(torus(4, 4))
    assert repr(tree) == f"OBBTree(32 triangles, {len(tree.slots)} nodes, depth {tree.depth}, fit 'fast', split 'sah')"
    assert repr(AABBTree(soup(np.eye(3)))) == "AABBTree(1 triangle, 1 node, depth 1)"


@pytest.mark.nojit_slow
def test_memory_stays_below_260_bytes_a_triangle() -> None:
    mesh = torus(100, 100)
    for kind in KINDS:
        tree = TREES[kind](mesh)
        kept = sum(getattr(tree, name).nbytes for name in ("triangles", "order", "child", "slots", "corners", "rows"))
        assert tree.nbytes == kept + tree.origin.nbytes
        assert tree.nbytes <= 260 * len(mesh.faces)


# --- files


def _require_equal(one: Tree, other: Tree) -> None:
    assert vars(one).keys() == vars(other).keys()
    for name, value in vars(one).items():
        found = getattr(other, name)
        assert np.array_equal(value, found), name
        if isinstance(value, np.ndarray):
            assert (value.dtype, value.flags.writeable, value.flags.c_contiguous) == (
                found.dtype, found.flags.writeable, found.flags.c_contiguous,
            )  # fmt: skip


@pytest.mark.parametrize("kind", TREES)
def test_pickled_trees_are_equal(kind: str) -> None:
    tree = TREES[kind](torus(5, 4))
    _require_equal(tree, pickle.loads(pickle.dumps(tree)))


@pytest.mark.parametrize("kind", TREES)
@pytest.mark.parametrize("name", ["torus", "1 triangles", "subnormal", "huge"])
def test_saved_trees_are_equal(kind: str, name: str, tmp_path: Path) -> None:
    tree = TREES[kind](HARD[name])
    tree.save(tmp_path / "tree")
    _require_equal(tree, type(tree).load(tmp_path / "tree", HARD[name]))


def test_a_saved_tree_belongs_to_its_mesh(tmp_path: Path) -> None:
    mesh, path = torus(5, 4), tmp_path / "tree.npz"
    AABBTree(mesh).save(path)
    with pytest.raises(ValueError, match=r"tree\.npz: the tree was built for another mesh"):
        AABBTree.load(path, torus(4, 5))
    with pytest.raises(ValueError, match=r"tree\.npz: holds a AABBTree of format 1, expected OBBTree"):
        OBBTree.load(path, mesh)
    with pytest.raises(FileNotFoundError):
        OBBTree.load(tmp_path / "missing.npz", mesh)
    unshared = soup(mesh.triangles)  # the same triangles
    assert np.array_equal(AABBTree.load(path, unshared).rows, AABBTree(mesh).rows)


def test_damaged_files_are_refused(tmp_path: Path) -> None:
    mesh, path = torus(5, 4), tmp_path / "tree.npz"
    tree = AABBTree(mesh)
    tree.child[-1] = 10**6
    tree.save(path)
    with pytest.raises(ValueError, match=r"tree\.npz: damaged: the slots"):
        AABBTree.load(path, mesh)
    content = path.read_bytes()
    for broken in (b"", b"solid part", content[:1000], content[: len(content) // 2] + bytes(len(content) // 2)):
        path.write_bytes(broken)
        with pytest.raises(ValueError, match=r"tree\.npz: not a tree saved by impinge"):
            AABBTree.load(path, mesh)
    np.savez(path, header=np.array("{}"))
    with pytest.raises(ValueError, match=r"tree\.npz: not a tree saved by impinge"):
        AABBTree.load(path, mesh)


# --- validate finds what is wrong


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("factor", [0.999, -1.0, 0.0])
def test_validate_finds_a_volume_that_is_too_small(kind: str, factor: float) -> None:
    tree = TREES[kind](torus())
    rng = np.random.default_rng(2)
    for ref in rng.choice(np.flatnonzero(tree.child != EMPTY), size=20, replace=False).tolist():
        node, slot = divmod(ref, WIDTH)
        kept = tree.rows.copy()
        tree.rows[node, HALF_LENGTHS[kind], slot] *= factor
        with pytest.raises(ValueError, match=rf"the volume of node {node}, slot {slot} does not hold face \d+"):
            tree.validate()
        tree.rows[:] = kept
    tree.validate()


@pytest.mark.parametrize(
    ("name", "change", "message"),
    [
        ("order", lambda x: x.__setitem__(0, x[1]), "order is no permutation"),
        ("child", lambda x: x.__setitem__(x == ~3, ~4), "every triangle once"),
        ("child", lambda x: x.__setitem__(x == 2, 1), "every node once"),
        ("child", lambda x: x.__setitem__(1, 1), "every node once"),
        ("slots", lambda x: x.__setitem__(1, 0), "the bits of slots"),
        ("corners", lambda x: x.__setitem__((-1, 0, 0), 0.7), "corners are not"),
    ],
)
def test_validate_finds_a_broken_structure(name: str, change: Callable[[np.ndarray], None], message: str) -> None:
    tree = OBBTree(torus())
    change(getattr(tree, name))
    with pytest.raises(ValueError, match=message):
        tree.validate()


def test_validate_finds_a_wrong_depth_a_loop_and_a_wrong_shape() -> None:
    tree = OBBTree(torus())
    tree.depth += 1
    with pytest.raises(ValueError, match="depth is"):
        tree.validate()
    tree = OBBTree(torus())
    first, second = np.flatnonzero((tree.child > 0) & (np.arange(len(tree.child)) >= WIDTH))[[0, -1]]
    tree.child[[first, second]] = tree.child[[second, first]]
    below = np.flatnonzero(tree.child >= 0)
    if (tree.child[below] <= below // WIDTH).any():
        with pytest.raises(ValueError, match="stands before"):
            tree.validate()
    tree = OBBTree(torus())
    tree.rows = tree.rows[:, :15]
    with pytest.raises(ValueError, match=r"rows is float32 .*, not float32"):
        tree.validate()


def test_validate_decides_exactly() -> None:
    """A half length of exactly the right size passes, the next smaller number does not."""
    mesh = soup([[-1, -1, -1], [1, 1, 1], [0.1, -0.3, 0.7]])
    tree = AABBTree(mesh)
    assert tree.unit == 2.0
    tree.rows[0, 3:6, 0] = 0.5
    tree.validate()
    tree.rows[0, 5, 0] = np.nextafter(np.float32(0.5), np.float32(0.0))
    with pytest.raises(ValueError, match="node 0, slot 0 does not hold face 0"):
        tree.validate()

    boxes = OBBTree(mesh)
    boxes.rows[0, :9, 0] = np.eye(3).ravel()
    boxes.rows[0, 9:12, 0] = 0.0
    boxes.rows[0, 12:16, 0] = 0.5
    boxes.validate()
    boxes.rows[0, 13, 0] = np.nextafter(np.float32(0.5), np.float32(0.0))
    with pytest.raises(ValueError, match="does not hold"):
        boxes.validate()

    ball = SphereTree(soup([[-3, -4, 0], [3, 4, 0], [0, 0, 0]]))
    assert ball.unit == 8.0
    ball.rows[0, 3, 0] = 0.625
    ball.validate()
    ball.rows[0, 3, 0] = np.nextafter(np.float32(0.625), np.float32(0.0))
    with pytest.raises(ValueError, match="does not hold"):
        ball.validate()


def test_a_box_without_volume_holds_nothing() -> None:
    tree = OBBTree(soup(np.eye(3)))
    tree.rows[0, :9, 0] = 0.0
    with pytest.raises(ValueError, match="does not hold"):
        tree.validate()
