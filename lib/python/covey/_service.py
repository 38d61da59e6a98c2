"""Locks, tokens, meetings, sessions, elections, decisions: what the VM agrees on; see covey_services(7)."""
from __future__ import annotations

from typing import Any, List, NamedTuple, Optional

from . import _core
from ._core import ETIMEOUT, check, encoded, ffi, lib, microseconds, text_field, wait_in_slices

NULL = ffi.NULL
CHANGES = {0: "roster", 1: "joined", 2: "left", 3: "ended", 4: "host", 5: "expelled"}


class View(NamedTuple):
    """Who is in a session from this change until the next."""

    number: int  #: counts the changes
    change: str  #: "joined", "left", "ended", "host", "expelled"; "roster": several at once
    tid: int  #: whom it is about; 0: see change
    host: int
    members: List[int]  #: tids in the order of joining


class Leader(NamedTuple):
    """The leader of a group in a term; terms grow."""

    term: int
    tid: int


class Party(NamedTuple):
    """Who came to a meeting, and what it brought."""

    tid: int
    value: bytes


class Held(NamedTuple):
    """A lock, a token or a meeting of the VM."""

    kind: str
    name: str
    holder: int  #: tid; 0: nobody
    number: int  #: of the last grant
    waiting: int


class Lock:
    """Mutual exclusion in the whole VM, by its name: `with vm.lock("plotter"):`.

    `fence` is the number of the grant, which grows: who guards something can refuse a smaller one.
    """

    def __init__(self, vm: Any, name: str, timeout: Optional[float] = None) -> None:
        self._vm, self.name, self.timeout, self.fence = vm, name, timeout, 0

    def acquire(self, timeout: Optional[float] = None) -> int:
        """Waits, first come first served, until the caller holds the lock: the number of the grant.

        Raises TimedOut, Exists (the caller holds it, or waits for it, already).
        """
        number, name, handle = ffi.new("uint64_t *"), encoded(self.name), self._vm._handle
        code = lib.covey_trylock(handle, name, number)
        if code == ETIMEOUT and timeout != 0:
            _core.patiently(lib.covey_lock, handle, name, microseconds(timeout), number,
                            undo=lambda: lib.covey_unlock(handle, name, number[0]))
        else:
            check(code)
        self.fence = number[0]
        return self.fence

    def release(self) -> None:
        """Lets go of it. Raises Denied: the caller does not hold it."""
        check(lib.covey_unlock(self._vm._handle, encoded(self.name), self.fence))

    def owner(self) -> Optional[int]:
        """The task that holds it; None: nobody."""
        return check(lib.covey_lock_owner(self._vm._handle, encoded(self.name), NULL)) or None

    def __enter__(self) -> "Lock":
        self.acquire(self.timeout)
        return self

    def __exit__(self, *_: Any) -> None:
        self.release()


class Token:
    """A right that one task at a time has, and that goes from task to task.

    `number` is what it is valid with while the caller has it.
    """

    def __init__(self, vm: Any, name: str, create: bool = False) -> None:
        self._vm, self.name, self.number = vm, name, 0
        if create:
            number = ffi.new("uint64_t *")
            check(lib.covey_token_create(vm._handle, encoded(name), number))
            self.number = number[0]

    def request(self, timeout: Optional[float] = None) -> int:
        """Waits in line until the caller holds it. Raises NotFound, TimedOut."""
        number, name, handle = ffi.new("uint64_t *"), encoded(self.name), self._vm._handle
        _core.patiently(lib.covey_token_request, handle, name, microseconds(timeout), number,
                        undo=lambda: lib.covey_token_pass(handle, name, number[0], lib.COVEY_ANY_TASK))
        self.number = number[0]
        return self.number

    def pass_on(self, to: Optional[int] = None) -> None:
        """Passes it to that task, or to the next in line."""
        check(lib.covey_token_pass(self._vm._handle, encoded(self.name), self.number,
                                   lib.COVEY_ANY_TASK if to is None else to))

    def holder(self) -> Optional[int]:
        """Who holds it; None while it rests. Raises NotFound."""
        return check(lib.covey_token_holder(self._vm._handle, encoded(self.name), NULL)) or None

    def destroy(self) -> None:
        """Ends it; those who wait for it get NotFound."""
        check(lib.covey_token_destroy(self._vm._handle, encoded(self.name), self.number))


