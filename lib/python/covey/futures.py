"""covey.futures - the names of concurrent.futures and of mpi4py.futures, for programs that use these.

    from covey.futures import MPIPoolExecutor, as_completed

beside them collect(), compose() and ThenableFuture, which put futures together.
"""
from __future__ import annotations

import threading
import weakref
from concurrent.futures import (  # noqa: F401
    ALL_COMPLETED,
    FIRST_COMPLETED,
    FIRST_EXCEPTION,
    BrokenExecutor,
    CancelledError,
    Future,
    InvalidStateError,
    ProcessPoolExecutor,
    ThreadPoolExecutor,
    TimeoutError,
    as_completed,
    wait,
)
from typing import Any, Callable, Iterable, List, Optional

from . import _worker
from ._executor import Executor
from ._pool import BrokenPool, RemoteTraceback, WorkerDied  # noqa: F401

MPIPoolExecutor = Executor


class MPICommExecutor:
    """An executor for the member `root` of a team, while the others wait: `with ... as executor`.

    The others get None. Without a team the caller is alone. Workers are further processes, on all hosts.
    """

    def __init__(self, comm: Any = None, root: int = 0, **options: Any) -> None:
        self._rank, size = (0, 1) if comm is None else (_number(comm, "rank"), _number(comm, "size"))
        if not 0 <= root < size:
            raise ValueError(f"root is {root}, and the team has {size} members")
        self._comm, self._root, self._options = comm, root, options
        self._executor: Optional[Executor] = None

    def __enter__(self) -> Optional[Executor]:
        if self._executor is not None:
            raise RuntimeError("it is entered already")
        if self._rank == self._root:
            self._executor = Executor(**self._options)
        return self._executor

    def __exit__(self, *_: Any) -> None:
        if self._executor is not None:
            self._executor.shutdown()
            self._executor = None
        if hasattr(self._comm, "barrier"):
            self._comm.barrier()


def _number(comm: Any, name: str) -> int:
    """rank or size of a team, or of what has mpi4py's methods."""
    method = getattr(comm, "Get_" + name, None)
    return method() if method is not None else getattr(comm, name)


class Workers:
    """What a function may know of the workers beside it."""

    def Get_size(self) -> int:
        return _worker.setup["workers"] if _worker.setup else 0


def get_comm_workers() -> Workers:
    """For a function that an executor runs. Raises RuntimeError elsewhere."""
    if _worker.setup is None:
        raise RuntimeError("this process is no worker of an executor")
    return Workers()


def collect(futures: Iterable[Future]) -> Future:
    """A future of the list of the results of all of these; the first failure is its own, and cancels the rest.

    Cancelling it cancels them all.
    """
    rows: List[Future] = list(futures)
    whole = type(rows[0])() if rows else Future()
    lock, left = threading.Lock(), len(rows)
    if not rows:
        whole.set_result([])
        return whole

    def one(future: Future) -> None:
        nonlocal left
        with lock:
            left -= 1
            last = left == 0
        if whole.done():
            return
        if future.cancelled():
            whole.cancel()
        elif future.exception() is not None:
            whole.set_exception(future.exception())
            _cancel(rows)
        elif last:
            whole.set_result([f.result() for f in rows])

    whole.add_done_callback(lambda f: _cancel(rows) if f.cancelled() else None)
    for row in rows:
        row.add_done_callback(one)
    return whole


def _cancel(futures: List[Future]) -> None:
    for future in futures:
        future.cancel()


def compose(future: Future, resulthook: Optional[Callable] = None, excepthook: Optional[Callable] = None) -> Future:
    """A future of resulthook(result), or of excepthook(exception), which returns a result or an exception.

    Cancelling either cancels the other.
    """
    new = type(future)()

    def done(base: Future) -> None:
        if new.done():
            return
        if base.cancelled():
            new.cancel()
            return
        try:
            error = base.exception()
            if error is None:
                new.set_result(base.result() if resulthook is None else resulthook(base.result()))
                return
            value = error if excepthook is None else excepthook(error)
            if isinstance(value, BaseException):
                new.set_exception(value)
            else:
                new.set_result(value)
        except BaseException as raised:
            new.set_exception(raised)

    reference = weakref.ref(future)
    new.add_done_callback(lambda f: f.cancelled() and reference() is not None and reference().cancel())
    future.add_done_callback(done)
    return new


class ThenableFuture(Future):
    """A future with then() and catch(), as JavaScript's promises have them."""

    def then(self, on_success: Optional[Callable] = None, on_failure: Optional[Callable] = None) -> "ThenableFuture":
        """A future of on_success(result), or of on_failure(exception); where these return futures, of theirs."""
        new = type(self)()
        self.add_done_callback(lambda base: _follow(base, new, on_success, on_failure))
        return new

    def catch(self, on_failure: Optional[Callable] = None) -> "ThenableFuture":
        """A future of on_failure(exception), or of None instead of a failure."""
        return self.then(None, on_failure or (lambda _: None))


def _follow(base: Future, new: Future, on_success: Optional[Callable], on_failure: Optional[Callable]) -> None:
    if new.done():
        return
    if base.cancelled():
        new.cancel()
        new.set_running_or_notify_cancel()
        return
    try:
        error = base.exception()
        if error is None:
            value = base.result() if on_success is None else on_success(base.result())
        else:
            value = error if on_failure is None else on_failure(error)
        _settle(new, value, [new])
    except BaseException as raised:
        new.set_exception(raised)


def _settle(new: Future, value: Any, chain: List[Future]) -> None:
    """Gives a future its value: what another future will have, when it is one."""
    if isinstance(value, Future):
        if any(value is f for f in chain):
            raise RuntimeError("chain cycle detected")
        chain = [*chain, value]
        if value.done() and value.exception() is None and isinstance(value.result(), Future):
            _settle(new, value.result(), chain)
        else:
            value.add_done_callback(lambda f: _give(new, f, chain))
    elif isinstance(value, BaseException):
        new.set_exception(value)
    else:
        new.set_result(value)


def _give(new: Future, base: Future, chain: List[Future]) -> None:
    if new.done():
        return
    if base.cancelled():
        new.cancel()
        return
    try:
        error = base.exception()
        _settle(new, base.result() if error is None else error, chain)
    except BaseException as raised:
        new.set_exception(raised)
