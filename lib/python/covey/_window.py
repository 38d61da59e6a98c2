"""One-sided put and get: memory of a team's members that the others write and read. See covey_window(3)."""
from __future__ import annotations

import contextlib
import weakref
from typing import Any, Iterator, List, Optional

from . import _core
from ._core import array_of, check, ffi, lib, wait_in_slices

NULL = ffi.NULL


class Window:
    """Memory of all members of a team: Team.window(). Places are bytes from the start of a member's part.

        window = team.window(8 * 100)
        mine = window.part()                 # own memory, 0 at first, as bytes: .view("f8")
        window.put(array, rank, 8 * 3)       # into another's memory; nobody receives
        window.flush(rank)                   # it is there

    One thread at a time uses it. When a member ends, calls raise the cause at all members.
    """

    def __init__(self, team: Any, size: int, signals: int) -> None:
        self._slot, self._team = ffi.new("covey_window_t **"), team
        self._reading: List[Any] = []  # arrays that gets write, until they are complete
        self._shown: List[weakref.ref] = []
        base = ffi.new("void **")
        _core.patiently(lib.covey_window_create, team._handle, size, signals, base, self._slot)

    @property
    def _window(self) -> Any:
        if self._slot[0] == NULL:
            raise _core.error_of(lib.COVEY_EINVAL, "the window was freed")
        return self._slot[0]

    def part(self, rank: Optional[int] = None) -> Any:
        """The part of a member (None: the own one) as an array of bytes; None: it lies on another host.

        It is memory of the window: a flush, fence, lock or wait says when what others put is seen.
        """
        import numpy

        size = ffi.new("size_t *")
        base = lib.covey_window_part(self._window, self._team.rank if rank is None else rank, size)
        if base == NULL:
            return None
        kept = ffi.gc(ffi.cast("char *", base), lambda _, keep=self: None)
        self._shown = [r for r in self._shown if r() is not None] + [weakref.ref(kept)]
        return numpy.frombuffer(ffi.buffer(kept, size[0]), "u1")

    def size(self, rank: int) -> int:
        """How many bytes the part of that member has."""
        size = ffi.new("size_t *")
        lib.covey_window_part(self._window, rank, size)
        return size[0]

    def put(self, array: Any, rank: int, place: int = 0) -> None:
        """Copies an array into the part of a member. It may be changed again at once."""
        check(lib.covey_window_put(self._window, rank, place, *array_of(array)))

    def get(self, array: Any, rank: int, place: int = 0) -> None:
        """The other way: the elements are there after flush(), fence() or the end of lock()."""
        kind, base, count = array_of(array, True)
        check(lib.covey_window_get(self._window, rank, place, kind, base, count))
        self._reading.append(base)

    def flush(self, rank: Optional[int] = None) -> None:
        """All puts and gets of the caller with that member (None: with all) are complete here and there."""
        check(lib.covey_window_flush(self._window, lib.COVEY_ALL_RANKS if rank is None else rank))
        if rank is None:
            self._reading.clear()

    def fence(self) -> None:
        """All puts and gets before it, of all members, are complete everywhere: a call of all members."""
        _core.patiently(lib.covey_window_fence, self._window)
        self._reading.clear()

    @contextlib.contextmanager
    def lock(self, rank: int, shared: bool = False) -> Iterator[None]:
        """`with window.lock(rank):` - nobody else has the member's lock, or shared: only others that share it."""
        kind = lib.COVEY_LOCK_SHARED if shared else lib.COVEY_LOCK_EXCLUSIVE
        window = self._window
        _core.patiently(lib.covey_window_lock, window, rank, kind, undo=lambda: lib.covey_window_unlock(window, rank))
        try:
            yield
        finally:
            check(lib.covey_window_unlock(self._window, rank))

    def signal(self, rank: int, signal: int = 0) -> None:
        """Adds 1 to a counter of the member: who waits for it sees what the caller put there before."""
        check(lib.covey_window_signal(self._window, rank, signal))

    def wait(self, count: int, signal: int = 0, timeout: Optional[float] = None) -> None:
        """Waits until a counter of the own is at least so much. Raises TimedOut; timeout 0 only looks."""
        wait_in_slices(lambda us: lib.covey_window_wait(self._window, signal, count, us), timeout)

    def free(self) -> None:
        """Ends the window: a call of all members. Raises BufferError while arrays of part() are in use."""
        if self._slot[0] == NULL:
            return
        if any(r() is not None for r in self._shown):
            raise BufferError("arrays that part() gave are still in use: del them, or copy what they have")
        _core.patiently(lib.covey_window_free, self._slot)
        self._reading.clear()

    def __enter__(self) -> "Window":
        return self

    def __exit__(self, kind: Any, *_: Any) -> None:
        if kind is None:  # otherwise the others may not come to the end of theirs
            self.free()
