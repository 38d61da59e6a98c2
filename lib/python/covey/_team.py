"""Groups, teams and what the members of a team call together.

Names are those of mpi4py: with a capital on arrays, in lower case on objects; with I they start the call and
give a Request. Arrays lie in C's order without gaps and have any type of covey; counts are elements.
"""
from __future__ import annotations

import functools
import operator
import pickle
import time
from typing import Any, Callable, Dict, Iterable, List, Mapping, Optional, Sequence, Union

from . import _core
from ._core import (DTYPES, ETIMEOUT, SIZES, SLICE_US, UNFIT, array_of, check, encoded, ffi, lib, microseconds,
                    quick)
from ._message import Request, Status, dumps, pack_object
from ._messaging import Messaging
from ._topology import Topology, pointer_of
from ._window import Window

NULL = ffi.NULL
_finish = lib.covey_python_finish
OPS = {name: getattr(lib, "COVEY_OP_" + name.upper()) for name in
       "sum prod min max land lor lxor band bor bxor minloc maxloc".split()}


class Op:
    """An operation of the program's own: see VM.op()."""

    def __init__(self, vm: Any, function: Callable, commutes: bool, grain: int) -> None:
        self.function, self.grain = function, grain
        self.error: Optional[BaseException] = None
        self._context = ffi.new_handle(self)
        vm.__dict__.setdefault("_ops", []).append(self)  # the library may call it as long as the VM is there
        self.number = check(lib.covey_op_define(vm._handle, lib.python_op, self._context, int(commutes), grain))

    def apply(self, left: Any, right: Any, result: Any, count: int, kind: int) -> None:
        import numpy

        def view(base: Any) -> Any:
            array = numpy.frombuffer(ffi.buffer(base, count * SIZES[kind]), DTYPES[kind])
            return array.reshape(-1, self.grain) if self.grain > 1 else array

        try:
            view(result)[...] = self.function(view(left), view(right))
        except BaseException as error:  # the library's thread has nobody to tell
            self.error = self.error or error


@ffi.def_extern()
def python_op(left: Any, right: Any, result: Any, count: int, kind: int, context: Any) -> None:
    ffi.from_handle(context).apply(ffi.cast("char *", left), ffi.cast("char *", right), ffi.cast("char *", result),
                                   count, kind)


def _counts(counts: Optional[Iterable[int]]) -> Any:
    return NULL if counts is None else ffi.new("size_t[]", list(counts))


def _pair(build: Callable) -> tuple:
    """The call that waits and the one that starts, of a method that says what to call: (function, arguments)."""

    @functools.wraps(build)
    def waits(self: "Team", *args: Any, **options: Any) -> None:
        self._wait_for(*build(self, *args, **options))

    @functools.wraps(build)
    def starts(self: "Team", *args: Any, **options: Any) -> Request:
        start, arguments = build(self, *args, **options)
        req = ffi.new("covey_req_t **")
        check(start(self._handle, *arguments, req))
        return Request(req, (args, options, arguments))

    waits.__name__ = build.__name__[1:].capitalize()
    starts.__name__ = "I" + build.__name__[1:]
    starts.__doc__ = f"Starts what {waits.__name__}() does, which see."
    return waits, starts


