"""The workers of an Executor, and the futures that they are to complete.

A pool enrols by itself, so that no message of its is taken by the program. It has a bag; two attachments
to it, as one is used by one thread at a time: one puts items, in the thread of whoever submits or of whoever
takes results, under the pool's lock; the other one takes results, in the pool's thread. A third thread, the
keeper, starts workers and is told of their ends.

Futures wait in `queue` and go into the bag as results come out of it: as many as the workers do in a
quarter of a second, so that others can be cancelled, and none waits for the next.
"""
from __future__ import annotations

import collections
import heapq
import os
import pickle
import signal
import threading
import time
from concurrent.futures import BrokenExecutor, Future
from typing import Any, Callable, Dict, List, NamedTuple, Optional

from . import _core
from ._bag import Bag
from ._core import CoveyError, ffi, lib
from ._vm import VM
from ._worker import TAG_SETUP, TAG_STATE, dumps

TAG_END, TAG_HOST, TAG_WAKE = 3, 4, 5
AHEAD_S = 0.25  # items in the bag: as many as are done in that time
AHEAD_MAX = 8192
BATCH = 256  # results that are taken at once
FAILURES_MAX = 3  # workers that end before they are ready, one after another; of those that somebody kills so many
KILLED_SHARE = 0.05  # as count as one
LEAVE_S = 5.0  # for workers to end by themselves


class BrokenPool(BrokenExecutor):
    """No worker can be had any more: the text says why. Its __cause__ is what an initializer raised."""


class WorkerDied(BrokenExecutor):
    """So many workers died while they ran this function that it was given up; others go on."""


class RemoteTraceback(Exception):
    """The __cause__ of an exception that a function raised in a worker: its traceback there."""

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self.text = text

    def __str__(self) -> str:
        return f'\n"""\n{self.text}"""'


class Work(NamedTuple):
    future: Future
    function: Callable
    arguments: tuple
    keywords: dict
    priority: int


class Queue:
    """Work by falling priority, and in order among that of one priority."""

    def __init__(self) -> None:
        self._by: Dict[int, collections.deque] = {}
        self._order: List[int] = []  # a heap of the negated priorities that there are

    def push(self, work: Work) -> None:
        row = self._by.get(work.priority)
        if row is None:
            row = self._by[work.priority] = collections.deque()
            heapq.heappush(self._order, -work.priority)
        row.append(work)

    def pop(self) -> Work:
        """Raises IndexError when there is none."""
        priority = -self._order[0]
        work = self._by[priority].popleft()
        if not self._by[priority]:
            del self._by[priority]
            heapq.heappop(self._order)
        return work

    def __len__(self) -> int:
        return sum(map(len, self._by.values())) if self._by else 0

    def __bool__(self) -> bool:
        return bool(self._by)


class Options(NamedTuple):
    """How workers are started: see Executor."""

    max_workers: Optional[int]
    initializer: Optional[Callable]
    initargs: tuple
    globals: dict
    path: List[str]
    wdir: Optional[str]
    env: Dict[str, str]
    python_exe: str
    python_args: List[str]
    deaths_max: int
    lease: float
    copies: int
    single: bool
    vm_name: Optional[str]


_pools: "set[Pool]" = set()
_counter = iter(range(1 << 62))


