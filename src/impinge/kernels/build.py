"""Build the libraries of compiled kernels: ``python -m impinge.kernels.build [--out FOLDER]``.

One for each feature level of the processor, and a manifest that says what they were built from and for
(``kernels.library``).  By default they are put where impinge looks for them.  Numba compiles, in as many processes as
there are processors; a C compiler links.  Neither is needed where the libraries are used.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import platform
import subprocess
import sys
import sysconfig
import tempfile
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from importlib.metadata import version
from pathlib import Path
from typing import Any, NamedTuple

from impinge.kernels.library.linking import link
from impinge.kernels.library.loader import FOLDER, FORMAT, MANIFEST, seal
from impinge.kernels.messages import on_terminal, say
from impinge.kernels.sources import source_hash

LEVELS = {
    "x86_64": ("x86-64-v3", "x86-64"),
    "amd64": ("x86-64-v3", "x86-64"),
    "aarch64": ("generic",),
    "arm64": ("generic",),
}
"""What libraries are made for, the most demanding first.  Only those of Linux on x86_64 have been tried."""


class Share(NamedTuple):
    """What one process compiles: every ``shares``-th kernel for one feature level."""

    level: str
    share: int
    shares: int

    def compile(self, folder: Path, on_kernel: Callable[[str], None]) -> tuple[Path, list[dict[str, Any]]]:
        """The object file, and what Python has to know of its kernels."""
        path = folder / f"{self.level}-{self.share}.o"
        environment = {name: value for name, value in os.environ.items() if not name.startswith("NUMBA_")}
        environment |= {"IMPINGE_KERNELS": "jit", "IMPINGE_CACHE_DIR": str(folder / "cache")}
        environment |= {"NUMBA_CPU_NAME": self.level, "NUMBA_CPU_FEATURES": ""}
        module = "impinge.kernels.library.objects"
        command = [sys.executable, "-m", module, str(path), str(self.share), str(self.shares)]
        with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True) as process:
            assert process.stdout is not None
            for line in process.stdout:
                on_kernel(line.strip())
        if process.returncode:
            raise RuntimeError(f"the kernels for {self.level} could not be compiled: see above")
        return path, json.loads(path.with_suffix(".json").read_text())


def build(out: Path, levels: Sequence[str], jobs: int) -> None:
    """Build the libraries for some feature levels, and their manifest."""
    start = time.perf_counter()
    sources = source_hash()
    shares = max(1, jobs // len(levels))
    tasks = [Share(level, share, shares) for level in levels for share in range(shares)]
    done = 0

    def on_kernel(name: str) -> None:
        nonlocal done
        done += 1
        if on_terminal():
            say(f"impinge: compiled {done} kernels: {name}", end="")

    out.mkdir(parents=True, exist_ok=True)
    (out / MANIFEST).unlink(missing_ok=True)  # first: without it nothing of the rest is used
    libraries = {}
    with tempfile.TemporaryDirectory() as temporary, ThreadPoolExecutor(jobs) as pool:
        compiled = list(pool.map(lambda task: task.compile(Path(temporary), on_kernel), tasks))
        for place, level in enumerate(levels):
            parts = compiled[place * shares : (place + 1) * shares]
            entries = sorted((entry for _, some in parts for entry in some), key=lambda entry: entry["number"])
            library = out / f"kernels-{level}{_suffix()}"
            link(library, [path for path, _ in parts], entries, level)
            content = library.read_bytes()
            libraries[level] = {"file": library.name, "sha256": hashlib.sha256(content).hexdigest()}
            say(f"impinge: {library.name}: {len(entries)} kernels, {len(content) / 1e6:.1f} MB")
    if source_hash() != sources:
        raise RuntimeError("the sources changed while their kernels were compiled")
    manifest: dict[str, Any] = {
        "format": FORMAT, "platform": sysconfig.get_platform(), "sources": sources, "libraries": libraries,
        "compilers": {name: version(name) for name in ("numba", "llvmlite", "numpy")},
    }  # fmt: skip
    manifest["seal"] = seal(manifest)
    (out / MANIFEST).write_text(json.dumps(manifest, indent=1) + "\n")
    say(f"impinge: kernel libraries built in {time.perf_counter() - start:.0f} s")


def _suffix() -> str:
    """Of an extension module for any later version of Python."""
    return ".pyd" if sys.platform == "win32" else ".abi3.so"


def main(arguments: Sequence[str] | None = None) -> None:
    """The command."""
    levels = LEVELS.get(platform.machine().lower(), ())
    parser = argparse.ArgumentParser(
        prog="python -m impinge.kernels.build", description=(__doc__ or "").partition("\n")[0]
    )
    parser.add_argument("--out", type=Path, metavar="FOLDER", default=FOLDER, help="where they are put")
    parser.add_argument("--levels", nargs="+", choices=levels, default=levels, help="feature levels (all)")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, metavar="N", help="processes (all processors)")
    options = parser.parse_args(arguments)
    if not levels:
        parser.error(f"no feature levels are known for {platform.machine()}")
    build(options.out, [level for level in levels if level in options.levels], options.jobs)


if __name__ == "__main__":
    main()
