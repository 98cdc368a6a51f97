"""What differs between a wheel with kernel libraries and one without: their files, the tag, and Numba.

``IMPINGE_LIBRARIES`` names the folder that ``python -m impinge.kernels.build --out`` wrote.  With libraries the wheel
is for one platform and any later Python, and needs no compiler.  Without, as in an install from source, Numba
compiles the kernels where they are used.
"""

import os
import re
import sysconfig
from pathlib import Path

from hatchling.builders.hooks.plugin.interface import BuildHookInterface
from hatchling.metadata.plugin.interface import MetadataHookInterface

FOLDER = os.environ.get("IMPINGE_LIBRARIES")


class Libraries(BuildHookInterface):
    def initialize(self, version, build_data):
        if not FOLDER:
            return
        files = sorted(Path(FOLDER).iterdir())
        for path in files:
            build_data["force_include"][str(path.resolve())] = f"impinge/kernels/library/{path.name}"
        build_data["pure_python"] = False
        build_data["tag"] = f"cp310-abi3-{platform_tag(files)}"


def platform_tag(files):
    """On Linux the oldest C library that has all that the kernel libraries ask for, 2.17 at least."""
    system = sysconfig.get_platform().replace("-", "_").replace(".", "_")
    if not system.startswith("linux_"):
        return system
    versions = [int(found) for path in files for found in re.findall(rb"GLIBC_2\.(\d+)", path.read_bytes())]
    return f"manylinux_2_{max(17, *versions)}_{system.removeprefix('linux_')}"


class Dependencies(MetadataHookInterface):
    def update(self, metadata):
        compilers = [] if FOLDER else metadata["optional-dependencies"]["jit"]
        metadata["dependencies"] = [*self.config["dependencies"], *compilers]
