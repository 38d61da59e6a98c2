"""Bags of work: items that any task puts and any task takes, each with one result."""
from __future__ import annotations

import os
import pickle
import threading
from typing import Any, Iterator, NamedTuple, Optional

from . import _core
from ._core import check, encoded, ffi, lib, text_field, wait_in_slices
from ._message import dumps
from ._vm import VM


class Item(NamedTuple):
    """An item that was taken."""

    number: int  #: counts the items of the bag from 0, in the order in which they were put
    value: Any
    priority: int
    deaths: int  #: of workers that held it
    row: Any  #: the library's own


class Result(NamedTuple):
    """The result of an item."""

    number: int  #: of the item
    value: Any  #: of one that was set aside: the item
    worker: int  #: tid; 0: it was set aside
    set_aside: bool  #: too many workers died at it


class Bag:
    """A bag of work of the VM, made or found by its name; see covey_bag(3).

    Items and results are objects of Python; raw=True: bytes as they are, as programs in C have them. A bag
    lives as long as tasks are attached to it, or with keep=True until destroy(). Several threads may use
    it; they wait for each other.
    """

    def __init__(self, vm: VM, name: str, create: bool = False, lease: float = 0, deaths_max: int = 0,
                 in_order: bool = False, keep: bool = False, copies: int = 0, raw: bool = False,
                 single: bool = False) -> None:
        self._slot, self._vm, self._raw = ffi.new("covey_bag_t **"), vm, raw
        self._lock = threading.RLock()
        self._taken = 0
        if create:
            options = ffi.new("struct covey_bag_options *", {
                "lease_us": int(lease * 1e6), "deaths_max": deaths_max, "in_order": int(in_order),
                "keep": int(keep), "copies": copies, "single": int(single)})
            check(lib.covey_bag_create(vm._handle, encoded(name), options, self._slot))
        else:
            check(lib.covey_bag_attach(vm._handle, encoded(name), self._slot))
        self.name = name

    @property
    def _bag(self) -> Any:
        if self._slot[0] == ffi.NULL:
            raise _core.error_of(lib.COVEY_EINVAL, f"the bag {self.name} was freed")
        return self._slot[0]

    def _bytes(self, value: Any) -> Any:
        return value if self._raw else dumps(value, lambda _: True)

    def _value(self, base: Any, size: int) -> Any:
        view = ffi.buffer(base, size)
        return view[:] if self._raw else pickle.loads(view)

    def _call(self, call: Any, timeout: Optional[float]) -> int:
        def one(us: int) -> int:
            with self._lock:
                return call(us)

        return wait_in_slices(one, timeout)

    def put(self, value: Any, priority: int = 0) -> None:
        """Puts an item; those of higher priority are given first. Raises Denied (the bag is closed)."""
        data = self._bytes(value)
        with self._lock:
            _core.patiently(lib.covey_bag_put, self._bag, priority, ffi.from_buffer(data), len(data)) \
                if len(data) > 1 << 16 else check(
                    lib.covey_bag_put(self._bag, priority, ffi.from_buffer(data), len(data)))

    def take(self, timeout: Optional[float] = None) -> Optional[Item]:
        """Waits for an item. None: the bag is closed and each item has its result. Raises TimedOut."""
        row = ffi.new("struct covey_bag_item *")
        if self._call(lambda us: lib.covey_bag_take(self._bag, us, row, 1), timeout) == 0:
            return None
        return Item(row.number, self._value(row.bytes, row.size), row.priority, row.deaths, row)

    def done(self, item: Item, value: Any = None) -> None:
        """The item is done, with that result."""
        data = self._bytes(b"" if self._raw and value is None else value)
        with self._lock:
            check(lib.covey_bag_done(self._bag, item.row, ffi.from_buffer(data), len(data)))

    def give_back(self, item: Item) -> None:
        """The item is not done: somebody gets it again."""
        with self._lock:
            check(lib.covey_bag_return(self._bag, item.row))

    def items(self) -> Iterator[Item]:
        """Items until the bag is closed and each has its result: for who works."""
        while (item := self.take()) is not None:
            yield item

    def result(self, timeout: Optional[float] = None) -> Optional[Result]:
        """Waits for a result. None: the bag is closed and all results were taken. Raises TimedOut."""
        row = ffi.new("struct covey_bag_result *")
        if self._call(lambda us: lib.covey_bag_result(self._bag, us, row, 1), timeout) == 0:
            return None
        return Result(row.number, self._value(row.bytes, row.size), row.worker, bool(row.set_aside))

    def results(self) -> Iterator[Result]:
        """Results until the bag is closed and all were taken."""
        while (result := self.result()) is not None:
            yield result

    def flush(self, timeout: Optional[float] = None) -> None:
        """Waits until all that was put and done here is safe, whatever happens to one host."""
        self._call(lambda us: lib.covey_bag_flush(self._bag, us), timeout)

    def close(self) -> None:
        """No more items come, from any task; flushes."""
        self.flush()
        with self._lock:
            check(lib.covey_bag_close(self._bag))

    def wait(self, timeout: Optional[float] = None) -> None:
        """Waits until the bag is closed and each item is done or set aside. Raises TimedOut."""
        self._call(lambda us: lib.covey_bag_wait(self._bag, us), timeout)

    def info(self) -> dict:
        """How it stands with the bag: the fields of struct covey_bag_info(3) by name."""
        row = ffi.new("struct covey_bag_info *")
        with self._lock:
            check(lib.covey_bag_info(self._bag, row))
        return _info_of(row)

    def free(self) -> None:
        """Detaches: what was put and done is made safe, at most 10 s; items held go to others."""
        with self._lock:
            lib.covey_bag_free(self._slot)

    def destroy(self) -> None:
        """Ends the bag for all: those who use it get NotFound."""
        with self._lock:
            check(lib.covey_bag_destroy(self._slot))

    def __enter__(self) -> "Bag":
        return self

    def __exit__(self, *_: Any) -> None:
        self.free()

    def __repr__(self) -> str:
        return f"<covey.Bag {self.name!r}{'' if self._slot[0] else ', freed'}>"

    def _repr_html_(self) -> str:
        from ._display import bag

        return bag(self.info())


