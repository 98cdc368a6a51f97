"""What a file may name, and how much memory it may take."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import impinge
from impinge.io.source import Source, read_regular

POSIX = pytest.mark.skipif(sys.platform == "win32", reason="Windows has no named pipes and devices in the file system")


@pytest.fixture
def folder(tmp_path: Path, builders: Any) -> Path:
    """A folder for a model, with its buffer inside and the same bytes outside."""
    inside = tmp_path / "model"
    inside.mkdir()
    _, binary = builders.gltf_document()
    (inside / "cube.bin").write_bytes(binary)
    (tmp_path / "secret.bin").write_bytes(binary)
    return inside


def naming(folder: Path, builders: Any, uri: str, **changes: Any) -> Path:
    """A glTF file whose buffer is ``uri``."""
    document, _ = builders.gltf_document()
    document["buffers"][0].update(uri=uri, **changes)
    path = folder / "a.gltf"
    path.write_text(json.dumps(document))
    return path


@pytest.mark.parametrize("uri", ["cube.bin", "./cube.bin", "%63ube.bin", "../model/cube.bin", "sub/../cube.bin"])
def test_files_of_the_own_folder(folder: Path, builders: Any, uri: str) -> None:
    (folder / "sub").mkdir()
    assert len(impinge.load(naming(folder, builders, uri)).faces) == 24


def test_model_named_relative_to_the_working_directory(
    folder: Path, builders: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    naming(folder, builders, "cube.bin")
    monkeypatch.chdir(folder)
    assert len(impinge.load("a.gltf").faces) == 24


@pytest.mark.parametrize("uri", ["../secret.bin", "%2e%2e%2fsecret.bin", "sub/../../secret.bin", "{}/secret.bin"])
def test_files_outside_only_where_the_caller_allows_it(folder: Path, builders: Any, uri: str) -> None:
    path = naming(folder, builders, uri.format(folder.parent.as_posix()))
    for load in (impinge.load, impinge.load_assembly):
        with pytest.raises(ValueError, match=r"a\.gltf: it names the file .* outside its own folder; .* allow_outside"):
            load(path)
    if "sub" not in uri or sys.platform == "win32":
        assert len(impinge.load(path, allow_outside=True).faces) == 24
        assert len(impinge.load_assembly(path, allow_outside=True)) == 2


@POSIX
def test_symbolic_links_out_of_the_folder(folder: Path, builders: Any) -> None:
    (folder / "link.bin").symlink_to(folder.parent / "secret.bin")
    (folder / "up").symlink_to(folder.parent)
    for uri in ("link.bin", "up/secret.bin"):
        path = naming(folder, builders, uri)
        with pytest.raises(ValueError, match="outside its own folder"):
            impinge.load(path)
        assert len(impinge.load(path, allow_outside=True).faces) == 24
    (folder / "own.bin").symlink_to("cube.bin")
    assert len(impinge.load(naming(folder, builders, "own.bin")).faces) == 24
    (folder / "round").symlink_to("round")
    with pytest.raises(ValueError, match=r"a\.gltf: it names the file 'round'"):
        impinge.load(naming(folder, builders, "round"))


@pytest.mark.parametrize("uri", ["file:///etc/passwd", "http://localhost/cube.bin", "FILE:cube.bin"])
def test_addresses_are_never_followed(folder: Path, builders: Any, uri: str) -> None:
    with pytest.raises(ValueError, match="only paths are followed, no addresses"):
        impinge.load(naming(folder, builders, uri), allow_outside=True)


@pytest.mark.parametrize("uri", ["a%00b", "", ".", "x" * 5000, "nothing.bin"])
def test_names_that_lead_nowhere(folder: Path, builders: Any, uri: str) -> None:
    with pytest.raises(ValueError, match=r"a\.gltf: it names the file"):
        impinge.load(naming(folder, builders, uri))


@POSIX
def test_pipes_and_devices(folder: Path, builders: Any) -> None:
    os.mkfifo(folder / "pipe.stl")
    with pytest.raises(ValueError, match=r"pipe\.stl: it is not a regular file"):
        impinge.load(folder / "pipe.stl")
    (folder / "zero.ply").symlink_to("/dev/zero")
    with pytest.raises(ValueError, match=r"zero\.ply: it is not a regular file"):
        impinge.load_assembly(folder / "zero.ply")
    for uri in ("pipe.stl", "/dev/zero", "zero.ply"):
        with pytest.raises(ValueError, match=r"a\.gltf: it names the file .* \(it is not a regular file\)"):
            impinge.load(naming(folder, builders, uri), allow_outside=True)


@POSIX
def test_sizes_are_compared_before_reading(folder: Path, builders: Any) -> None:
    os.truncate(folder / "cube.bin", 10**12)  # a hole, which takes no space
    assert len(impinge.load(naming(folder, builders, "cube.bin")).faces) == 24
    for size in (10**12 + 1, 10**30):
        with pytest.raises(ValueError, match=f"it has 1000000000000 bytes, {size} are announced"):
            impinge.load(naming(folder, builders, "cube.bin", byteLength=size))


def test_read_regular(tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.write_bytes(b"1\r\n\x1a3")
    assert read_regular(path) == b"1\r\n\x1a3"
    assert read_regular(path, 2) == b"1\r"


def test_account() -> None:
    source = Source(Path("a"), max_expanded=100)
    source.take(60, "one thing")
    source.take(40, "another")
    with pytest.raises(ValueError, match=r"a third would take more than 100 bytes once unpacked; .* max_expanded"):
        source.take(1, "a third")


def many_instances(path: Path, count: int, scaled: bool) -> Path:
    """A 3MF-like amount of nodes over one mesh of 1000 triangles, as glTF."""
    corners = np.random.default_rng(0).random((3000, 3)).astype("<f4")
    path.with_suffix(".bin").write_bytes(corners.tobytes())
    nodes = [{"mesh": 0, "scale": [1 + k * scaled, 1, 1]} for k in range(count)]
    document = {
        "asset": {"version": "2.0"},
        "nodes": nodes,
        "meshes": [{"primitives": [{"attributes": {"POSITION": 0}}]}],
        "accessors": [{"bufferView": 0, "componentType": 5126, "count": 3000, "type": "VEC3"}],
        "bufferViews": [{"buffer": 0, "byteLength": corners.nbytes}],
        "buffers": [{"byteLength": corners.nbytes, "uri": path.with_suffix(".bin").name}],
    }
    path.write_text(json.dumps(document))
    return path


def test_copies_of_instances_are_limited(tmp_path: Path) -> None:
    path = many_instances(tmp_path / "a.gltf", 20, scaled=False)
    assert len(impinge.load(path).faces) == 20_000
    assert len(impinge.load_assembly(path, max_expanded=200_000)) == 20  # they share one mesh
    with pytest.raises(ValueError, match=r"a\.gltf: its instances would take more than 1,000,000 bytes"):
        impinge.load(path, max_expanded=1_000_000)
    path = many_instances(tmp_path / "b.gltf", 20, scaled=True)
    assert len({id(part.mesh) for part in impinge.load_assembly(path)}) == 20
    with pytest.raises(ValueError, match=r"b\.gltf: .*its scaled instances would take more than 1,000,000 bytes"):
        impinge.load_assembly(path, max_expanded=1_000_000)


def test_long_names_are_not_multiplied_without_limit(tmp_path: Path, builders: Any) -> None:
    document, binary = builders.gltf_document()
    document["nodes"] = [{"name": "n" * 10_000, "mesh": 0} for _ in range(20)]
    del document["scenes"], document["scene"]
    path = tmp_path / "a.glb"
    path.write_bytes(builders.glb(document, binary))
    assert len(impinge.load_assembly(path)) == 20
    with pytest.raises(ValueError, match="the names of its parts would take more"):
        impinge.load_assembly(path, max_expanded=100_000)


def test_scaled_instances_are_made_from_one_mesh(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = []
    monkeypatch.setattr("impinge.io.files.Mesh", lambda *_, **__: made.append(impinge.Mesh(*_, **__)) or made[-1])
    path = many_instances(tmp_path / "a.gltf", 20, scaled=True)
    assert len({id(part.mesh) for part in impinge.load_assembly(path)}) == 20
    assert len(made) == 2  # the first instance, and all others
