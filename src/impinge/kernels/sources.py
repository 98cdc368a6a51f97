"""What the sources are: compiled kernels are used only with those that they were compiled from."""

from __future__ import annotations

import hashlib
import os
from contextlib import suppress
from pathlib import Path

PACKAGE = Path(__file__).parent.parent


def source_hash() -> str:
    """A hash of all sources of the package: a helper that is edited changes the kernels that call it."""
    digest = hashlib.sha256()
    for folder, folders, names in os.walk(PACKAGE):
        folders.sort()  # also the order in which they are walked through
        place = os.path.relpath(folder, PACKAGE).replace(os.sep, "/")
        for name in sorted(names):
            if name.endswith((".py", ".c", ".h")):
                digest.update(os.fsencode(f"{place}/{name}"))
                with suppress(OSError), open(os.path.join(folder, name), "rb", buffering=0) as file:
                    digest.update(file.read())  # all but an editor's lock file, which Python could not import either
    return digest.hexdigest()
