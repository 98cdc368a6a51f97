"""load and load_assembly: what all formats have in common, bad input, units, names and instances."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import impinge
from impinge.geometry.pose import as_pose
from impinge.io.files import SUFFIXES

TURNED = np.array([[0.0, -1.0, 0.0, 5.0], [1.0, 0.0, 0.0, 0.0], [0.0, 0.0, 1.0, 0.0], [0.0, 0.0, 0.0, 1.0]])
UNITS = {"gltf": "m", "glb": "m", "3mf": "in", "dae": "cm", "zae": "cm", "3dxml": "mm", "step": "mm"}


def write(path: Path, text: str | bytes) -> Path:
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def gltf_with_nodes(path: Path, nodes: list[dict]) -> Path:
    """One triangle, instanced by ``nodes``, all of them roots."""
    uri = "data:;base64," + "AAAAAAAAAAAAAAAA" + "AACAPwAAAAAAAAAA" + "AAAAAAAAgD8AAAAA"
    document = {
        "asset": {"version": "2.0"},
        "scenes": [{"nodes": list(range(len(nodes)))}],
        "nodes": nodes,
        "meshes": [{"primitives": [{"attributes": {"POSITION": 0}}]}],
        "accessors": [{"bufferView": 0, "componentType": 5126, "count": 3, "type": "VEC3"}],
        "bufferViews": [{"buffer": 0, "byteLength": 36}],
        "buffers": [{"byteLength": 36, "uri": uri}],
    }
    return write(path, json.dumps(document))


def test_every_format_gives_the_same_cubes(sample: Path) -> None:
    assembly = impinge.load_assembly(sample)
    assert assembly.unit == UNITS.get(sample.suffix[1:])
    assert len(assembly) == (2 if assembly.unit else 1)
    assert all(part.mesh is assembly.parts[0].mesh for part in assembly)
    mesh = assembly.parts[0].mesh
    assert mesh.solid
    assert len(mesh.faces) == 12
    np.testing.assert_allclose(mesh.bounds, [[0, 0, 0], [1, 1, 1]], rtol=1e-7)
    np.testing.assert_allclose(mesh.volume, 1.0, rtol=1e-6)
    np.testing.assert_array_equal(assembly.parts[0].pose, np.eye(4))
    if len(assembly) == 2:
        np.testing.assert_allclose(assembly.parts[1].pose, TURNED, rtol=1e-7, atol=1e-15)


def test_load_joins_all_instances(sample: Path) -> None:
    mesh = impinge.load(sample, solid=True)
    count = 2 if sample.suffix[1:] in UNITS else 1
    assert len(mesh.faces) == 12 * count
    np.testing.assert_allclose(mesh.bounds[1], [5 if count == 2 else 1, 1, 1], rtol=1e-7)
    np.testing.assert_allclose(mesh.volume, count, rtol=1e-6)


def test_conversion_of_units(sample: Path) -> None:
    factor = {None: 1.0, "m": 100.0, "in": 2.54, "cm": 1.0, "mm": 0.1}[UNITS.get(sample.suffix[1:])]
    before, after = impinge.load_assembly(sample), impinge.load_assembly(sample, unit="cm")
    assert after.unit == "cm"
    for old, new in zip(before, after, strict=True):
        np.testing.assert_array_equal(new.mesh.vertices, old.mesh.vertices * factor)
        np.testing.assert_array_equal(new.pose[:3, 3], old.pose[:3, 3] * factor)
        np.testing.assert_array_equal(new.pose[:3, :3], old.pose[:3, :3])
    assert after.parts[0].mesh is after.parts[-1].mesh
    if sample.suffix != ".step":  # which starts a process
        whole = impinge.load(sample, unit="cm")
        np.testing.assert_allclose(whole.bounds, impinge.load(sample).bounds * factor, rtol=1e-15)


def test_damaged_files_are_value_errors_that_name_the_file(sample: Path) -> None:
    """Truncated, spliced, with flipped bytes, or noise: a result or a ValueError, never anything else."""
    whole = sample.read_bytes()
    rng = np.random.default_rng(7)
    refused = 0
    rounds = 8 if sample.suffix == ".step" else 120  # a STEP file starts a process
    for trial in range(rounds):
        if trial % 4 == 0:
            data = whole[: trial * len(whole) // rounds]
        elif trial % 4 == 1:
            noisy = bytearray(whole)
            for place in rng.integers(0, len(whole), 4):
                noisy[place] = rng.integers(256)
            data = bytes(noisy)
        elif trial % 4 == 2:
            start, end = sorted(rng.integers(0, len(whole), 2))
            data = whole[:start] + whole[end:]
        else:
            data = whole[: rng.integers(0, 40)] + rng.bytes(200)
        sample.write_bytes(data)
        for load in (impinge.load, impinge.load_assembly)[: 1 if sample.suffix == ".step" else 2]:
            try:
                load(sample)
            except ValueError as error:
                refused += 1
                assert str(error).startswith(f"{sample}: ")
                assert "\n" not in str(error)
    assert refused >= rounds // 2


def test_missing_file(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match=r"nothing\.stl: there is no such file"):
        impinge.load(tmp_path / "nothing.stl")
    with pytest.raises(FileNotFoundError, match=r"nothing\.stl"):
        impinge.load_assembly(str(tmp_path / "nothing.stl"))


def test_directory_unknown_suffix_and_empty_file(tmp_path: Path) -> None:
    (tmp_path / "folder.stl").mkdir()
    with pytest.raises(ValueError, match=r"folder\.stl: it is a directory"):
        impinge.load(tmp_path / "folder.stl")
    with pytest.raises(ValueError, match=r"x\.doc: files ending in '\.doc' cannot be read; known are \.stl \.obj"):
        impinge.load(write(tmp_path / "x.doc", "text"))
    for suffix in SUFFIXES:
        with pytest.raises(ValueError, match="it is empty"):
            impinge.load(write(tmp_path / f"x{suffix}", ""))


def test_suffix_in_capitals(tmp_path: Path) -> None:
    assert len(impinge.load(write(tmp_path / "A.OFF", "OFF\n3 1 0\n0 0 0\n1 0 0\n0 1 0\n3 0 1 2\n")).faces) == 1


def test_file_without_triangles(tmp_path: Path) -> None:
    for name, text in {"a.obj": "v 0 0 0\n", "a.off": "OFF\n1 0 0\n0 0 0\n"}.items():
        with pytest.raises(ValueError, match=f"{name}: it holds no triangles"):
            impinge.load(write(tmp_path / name, text))


def test_bad_coordinates_and_indices_name_the_file(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"nan\.obj: vertices\[1, 0\] is nan"):
        impinge.load(write(tmp_path / "nan.obj", "v 0 0 0\nv nan 0 0\nv 0 1 0\nf 1 2 3\n"))
    with pytest.raises(ValueError, match=r"far\.obj: "):
        impinge.load(write(tmp_path / "far.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 4\n"))


def test_open_mesh_is_no_solid(tmp_path: Path) -> None:
    path = write(tmp_path / "open.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n")
    assert not impinge.load_assembly(path).parts[0].mesh.solid
    with pytest.raises(ValueError, match=r"open\.obj: "):
        impinge.load(path, solid=True)
    with pytest.raises(ValueError, match=r"open\.obj: part 'open': "):
        impinge.load_assembly(path, solid=True)


def test_unknown_unit(tmp_path: Path) -> None:
    path = write(tmp_path / "a.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n")
    with pytest.raises(ValueError, match="the unit 'parsec' is not one of um mm cm m in ft"):
        impinge.load_assembly(path, unit="parsec")


def test_names_are_unique(tmp_path: Path) -> None:
    nodes = [{"mesh": 0, "name": name} for name in ("bolt", "bolt", "bolt_1", "bolt")] + [{"mesh": 0}]
    assembly = impinge.load_assembly(gltf_with_nodes(tmp_path / "names.gltf", nodes))
    assert [part.name for part in assembly] == ["bolt", "bolt_1", "bolt_1_1", "bolt_2", "node 4"]
    assert assembly["bolt_2"] is assembly.parts[3]


def test_scaled_and_mirrored_instances_are_baked_once(tmp_path: Path) -> None:
    quarter = [0, 0, np.sqrt(0.5), np.sqrt(0.5)]
    nodes = [
        {"mesh": 0},
        {"mesh": 0, "scale": [2, 2, 2]},
        {"mesh": 0, "scale": [2, 2, 2], "rotation": quarter, "translation": [1, 2, 3]},
        {"mesh": 0, "scale": [-1, 1, 1]},
        {"mesh": 0, "scale": [1, 1, -1], "rotation": quarter},
        {"mesh": 0, "scale": [1, 3, 1]},
    ]
    path = gltf_with_nodes(tmp_path / "scaled.gltf", nodes)
    parts = impinge.load_assembly(path).parts
    meshes = [part.mesh for part in parts]
    assert meshes[1] is meshes[2]
    assert meshes[3] is meshes[4]
    assert len({id(mesh) for mesh in meshes}) == 4
    np.testing.assert_array_equal(meshes[1].vertices, meshes[0].vertices * 2)
    flat = impinge.load(path)
    corners = 0
    for part in parts:
        as_pose(part.pose)
        world = part.mesh.vertices @ part.pose[:3, :3].T + part.pose[:3, 3]
        np.testing.assert_allclose(world, flat.vertices[corners : corners + 3], atol=1e-14)
        corners += 3
    assert flat.faces[3].tolist() in ([11, 10, 9], [9, 11, 10], [10, 9, 11])  # mirrored: wound the other way


def test_a_nearly_rigid_transform_is_no_scaling(tmp_path: Path) -> None:
    angle = 0.3
    rotation = np.array([[np.cos(angle), -np.sin(angle), 0], [np.sin(angle), np.cos(angle), 0], [0, 0, 1]])
    rounded = np.eye(4)
    rounded[:3, :3] = rotation.astype(np.float32)
    nodes = [{"mesh": 0}, {"mesh": 0, "matrix": rounded.T.ravel().tolist()}]
    first, second = impinge.load_assembly(gltf_with_nodes(tmp_path / "near.gltf", nodes))
    assert first.mesh is second.mesh
    np.testing.assert_allclose(second.pose[:3, :3], rotation, atol=1e-7)
    as_pose(second.pose)


def test_projective_transform_is_refused(tmp_path: Path) -> None:
    path = gltf_with_nodes(
        tmp_path / "p.gltf", [{"mesh": 0, "matrix": [1, 0, 0, 0.5, *np.eye(4).ravel()[4:].tolist()]}]
    )
    for load in (impinge.load, impinge.load_assembly):
        with pytest.raises(ValueError, match=r"p\.gltf: part 'node 0'.*projective"):
            load(path)


def test_overflowing_and_flattening_transforms_are_refused(tmp_path: Path) -> None:
    path = gltf_with_nodes(tmp_path / "huge.gltf", [{"mesh": 0, "scale": [1e308, 1e308, 1e308]}])
    for load in (impinge.load, impinge.load_assembly):
        with pytest.raises(ValueError, match=r"huge\.gltf: "):
            load(path)
    path = gltf_with_nodes(tmp_path / "flat.gltf", [{"mesh": 0, "name": "shadow", "scale": [1, 0, 1]}])
    with pytest.raises(ValueError, match=r"flat\.gltf: part 'shadow': .*flatten"):
        impinge.load_assembly(path)


def test_loading_a_mesh_file_imports_no_foreign_reader(tmp_path: Path) -> None:
    path = write(tmp_path / "a.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n")
    program = (
        f"import sys, impinge; impinge.load({str(path)!r}); "
        "print([name for name in ('trimesh', 'OCP', 'scipy', 'numba') if name in sys.modules])"
    )
    found = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "[]"
