"""The virtual machine: joining it, hosts, tasks, starting and ending them, being told of events."""
from __future__ import annotations

import os
import weakref
from typing import Any, Callable, Iterable, List, NamedTuple, Optional, Sequence, Union

from . import _core, _message
from ._core import (ANY_TASK, ETIMEOUT, SLICE_US, UNFIT, array_of, array_of_texts, check, encoded, ffi, lib, microseconds,
                    quick, text_field)
from ._message import Notice, Status, finish, finish_quick
from ._messaging import Messaging
from ._service import Services
from ._solve import Solvers
from ._team import Teams
from ._topology import Topologies
from ._trace import Traces

NULL = ffi.NULL
ROUTES = {"auto": 0, "shm": 1, "udp": 2, "tcp": 3, "ether": 4}
WHERE = {"any": lib.COVEY_WHERE_ANY, "hosts": lib.COVEY_WHERE_HOSTS, "others": lib.COVEY_WHERE_OTHERS,
         "each": lib.COVEY_WHERE_EACH}
OUTPUT = {"inherit": lib.COVEY_OUTPUT_INHERIT, "self": lib.COVEY_OUTPUT_SELF, "discard": lib.COVEY_OUTPUT_DISCARD}
STATES = {1: "joining", 2: "up", 3: "suspect", 4: "down"}
EVENTS = {"task": lib.COVEY_NOTIFY_TASK_EXIT, "gone": lib.COVEY_NOTIFY_HOST_GONE,
          "added": lib.COVEY_NOTIFY_HOST_ADDED, "output": lib.COVEY_NOTIFY_OUTPUT_END,
          "ends": lib.COVEY_NOTIFY_HOST_ENDS}

_joined: "weakref.WeakSet[VM]" = weakref.WeakSet()


class Host(NamedTuple):
    """A host of the VM."""

    index: int
    name: str
    state: str  #: "joining", "up", "suspect" or "down"
    cores: int
    speed: int  #: relative, 1000 is ordinary
    memory: int  #: bytes
    arch: str
    address: str
    coordinator: bool


class Task(NamedTuple):
    """A task of the VM."""

    tid: int
    parent: int
    host: int  #: index of its host
    pid: int
    command: str


class HostSpec(NamedTuple):
    """A host to be added: see `VM.add_hosts()`."""

    name: str
    launcher: str = "default"  #: "default", "ssh", "exec" or "local"
    hostname: Optional[str] = None
    user: Optional[str] = None


def _name_of(number: Union[int, str], names: dict, what: str) -> int:
    if isinstance(number, str):
        if number not in names:
            raise ValueError(f"{what} {number!r} is none of {', '.join(names)}")
        return names[number]
    return number


class Listing(list):
    """A list whose rows a notebook shows as a table."""

    def _repr_html_(self) -> str:
        from ._display import table

        return table(self)


