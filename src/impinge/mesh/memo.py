"""A cache in each body for what is derived from it: bounding volume hierarchies, hulls, feature graphs."""

from __future__ import annotations

import threading
from collections.abc import Callable, Hashable
from typing import Any, TypeVar

from impinge.geometry.float_errors import default_state

Derived = TypeVar("Derived")
Owner = TypeVar("Owner", bound="Memo")


class Memo:
    """A body with a cache, which is filled by the layers that know what to derive from it."""

    __slots__ = ("_lock", "derived")

    derived: dict[Hashable, Any]
    """What was derived so far, where the call of ``memo`` would cost too much; not to be changed."""
    _lock: threading.RLock

    def _start_memo(self) -> None:
        object.__setattr__(self, "derived", {})
        object.__setattr__(self, "_lock", threading.RLock())

    def memo(self: Owner, key: Hashable, make: Callable[[Owner], Derived]) -> Derived:
        """What was derived from this body under ``key``, made at the first request, once for all threads."""
        try:
            return self.derived[key]  # type: ignore[no-any-return]
        except KeyError:
            pass
        with self._lock:
            if key not in self.derived:
                with default_state():
                    self.derived[key] = make(self)
            return self.derived[key]  # type: ignore[no-any-return]
