"""Archives: bombs, and headers that lie."""

from __future__ import annotations

import struct
import zipfile
from pathlib import Path
from typing import Any

import pytest

import impinge
from impinge.io.archive import Archive
from impinge.io.source import MAX_EXPANDED, Source


def content(data: bytes, name: str = "a", limit: int = MAX_EXPANDED) -> bytes:
    return Archive(data, Source(Path("a.zip"), max_expanded=limit)).read(name)


def test_members_share_one_limit(builders: Any) -> None:
    data = builders.zipped({"a": bytes(3_000_000), "b": b"b" * 3_000_000})
    archive = Archive(data, Source(Path("a.zip"), max_expanded=5_000_000))
    assert archive.names == ["a", "b"]
    assert archive.read("a") == bytes(3_000_000)
    with pytest.raises(ValueError, match="'b' in the archive would take more than 5,000,000 bytes once unpacked"):
        archive.read("b")


def test_what_is_packed_too_well_is_refused(builders: Any) -> None:
    """One line that is repeated a million times, but no file of a few megabytes."""
    line = b'<item objectid="1"/>'
    assert len(content(builders.zipped({"a": line * 500_000}))) == 10_000_000
    data = builders.zipped({"a": line * 1_000_000})
    with pytest.raises(ValueError, match="'a' in the archive unpacks to 20,000,000 bytes, more than 100 times what it"):
        content(data)
    assert len(content(data, limit=MAX_EXPANDED + 1)) == 20_000_000


def test_headers_that_lie(builders: Any) -> None:
    data = builders.zipped({"a": bytes(3_000_000)})
    true = struct.pack("<I", 3_000_000)
    assert data.count(true) == 2  # in front of the member, and in the directory
    with pytest.raises(ValueError, match="'a' in the archive is damaged"):
        content(data.replace(true, struct.pack("<I", 1000)), limit=1000)
    with pytest.raises(ValueError, match="'a' in the archive has 3000000 bytes, 3000001 are announced"):
        content(data.replace(true, struct.pack("<I", 3_000_001)))


@pytest.mark.parametrize("method", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_damaged_members(tmp_path: Path, method: int) -> None:
    path = tmp_path / "a.zip"
    with zipfile.ZipFile(path, "w", method) as archive:
        archive.writestr("a", b"some text, long enough to be damaged " * 30)
    data = path.read_bytes()
    assert content(data).startswith(b"some text")
    broken = bytearray(data)
    broken[data.index(b"PK\x01\x02") // 2] ^= 0x55
    with pytest.raises(ValueError, match="'a' in the archive is damaged or encrypted"):
        content(bytes(broken))


def test_encrypted_and_unknown_members(builders: Any) -> None:
    data = bytearray(builders.zipped({"a": b"text"}))
    directory = data.index(b"PK\x01\x02")
    for place, value in ((8, 1), (10, 77)):  # the flag for encryption, the method of compression
        broken = bytearray(data)
        broken[directory + place] = value
        with pytest.raises(ValueError, match="'a' in the archive is damaged or encrypted"):
            content(bytes(broken))
    with pytest.raises(ValueError, match="the archive holds no 'b'"):
        content(bytes(data), "b")
    with pytest.raises(ValueError, match="it is not a readable archive"):
        content(b"PK nothing")


@pytest.mark.parametrize("suffix", ["3mf", "zae", "3dxml"])
def test_formats(tmp_path: Path, builders: Any, suffix: str) -> None:
    path = tmp_path / f"a.{suffix}"
    blank = b" " * 3_000_000
    members = {
        "3mf": {"3D/3dmodel.model": builders.model_3mf() + blank},
        "zae": {"a.dae": builders.dae() + blank},
        "3dxml": {"Manifest.xml": b"<Manifest><Root>tree</Root></Manifest>", "tree": b"<a/>" + blank},
    }
    path.write_bytes(builders.zipped(members[suffix]))
    assert path.stat().st_size < 10_000
    for load in (impinge.load, impinge.load_assembly):
        with pytest.raises(ValueError, match=rf"a\.{suffix}: '.*' in the archive would take more than 2,000,000 bytes"):
            load(path, max_expanded=2_000_000)
    if suffix != "3dxml":
        assert len(impinge.load(path).faces) == 24
