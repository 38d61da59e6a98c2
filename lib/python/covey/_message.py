"""Messages: typed arrays packed by hand, or any object of Python; and requests under way.

An object travels as one message: the first item is its pickle (protocol 5), each further one a buffer
that was left out of it, such as the elements of a numpy array. These are not copied when they are sent,
and not when they are received: the array that comes lies in the message. `send()` leaves short ones in.
"""
from __future__ import annotations

import pickle
import time
from typing import Any, Callable, List, NamedTuple, Optional

from . import _core
from ._core import ETIMEOUT, SLICE_US, UNFIT, array_of, check, error_of, ffi, lib

BYTES, STRING, MESSAGE = lib.COVEY_BYTES, lib.COVEY_STRING, lib.COVEY_MESSAGE


class Status:
    """What a receive got, for who wants to know: `vm.recv(status=status)`.

    source  tid of the sender (in a team: `rank` is its rank)
    tag     its tag
    bytes   size of the packed message
    """

    __slots__ = ("_info", "rank")

    def __init__(self) -> None:
        self._info = ffi.new("struct covey_info *")
        self.rank = -1

    source = property(lambda self: self._info.source)
    tag = property(lambda self: self._info.tag)
    bytes = property(lambda self: self._info.bytes)

    def __repr__(self) -> str:
        return f"<covey.Status source=t{self.source:x} tag={self.tag} bytes={self.bytes}>"


class Notice(NamedTuple):
    """What `VM.notify()` asked for, has happened."""

    event: int  #: NOTIFY_TASK_EXIT, NOTIFY_HOST_GONE, NOTIFY_HOST_ADDED or NOTIFY_OUTPUT_END
    tid: int  #: the task, or 0
    host: int  #: index of the host
    exit_kind: int  #: how the task ended: 1 by exit(value), 2 by a signal, 3 with its host, 4 unknown
    value: int  #: exit status or number of the signal


class Output(NamedTuple):
    """Lines that a task wrote."""

    stream: int  #: 1: standard output, 2: standard error
    text: str


def _numpy() -> Any:
    import numpy

    return numpy


def _owned(message: Any) -> Any:
    """The message as one that is freed when nothing refers to it any more."""
    return ffi.gc(message, lib.covey_msg_free)


def _view(owner: Any, base: Any, size: int) -> Any:
    """Memory of a message as a buffer that keeps the message."""
    return ffi.buffer(ffi.gc(ffi.cast("char *", base), lambda _, keep=owner: None), size)


class Message:
    """A list of typed arrays. What is packed is unpacked in the same order.

        m = covey.Message()
        m.pack(numpy.arange(3.0)).pack("three numbers")
        vm.send_message(m, task)
        ...
        m = vm.recv_message()
        m.unpack(), m.unpack()       # array([0., 1., 2.]), 'three numbers'
    """

    def __init__(self, _pointer: Any = None) -> None:
        if _pointer is None:
            _pointer = lib.covey_msg_new()
            if _pointer == ffi.NULL:
                raise MemoryError("covey_msg_new")
        self._msg = _owned(_pointer)
        self._keep: List[Any] = []

    def pack(self, *items: Any) -> "Message":
        """Adds texts, bytes, messages, and arrays of any type that covey has, by copy."""
        for item in items:
            if isinstance(item, str):
                check(lib.covey_pack_string(self._msg, item.encode()))
            elif isinstance(item, Message):
                check(lib.covey_pack_msg(self._msg, item._msg))
            elif isinstance(item, (bytes, bytearray)):
                check(lib.covey_pack(self._msg, BYTES, ffi.from_buffer(item), len(item), 1))
            else:
                kind, base, count = array_of(item)
                check(lib.covey_pack(self._msg, kind, base, count, 1))
        return self

    def peek(self) -> Optional[tuple]:
        """(name of the type, elements) of the next item; None: there is none."""
        kind, count = ffi.new("int *"), ffi.new("size_t *")
        code = lib.covey_peek(self._msg, kind, count)
        if code == lib.COVEY_EEND:
            return None
        check(code)
        return _core.text_of(lib.covey_type_name(kind[0])).decode(), count[0]

    def unpack(self) -> Any:
        """The next item: a str, bytes, a Message, or a numpy array, which lies in the message.

        Raises EndOfMessage behind the last one.
        """
        kind, count = ffi.new("int *"), ffi.new("size_t *")
        check(lib.covey_peek(self._msg, kind, count))
        if kind[0] == MESSAGE:
            nested = ffi.new("covey_msg_t **")
            check(lib.covey_unpack_msg(self._msg, nested))
            return Message(nested[0])
        if kind[0] == STRING:
            text = ffi.new("char[]", count[0] + 1)
            check(lib.covey_unpack_string(self._msg, text, count[0] + 1))
            return ffi.unpack(text, count[0]).decode()
        view = self._unpack_view(kind[0])
        if kind[0] == BYTES:
            return bytes(view)
        return _numpy().frombuffer(view, dtype=_core.DTYPES[kind[0]])

    def _unpack_view(self, kind: int) -> Any:
        base, count = ffi.new("void const **"), ffi.new("size_t *")
        check(lib.covey_unpack_view(self._msg, kind, base, count))
        return _view(self._msg, base[0], count[0] * _core.SIZES[kind])

    def unpack_notice(self) -> Notice:
        """What a message says that was asked for by `VM.notify()`."""
        notice = ffi.new("struct covey_notice *")
        check(lib.covey_unpack_notice(self._msg, notice))
        return Notice(notice.event, notice.tid, notice.host, notice.exit_kind, notice.value)

    def unpack_output(self) -> Output:
        """What a task wrote whose output comes here (spawn(..., output="self"))."""
        stream, text, size = ffi.new("int *"), ffi.new("char const **"), ffi.new("size_t *")
        check(lib.covey_unpack_output(self._msg, stream, text, size))
        return Output(stream[0], ffi.unpack(text[0], size[0]).decode(errors="replace"))

    def rewind(self) -> "Message":
        """The next item is the first one again."""
        lib.covey_msg_rewind(self._msg)
        return self

    @property
    def status(self) -> Status:
        """Sender, tag and size of a message that was received."""
        status = Status()
        lib.covey_msg_info(self._msg, status._info)
        return status

    def _copy(self) -> Any:
        """A copy that a send takes over."""
        copy = lib.covey_msg_new()
        lib.covey_msg_rewind(self._msg)
        raise_if = 0
        kind, count, base = ffi.new("int *"), ffi.new("size_t *"), ffi.new("void const **")
        while raise_if == 0 and lib.covey_peek(self._msg, kind, count) == 0:
            raise_if = lib.covey_unpack_view(self._msg, kind[0], base, count)
            raise_if = raise_if or lib.covey_pack(copy, kind[0], base[0], count[0], 1)
        lib.covey_msg_rewind(self._msg)
        check(raise_if)
        return copy