class Pool:
    def __init__(self, options: Options) -> None:
        self.options = options
        self.queue = Queue()
        self.event = threading.Event()  # the first workers are ready, or the pool is broken
        self.lock = threading.RLock()
        self.broken: Optional[BrokenPool] = None
        self.closing = False  # no more is submitted
        self.vm = VM(options.vm_name, command="covey.Executor")
        name = f"executor-{self.vm.tid:x}-{os.getpid()}-{next(_counter)}"
        self.puts = Bag(self.vm, name, create=True, deaths_max=options.deaths_max, lease=options.lease,
                        copies=options.copies, single=options.single)
        self.gets = Bag(self.vm, name)
        self.flying: Dict[int, Future] = {}  # by the number of the item
        self.number = 0
        self.closed = False  # the bag is
        self.workers: Dict[int, bool] = {}  # tid -> whether it is ready
        self.wanted = 0
        self.failures = 0.0
        self.rate, self.counted, self.since = 0.0, 0, time.monotonic()
        self.begin = dumps((options.globals, options.initializer, options.initargs))
        self.pid = os.getpid()
        self.keeper = threading.Thread(target=self._keep, name="covey-keeper", daemon=True)
        self.thread = threading.Thread(target=self._collect, name="covey-executor", daemon=True)
        _pools.add(self)
        self.keeper.start()
        self.thread.start()

    # ---- work that comes

    def submit(self, work: Work) -> None:
        with self.lock:
            if self.broken is not None:
                raise self.broken
            self.queue.push(work)
            self._feed()

    def _room(self) -> int:
        ahead = max(2 * max(1, len(self.workers) or self.wanted), min(AHEAD_MAX, int(self.rate * AHEAD_S)))
        return ahead - len(self.flying)

    def _feed(self) -> None:
        """Puts what there is room for into the bag; with the lock held."""
        room = self._room()
        while room > 0 and self.queue:
            work = self.queue.pop()
            if not work.future.set_running_or_notify_cancel():
                continue
            try:
                data = dumps((work.function, work.arguments, work.keywords))
            except BaseException as error:
                work.future.set_exception(error)
                continue
            code = lib.covey_bag_put(self.puts._bag, work.priority, ffi.from_buffer(data), len(data))
            if code < 0:
                work.future.set_exception(_core.error_of(code))
                self._break(BrokenPool(f"the bag takes no more: {_core.error_of(code)}"))
                return
            self.flying[self.number] = work.future
            self.number += 1
            room -= 1
        if self.closing:
            self._close_when_empty()

    def _close_when_empty(self) -> None:
        if not self.closed and not self.queue and not self.flying:
            self.closed = True
            lib.covey_bag_close(self.puts._bag)

    def cancel(self) -> None:
        """Cancels what no worker was given yet."""
        with self.lock:
            while self.queue:
                work = self.queue.pop()
                work.future.cancel()
                work.future.set_running_or_notify_cancel()

    def shutdown(self) -> None:
        """No more is submitted: ends when all is done. Does not wait."""
        if self.pid != os.getpid():
            return
        with self.lock:
            self.closing = True
            self._close_when_empty()

    def join(self) -> None:
        self.thread.join()

    # ---- results: the pool's thread

    def _collect(self) -> None:
        rows = ffi.new("struct covey_bag_result[]", BATCH)
        bag, result, buffer = self.gets._bag, lib.covey_bag_result, ffi.buffer
        while (count := result(bag, -1, rows, BATCH)) > 0:
            outcomes = []
            for i in range(count):
                row = rows[i]
                outcomes.append((row.number, self._outcome(row, buffer)))
            with self.lock:
                futures = [(self.flying.pop(number, None), outcome) for number, outcome in outcomes]
                self._measure(count)
                self._feed()
            for future, outcome in futures:
                _complete(future, outcome)
            del futures, outcomes
            future = outcome = None
        if count < 0 and self.broken is None:
            self._break(BrokenPool(f"the bag is lost: {_core.error_of(count)}"))
        self._end()

    def _outcome(self, row: Any, buffer: Any) -> tuple:
        """(value,) or (None, exception): what the future is to get."""
        if row.set_aside:
            return None, WorkerDied(f"{self.options.deaths_max or 3} workers died while they ran this function")
        try:
            outcome = pickle.loads(buffer(row.bytes, row.size))
        except BaseException as error:
            return None, error
        if len(outcome) > 1:
            outcome[1].__cause__ = RemoteTraceback(outcome[2])
        return outcome

    def _measure(self, count: int) -> None:
        self.counted += count
        now = time.monotonic()
        if now - self.since >= 0.05:
            rate = self.counted / (now - self.since)
            self.rate = rate if rate > self.rate else 0.7 * self.rate + 0.3 * rate
            self.counted, self.since = 0, now

    def _break(self, error: BrokenPool) -> None:
        with self.lock:
            if self.broken is not None:
                return
            self.broken = error
            lost = list(self.flying.values())
            self.flying.clear()
            while self.queue:
                future = self.queue.pop().future
                if future.set_running_or_notify_cancel():
                    lost.append(future)
            self.closing = self.closed = True
            lib.covey_bag_destroy(self.puts._slot)  # whoever waits for it is told
        for future in lost:
            _complete(future, (None, error))
        self.event.set()

    def _end(self) -> None:
        self.event.set()
        try:
            self.vm.send(None, self.vm.tid, TAG_WAKE)
        except CoveyError:
            pass
        self.keeper.join()
        with self.lock:  # shutdown() has come back from the bag that it closed
            self.gets.free()
            self.puts.free()
            self.vm.leave()
        self.wanted = 0
        _pools.discard(self)

    # ---- workers: the keeper

    def _keep(self) -> None:
        end = None
        try:
            self.vm.notify("added", TAG_HOST)
            self._start(self._places())
            while end is None or self.workers and time.monotonic() < end:
                try:
                    message = self.vm.recv_message(timeout=None if end is None else end - time.monotonic())
                except _core.TimedOut:
                    break
                if message.status.tag == TAG_WAKE:
                    end = time.monotonic() + LEAVE_S
                else:
                    self._heed(message)
        except Exception as error:  # without it nothing would ever end
            broken = BrokenPool(f"no worker could be started: {error}")
            broken.__cause__ = error
            self._break(broken)

    def _heed(self, message: Any) -> None:
        tag, source = message.status.tag, message.status.source
        if tag == TAG_STATE:
            self._on_state(source, pickle.loads(message.unpack()))
        elif tag == TAG_END:
            self._on_end(message.unpack_notice())
        elif tag == TAG_HOST and self.options.max_workers is None and not self.closing:
            host = message.unpack_notice().host
            self._start({name: n for name, (index, n) in self._cores().items() if index == host})

    def _on_state(self, tid: int, failed: Optional[bytes]) -> None:
        if failed is not None:
            _, error, text = pickle.loads(failed)
            error.__cause__ = RemoteTraceback(text)
            broken = BrokenPool(f"the initializer raised {type(error).__name__}: {error}")
            broken.__cause__ = error
            self._break(broken)
            return
        self.failures = 0.0
        if tid in self.workers:
            self.workers[tid] = True
        if all(self.workers.values()):
            self.event.set()
        with self.lock:
            self._feed()

    def _on_end(self, notice: Any) -> None:
        ready = self.workers.pop(notice.tid, None)
        if self.closing and (self.closed or not self.flying and not self.queue) or self.broken is not None:
            return
        how = {1: f"ended with status {notice.value}", 2: f"was ended by signal {notice.value}",
               3: "was on a host that is gone"}.get(notice.exit_kind, "ended")
        killed = notice.exit_kind == 3 or notice.exit_kind == 2 and notice.value in (signal.SIGKILL, signal.SIGTERM)
        if not ready:
            self.failures += KILLED_SHARE if killed else 1
        if self.failures >= FAILURES_MAX:
            self._break(BrokenPool(f"workers end before they are ready; the last one {how}"))
        elif len(self.workers) < self.wanted:
            self.wanted -= 1
            self._start(1)

    def _places(self) -> Any:
        """How many workers at first: a number, or by the name of the host."""
        if self.options.max_workers is not None:
            return self.options.max_workers
        return {name: n for name, (_, n) in self._cores().items()}

    def _cores(self) -> Dict[str, tuple]:
        """host -> (index, workers): one for each processor, which virtual hosts of one machine share."""
        rows, machines = self.vm.load(), collections.defaultdict(list)
        for row in rows:
            machines[row["machine"] or -row["host"]].append(row)
        places = {}
        for hosts in machines.values():
            cores = max(int(row["cores"] or 1) for row in hosts)
            for i, row in enumerate(hosts):
                places[row["name"]] = (row["host"], max(1, cores // len(hosts) + (i < cores % len(hosts))))
        return places

    def _start(self, places: Any) -> None:
        """Starts workers on these hosts, or so many wherever they should end first."""
        o = self.options
        argv = [o.python_exe, *o.python_args, "-c", "from covey._worker import enter; enter()"]
        common: dict = {"env": o.env, "cwd": o.wdir, "tether": True}
        if isinstance(places, int):
            self.wanted += places
            tids = self.vm.spawn(argv, places, **common)
        else:
            self.wanted += sum(places.values())
            hosts = [name for name, n in places.items() for _ in range(n)]
            tids = self.vm.spawn(argv, len(hosts), hosts=hosts, **common) if hosts else []
        started = [tid for tid in tids if tid > 0]
        self.wanted -= len(tids) - len(started)
        if not started and not self.workers and places:
            raise _core.error_of(tids[0], "no host starts them")
        self.workers.update((tid, False) for tid in started)
        self.vm.notify("task", TAG_END, started)
        setup = {"bag": self.puts.name, "path": o.path, "begin": self.begin, "workers": self.wanted}
        for tid in started:
            try:
                self.vm.send(setup, tid, TAG_SETUP)
            except CoveyError:
                pass  # its end is told


def _complete(future: Optional[Future], outcome: tuple) -> None:
    if future is None or future.done():
        return
    if len(outcome) == 1:
        future.set_result(outcome[0])
    else:
        future.set_exception(outcome[1])


def _finish_all() -> None:
    """At the end of the interpreter what was submitted is done."""
    for pool in list(_pools):
        pool.shutdown()
    for pool in list(_pools):
        if pool.pid == os.getpid():
            pool.join()


try:  # before threads that are no daemons are waited for, as concurrent.futures does
    threading._register_atexit(_finish_all)  # type: ignore[attr-defined]
except AttributeError:
    import atexit

    atexit.register(_finish_all)

os.register_at_fork(after_in_child=_pools.clear)
