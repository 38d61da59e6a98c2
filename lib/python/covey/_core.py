"""What all other parts of the package stand on: the extension, errors, waiting.

Every call into the library lets go of Python's lock (the GIL), so other threads run. A wait is made in
slices, between which Python handles signals: Ctrl-C ends each of them. Calls of the library that have no
time of their own are made by `patiently()` in a thread of their own while the main thread waits.
"""
from __future__ import annotations

import threading
import time
from typing import Any, Callable, Optional

from ._covey import ffi, lib

try:
    from . import _quick as quick
except ImportError:  # before Python 3.11
    quick = None  # type: ignore[assignment]

UNFIT = -1000000  # what functions of quick return that did nothing
ANY_TASK: int = lib.COVEY_ANY_TASK
ANY_TAG: int = lib.COVEY_ANY_TAG
SLICE_US = 100_000  # how long Ctrl-C may have to wait

text_of = ffi.string
NULL = ffi.NULL


class CoveyError(Exception):
    """A call of the library failed. str() is covey's own line with the exact cause.

    code   the number of enum covey_error, below 0
    name   its name: "ENOTASK"
    """

    code: int = 0
    name: str = ""


def _error_class(name: str, title: str, base: Optional[type], doc: str) -> type:
    bases = (CoveyError, base) if base else (CoveyError,)
    members = {"__doc__": doc, "__module__": "covey", "name": name, "code": getattr(lib, "COVEY_" + name)}
    return type(title, bases, members)


InvalidArgument = _error_class("EINVAL", "InvalidArgument", ValueError, "An argument is out of range.")
NoMemory = _error_class("ENOMEM", "NoMemory", MemoryError, "Memory is exhausted.")
TimedOut = _error_class("ETIMEOUT", "TimedOut", TimeoutError, "The time allowed ran out.")
TaskGone = _error_class("ENOTASK", "TaskGone", None, "There is no such task, or it has ended.")
NoHost = _error_class("ENOHOST", "NoHost", None, "There is no such host in the VM.")
HostFailed = _error_class("EHOSTFAIL", "HostFailed", None, "The host died or was cut off.")
WrongType = _error_class("ETYPE", "WrongType", TypeError, "The message holds another type.")
EndOfMessage = _error_class("EEND", "EndOfMessage", None, "The message has no further item.")
NoDaemon = _error_class("EDAEMON", "NoDaemon", ConnectionError, "No daemon runs here, or it ended.")
Denied = _error_class("EDENIED", "Denied", PermissionError, "Not allowed.")
NotFound = _error_class("ENOENT", "NotFound", None, "There is none of that name.")
Exists = _error_class("EEXIST", "Exists", None, "It is there already.")
Canceled = _error_class("ECANCELED", "Canceled", None, "The request was cancelled.")
Truncated = _error_class("ETRUNC", "Truncated", None, "The array is too small for what arrived.")
_CLASSES = {cls.code: cls for cls in CoveyError.__subclasses__()}  # type: ignore[attr-defined]
_NAMES = {getattr(lib, n): n[6:] for n in dir(lib) if n.startswith("COVEY_E") and n[6:].isupper()}


def error_of(code: int, text: Optional[str] = None) -> CoveyError:
    """The exception for an error code, with the text of this thread's last failed call."""
    if text is None:
        text = text_of(lib.covey_error_text()).decode(errors="replace")
    if not text:
        text = text_of(lib.covey_strerror(code)).decode()
    error = _CLASSES.get(code, CoveyError)(text)
    error.code, error.name = code, _NAMES.get(code, "")
    return error


def check(code: int) -> int:
    """What a call returned, or the exception for it where that is an error."""
    if code < 0:
        raise error_of(code)
    return code


def microseconds(timeout: Optional[float]) -> int:
    """A timeout of the package (seconds; None: no limit) as one of the library."""
    return -1 if timeout is None else max(0, int(timeout * 1e6))


ETIMEOUT: int = lib.COVEY_ETIMEOUT


def wait_in_slices(call: Callable[[int], int], timeout: Optional[float]) -> int:
    """Makes `call(timeout_us)` again until it gives something else than that its time ran out."""
    if timeout is not None and timeout <= SLICE_US / 1e6:
        return check(call(microseconds(timeout)))
    end = None if timeout is None else time.monotonic() + timeout
    while True:
        left = SLICE_US if end is None else int((end - time.monotonic()) * 1e6)
        code = call(max(0, min(SLICE_US, left)))
        if code != ETIMEOUT or left <= SLICE_US and end is not None:
            return check(code)


