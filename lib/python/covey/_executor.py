"""An executor of concurrent.futures on all hosts of a virtual machine."""
from __future__ import annotations

import collections
import itertools
import os
import sys
import time
import weakref
from concurrent.futures import Executor as _Base
from concurrent.futures import Future, as_completed
from typing import Any, Callable, Dict, Iterable, Iterator, List, Optional, Sequence

from ._pool import Options, Pool, Work
from ._worker import process_chunk


def module_folders() -> str:
    """PYTHONPATH for workers: the folder of this package, and that of this process."""
    here = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    return os.pathsep.join(dict.fromkeys([here, *filter(None, os.environ.get("PYTHONPATH", "").split(os.pathsep))]))


class Executor(_Base):
    """Runs functions in processes on the hosts of a virtual machine.

        with covey.Executor() as executor:
            for square in executor.map(lambda x: x * x, range(1000), chunksize=10):
                ...

    Functions of modules are found by their names on each host; lambdas and those of __main__ or a notebook
    go by value. A worker that dies is replaced and what it ran is run again (so may what takes long, where
    others have nothing to do, unless single=True): effects outside must be harmless when they come twice. Hosts
    that join the VM later get workers, too, unless max_workers says how many there are.

    Workers start with the first function, or with bootup(). What they print is printed here.
    """

    def __init__(self, max_workers: Optional[int] = None, initializer: Optional[Callable] = None, initargs: tuple = (),
                 *, globals: Optional[dict] = None, path: Sequence[str] = (), wdir: Any = None,
                 env: Optional[dict] = None, python_exe: Optional[str] = None, python_args: Sequence[str] = (),
                 deaths_max: int = 0, lease: float = 0, copies: int = -1, single: bool = False, vm: Optional[str] = None,
                 **ignored: Any) -> None:
        """
        max_workers  how many; None: one for each processor of the VM
        initializer  what each worker calls at first, with initargs; when it raises, the executor is broken
        globals      names that all functions find in the workers, with their values
        path         folders in which workers look for modules, before those of this process
        wdir, env    their working directory (None: this one's); variables of their environment
        python_exe, python_args   which Python, and its options
        deaths_max   so many workers may die at one function before it is given up: WorkerDied; 0: 3
        lease        seconds after which a function that is not done is given to another worker; 0: none
        copies       hosts that keep what is to be done, should this one die: -1: none, for then nobody
                     would take the results
        single       True: a function is run again only when its worker died, or its lease ran out
        vm           name of the VM; None: $COVEY_VM, otherwise "default"

        Options of mpi4py's MPIPoolExecutor that mean nothing here (main, mpi_info, use_pkl5, backoff) are
        ignored.
        """
        unknown = set(ignored) - {"main", "mpi_info", "use_pkl5", "backoff"}
        if unknown:
            raise TypeError(f"Executor() got an unexpected argument {unknown.pop()!r}")
        if max_workers is not None and max_workers < 1:
            raise ValueError("max_workers must be at least 1")
        if initializer is not None and not callable(initializer):
            raise TypeError("initializer must be callable")
        folders = [os.fspath(p) for p in path]
        environment: Dict[str, str] = {"PYTHONPATH": module_folders(), **{k: str(v) for k, v in (env or {}).items()}}
        self._options = Options(
            max_workers, initializer, tuple(initargs), dict(globals or {}),
            folders + [os.path.abspath(p) for p in sys.path], None if wdir is None else os.fspath(wdir), environment,
            python_exe or sys.executable, list(python_args), deaths_max, lease, copies, single, vm)
        self._pool: Optional[Pool] = None
        self._shutdown = False
        self._broken: Optional[BaseException] = None

    # ---- the workers

    def bootup(self, wait: bool = True) -> "Executor":
        """Starts the workers now; wait: until they are ready, or the executor is broken."""
        self._check()
        if self._pool is None:
            self._pool = Pool(self._options)
            weakref.finalize(self, self._pool.shutdown)
        if wait:
            self._pool.event.wait()
        return self

    def _check(self) -> None:
        if self._shutdown:
            raise RuntimeError("the executor was shut down")
        if self._pool is not None and self._pool.pid != os.getpid():
            raise RuntimeError("the executor belongs to the process that made it, not to this child of fork()")

    @property
    def num_workers(self) -> int:
        """How many workers there are, or will be when they have started; 0 after the end."""
        if self._shutdown or self._pool is not None and self._pool.broken is not None:
            return 0
        if self._pool is None or not self._pool.event.is_set():
            if self._options.max_workers is not None:
                return self._options.max_workers
            self.bootup()
        assert self._pool is not None
        return self._pool.wanted if self._pool.broken is None else 0

    @property
    def _max_workers(self) -> int:  # of this name to joblib, Dask and others
        return self.num_workers

    # ---- functions

    def submit(self, fn: Callable, /, *args: Any, **kwargs: Any) -> Future:
        """fn(*args, **kwargs) is to be run: its future.

        Raises RuntimeError after shutdown(), BrokenPool when no worker can be had. The future raises what
        fn raised, with the traceback there as its __cause__; WorkerDied; what pickling raised.
        """
        return self._submit(0, fn, args, kwargs)

    def submit_first(self, priority: int, fn: Callable, /, *args: Any, **kwargs: Any) -> Future:
        """As submit(), before all that waits with a lower priority; that of submit() is 0."""
        return self._submit(priority, fn, args, kwargs)

    def _submit(self, priority: int, fn: Callable, args: tuple, kwargs: dict) -> Future:
        if self._pool is None or self._shutdown or self._pool.pid != os.getpid():
            self.bootup(wait=False)
        future: Future = Future()
        self._pool.submit(Work(future, fn, args, kwargs, priority))  # type: ignore[union-attr]
        return future

    def map(self, fn: Callable, *iterables: Iterable, timeout: Optional[float] = None, chunksize: Optional[int] = 1,
            buffersize: Optional[int] = None, unordered: bool = False, priority: int = 0,
            progress: Optional[Callable[[int, int], None]] = None) -> Iterator:
        """The results of fn for the items of the iterables, in their order, as they come.

        timeout     seconds from the call to the last result; TimeoutError after them
        chunksize   so many items go to a worker at once; None: as many as give each worker some eight chunks
        buffersize  so many chunks are under way, and the iterables are read as results are taken
        unordered   True: results in the order in which they are there
        priority    see submit_first()
        progress    is called with the items that are done and those there are; progress=covey.progress
                    shows a line

        Leaving the loop cancels what did not begin.
        """
        return self._map(fn, zip(*iterables), timeout, chunksize, buffersize, unordered, priority, progress)

    def starmap(self, fn: Callable, iterable: Iterable[Sequence], timeout: Optional[float] = None,
                chunksize: Optional[int] = 1, buffersize: Optional[int] = None, unordered: bool = False,
                priority: int = 0, progress: Optional[Callable[[int, int], None]] = None) -> Iterator:
        """As map(), but that each item of the iterable is a sequence of arguments."""
        return self._map(fn, iter(iterable), timeout, chunksize, buffersize, unordered, priority, progress)

    def _map(self, fn: Callable, items: Iterator, timeout: Optional[float], chunksize: Optional[int],
             buffersize: Optional[int], unordered: bool, priority: int, progress: Any) -> Iterator:
        if chunksize is not None and chunksize < 1:
            raise ValueError("chunksize must be at least 1")
        if buffersize is not None:
            if not isinstance(buffersize, int):
                raise TypeError("buffersize must be an integer or None")
            if buffersize < 1:
                raise ValueError("buffersize must be None or at least 1")
            if unordered:
                raise ValueError("buffersize is for results in order")
        end = None if timeout is None else time.monotonic() + timeout
        if chunksize is None:
            rows = list(items)
            chunksize, items = max(1, len(rows) // (8 * max(1, self.num_workers))), iter(rows)
        futures = self._futures(fn, items, chunksize, priority)
        if buffersize is not None:
            return _in_order(collections.deque(itertools.islice(futures, buffersize)), end, chunksize, futures)
        started = list(futures)
        if progress is not None:
            _tell(started, progress)
        if unordered:
            return _as_they_come(started, end, chunksize)
        return _in_order(collections.deque(started), end, chunksize, None)

    def _futures(self, fn: Callable, items: Iterator, chunksize: int, priority: int) -> Iterator[Future]:
        if chunksize == 1:
            return (_sized(self._submit(priority, fn, tuple(item), {}), 1) for item in items)
        chunks = iter(lambda: [tuple(i) for i in itertools.islice(items, chunksize)], [])
        return (_sized(self._submit(priority, process_chunk, (fn, chunk), {}), len(chunk)) for chunk in chunks)

    # ---- the end

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """No more is submitted; workers end when all is done.

        wait: returns when they have; cancel_futures: what no worker was given is cancelled.
        """
        self._shutdown = True
        pool = self._pool
        if pool is None or pool.pid != os.getpid():
            return
        if cancel_futures:
            pool.cancel()
        pool.shutdown()
        if wait:
            pool.join()
            self._pool = None

    def __exit__(self, kind: Any, *_: Any) -> bool:
        self.shutdown(wait=True, cancel_futures=kind is not None and issubclass(kind, KeyboardInterrupt))
        return False

    def __repr__(self) -> str:
        pool = self._pool
        if pool is None:
            return f"<covey.Executor, {'shut down' if self._shutdown else 'not started'}>"
        return (f"<covey.Executor: {len(pool.workers)} workers, {len(pool.queue)} functions wait, "
                f"{len(pool.flying)} are with workers>")

    def _repr_html_(self) -> str:
        from ._display import executor

        return executor(self)


def _sized(future: Future, size: int) -> Future:
    future._covey_size = size  # type: ignore[attr-defined]
    return future


def _tell(futures: List[Future], progress: Callable[[int, int], None]) -> None:
    total = sum(f._covey_size for f in futures)  # type: ignore[attr-defined]
    counter = [0]

    def one(future: Future) -> None:  # by the pool's thread alone
        counter[0] += future._covey_size  # type: ignore[attr-defined]
        progress(counter[0], total)

    for future in futures:
        future.add_done_callback(one)


def _in_order(futures: "collections.deque[Future]", end: Optional[float], chunksize: int,
              more: Optional[Iterator[Future]]) -> Iterator:
    def results() -> Iterator:
        try:
            while futures:
                left = None if end is None else end - time.monotonic()
                value = futures[0].result(left)
                futures.popleft()
                if more is not None:
                    futures.extend(itertools.islice(more, 1))
                yield from (value if chunksize > 1 else (value,))
        finally:
            for future in futures:
                future.cancel()

    return results()


def _as_they_come(futures: List[Future], end: Optional[float], chunksize: int) -> Iterator:
    def results() -> Iterator:
        left = set(futures)
        futures.clear()
        try:
            for future in as_completed(left.copy(), None if end is None else end - time.monotonic()):
                left.discard(future)
                value = future.result()
                yield from (value if chunksize > 1 else (value,))
        finally:
            for future in left:
                future.cancel()

    return results()


class _Line:
    """A line of progress on standard error."""

    def __init__(self) -> None:
        self.shown = 0.0

    def __call__(self, done: int, total: int) -> None:
        now = time.monotonic()
        if done < total and now - self.shown < 0.1:
            return
        self.shown = now
        filled = 40 * done // max(total, 1)
        line = f"\r[{'#' * filled}{'.' * (40 - filled)}] {done} of {total}"
        print(line, end="\n" if done >= total else "", file=sys.stderr, flush=True)


progress: Callable[[int, int], None] = _Line()  #: for map(progress=covey.progress): a line on standard error

__all__ = ["Executor", "progress"]
