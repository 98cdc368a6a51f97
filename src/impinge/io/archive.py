"""Zip archives (3MF, ZAE, 3DXML), unpacked within the limit of their source."""

from __future__ import annotations

import io
import lzma
import zipfile
import zlib

from impinge.io.source import MAX_EXPANDED, Source

_PIECE = 2**20
"""Bytes that are unpacked at a time: a member can hold far more than its header says."""

_LARGEST_RATIO = 100
"""Of unpacked to packed bytes.  The numbers of a model pack to a tenth, one line that is repeated to a thousandth.

Apache POI has the same limit for the XML in office documents.
"""

_ANY_RATIO = 2**24
"""Bytes that are unpacked whatever the ratio: they take no time."""


class Archive:
    """The members of a zip archive; archives inside it are never opened."""

    def __init__(self, data: bytes, source: Source) -> None:
        try:
            self._zip = zipfile.ZipFile(io.BytesIO(data))
        except (zipfile.BadZipFile, NotImplementedError, UnicodeDecodeError) as error:
            raise ValueError(f"it is not a readable archive ({error})") from error
        self._source = source
        self.names = self._zip.namelist()

    def _check_ratio(self, info: zipfile.ZipInfo) -> None:
        """Who asks for more than the default amount trusts the file."""
        if self._source.max_expanded > MAX_EXPANDED or info.file_size <= _ANY_RATIO:
            return
        if info.file_size > _LARGEST_RATIO * info.compress_size:
            raise ValueError(
                f"{info.filename!r} in the archive unpacks to {info.file_size:,} bytes, more than {_LARGEST_RATIO} "
                f"times what it takes; an argument max_expanded above {MAX_EXPANDED:,} allows that"
            )

    def read(self, name: str) -> bytes:
        pieces = []
        try:
            info = self._zip.getinfo(name)
            size = info.file_size
            self._check_ratio(info)
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