class VM(Messaging, Teams, Topologies, Services, Solvers, Traces):
    """A task's membership of a virtual machine. `covey.join()` gives it.

    Several threads may use it at once. After fork() it belongs to the parent alone: the child joins anew.
    """

    def __init__(self, name: Optional[str] = None, socket: Optional[str] = None, command: Optional[str] = None,
                 route: Union[str, int] = "auto", console: bool = False, buffer_bytes: int = 0,
                 output: Union[str, int] = "inherit") -> None:
        """Enrols the process as one more task.

        name     of the VM; None: $COVEY_VM, otherwise "default"
        route    "auto", "shm", "udp", "tcp" or "ether"
        console  True: not listed among the tasks
        output   where that of spawned tasks goes: "inherit" (printed here), "discard" or "self"

        Raises NoDaemon (no VM runs here), TimedOut, Denied.
        """
        keep: List[Any] = [ffi.new("char[]", encoded(t)) if t is not None else NULL for t in (name, socket, command)]
        options = ffi.new("struct covey_options *", {
            "vm": keep[0], "socket": keep[1], "command": keep[2], "role": int(console),
            "route": _name_of(route, ROUTES, "route"), "buffer_bytes": buffer_bytes,
            "output": _name_of(output, OUTPUT, "output")})
        self._slot = ffi.new("covey_t **")
        check(lib.covey_join(self._slot, options))
        self._handle = self._slot[0]
        self._address = int(ffi.cast("intptr_t", self._handle))
        self._pid = os.getpid()
        _joined.add(self)

    def __getattr__(self, name: str) -> Any:
        if name in ("_handle", "_address"):
            raise _core.error_of(lib.COVEY_EINVAL, "this VM was left, or the process is a child of fork(): join anew")
        raise AttributeError(name)

    def leave(self) -> None:
        """Ends the membership: sends what is still queued, at most 10 s. More calls do nothing."""
        if "_handle" in self.__dict__:
            del self._handle, self._address
            _joined.discard(self)
            if self._pid == os.getpid():
                lib.covey_leave(self._slot)

    def __enter__(self) -> "VM":
        return self

    def __exit__(self, *_: Any) -> None:
        self.leave()

    def __repr__(self) -> str:
        if "_handle" not in self.__dict__:
            return "<covey.VM, left>"
        return f"<covey.VM {self.name!r}: task t{self.tid:x} on {self.host}>"

    def _repr_html_(self) -> str:
        from ._display import machine

        return machine(self)

    # ---- who and where

    @property
    def tid(self) -> int:
        """The task's own number."""
        return lib.covey_mytid(self._handle)

    @property
    def parent(self) -> Optional[int]:
        """The task that spawned this one; None: nobody did."""
        return lib.covey_parent(self._handle) or None

    @property
    def host(self) -> str:
        """The name of the host this task runs on."""
        return text_field(lib.covey_myhost(self._handle))

    @property
    def name(self) -> str:
        """The name of the VM."""
        return text_field(lib.covey_vm_name(self._handle))

    def task_name(self, tid: int) -> str:
        """A task for people to read: "t40003 on berta"."""
        text = ffi.new("char[]", lib.COVEY_TID_NAME_BYTES)
        return text_field(lib.covey_tid_name(self._handle, tid, text, lib.COVEY_TID_NAME_BYTES))

    def hosts(self) -> List[Host]:
        """All hosts of the VM."""
        return self._list("struct covey_host **", lib.covey_hosts, lambda h: Host(
            h.index, text_field(h.name), STATES.get(h.state, "?"), h.cores, h.speed, h.memory_bytes,
            text_field(h.arch), text_field(h.address), bool(h.coordinator)))

    def tasks(self, host: int = 0) -> List[Task]:
        """The tasks on the host with that index; 0: on all."""
        return self._list("struct covey_task **", lambda vm, out: lib.covey_tasks(vm, host, out),
                          lambda t: Task(t.tid, t.parent, t.host, t.pid, text_field(t.command)))

    def load(self, timeout: float = 2.0) -> List[dict]:
        """How busy each host is and how fast: the fields of struct covey_host_stat(3) by name, and "name".

        What is not known is None. A host that does not answer within `timeout` seconds has known = 0.
        """
        hosts = ffi.new("struct covey_host **")
        stats = ffi.new("struct covey_host_stat **")
        count = check(lib.covey_host_stats(self._handle, microseconds(timeout), hosts, stats))
        fields = [name for name, _ in ffi.typeof("struct covey_host_stat").fields]
        rows = Listing()
        for i in range(count):
            row = {"name": text_field(hosts[0][i].name)}
            for field in fields:
                value = getattr(stats[0][i], field)
                row[field] = None if isinstance(value, float) and value < 0 else value
            rows.append(row)
        lib.covey_free(hosts[0])
        lib.covey_free(stats[0])
        return rows

    def _list(self, kind: str, call: Callable, row: Callable = lambda r: r) -> list:
        """What a call that allocates a list gives, each row of it by `row`."""
        out = ffi.new(kind)
        count = check(call(self._handle, out))
        items = ffi.gc(out[0], lib.covey_free)
        return Listing(row(items[i]) for i in range(count))

    # ---- tasks

    def spawn(self, argv: Sequence[str], n: int = 1, where: Union[str, int] = "any",
              hosts: Optional[Sequence[str]] = None, env: Optional[dict] = None, cwd: Optional[str] = None,
              output: Union[str, int] = "inherit", tether: bool = False, route: Union[str, int] = "auto",
              arch: Optional[str] = None, work: float = 0, memory: int = 0) -> List[int]:
        """Starts n tasks of a program: their tids, in order; a code below 0 for each that could not start.

        where   "any" (where they should end first), "hosts" (over `hosts`, in turn), "others" (not here),
                "each" (n on each host, or on each of `hosts`)
        output  "inherit", "self" (as messages with tag TAG_OUTPUT) or "discard"
        tether  True: they end when this task ends
        work    seconds that each will take on an idle core, memory: bytes that must be free

        Raises NoHost, or the error of the first task when none could be started.
        """
        keep: List[Any] = []
        if hosts and where == "any":
            where = "hosts"
        what = ffi.new("struct covey_spawn *", {
            "argv": array_of_texts(argv, keep), "where": _name_of(where, WHERE, "where"),
            "output": _name_of(output, OUTPUT, "output"), "route": _name_of(route, ROUTES, "route"),
            "tether": int(tether)})
        if env:
            what.env = array_of_texts([f"{k}={v}" for k, v in env.items()], keep)
        if hosts:
            what.hosts = array_of_texts(hosts, keep)
        for field, value in (("cwd", cwd), ("arch", arch)):
            if value is not None:
                keep.append(ffi.new("char[]", encoded(os.fspath(value))))
                setattr(what, field, keep[-1])
        if work or memory:
            keep.append(ffi.new("struct covey_needs *", {"work_s": work, "memory_bytes": memory}))
            what.needs = keep[-1]
        tids = ffi.new("covey_tid_t[]", max(1, check(lib.covey_spawn_count(self._handle, what, n))))
        if _core.patiently(lib.covey_spawn, self._handle, what, n, tids) == 0 and len(tids) and tids[0] < 0:
            raise _core.error_of(tids[0], f"{argv[0]}: {text_field(lib.covey_strerror(tids[0]))}")
        return list(tids)

    def siblings(self) -> List[int]:
        """The tids of the tasks that one spawn() started with this one, itself among them."""
        return self._list("covey_tid_t **", lib.covey_siblings)

    def kill(self, tid: int) -> None:
        """Ends a task: SIGTERM, and SIGKILL after 3 s. Raises TaskGone."""
        check(lib.covey_kill(self._handle, tid))

    def signal(self, tid: int, number: int) -> None:
        """Sends a signal to a task. Raises TaskGone."""
        check(lib.covey_signal(self._handle, tid, number))

    def notify(self, event: Union[str, int], tag: int, tids: Iterable[int] = ()) -> None:
        """Asks for messages with `tag`, to be had by `recv_notice(tag)`.

        event  "task" (each of `tids` ended), "gone" and "added" (hosts), "output" (all of a task's output
               came)
        """
        array = list(tids)
        check(lib.covey_notify(self._handle, _name_of(event, EVENTS, "event"), tag, array, len(array)))

    def recv_notice(self, tag: int, timeout: Optional[float] = None) -> Notice:
        """Waits for a notice that notify() asked for. Raises TimedOut."""
        return self.recv_message(tag=tag, timeout=timeout).unpack_notice()

    # ---- hosts that come and go

    def add_hosts(self, *specs: Union[str, HostSpec]) -> List[str]:
        """Adds hosts, named or as HostSpec, all at once: for each "" or why it did not join. At most 30 s."""
        launchers = {"default": 0, "ssh": 1, "exec": 2, "local": 3}
        keep: List[Any] = []
        array = ffi.new("struct covey_host_spec[]", len(specs))
        for place, given in zip(array, specs):
            spec = HostSpec(given) if isinstance(given, str) else given
            place.launcher = _name_of(spec.launcher, launchers, "launcher")
            for field in ("name", "hostname", "user"):
                if getattr(spec, field) is not None:
                    keep.append(ffi.new("char[]", encoded(getattr(spec, field))))
                    setattr(place, field, keep[-1])
        results = ffi.new("struct covey_host_result[]", max(1, len(specs)))
        _core.patiently(lib.covey_add_hosts, self._handle, array, len(specs), results)
        return [text_field(results[i].text) if results[i].error else "" for i in range(len(specs))]

    def remove_hosts(self, *names: str) -> int:
        """Ends the daemons of these hosts and the tasks there: how many were removed."""
        keep: List[Any] = []
        results = ffi.new("struct covey_host_result[]", max(1, len(names)))
        return _core.patiently(lib.covey_remove_hosts, self._handle, array_of_texts(names, keep), len(names), results)

    def drain(self, host: int, seconds: Optional[float] = 0.0) -> None:
        """Says that the time of the host with that index is over in so many seconds; None: that it is not.

        Its tasks get a notice ("ends"), and bags give them nothing that would not be done by then. The host
        itself is not ended.
        """
        check(lib.covey_host_drain(self._handle, host, -1 if seconds is None else int(seconds * 1e6)))

    def halt(self) -> None:
        """Ends the whole VM: all tasks, then all daemons; and leaves."""
        _core.patiently(lib.covey_halt, self._handle)
        self.leave()

    # ---- messages, beside those of Messaging

    def Send(self, array: Any, to: int, tag: int = 0) -> None:
        code = UNFIT if quick is None else quick.send(self._address, array, to, tag)
        if code == 0 or finish_quick(code, array):
            return
        kind, base, count = array_of(array)
        req = ffi.new("covey_req_t **")
        code = lib.covey_python_send_array(self._handle, to, tag, kind, base, count, SLICE_US, req)
        if code < 0:
            finish(code, req, base)

    Send.__doc__ = Messaging.Send.__doc__

    def Recv(self, array: Any, source: Optional[int] = None, tag: int = -1, timeout: Optional[float] = None,
             status: Optional[Status] = None) -> int:
        if quick is not None and timeout is None and status is None:
            count = quick.recv(self._address, array, ANY_TASK if source is None else source, tag)
            if count >= 0:
                return count
            if count not in (ETIMEOUT, UNFIT):
                return check(count)
        return super().Recv(array, source, tag, timeout, status)

    Recv.__doc__ = Messaging.Recv.__doc__

    def _receive_array(self, kind: int, base: Any, capacity: int, peer: int, tag: int,
                       timeout: Optional[float], status: Optional[Status]) -> int:
        info = status._info if status is not None else NULL
        if timeout is None:
            while True:
                count = lib.covey_python_recv_array(self._handle, peer, tag, SLICE_US, kind, base, capacity, info)
                if count >= 0:
                    return count
                if count != ETIMEOUT:
                    return check(count)
        return _core.wait_in_slices(
            lambda us: lib.covey_python_recv_array(self._handle, peer, tag, us, kind, base, capacity, info), timeout)

    def mcast(self, obj: Any, tids: Iterable[int], tag: int = 0) -> None:
        """Sends an object to all of these tasks; the own tid is skipped. Raises the first failure."""
        message, keep = _message.pack_object(obj)
        owned, array = ffi.gc(message, lib.covey_msg_free), list(tids)
        _core.patiently(lambda: lib.covey_mcast(self._handle, array, len(array), tag, owned) if keep else 0)

    def cast(self, obj: Any, tids: Iterable[int], tag: int = 0, total: bool = False) -> None:
        """Sends an object so that all of these tasks that survive get it, or none.

        total  True: all such messages come in one order to all who get them, the caller included if it
               is named (at most 64,000 bytes to 64 tasks)
        """
        message, keep = _message.pack_object(obj)
        owned, array = ffi.gc(message, lib.covey_msg_free), list(tids)
        _core.patiently(lambda: lib.covey_cast(self._handle, array, len(array), int(total), tag, owned) if keep else 0)

    def bag(self, name: str, create: bool = False, **options: Any) -> Any:
        """A bag of work: made, or found by its name. Options are those of Bag(). Raises Exists, NotFound."""
        from ._bag import Bag

        return Bag(self, name, create, **options)

    def set_route(self, route: Union[str, int], tid: int = lib.COVEY_ANY_TASK) -> None:
        """Forces the route of all later messages to `tid`, or to everybody."""
        check(lib.covey_set_route(self._handle, tid, _name_of(route, ROUTES, "route")))

    def route(self, tid: int) -> str:
        """The route that the next short message to `tid` takes."""
        return text_field(lib.covey_route_name(check(lib.covey_route(self._handle, tid))))

    def fileno(self) -> int:
        """A descriptor for select() and its like: readable while a message is there."""
        return check(lib.covey_fd(self._handle))

    async def arecv(self, source: Optional[int] = None, tag: int = -1) -> Any:
        """recv() for asyncio: the loop goes on until there is a message, of which fileno() tells."""
        from ._aio import until_message

        return await until_message(self, lambda: self.recv(source, tag, timeout=0))

    def timing(self) -> dict:
        """Seconds since joining: elapsed, idle (waiting), communication (other calls)."""
        t = ffi.new("struct covey_timing *")
        check(lib.covey_timing(self._handle, t))
        return {"elapsed": t.elapsed_s, "idle": t.idle_s, "communication": t.communication_s}


# ---- the VM of the process ----------------------------------------------------------------------

_current: Optional[VM] = None


def join(name: Optional[str] = None, **options: Any) -> VM:
    """The process as a task of a VM: the first call enrols, later ones give the same.

    With options, those of VM(), each call enrols as one more task. A program that a daemon started
    becomes the task that was spawned. Raises NoDaemon when no VM runs here: `covey.start(local=4)` or
    `covey start` on a console starts one.
    """
    global _current
    if name is not None or options:
        return VM(name, **options)
    if _current is None or "_handle" not in _current.__dict__:
        _current = VM()
    return _current


def _after_fork() -> None:
    global _current
    _current = None
    for vm in list(_joined):
        vm.__dict__.pop("_handle", None)
        vm.__dict__.pop("_address", None)
    _joined.clear()
    _message._parked.clear()


os.register_at_fork(after_in_child=_after_fork)

__all__ = ["EVENTS", "Host", "HostSpec", "Task", "VM", "join"]
