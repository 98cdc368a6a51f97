"""Compiled kernels on disk: one sealed file for each kernel and signature.

Numba's own cache checks only the file that holds the kernel: after an edit of a helper in another file it would
go on returning the old machine code.  So the directory is named after a hash of all our sources and of the compiler,
in the user's cache directory (``IMPINGE_CACHE_DIR`` overrides it).

Numba's own cache also trusts its files: one that was cut short ended every later run in an exception, and a flipped
bit was executed.  So a file begins with a checksum of what it holds and of what it is for, and is used only if that is
right.  Whatever is wrong with it, the kernel counts as absent, is compiled and written anew; what cannot be written is
not, and one line says so.  This is against accidents: whoever can write into the cache on purpose can run any code
as its reader, as with the ``.pyc`` files of Python.
"""

from __future__ import annotations

import hashlib
import os
import pickle
import shutil
import sys
import tempfile
import time
import uuid
import warnings
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

import llvmlite
import llvmlite.binding
import numba
from numba import config
from numba.core.caching import NullCache
from numba.core.compiler import CompileResult
from numba.core.errors import NumbaWarning
from numba.core.serialize import dumps

from impinge.kernels.messages import say
from impinge.kernels.sources import source_hash

_STALE_AFTER_DAYS = 30
_SUFFIX = ".nbc"

# ---------------------------------------------------------------------- the directory


def _compiler_name() -> str:
    """What else decides about the machine code and how it is stored, apart from the processor."""
    llvm = ".".join(map(str, llvmlite.binding.llvm_version_info))
    python = f"{sys.implementation.cache_tag}{getattr(sys, 'abiflags', '')}"
    return f"numba {numba.__version__}, llvmlite {llvmlite.__version__}, LLVM {llvm}, {python}"


def _user_cache() -> Path:
    try:
        return _named_cache()
    except RuntimeError:  # no home directory can be found
        user = f"-{os.getuid()}" if hasattr(os, "getuid") else ""
        try:
            return Path(tempfile.gettempdir()) / f"impinge{user}"
        except FileNotFoundError:  # nor a place for temporary files that can be written
            return Path(os.sep, "tmp", f"impinge{user}")


def _named_cache() -> Path:
    if chosen := os.environ.get("IMPINGE_CACHE_DIR"):
        path = Path(chosen).expanduser()
        with suppress(FileNotFoundError):  # the working directory has been deleted
            path = path.absolute()  # it may be changed before the next kernel is written
        return path
    if sys.platform == "win32":
        base = Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local")
    elif sys.platform == "darwin":
        base = Path.home() / "Library" / "Caches"
    else:
        base = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return base / "impinge"


def _prepare(directory: Path) -> None:
    """Make the directory, or mark it as used today.  If neither is possible, writing a kernel will say why."""
    with suppress(OSError):
        try:
            os.utime(directory)
        except FileNotFoundError:
            directory.mkdir(parents=True, exist_ok=True)
            _drop_stale(directory.parent, keep=directory)


def _drop_stale(parent: Path, keep: Path) -> None:
    """Remove the kernels of sources that have not been used for a month."""
    now = time.time()
    with suppress(OSError):
        for old in parent.glob("kernels-*"):
            with suppress(OSError):  # another process may have dropped it meanwhile
                if old != keep and now - old.stat().st_mtime > _STALE_AFTER_DAYS * 86400:
                    shutil.rmtree(old, ignore_errors=True)


def _holds_kernels(directory: Path) -> bool:
    with suppress(OSError), os.scandir(directory) as entries:
        return any(entry.name.endswith(_SUFFIX) for entry in entries)
    return False


def is_writable() -> bool:
    """Whether kernels can be kept, as far as that can be told without writing."""
    return os.path.isdir(cache_directory) and os.access(cache_directory, os.W_OK | os.X_OK)


_sources = source_hash()
_checked = "-checked" if config.BOUNDSCHECK else ""  # other machine code from the same sources
_name = hashlib.sha256(f"{_sources} {_compiler_name()}".encode()).hexdigest()[:16]
cache_directory: Path = _user_cache() / f"kernels-{_name}{_checked}"
_prepare(cache_directory)
cache_was_empty: bool = is_writable() and not _holds_kernels(cache_directory)
"""Whether this process found no compiled kernels, and a place to keep some."""

# ---------------------------------------------------------------------- what is said

_why_not_kept: str | None = None


def why_not_kept() -> str | None:
    """Why a kernel that this process compiled could not be written, if that happened."""
    return _why_not_kept