class Session:
    """Membership of a session, whose members all see the same views in the same order: VM.session()."""

    def __init__(self, vm: Any, name: str) -> None:
        self._slot, self.name = ffi.new("covey_session_t **"), name
        check(lib.covey_session_join(vm._handle, encoded(name), self._slot))

    def _view(self, row: Any) -> View:
        return View(row.number, CHANGES.get(row.change, "?"), row.tid, row.host,
                    [row.members[i] for i in range(row.count)])

    @property
    def view(self) -> View:
        """The view that next() gave last; at first the one by which the caller joined."""
        row = ffi.new("struct covey_view *")
        check(lib.covey_session_view(self._slot[0], row))
        return self._view(row)

    def next(self, timeout: Optional[float] = None) -> View:
        """Waits for the next view. Raises TimedOut; CoveyError (ENOGROUP): no member any more."""
        row = ffi.new("struct covey_view *")
        wait_in_slices(lambda us: lib.covey_session_next(self._slot[0], us, row), timeout)
        return self._view(row)

    def notify(self, tag: int) -> None:
        """From now on a message with `tag` tells of each view that next() then has at once."""
        check(lib.covey_session_notify(self._slot[0], tag))

    def expel(self, tid: int) -> None:
        """Excludes another member."""
        check(lib.covey_session_expel(self._slot[0], tid))

    def get(self) -> tuple:
        """(version, value) of the shared value: bytes; version 0: it was never set."""
        row = ffi.new("struct covey_value *")
        check(lib.covey_session_get(self._slot[0], row))
        return row.version, bytes(ffi.buffer(row.value)[:row.bytes])

    def put(self, value: bytes, version: int) -> int:
        """Sets the shared value (at most 1024 bytes) in place of that version: the new one, or 0: it has
        another one."""
        row = ffi.new("struct covey_value *", {"version": version, "bytes": len(value)})
        ffi.memmove(row.value, value, min(len(value), len(row.value)))
        return row.version if check(lib.covey_session_put(self._slot[0], row)) else 0

    def leave(self) -> None:
        """Leaves the session."""
        check(lib.covey_session_leave(self._slot))

    def __enter__(self) -> "Session":
        return self

    def __exit__(self, *_: Any) -> None:
        self.leave()


class Services:
    """What VM has of them. Names have 1 .. 63 bytes."""

    _handle: Any

    def lock(self, name: str, timeout: Optional[float] = None) -> Lock:
        """A lock of that name; in `with`, `timeout` is how long it waits."""
        return Lock(self, name, timeout)

    def token(self, name: str, create: bool = False) -> Token:
        """A token; create: it is made, and the caller holds it. Raises Exists."""
        return Token(self, name, create)

    def session(self, name: str) -> Session:
        """Joins the named session. Raises Exists (a member already)."""
        return Session(self, name)

    def rendezvous(self, name: str, count: int, value: bytes = b"", timeout: Optional[float] = None) -> tuple:
        """Meets: waits until `count` tasks came under that name, each with at most 64 bytes.

        (own place, [Party, ...]) in the order in which they came, the same for each.
        """
        rows = ffi.new("struct covey_party[]", count)
        place = _core.patiently(lib.covey_rendezvous, self._handle, encoded(name), count, value, len(value),
                                microseconds(timeout), rows)
        return place, [Party(r.tid, bytes(ffi.buffer(r.value)[:r.bytes])) for r in rows]

    def held(self) -> List[Held]:
        """All locks, tokens and meetings of the VM."""
        kinds = {1: "lock", 2: "token", 3: "rendezvous"}
        return self._list("struct covey_held **", lib.covey_held,  # type: ignore[attr-defined]
                          lambda h: Held(kinds.get(h.kind, "?"), text_field(h.name), h.holder, h.number, h.waiting))

    def stand(self, group: str) -> Leader:
        """Makes the caller a candidate of the group: who leads now."""
        row = ffi.new("struct covey_leader *")
        check(lib.covey_elect_stand(self._handle, encoded(group), row))
        return Leader(row.term, row.tid)

    def resign(self, group: str) -> None:
        """Gives up the candidacy, and with it leading."""
        check(lib.covey_elect_resign(self._handle, encoded(group)))

    def leader(self, group: str, term: int = 0, timeout: Optional[float] = None) -> Leader:
        """Waits for a leader of a term after `term`; 0: of any. Raises TimedOut."""
        row = ffi.new("struct covey_leader *")
        wait_in_slices(lambda us: lib.covey_elect_leader(self._handle, encoded(group), term, us, row), timeout)
        return Leader(row.term, row.tid)

    def propose(self, series: str, number: int, value: bytes, timeout: Optional[float] = None) -> tuple:
        """Proposes at most 4096 bytes for a number of a series: (proposer, value) of what is decided for
        it, the same for everyone and for ever."""
        row = ffi.new("struct covey_decision *", {"bytes": len(value)})
        ffi.memmove(row.value, value, min(len(value), len(row.value)))
        _core.patiently(lib.covey_propose, self._handle, encoded(series), number, microseconds(timeout), row)
        return row.proposer, bytes(ffi.buffer(row.value)[:row.bytes])

    def learn(self, series: str, number: int, timeout: Optional[float] = None) -> tuple:
        """Waits for a decision without proposing anything: (proposer, value)."""
        row = ffi.new("struct covey_decision *")
        wait_in_slices(lambda us: lib.covey_learn(self._handle, encoded(series), number, us, row), timeout)
        return row.proposer, bytes(ffi.buffer(row.value)[:row.bytes])

    def forget(self, series: str, below: int = (1 << 64) - 1) -> None:
        """Forgets the decisions of all numbers less than `below`; without it the whole series."""
        check(lib.covey_forget(self._handle, encoded(series), below))
