"""What differs between a wheel with kernel libraries and one without: their files, the tag, and Numba.

``IMPINGE_LIBRARIES`` names the folder that ``python -m impinge.kernels.build --out`` wrote.  With libraries the wheel
is for one platform and any later Python, and needs no compiler.  Without, as in an install from source, Numba
compiles the kernels where they are used.
"""

import hashlib
import json
import os
import re
import runpy
import sysconfig
from pathlib import Path

from hatchling.builders.hooks.plugin.interface import BuildHookInterface
from hatchling.metadata.plugin.interface import MetadataHookInterface

FOLDER = os.environ.get("IMPINGE_LIBRARIES")


class Dependencies(MetadataHookInterface):
    """Numba, unless libraries make it unnecessary."""

    def update(self, metadata):
        compilers = [] if FOLDER else metadata["optional-dependencies"]["jit"]
        metadata["dependencies"] = [*self.config["dependencies"], *compilers]


class Libraries(BuildHookInterface):
    """The libraries that the manifest names, checked."""

    def initialize(self, version, build_data):
        needs_numba = any(name.startswith("numba") for name in self.metadata.core.dependencies)
        if self.target_name == "wheel" and needs_numba == bool(FOLDER):
            # In an unpacked sdist the dependencies are those of the time when it was made.
            raise RuntimeError("these sources were packed for the other kind of wheel: build it from a checkout")
        if not FOLDER:
            return
        if self.target_name != "wheel" or version == "editable":
            raise RuntimeError("IMPINGE_LIBRARIES is set, but only a wheel can hold the libraries")
        files = self._checked_files(Path(FOLDER).resolve())
        for path in files:
            build_data["force_include"][str(path)] = f"impinge/kernels/library/built/{path.name}"
        build_data["pure_python"] = False
        build_data["tag"] = f"cp310-abi3-{platform_tag(files)}"

    def _checked_files(self, folder):
        manifest = json.loads((folder / "manifest.json").read_text())
        sources = runpy.run_path(str(Path(self.root, "src", "impinge", "kernels", "sources.py")))["source_hash"]()
        if manifest["sources"] != sources:
            raise RuntimeError(f"the libraries in {folder} were built from other sources")
        for library in manifest["libraries"].values():
            if hashlib.sha256((folder / library["file"]).read_bytes()).hexdigest() != library["sha256"]:
                raise RuntimeError(f"{library['file']} in {folder} is damaged")
        return [folder / "manifest.json", *(folder / library["file"] for library in manifest["libraries"].values())]


def platform_tag(files):
    """On Linux the oldest C library that has all that the kernel libraries ask for, 2.17 at least."""
    system = sysconfig.get_platform().replace("-", "_").replace(".", "_")
    if not system.startswith("linux_"):
        return system
    versions = [int(found) for path in files for found in re.findall(rb"GLIBC_2\.(\d+)", path.read_bytes())]
    return f"manylinux_2_{max([17, *versions])}_{system.removeprefix('linux_')}"