def _say_not_kept(reason: str) -> None:
    global _why_not_kept
    if _why_not_kept is None:
        _why_not_kept = reason
        say(f"impinge: kernels that are compiled now are not kept for the next process: {reason}")


# ---------------------------------------------------------------------- sealed files


def _read(path: Path, purpose: bytes) -> memoryview | None:
    """What was written for this purpose, or None where nothing is or anything is wrong."""
    try:
        if not path.is_file():  # to open a pipe would wait for its writer
            return None
        data = memoryview(path.read_bytes())
    except (OSError, MemoryError):
        return None
    seal, content = data[: hashlib.sha256().digest_size], data[hashlib.sha256().digest_size :]
    return content if seal == _seal(purpose, content) else None


def _write(path: Path, purpose: bytes, content: bytes) -> None:
    """Write a file as a whole or not at all, also if another process writes the same or this one is killed."""
    path.parent.mkdir(parents=True, exist_ok=True)  # it may have been deleted since it was made
    temporary = path.with_name(f"{path.name}.{uuid.uuid4().hex[:16]}.tmp")
    try:
        with temporary.open("xb") as file:
            file.write(_seal(purpose, content))
            file.write(content)
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        os.replace(temporary, path)
    except BaseException:
        with suppress(OSError):
            temporary.unlink()
        raise


def _seal(purpose: bytes, content: bytes | memoryview) -> bytes:
    digest = hashlib.sha256(len(purpose).to_bytes(8, "little"))
    digest.update(purpose)
    digest.update(content)
    return digest.digest()


@cache
def _file_hash(path: str) -> str | None:
    try:
        return hashlib.sha256(Path(path).read_bytes()).hexdigest()
    except OSError:  # a notebook, or an application frozen into one file
        return None


# ---------------------------------------------------------------------- what Numba calls


class KernelCache(NullCache):  # type: ignore[misc]
    """The machine code of one function, in the place of Numba's ``FunctionCache``.

    What a dispatcher or a callback wants of it are ``load_overload`` and ``save_overload``.
    """

    def __init__(self, function: Callable[..., Any]) -> None:
        code = function.__code__
        self._name = f"{function.__module__}.{function.__qualname__}"
        self._place = (code.co_filename, code.co_firstlineno)
        source = _file_hash(code.co_filename)
        self._source = None if source is None else f"{source}, line {code.co_firstlineno}"

    @property
    def cache_path(self) -> str:
        return str(cache_directory)

    def _purpose(self, signature: Any, codegen: Any) -> bytes:
        """All that decides about the machine code: with the directory's name the sources and the compiler, too."""
        purpose = (cache_directory.name, self._name, self._source, str(signature), codegen.magic_tuple())
        return repr(purpose).encode()

    def _path(self, purpose: bytes) -> Path:
        name = self._name.replace("<", "").replace(">", "")  # of <locals>, which Windows does not want in names
        return cache_directory / f"{name}-{hashlib.sha256(purpose).hexdigest()[:16]}{_SUFFIX}"

    def load_overload(self, signature: Any, target_context: Any) -> CompileResult | None:
        """The compiled function, or None if it has to be compiled."""
        if self._source is None:
            return None
        target_context.refresh()
        purpose = self._purpose(signature, target_context.codegen())
        content = _read(self._path(purpose), purpose)
        if content is None:
            return None
        # The file is as it was written.  If it means nothing here all the same, as with another build of LLVM
        # under the same version, that is no reason to fail.
        try:
            stored, reduced = pickle.loads(content)
            return CompileResult._rebuild(target_context, *reduced) if stored == signature else None
        except Exception:
            return None

    def save_overload(self, signature: Any, compiled: CompileResult) -> None:
        """Keep a compiled function for the next process, if possible."""
        if compiled.library.has_dynamic_globals:
            warnings.warn_explicit(f"{self._name} holds an address and cannot be kept", NumbaWarning, *self._place)
        elif self._source is None:
            _say_not_kept(f"{self._place[0]} cannot be read, which would tell old kernels from new ones")
        elif source_hash() != _sources:
            # What was imported since may be new, and the directory is that of the old.
            _say_not_kept("the sources of impinge have changed since it was imported")
        else:
            self._save(self._purpose(signature, compiled.codegen), dumps((signature, compiled._reduce())))

    def _save(self, purpose: bytes, content: bytes) -> None:
        path = self._path(purpose)
        try:
            _write(path, purpose, content)
        except OSError as error:
            if _read(path, purpose) is None:  # Windows refuses while another process reads what it has just written
                _say_not_kept(
                    f"{cache_directory} cannot be written ({error.strerror or error});"
                    " set IMPINGE_CACHE_DIR to a directory that can"
                )