# ---- objects ------------------------------------------------------------------------------------


def dumps(value: Any, buffers: Callable[[Any], Any]) -> bytes:
    """The pickle of an object; of what pickle cannot name, such as a lambda, by cloudpickle."""
    try:
        return pickle.dumps(value, 5, buffer_callback=buffers)
    except (pickle.PicklingError, AttributeError, TypeError):
        try:
            import cloudpickle
        except ImportError:
            raise
        return cloudpickle.dumps(value, 5, buffer_callback=buffers)


loads = pickle.loads


def _bytes_of(buffer: Any) -> Any:
    """The address and size of what was left out of a pickle."""
    try:
        return ffi.from_buffer(buffer)
    except (BufferError, ValueError):  # an array by columns
        return ffi.from_buffer(buffer.raw())


def pack_object(value: Any) -> tuple:
    """(message, what must be kept until it was sent) of an object."""
    buffers: List[Any] = []
    return pack_pickle(dumps(value, buffers.append), buffers)


def pack_pickle(stream: bytes, buffers: List[Any]) -> tuple:
    """The same of an object's pickle, and of what was left out of it."""
    message = lib.covey_msg_new()
    if message == ffi.NULL:
        raise MemoryError("covey_msg_new")
    keep: List[Any] = [stream]
    code = lib.covey_pack_inplace(message, BYTES, ffi.from_buffer(stream), len(stream))
    for buffer in buffers:
        base = _bytes_of(buffer)
        keep.append(base)
        code = code or lib.covey_pack_inplace(message, BYTES, base, len(base))
    if code < 0:
        error = error_of(code)
        lib.covey_msg_free(message)
        raise error
    return message, keep


def unpack_object(message: Any) -> Any:
    """The object of a message, which is taken over."""
    base, count = ffi.new("void const **"), ffi.new("size_t *")
    code = lib.covey_unpack_view(message, BYTES, base, count)
    if code < 0:
        error = error_of(code)
        lib.covey_msg_free(message)
        raise _core.WrongType(f"the message is no object of Python ({error}); recv_message() and Recv() take others")
    stream = ffi.buffer(base[0], count[0])
    kind = ffi.new("int *")
    if lib.covey_peek(message, kind, count) < 0:
        try:
            return pickle.loads(stream)
        finally:
            lib.covey_msg_free(message)
    owner, buffers = _owned(message), []
    while lib.covey_unpack_view(message, BYTES, base, count) == 0:
        buffers.append(_view(owner, base[0], count[0]))
    return pickle.loads(stream, buffers=buffers)