class Team(Messaging):
    """Tasks in a fixed order: each has a rank, 0 .. size - 1. One thread at a time uses a team.

    VM.world(), VM.team(), Group.team() and split() make one: calls of all its members. A call that the
    members make together is made by all of them, in the same order. When a member ends, or a call is given
    up (Ctrl-C, its time ran out), the team is broken: calls on it raise the cause at all members.
    """

    _ANY = lib.COVEY_ANY_RANK
    _isend, _isend_array = lib.covey_team_isend, lib.covey_team_isend_array
    _irecv, _irecv_array = lib.covey_team_irecv, lib.covey_team_irecv_array
    _recv_any, _probe_any = lib.covey_team_recv, lib.covey_team_probe
    _BY_TEAM = 1

    #: seconds that a call of all members may take before it is given up; None: no limit
    timeout: Optional[float] = None

    def __init__(self, slot: Any, vm: Any) -> None:
        self._slot, self._vm = slot, vm  # a team ends before its VM
        self._handle = slot[0]
        self._address = int(ffi.cast("intptr_t", slot[0]))
        self._req = ffi.new("covey_req_t **")  # of the call of all members that is under way
        self._req_address = int(ffi.cast("intptr_t", self._req))
        #: the caller's own rank, and how many members there are
        self.rank: int = lib.covey_team_rank(self._handle)
        self.size: int = lib.covey_team_size(self._handle)

    def __getattr__(self, name: str) -> Any:
        if name in ("_handle", "_address"):
            raise _core.error_of(lib.COVEY_EINVAL, "the team was freed")
        raise AttributeError(name)

    def tid(self, rank: int) -> int:
        """The task of that rank."""
        return check(lib.covey_team_tid(self._handle, rank))

    def rank_of(self, tid: int) -> int:
        """The rank of a task. Raises TaskGone: it is no member."""
        return check(lib.covey_team_rank_of(self._handle, tid))

    def split(self, colour: int, key: int = 0) -> "Optional[Team]":
        """Divides the team: members of one colour form a new one, by key and rank; colour < 0: None."""
        slot = ffi.new("covey_team_t **")
        _core.patiently(lib.covey_team_split, self._handle, colour, key, slot)
        return Team(slot, self._vm) if slot[0] != NULL else None

    def free(self) -> None:
        """Ends the team here; not a call of all members."""
        self.__dict__.pop("_handle", None)
        self.__dict__.pop("_address", None)
        lib.covey_team_free(self._slot)

    def window(self, size: int, signals: int = 0) -> Window:
        """Memory of all members that the others write and read: the caller brings `size` bytes, and so many counters."""
        return Window(self, size, signals)

    def set_topology(self, topology: Optional[Topology]) -> None:
        """Goes by this network instead of the VM's, or by none: a call that all members make."""
        _core.patiently(lib.covey_team_set_topology, self._handle, pointer_of(topology))

    def __enter__(self) -> "Team":
        return self

    def __exit__(self, *_: Any) -> None:
        self.free()

    def __repr__(self) -> str:
        return f"<covey.Team: rank {self.rank} of {self.size}>" if self._slot[0] else "<covey.Team, freed>"

    def _note_rank(self, status: Status, code: int) -> None:
        status.rank = code

    def _receive_array(self, kind: int, base: Any, capacity: int, peer: int, tag: int,
                       timeout: Optional[float], status: Optional[Status]) -> int:
        count = ffi.new("size_t *")
        rank = _core.wait_in_slices(
            lambda us: lib.covey_team_recv_array(self._handle, peer, tag, us, kind, base, capacity, count), timeout)
        if status is not None:
            status.rank = rank
            status._info.source, status._info.bytes = self.tid(rank), count[0] * SIZES[kind]
        return count[0]

    # ---- together, on arrays

    def _wait_for(self, start: Callable, arguments: tuple) -> None:
        req = self._req
        try:
            code = _finish(start(self._handle, *arguments, req), SLICE_US, req)
            if code < 0:
                self._wait_on(code, req)
        except BaseException:
            self._give_up()
            raise
        if "_ops" in self._vm.__dict__:
            self._raise_of_ops()

    def _wait_on(self, code: int, req: Any) -> None:
        """After the first slice of time."""
        end = None if self.timeout is None else time.monotonic() + self.timeout - SLICE_US / 1e6
        while code == ETIMEOUT and (end is None or time.monotonic() < end):
            code = _finish(0, SLICE_US, req)
        check(code)

    def _raise_of_ops(self) -> None:
        for op in self._vm._ops:
            if op.error is not None:
                error, op.error = op.error, None
                raise error

    def _op(self, op: Union[str, Op]) -> int:
        number = OPS.get(op)  # type: ignore[call-overload]
        if number is not None:
            return number
        if isinstance(op, Op):
            return op.number
        raise ValueError(f"op {op!r} is none of {', '.join(OPS)}")

    def _two(self, send: Any, recv: Any, at: int = 0) -> tuple:
        """(type, send, elements, recv, elements): send None: in place, the elements from `at` on in recv."""
        kind, into, capacity = array_of(recv, True)
        if send is None:
            return kind, into + at * SIZES[kind], capacity, into, capacity
        other, base, count = array_of(send)
        if other != kind:
            raise TypeError("the two arrays have different types")
        return kind, base, count, into, capacity

    def _barrier(self) -> tuple:
        """Returns when all members called it."""
        return lib.covey_ibarrier, ()

    def _bcast(self, array: Any, root: int = 0) -> tuple:
        """The array of the root to all, into arrays of the same size and type."""
        kind, base, count = array_of(array, self.rank != root)
        return lib.covey_ibcast, (root, kind, base, count)

    def _scatter(self, send: Any, recv: Any, root: int = 0) -> tuple:
        """A block for each member from the root's array `send`, in which they follow each other by rank.

        All receive recv.size elements; send matters at the root alone, and has size * recv.size of them.
        """
        kind, into, count = array_of(recv, True)
        base = self._whole(send, kind, count) if self.rank == root else NULL
        return lib.covey_iscatter, (root, kind, base, into, count)

    def _whole(self, array: Any, kind: int, count: int, writable: bool = False) -> Any:
        other, base, size = array_of(array, writable)
        if other != kind or size < count * self.size:
            raise ValueError(f"the whole array needs {count * self.size} elements of the blocks' type, and has {size}")
        return base

    def _scatterv(self, send: Any, recv: Any, counts: Optional[Sequence[int]] = None,
                  starts: Optional[Sequence[int]] = None, root: int = 0) -> tuple:
        """As Scatter(), counts[i] elements to rank i, from starts[i] on (None: one after another)."""
        kind, into, count = array_of(recv, True)
        base = array_of(send)[1] if self.rank == root else NULL
        return lib.covey_iscatterv, (root, kind, base, _counts(counts), _counts(starts), into, count)

    def _gather(self, send: Any, recv: Any = None, root: int = 0) -> tuple:
        """The blocks of all members to the root, into recv, which matters there alone, by rank.

        send None at the root: its block is in recv already.
        """
        if self.rank == root and send is None:
            kind, into, size = array_of(recv, True)
            count = size // self.size
            return lib.covey_igather, (root, kind, into + root * count * SIZES[kind], into, count)
        kind, base, count = array_of(send)
        into = self._whole(recv, kind, count, True) if self.rank == root else NULL
        return lib.covey_igather, (root, kind, base, into, count)

    def _gatherv(self, send: Any, recv: Any = None, counts: Optional[Sequence[int]] = None,
                 starts: Optional[Sequence[int]] = None, root: int = 0) -> tuple:
        """As Gather(), counts[i] elements from rank i, to starts[i] on; these matter at the root alone."""
        kind, base, count = array_of(send)
        into = array_of(recv, True)[1] if self.rank == root else NULL
        return lib.covey_igatherv, (root, kind, base, count, into, _counts(counts), _counts(starts))

    def _allgather(self, send: Any, recv: Any) -> tuple:
        """The blocks of all members to all, by rank. send None: the own block is in recv already."""
        kind, into, size = array_of(recv, True)
        count = size // self.size if send is None else array_of(send)[2]
        base = into + self.rank * count * SIZES[kind] if send is None else self._two(send, recv)[1]
        self._whole(recv, kind, count)
        return lib.covey_iallgather, (kind, base, into, count)

    def _allgatherv(self, send: Any, recv: Any, counts: Sequence[int], starts: Optional[Sequence[int]] = None) -> tuple:
        """As Allgather(), counts[i] elements from rank i, the same counts at all."""
        start = sum(counts[:self.rank]) if starts is None else starts[self.rank]
        kind, base, _, into, _ = self._two(send, recv, start)
        return lib.covey_iallgatherv, (kind, base, into, _counts(counts), _counts(starts))

    def _alltoall(self, send: Any, recv: Any) -> tuple:
        """A block of each member for each: both arrays are `size` blocks by rank."""
        kind, base, count, into, capacity = self._two(send, recv)
        if count % self.size or capacity < count:
            raise ValueError(f"both arrays need {self.size} equal blocks")
        return lib.covey_ialltoall, (kind, base, into, count // self.size)

    def _alltoallv(self, send: Any, send_counts: Sequence[int], recv: Any, recv_counts: Sequence[int],
                   send_starts: Optional[Sequence[int]] = None, recv_starts: Optional[Sequence[int]] = None) -> tuple:
        """As Alltoall(), with a count for each pair."""
        kind, base, _, into, _ = self._two(send, recv)
        return lib.covey_ialltoallv, (kind, base, _counts(send_counts), _counts(send_starts), into,
                                      _counts(recv_counts), _counts(recv_starts))

    def _reduce(self, send: Any, recv: Any = None, op: Union[str, Op] = "sum", root: int = 0) -> tuple:
        """recv[i] = send[i] of rank 0 op that of rank 1 ...: at the root, where recv matters.

        op: "sum", "prod", "min", "max", "land", "lor", "lxor", "band", "bor", "bxor", "minloc", "maxloc"
        (pairs of a value and its place), or an Op. send None: in place.
        """
        if self.rank != root:
            kind, base, count = array_of(send)
            return lib.covey_ireduce, (root, self._op(op), kind, base, NULL, count)
        kind, base, count, into, capacity = self._two(send, recv)
        if capacity < count:
            raise ValueError("recv is smaller than send")
        return lib.covey_ireduce, (root, self._op(op), kind, base, into, count)

    def _reduction(self, start: Callable, send: Any, recv: Any, op: Union[str, Op]) -> tuple:
        kind, base, count, into, capacity = self._two(send, recv)
        if capacity < count:
            raise ValueError("recv is smaller than send")
        return start, (self._op(op), kind, base, into, count)

    def _allreduce(self, send: Any, recv: Any, op: Union[str, Op] = "sum") -> tuple:
        """As Reduce(), with the result at all members, of the same bits."""
        return self._reduction(lib.covey_iallreduce, send, recv, op)

    def _scan(self, send: Any, recv: Any, op: Union[str, Op] = "sum") -> tuple:
        """To each member the result of those up to its rank."""
        return self._reduction(lib.covey_iscan, send, recv, op)

    def _exscan(self, send: Any, recv: Any, op: Union[str, Op] = "sum") -> tuple:
        """To each member the result of those before it; recv of rank 0 is left as it is."""
        return self._reduction(lib.covey_iexscan, send, recv, op)

    def _reduce_scatter(self, send: Any, recv: Any, counts: Sequence[int], op: Union[str, Op] = "sum") -> tuple:
        """Blocks of the result of a reduction: counts[i] elements to rank i, the same counts at all."""
        kind, base, count, into, capacity = self._two(send, recv)
        if count < sum(counts) or capacity < counts[self.rank]:
            raise ValueError("an array is smaller than counts say")
        return lib.covey_ireduce_scatter, (self._op(op), kind, base, into, _counts(counts))

    _slow_barrier, Ibarrier = _pair(_barrier)
    _slow_bcast, Ibcast = _pair(_bcast)
    Scatter, Iscatter = _pair(_scatter)
    Scatterv, Iscatterv = _pair(_scatterv)
    Gather, Igather = _pair(_gather)
    Gatherv, Igatherv = _pair(_gatherv)
    Allgather, Iallgather = _pair(_allgather)
    Allgatherv, Iallgatherv = _pair(_allgatherv)
    _slow_alltoall, Ialltoall = _pair(_alltoall)
    Alltoallv, Ialltoallv = _pair(_alltoallv)
    Reduce, Ireduce = _pair(_reduce)
    _slow_allreduce, Iallreduce = _pair(_allreduce)
    Reduce_scatter, Ireduce_scatter = _pair(_reduce_scatter)
    Scan, Iscan = _pair(_scan)
    Exscan, Iexscan = _pair(_exscan)
    if quick is None:
        Barrier, Bcast, Allreduce, Alltoall = _slow_barrier, _slow_bcast, _slow_allreduce, _slow_alltoall
    else:  # those that are called most often

        def Barrier(self) -> None:
            try:
                code = quick.barrier(self._address, self._req_address)
                if code:
                    self._go_on(code, self._slow_barrier)
            except BaseException:
                self._give_up()
                raise

        def Bcast(self, array: Any, root: int = 0) -> None:
            try:
                code = quick.bcast(self._address, self._req_address, array, root)
                if code:
                    self._go_on(code, self._slow_bcast, array, root)
            except BaseException:
                self._give_up()
                raise

        def Allreduce(self, send: Any, recv: Any, op: Union[str, Op] = "sum") -> None:
            number = OPS.get(op)  # type: ignore[call-overload]
            try:
                code = UNFIT if number is None else quick.allreduce(
                    self._address, self._req_address, send, recv, number)
                if code:
                    self._go_on(code, self._slow_allreduce, send, recv, op)
            except BaseException:
                self._give_up()
                raise

        def Alltoall(self, send: Any, recv: Any) -> None:
            try:
                code = quick.alltoall(self._address, self._req_address, send, recv)
                if code:
                    self._go_on(code, self._slow_alltoall, send, recv)
            except BaseException:
                self._give_up()
                raise

        for _fast, _slow in ((Barrier, _slow_barrier), (Bcast, _slow_bcast), (Allreduce, _slow_allreduce),
                             (Alltoall, _slow_alltoall)):
            _fast.__doc__ = _slow.__doc__

    def _go_on(self, code: int, slow: Callable, *arguments: Any) -> None:
        """After a quick call that did nothing, failed, or is under way still, with the caller's arrays."""
        if code == UNFIT:
            slow(*arguments)
            return
        kept = [memoryview(a) for a in arguments if not isinstance(a, (int, str))]  # nobody may resize them
        self._wait_on(code, self._req)
        del kept

    def _give_up(self) -> None:
        if self._req[0] != NULL:
            lib.covey_req_free(self._req)  # for all

    barrier = Barrier

    # ---- together, on objects

    def bcast(self, obj: Any = None, root: int = 0) -> Any:
        """The object of the root, at all members."""
        data = bytearray(dumps(obj, lambda _: True)) if self.rank == root else None
        return pickle.loads(self._bcast_bytes(data, root))

    def _bcast_bytes(self, data: Optional[bytearray], root: int) -> bytearray:
        size = ffi.new("int64_t *", len(data) if data is not None else 0)
        self._wait_for(lib.covey_ibcast, (root, lib.COVEY_INT64, size, 1))
        data = bytearray(size[0]) if data is None else data
        self.Bcast(data, root)
        return data

    def gather(self, obj: Any, root: int = 0) -> Optional[list]:
        """The objects of all members by rank, at the root; None elsewhere."""
        mine = dumps(obj, lambda _: True)
        sizes = self._sizes(len(mine))
        if self.rank != root:
            self.Gatherv(mine, root=root)
            return None
        whole = bytearray(sum(sizes))
        self.Gatherv(mine, whole, sizes, root=root)
        return _objects(whole, sizes)

    def allgather(self, obj: Any) -> list:
        """The objects of all members by rank, at all."""
        mine = dumps(obj, lambda _: True)
        sizes = self._sizes(len(mine))
        whole = bytearray(sum(sizes))
        self.Allgatherv(mine, whole, sizes)
        return _objects(whole, sizes)

    def _sizes(self, mine: int) -> List[int]:
        sizes = ffi.new("int64_t[]", self.size)
        self._wait_for(lib.covey_iallgather, (lib.COVEY_INT64, ffi.new("int64_t *", mine), sizes, 1))
        return list(sizes)

    def scatter(self, objs: Optional[Sequence] = None, root: int = 0) -> Any:
        """objs[rank] of the root."""
        mine = objs if self.rank == root and objs is not None else [None] * self.size
        return self.alltoall(mine)[root]

    def alltoall(self, objs: Sequence) -> list:
        """objs[i] goes to rank i: what the members have for this one, by rank."""
        rows = [dumps(o, lambda _: True) for o in objs]
        if len(rows) != self.size:
            raise ValueError(f"{self.size} objects are wanted, one for each member")
        sizes = ffi.new("int64_t[]", [len(r) for r in rows])
        theirs = ffi.new("int64_t[]", self.size)
        self._wait_for(lib.covey_ialltoall, (lib.COVEY_INT64, sizes, theirs, 1))
        whole = bytearray(sum(theirs))
        self.Alltoallv(b"".join(rows), list(sizes), whole, list(theirs))
        return _objects(whole, list(theirs))

    def reduce(self, obj: Any, op: Callable = operator.add, root: int = 0) -> Any:
        """op of the objects of all members, in the order of ranks, at the root."""
        rows = self.gather(obj, root)
        return None if rows is None else functools.reduce(op, rows)

    def allreduce(self, obj: Any, op: Callable = operator.add) -> Any:
        """op of the objects of all members, in the order of ranks, at all."""
        return functools.reduce(op, self.allgather(obj))

    def exchange(self, out: Mapping[int, Any]) -> Dict[int, Any]:
        """Arrays for some other members, of any sizes: {rank: array} -> {rank: what it has for this one}.

        All members give arrays of one type. Only the senders know of them, and all members call it.
        """
        import numpy

        rows = [(rank, array_of(array)) for rank, array in out.items()]
        kinds = {row[1][0] for row in rows}
        if len(kinds) > 1:
            raise TypeError("the arrays have different types")
        kind = kinds.pop() if kinds else lib.COVEY_DOUBLE
        kind = max(self.allgather(kind if rows else 0)) or kind
        parcels = ffi.new("struct covey_parcel[]", max(1, len(rows)))
        for parcel, (rank, (_, base, count)) in zip(parcels, rows):
            parcel.rank, parcel.base, parcel.count = rank, base, count
        come = ffi.new("struct covey_parcel **")
        count = _core.patiently(lib.covey_exchange, self._handle, kind, parcels, len(rows), come)
        back = {p.rank: numpy.frombuffer(ffi.buffer(p.base, p.count * SIZES[kind]), DTYPES[kind]).copy()
                if p.count else numpy.zeros(0, DTYPES[kind]) for p in (come[0][i] for i in range(count))}
        lib.covey_free(come[0])
        return back

    def force(self, operation: str, algorithm: Optional[str] = None) -> bool:
        """From now on calls of the operation ("bcast") take that algorithm (None: the best again), at all members alike.

        False: it does not suit this team, where it is right, but no better than another.
        """
        name = NULL if algorithm is None else encoded(algorithm)
        return check(lib.covey_team_force(self._handle, encoded(operation), name)) == 0

    def algorithms(self, operation: str) -> List[str]:
        """The names that force() takes for an operation."""
        names: List[str] = []
        while (name := lib.covey_algorithm(encoded(operation), len(names))) != NULL:
            names.append(_core.text_field(name))
        return names

    def algorithm(self, operation: str, size: int) -> str:
        """The algorithm that a call ("bcast") of so many bytes takes."""
        name = lib.covey_team_algorithm(self._handle, encoded(operation), size)
        return _core.text_field(name) if name != NULL else ""


def _objects(whole: bytearray, sizes: Sequence[int]) -> list:
    view, at, rows = memoryview(whole), 0, []
    for size in sizes:
        rows.append(pickle.loads(view[at:at + size]))
        at += size
    return rows


class Group:
    """Membership of a named group, which tasks join and leave: VM.group()."""

    def __init__(self, vm: Any, name: str) -> None:
        self._slot, self._vm, self.name = ffi.new("covey_group_t **"), vm, name
        check(lib.covey_group_join(vm._handle, encoded(name), self._slot))

    @property
    def _group(self) -> Any:
        if self._slot[0] == NULL:
            raise _core.error_of(lib.COVEY_ENOGROUP, f"the group {self.name} was left")
        return self._slot[0]

    instance = property(lambda self: check(lib.covey_group_instance(self._group)), doc="The caller's own number.")
    size = property(lambda self: check(lib.covey_group_size(self._group)), doc="Members now.")

    def members(self) -> Dict[int, int]:
        """instance -> tid."""
        return dict(self._vm._list("struct covey_member **",
                                   lambda vm, out: lib.covey_group_members(vm, encoded(self.name), out),
                                   lambda m: (m.instance, m.tid)))

    def barrier(self, count: int = 0, timeout: Optional[float] = None) -> None:
        """Waits until `count` members called it; 0: all members there are. Raises TimedOut, TaskGone."""
        _core.patiently(lib.covey_group_barrier, self._group, count, microseconds(timeout))

    def bcast(self, obj: Any, tag: int = 0, total: bool = False) -> None:
        """Sends an object to the other members: all of them that survive get it or none.

        total  True: all such messages come in one order to all, the caller included
        """
        message, keep = pack_object(obj)
        owned = ffi.gc(message, lib.covey_msg_free)
        _core.patiently(lambda: lib.covey_group_cast(self._group, int(total), tag, owned) if keep else 0)

    def team(self, size: int, timeout: Optional[float] = None) -> Team:
        """Waits until `size` members called it: a team of these, by their instances."""
        slot = ffi.new("covey_team_t **")
        _core.patiently(lib.covey_team_of_group, self._group, size, microseconds(timeout), slot)
        return Team(slot, self._vm)

    def leave(self) -> None:
        """Leaves the group."""
        check(lib.covey_group_leave(self._slot))

    def __enter__(self) -> "Group":
        return self

    def __exit__(self, *_: Any) -> None:
        self.leave()


class Teams:
    """What VM has of groups and teams."""

    _handle: Any

    def group(self, name: str) -> Group:
        """Joins the named group. Raises Exists (a member already)."""
        return Group(self, name)

    def team(self, tids: Sequence[int], timeout: Optional[float] = None) -> Team:
        """A team of these tasks, in that order: a call that all of them make with the same list."""
        slot, array = ffi.new("covey_team_t **"), list(tids)
        _core.patiently(lib.covey_team_create, self._handle, array, len(array), microseconds(timeout), slot)
        return Team(slot, self)

    def world(self) -> Team:
        """A team of all tasks of the run (one spawn(), or `covey run`) that the caller belongs to."""
        slot = ffi.new("covey_team_t **")
        _core.patiently(lib.covey_team_world, self._handle, slot)
        return Team(slot, self)

    def op(self, function: Callable[[Any, Any], Any], commutes: bool = True, grain: int = 1) -> Op:
        """An operation for reductions: function(left, right) -> the result, of numpy arrays by elements.

        It is associative; commutes=False keeps the order of ranks. With grain > 1 so many elements belong
        together, and the arrays have the shape (n, grain). Every member defines it.
        """
        return Op(self, function, commutes, grain)
