"""The process that an Executor starts on each host: takes items of its bag and runs them.

The first message from the executor says which bag, how modules are found, and what is to be done at first.
An item is the pickle of (function, arguments, keywords); its result that of (value,), or of (None, exception,
text of its traceback).
"""
from __future__ import annotations

import builtins
import os
import pickle
import sys
import traceback
from typing import Any, Optional

from . import _core
from ._core import ffi, lib

try:
    from cloudpickle import dumps as _dumps
except ImportError:  # functions of __main__ are not found then
    from pickle import dumps as _dumps

TAG_SETUP, TAG_STATE = 1, 2

setup: Optional[dict] = None  #: of a process that is a worker: what its executor sent


def dumps(value: Any) -> bytes:
    return _dumps(value, 5)


def process_chunk(function: Any, chunk: list) -> list:
    return [function(*arguments) for arguments in chunk]


def failure(error: BaseException) -> bytes:
    """An exception as a result; what cannot be pickled, or would not be read, by its text."""
    text = "".join(traceback.format_exception(type(error), error, error.__traceback__))
    try:
        return dumps((None, error, text))
    except Exception:
        return dumps((None, RuntimeError(f"{type(error).__name__}: {error}"), text))


def run(item: Any) -> bytes:
    """Runs an item: the bytes of its result."""
    try:
        function, arguments, keywords = pickle.loads(item)
        value = function(*arguments, **keywords)
        del function, arguments, keywords
        return dumps((value,))
    except BaseException as error:  # also SystemExit: it is the function's, not the worker's
        return failure(error)


def serve(bag: Any) -> None:
    """Takes items until the bag is closed, or is no more."""
    row = ffi.new("struct covey_bag_item *")
    take, done, buffer, from_buffer = lib.covey_bag_take, lib.covey_bag_done, ffi.buffer, ffi.from_buffer
    while take(bag, -1, row, 1) > 0:
        result = run(buffer(row.bytes, row.size))
        if done(bag, row, from_buffer(result), len(result)) < 0:
            break


def begin(instructions: dict) -> None:
    """What is done before the first item: folders of modules, names, the initializer."""
    global setup
    setup = instructions
    sys.path[:] = instructions["path"] + [p for p in sys.path if p not in instructions["path"]]
    names, initializer, arguments = pickle.loads(instructions["begin"])
    vars(builtins).update(names)
    if initializer is not None:
        initializer(*arguments)


def main() -> None:
    from ._vm import join

    for stream in (sys.stdout, sys.stderr):
        stream.reconfigure(line_buffering=True)  # type: ignore[union-attr]
    vm = join()
    parent = vm.parent
    if parent is None:
        sys.exit("covey._worker: no executor started this")
    instructions = vm.recv(parent, TAG_SETUP)
    slot = ffi.new("covey_bag_t **")
    try:
        begin(instructions)
    except BaseException as error:
        vm.send(failure(error), parent, TAG_STATE)
        return
    if lib.covey_bag_attach(vm._handle, _core.encoded(instructions["bag"]), slot) < 0:
        return  # the executor was shut down meanwhile
    vm.send(None, parent, TAG_STATE)
    serve(slot[0])
    lib.covey_bag_free(slot)
    sys.stdout.flush()


def enter() -> None:
    """What the process of a worker does."""
    try:
        main()
    except (_core.CoveyError, KeyboardInterrupt):
        os._exit(1)  # the VM, or the executor, is gone