# ---- requests -----------------------------------------------------------------------------------

_parked: List[tuple] = []  # sends whose callers went away: (request, what must be kept)


def park(request: Any, keep: Any) -> None:
    """A send goes on whose caller was interrupted: its memory is kept until it is complete."""
    _parked[:] = [p for p in _parked if not _completed(p[0])]
    _parked.append((request, keep))


def _completed(request: Any) -> bool:
    if lib.covey_test(request[0]) == 0:
        return False
    lib.covey_req_free(request)
    return True


def finish(code: int, request: Any, keep: Any, timeout: Optional[float] = None) -> int:
    """Waits in slices for what one of the functions of fast.h began and did not finish."""
    end = None if timeout is None else time.monotonic() + timeout
    try:
        while code == ETIMEOUT and (end is None or time.monotonic() < end):
            code = lib.covey_python_finish(0, SLICE_US, request)
    finally:
        if request[0] != ffi.NULL:
            park(request, keep)
    return check(code)


def finish_quick(code: int, array: Any) -> bool:
    """What a send by `quick` returned: whether it was sent, after a wait if it was under way; or nothing was done."""
    if code > 0:  # that request
        finish(ETIMEOUT, ffi.new("covey_req_t **", ffi.cast("covey_req_t *", code)), memoryview(array))
    elif code != UNFIT:
        check(code)
    return code != UNFIT


class Request:
    """A send, receive or collective call under way, which goes on while the program computes.

    Until it is complete arrays must not be touched. One that nothing refers to any more is given up: a
    send goes on, a receive leaves its message for others, a collective call breaks its team.
    """

    __slots__ = ("_req", "_keep", "_result", "_value", "_is_send", "_done")

    def __init__(self, req: Any, keep: Any, result: Optional[Callable] = None, is_send: bool = False) -> None:
        self._req, self._keep, self._result, self._is_send = req, keep, result, is_send
        self._done, self._value = False, None

    def _complete(self, code: int) -> Any:
        self._done = True
        try:
            check(code)
            self._value = self._result(self._req[0]) if self._result else None
        finally:
            lib.covey_req_free(self._req)
            self._keep = None
        return self._value

    def wait(self, timeout: Optional[float] = None) -> Any:
        """Waits at most `timeout` seconds: the object of irecv(), the elements of Irecv(), or None.

        Raises TimedOut (it goes on), or what it ended with.
        """
        if self._done:
            return self._value
        end = None if timeout is None else time.monotonic() + timeout
        while True:
            left = SLICE_US if end is None else max(0, int((end - time.monotonic()) * 1e6))
            code = lib.covey_wait(self._req[0], min(left, SLICE_US))
            if code != ETIMEOUT:
                return self._complete(code)
            if left < SLICE_US and lib.covey_test(self._req[0]) == 0:
                raise error_of(code)

    def test(self) -> bool:
        """Whether it is complete; wait() then gives the result, or raises, at once."""
        return self._done or lib.covey_test(self._req[0]) != 0

    def __await__(self) -> Any:
        """`await vm.irecv(...)`: the loop goes on meanwhile."""
        from ._aio import until_complete

        return until_complete(self).__await__()

    def cancel(self) -> bool:
        """Gives it up, if it is not too late: wait() raises Canceled then."""
        return not self._done and lib.covey_cancel(self._req[0]) == 1

    def __del__(self) -> None:
        if not self._done and self._req[0] != ffi.NULL:
            if self._is_send:
                park(self._req, self._keep)
            else:
                lib.covey_req_free(self._req)


def wait_all(requests: List[Request], timeout: Optional[float] = None) -> list:
    """Waits for all of them, at most `timeout` seconds together: the list of their results."""
    end = None if timeout is None else time.monotonic() + timeout
    return [r.wait(None if end is None else max(0.0, end - time.monotonic())) for r in requests]


def wait_any(requests: List[Request], timeout: Optional[float] = None) -> int:
    """Waits until one of them is complete: its place in the list. Raises TimedOut."""
    for place, request in enumerate(requests):
        if request._done:
            return place
    list_of = ffi.new("covey_req_t *[]", [r._req[0] for r in requests])
    return _core.wait_in_slices(lambda us: lib.covey_wait_any(list_of, len(requests), us), timeout)


def result_of_array(request: Any) -> int:
    count = ffi.new("size_t *")
    check(lib.covey_req_result(request, ffi.NULL, ffi.NULL, count))
    return count[0]


def result_of_object(request: Any) -> Any:
    message = ffi.new("covey_msg_t **")
    check(lib.covey_req_result(request, ffi.NULL, message, ffi.NULL))
    return unpack_object(message[0])


__all__ = ["Message", "Notice", "Output", "Request", "Status", "wait_all", "wait_any"]