def patiently(call: Callable[..., int], *arguments: Any, undo: Optional[Callable[[], Any]] = None,
              failure: Callable[[int], CoveyError] = error_of) -> int:
    """Makes a call that waits for others without a time of its own, or whose wait must not be interrupted.

    In the main thread Ctrl-C ends the waiting, and the call goes on in the background until its end; what
    it was granted then is given back by undo().
    """
    if threading.current_thread() is not threading.main_thread():
        code = call(*arguments)
        if code < 0:
            raise failure(code)
        return code
    outcome: list = []
    done, lock, left = threading.Event(), threading.Lock(), [False]

    def run() -> None:
        try:
            code = call(*arguments)
            result: Any = failure(code) if code < 0 else code
        except BaseException as error:  # it is the caller's
            result = error
        with lock:
            outcome.append(result)
            if left[0] and undo is not None and not isinstance(result, BaseException):
                undo()
        done.set()

    threading.Thread(target=run, daemon=True, name="covey-call").start()
    try:
        done.wait()
    except BaseException:
        with lock:
            left[0] = True
            if outcome and undo is not None and not isinstance(outcome[0], BaseException):
                undo()
        raise
    if isinstance(outcome[0], BaseException):
        raise outcome[0]
    return outcome[0]


def encoded(text: str | bytes) -> bytes:
    return text.encode() if isinstance(text, str) else text


def array_of_texts(texts: Any, keep: list) -> Any:
    """A char *[] that ends with NULL; what it points to is put into `keep`."""
    pointers = [ffi.new("char[]", encoded(t)) for t in texts]
    array = ffi.new("char *[]", [*pointers, NULL])
    keep += [pointers, array]
    return array


def text_field(field: Any) -> str:
    return text_of(field).decode(errors="replace")


# ---- arrays -------------------------------------------------------------------------------------

# of memoryview.format and of numpy's array interface; C's long has 64 bits where Python's "l" does
_LONG = "INT64" if ffi.sizeof("long") == 8 else "INT32"
TYPES = {
    "b": lib.COVEY_INT8, "h": lib.COVEY_INT16, "i": lib.COVEY_INT32, "q": lib.COVEY_INT64,
    "l": getattr(lib, "COVEY_" + _LONG), "B": lib.COVEY_UINT8, "H": lib.COVEY_UINT16,
    "I": lib.COVEY_UINT32, "Q": lib.COVEY_UINT64, "L": getattr(lib, "COVEY_U" + _LONG),
    "?": lib.COVEY_UINT8, "1s": lib.COVEY_BYTES, "c": lib.COVEY_BYTES, "f": lib.COVEY_FLOAT, "d": lib.COVEY_DOUBLE,
    "Zf": lib.COVEY_COMPLEX_FLOAT, "Zd": lib.COVEY_COMPLEX_DOUBLE,
}
SIZES = {number: lib.covey_type_size(number) for number in range(1, 16)}
DTYPES = {
    lib.COVEY_INT8: "i1", lib.COVEY_INT16: "i2", lib.COVEY_INT32: "i4", lib.COVEY_INT64: "i8",
    lib.COVEY_UINT8: "u1", lib.COVEY_UINT16: "u2", lib.COVEY_UINT32: "u4", lib.COVEY_UINT64: "u8",
    lib.COVEY_FLOAT: "f4", lib.COVEY_DOUBLE: "f8", lib.COVEY_COMPLEX_FLOAT: "c8",
    lib.COVEY_COMPLEX_DOUBLE: "c16", lib.COVEY_BYTES: "u1",
}
_from_buffer = ffi.from_buffer
_CPU = 1  # of DLPack's devices


def array_of(buffer: Any, writable: bool = False) -> tuple:
    """(type, address, elements) of a contiguous array: numpy's, or any other that has a buffer or DLPack.

    Raises TypeError for elements that the library does not have, BufferError for an array that is not
    contiguous, must not be written, or is not in memory. The address is valid as long as it is kept by who calls.
    """
    try:
        view = memoryview(buffer)
    except TypeError:
        if not hasattr(buffer, "__dlpack__"):
            raise
        return _array_of_dlpack(buffer)
    kind = TYPES.get(view.format)
    if kind is None:
        raise TypeError(f"elements of format {view.format!r} have no type in covey; send a .view() of another one")
    if not view.c_contiguous:
        raise BufferError(
            "the array does not lie in C's order without gaps; numpy.ascontiguousarray() makes one that does")
    if writable and view.readonly:
        raise BufferError("the array must not be written")
    return kind, _from_buffer(buffer), view.nbytes // view.itemsize


def _array_of_dlpack(owner: Any) -> tuple:
    """Of an array of another library, such as a tensor. numpy says that what came by DLPack is not to be written."""
    import numpy

    device = owner.__dlpack_device__()[0]
    if device != _CPU:
        raise BufferError(f"the array lies on a device (DLPack's number {int(device)}), not in memory: copy it first")
    array = numpy.from_dlpack(owner)
    kind, _, count = array_of(array)
    base = ffi.cast("char *", array.__array_interface__["data"][0])
    return kind, ffi.gc(base, lambda _, keep=(owner, array): None), count
