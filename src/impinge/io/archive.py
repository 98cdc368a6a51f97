"""Zip archives (3MF, ZAE, 3DXML), unpacked within the limit of their source."""

from __future__ import annotations

import io
import lzma
import zipfile
import zlib

from impinge.io.source import Source

_PIECE = 2**20
"""Bytes that are unpacked at a time: a member can hold far more than its header says."""


class Archive:
    """The members of a zip archive; archives inside it are never opened."""

    def __init__(self, data: bytes, source: Source) -> None:
        try:
            self._zip = zipfile.ZipFile(io.BytesIO(data))
        except (zipfile.BadZipFile, NotImplementedError, UnicodeDecodeError) as error:
            raise ValueError(f"it is not a readable archive ({error})") from error
        self._source = source
        self.names = self._zip.namelist()

    def read(self, name: str) -> bytes:
        pieces = []
        try:
            size = self._zip.getinfo(name).file_size
            self._source.take(size, f"{name!r} in the archive")
            with self._zip.open(name) as member:  # gives no more bytes than were just accounted for
                while piece := member.read(_PIECE):
                    pieces.append(piece)
        except KeyError as error:
            raise ValueError(f"the archive holds no {name!r}") from error
        # RuntimeError: encrypted, or a compression that Python does not know.
        except (zipfile.BadZipFile, zlib.error, lzma.LZMAError, OSError, EOFError, RuntimeError) as error:
            raise ValueError(f"{name!r} in the archive is damaged or encrypted ({error})") from error
        content = b"".join(pieces)
        if len(content) != size:
            raise ValueError(f"{name!r} in the archive has {len(content)} bytes, {size} are announced")
        return content
