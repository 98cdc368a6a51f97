"""Finds the library of compiled kernels that fits this machine, and makes sure that it is what it should be.

Beside the libraries, one for each feature level of the processor, stands a manifest: what they were built from and for,
and their checksums.  Whatever does not agree, the library is not used, and the reason is one line.
"""

from __future__ import annotations

import hashlib
import json
import sysconfig
from collections.abc import Callable
from importlib.machinery import ExtensionFileLoader
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any

from impinge.kernels.sources import source_hash

FOLDER = Path(__file__).parent / "built"
"""Not a package: nobody shall take libraries for modules of it."""
MANIFEST = "manifest.json"
FORMAT = 1
"""Of the manifest and of the way in which entries are called."""
MODULE = "entries"
"""The name of the extension module that every library is."""


class Unusable(Exception):
    """Why no library can be used."""

    def __init__(self, reason: str, is_worth_telling: bool = True) -> None:
        super().__init__(reason)
        self.is_worth_telling = is_worth_telling
        """Whether somebody might wonder: an install from source has no library, and needs none."""


class Library:
    """Kernels by name, as functions that Python calls."""

    def __init__(self, level: str, module: Any) -> None:
        self.level = level
        """The feature level of the processor that it was compiled for."""
        self._module = module
        self._names = frozenset(module.names())
        self._name_of: dict[Any, str] = {}

    def entry(self, name: str) -> Callable[..., Any] | None:
        """The kernel with this name, or None if the library does not have it."""
        if name not in self._names:
            return None
        entry: Callable[..., Any] = self._module.entry(name)
        self._name_of[entry] = name
        return entry

    def address(self, entry: Any) -> int:
        """Where the machine code of a kernel begins, for other kernels."""
        return int(self._module.address(self._name_of[entry]))


def load(level: str | None = None) -> Library:
    """Load the library of a feature level, or the best that this processor can run.

    Raises
    ------
    Unusable
        There is none, or something does not agree.
    """
    manifest = _manifest()
    if manifest.get("format") != FORMAT:
        raise Unusable("the kernel library was made for another version of impinge")
    platform = sysconfig.get_platform()
    if manifest["platform"] != platform:
        raise Unusable(f"the kernel library is for {manifest['platform']}, and this is {platform}")
    if manifest["sources"] != source_hash():
        raise Unusable("the kernel library was built from other sources")
    libraries: dict[str, Any] = manifest["libraries"]  # the most demanding first
    if level is not None and level not in libraries:
        raise Unusable(f"there is no kernel library for {level} (but for {', '.join(libraries)})")
    for name in libraries if level is None else [level]:
        module = _load(FOLDER / libraries[name]["file"], libraries[name]["sha256"])
        if module.supported():
            return Library(name, module)
    raise Unusable(f"this processor cannot run the kernel library for {', '.join([level] if level else libraries)}")


def _manifest() -> dict[str, Any]:
    try:
        text = (FOLDER / MANIFEST).read_bytes()
    except FileNotFoundError:
        raise Unusable("there is no kernel library", is_worth_telling=False) from None
    except OSError as error:
        raise Unusable(f"the manifest of the kernel library cannot be read ({error.strerror})") from None
    try:
        manifest = json.loads(text)
        if isinstance(manifest, dict) and manifest.pop("seal") == seal(manifest):
            return manifest
    except (ValueError, KeyError, RecursionError):
        pass
    raise Unusable("the manifest of the kernel library is damaged")


def seal(manifest: dict[str, Any]) -> str:
    """A checksum over all that a manifest says."""
    return hashlib.sha256(json.dumps(manifest, sort_keys=True).encode()).hexdigest()


def _load(path: Path, checksum: str) -> Any:
    try:
        content = path.read_bytes()
    except OSError as error:
        raise Unusable(f"the kernel library {path.name} cannot be read ({error.strerror})") from None
    if hashlib.sha256(content).hexdigest() != checksum:
        raise Unusable(f"the kernel library {path.name} is damaged")
    name = f"{__package__}.{MODULE}"
    spec = spec_from_file_location(name, path, loader=ExtensionFileLoader(name, str(path)))
    try:
        if spec is None or spec.loader is None:
            raise ImportError("no loader")
        module = module_from_spec(spec)
        spec.loader.exec_module(module)
    except ImportError as error:
        raise Unusable(f"the kernel library {path.name} cannot be loaded ({error})") from None
    return module