def _info_of(row: Any) -> dict:
    fields = [name for name, _ in ffi.typeof("struct covey_bag_info").fields]
    return {f: text_field(row.name) if f == "name" else getattr(row, f) for f in fields}


def bags(vm: VM) -> list:
    """How it stands with all bags of the VM, see Bag.info()."""
    return vm._list("struct covey_bag_info **", lib.covey_bags, _info_of)


def save_bag(vm: VM, name: str, path: str) -> dict:
    """Takes what is left of a bag out of the VM into a file, and ends the bag: what is in it, as Bag.info().

    In it are the items that are not done, and the results that nobody has taken. The file is replaced when
    all is there; where it cannot be written the bag goes on. See covey_bag_save in covey_bag(3).
    """
    row = ffi.new("struct covey_bag_info *")
    _core.patiently(lib.covey_bag_save, vm._handle, encoded(name), os.fsencode(path), row)
    return _info_of(row)


def load_bag(vm: VM, path: str, name: Optional[str] = None, again: bool = False) -> dict:
    """Makes a bag of a file of save_bag(), under its name there, or another: what is in it, as Bag.info().

    Items and results have the numbers that they had. Attach to it as to any: Bag(vm, name). The file is marked,
    and loaded once more only with `again`: its results may then come twice.
    """
    row = ffi.new("struct covey_bag_info *")
    if again:
        check(lib.covey_bag_again(os.fsencode(path)))
    _core.patiently(lib.covey_bag_load, vm._handle, os.fsencode(path), ffi.NULL if name is None else encoded(name), row)
    return _info_of(row)
