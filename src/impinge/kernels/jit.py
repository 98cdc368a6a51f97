"""The decorators of kernels, whatever way these run (``kernels.mode``).

Where kernels come from a library, Numba is not imported: functions that only kernels call are then nothing but names.
Should Numba be needed later in such a process, for a function of the user's that becomes part of a kernel or for a
kernel that the library lacks, it is told what these names stand for when it meets them (``Pending``).
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from functools import cache, partial, wraps
from importlib import import_module
from typing import Any, TypeVar, cast, overload

import numpy as np

from impinge.errors import MissingExtra
from impinge.kernels.mode import library, without_compiler

Function = TypeVar("Function", bound=Callable[..., Any])

_library = library()
_plain = without_compiler()
_compiling = _library is None and not _plain
_numba_wanted = _compiling
"""Whether what is decorated from now on is Numba's at once."""

_NUMBA_COMPILER = "impinge.kernels.with_numba.compiler"


def _numba_compiler() -> Any:
    """The module that imports Numba."""
    return import_module(_NUMBA_COMPILER)


class Pending:
    """What a name stands for in compiled code, in a process that has not needed Numba yet."""

    def __init__(self, make: Callable[[], Any], name: str) -> None:
        self._make = make
        self.__name__ = name

    def __call__(self, *arguments: Any) -> Any:
        raise TypeError(f"{self.__name__} can only be called from kernels")

    def made(self) -> Any:
        """What it stands for, made once: nobody asks but Numba, under its lock."""
        if not hasattr(self, "_made"):
            self._made = self._make()
        return self._made

    @property
    def _numba_type_(self) -> Any:
        """What Numba asks for when it meets the name in a function."""
        need_numba(self.__name__)
        return _numba_compiler().type_of(self.made())


_generic: list[tuple[Callable[..., Any], Callable[[type], Callable[..., Any]]]] = []
"""Functions chosen by a class, and how, that Numba does not know yet."""
_one_at_a_time = threading.Lock()


def in_compiled_code(make: Callable[[], Any], name: str) -> Any:
    """Something that only compiled code can use, made by Numba: at once, or when that is needed."""
    return make() if _numba_wanted else Pending(make, name)


def kernels_are_compiled() -> bool:
    """Whether Numba compiles kernels when they are first called, for this machine."""
    return _compiling


def imported_for_kernels(module: str, name: str) -> Any:
    """A name of a module that imports Numba, for compiled code."""
    return in_compiled_code(lambda: getattr(import_module(module), name), name)


def need_numba(purpose: str) -> None:
    """Let Numba compile what the names stand for, as it meets them.

    Raises
    ------
    MissingExtra
        Numba is not installed.
    """
    global _numba_wanted
    if _plain or _numba_wanted:
        return
    with _one_at_a_time:
        try:
            numba_compiler = _numba_compiler()
        except ModuleNotFoundError as error:
            if (error.name or "").partition(".")[0] not in ("numba", "llvmlite"):
                raise
            raise MissingExtra(purpose, "numba", "jit") from error
        while _generic:
            numba_compiler.overload_by_class(*_generic[-1])  # twice does no harm, if an interrupt comes in between
            _generic.pop()
        _numba_wanted = True


@overload
def kernel(first: Function) -> Function: ...
@overload
def kernel(first: str | type, *more: str | type) -> Callable[[Function], Function]: ...


def kernel(first: Any, *more: Any) -> Any:
    """Compile a module-level function that Python calls: no GIL, IEEE arithmetic as written.

    ``@kernel`` is for functions of integers, ``@kernel("int64, float64[:, ::1]")`` for others: the types of the
    arguments as Numba writes them, or classes of NamedTuples, whose ``signature`` says of what types they are.

    Without ``fastmath`` LLVM neither re-associates nor contracts a product and a sum into a
    fused multiply-add, on which the exact predicates rely (a test looks for fused instructions in the
    machine code).
    """
    if isinstance(first, str | type):
        return partial(_kernel, (first, *more))
    return _kernel(("int64, " * first.__code__.co_argcount,), first)


def _kernel(signature: tuple[str | type, ...], function: Callable[..., Any]) -> Any:
    if _plain:
        return _as_plain_python(function)
    if _library is None:
        return _numba_compiler().kernel(signature, function)
    name = f"{function.__module__}.{function.__qualname__}"
    return _library.entry(name) or _compiled_when_called(signature, function)


def _as_plain_python(function: Function) -> Function:
    """Without the compiler: infinities and NaN come about silently, as in machine code."""

    @wraps(function)
    def silent(*arguments: Any) -> Any:
        with np.errstate(all="ignore"):
            return function(*arguments)

    return cast(Function, silent)


def _compiled_when_called(signature: tuple[str | type, ...], function: Callable[..., Any]) -> Callable[..., Any]:
    """A kernel that is not in the library, such as those of experiments."""

    @cache
    def compiled() -> Any:
        need_numba(f"the kernel {function.__name__}")
        return _numba_compiler().kernel(signature, function)

    @wraps(function)
    def call(*arguments: Any) -> Any:
        return compiled()(*arguments)

    return call


def inner(function: Function) -> Function:
    """Compile a function that only kernels call: it cannot be called from Python and is not cached by itself.

    LLVM decides where it is copied into its callers.  Numba would have it copied wherever the caller is itself: the
    kernel for distances took 5.1 s to compile instead of 3.0.
    """
    return _only_for_kernels(function, forceinline=False)


def inlined(function: Function) -> Function:
    """As ``inner``, and copied into every caller.

    In the loop of a traversal a call would cost more than what is done in it.
    """
    return _only_for_kernels(function, forceinline=True)


def _only_for_kernels(function: Function, forceinline: bool) -> Function:
    if _plain:
        return function
    return in_compiled_code(lambda: _numba_compiler().only_for_kernels(function, forceinline), function.__name__)  # type: ignore[no-any-return]


def cold(signature: str) -> Callable[[Function], Function]:
    """Compile a rarely taken path on its own; kernels call it through its address.

    Numba links a callee into every caller and optimises it there again, level by level.
    For the exact arithmetic behind the predicates that made the first compile of one kernel
    take 31 s, and crowded the registers of the hot path.  An external symbol is resolved
    when the (cached) machine code is loaded, so callers stay small.  Arguments are scalars or
    pointers: the caller passes ``pointer_to(array)``, the function makes ``array_at(pointer, shape)``
    of it.  What it calls must stand above it: Numba compiles, or loads, it when its module is imported.
    """

    def decorate(function: Function) -> Function:
        if _plain:
            return function
        return in_compiled_code(lambda: _numba_compiler().cold(signature, function), function.__name__)  # type: ignore[no-any-return]

    return decorate


POINTER = "CPointer(float64)"
"""The type of a pointer in the signature of a cold function."""

if _plain:

    def pointer_to(array: Any) -> Any:
        """In plain Python a pointer to an array is the array."""
        return array

    def array_at(pointer: Any, shape: tuple[int, ...]) -> Any:
        """The array behind a pointer."""
        return pointer.reshape(shape)

    def call_kernel(address: Any, a: Any, b: Any, c: Any) -> Any:
        """Call the kernel at an address with three integers; it returns one."""
        return address(a, b, c)

else:
    array_at = imported_for_kernels(_NUMBA_COMPILER, "array_at")
    pointer_to = imported_for_kernels(_NUMBA_COMPILER, "pointer_to")
    call_kernel = imported_for_kernels(_NUMBA_COMPILER, "call_kernel")


@cache
def address_of_kernel(function: Any) -> Any:
    """Where the machine code of a kernel of three integers begins; it is compiled, or loaded, for that.

    For kernels that call others many times (see ``call_kernel``).  In plain Python the function itself.
    """
    if _plain:
        return function
    if _library is not None:
        return _library.address(function)  # what the library lacks, nothing in it calls
    return _numba_compiler().address_of_kernel(function)


def generic(stub: Function) -> Any:
    """A function that is chosen by the class of its first argument, a record or a NamedTuple.

    ``@name.of(Class)`` gives the version for one class.  Numba's disk cache keeps working with this,
    which it does not with functions as arguments.
    """
    versions: dict[type, Callable[..., Any]] = {}

    def of(kind: type) -> Callable[[Function], Function]:
        def register(function: Function) -> Function:
            versions[kind] = function
            return function

        return register

    def version_for(kind: type) -> Callable[..., Any]:
        if kind not in versions:
            name = stub.__name__
            raise TypeError(f"{name} has no version for {kind.__name__}: register one with @{name}.of({kind.__name__})")
        version = versions[kind]
        return cast(Callable[..., Any], version.made()) if isinstance(version, Pending) else version

    if _plain:

        def choose(*arguments: Any) -> Any:
            return version_for(type(arguments[0]))(*arguments)

    else:

        def choose(*arguments: Any) -> Any:
            raise TypeError(f"{stub.__name__} can only be called from kernels")

        if _numba_wanted:
            _numba_compiler().overload_by_class(choose, version_for)
        else:
            _generic.append((choose, version_for))

    choose.__name__ = stub.__name__
    choose.__doc__ = stub.__doc__
    choose.of = of  # type: ignore[attr-defined]
    return choose
