"""Sending and receiving, between tasks by tid (VM) and between members by rank (Team).

Names are those of mpi4py: in lower case any object, with a capital arrays in place.
"""
from __future__ import annotations

from typing import Any, List, Optional

from . import _message
from ._core import (ETIMEOUT, SLICE_US, UNFIT, array_of, check, error_of, ffi, lib, microseconds, quick,
                    wait_in_slices)
from ._message import Message, Request, Status, dumps, finish, finish_quick, loads, pack_object, pack_pickle, unpack_object

NULL = ffi.NULL
_SHORT = 4096  # bytes of a buffer that goes within a pickle: a copy costs less than one more item


class Messaging:
    """The calls that VM and Team have alike. A peer is a tid, or a rank."""

    _handle: Any  # covey_t * or covey_team_t *
    _address: int  # of it
    _BY_TEAM = 0
    _ANY = lib.COVEY_ANY_TASK
    # functions of the library: of VM here, Team has others
    _isend, _isend_array = lib.covey_isend, lib.covey_isend_array
    _irecv, _irecv_array = lib.covey_irecv, lib.covey_irecv_array
    _recv_any, _probe_any = lib.covey_recv, lib.covey_probe
    _sendrecv, _sendrecv_array = lib.covey_sendrecv, lib.covey_sendrecv_array

    # ---- objects

    def send(self, obj: Any, to: int, tag: int = 0) -> None:
        """Sends an object, and returns when it may be changed again.

        What pickle cannot name (a lambda, a function of a notebook) goes by value. Elements of arrays go
        from where they lie. Raises TaskGone, HostFailed, or what pickling raises.
        """
        buffers: List[Any] = []
        stream = dumps(obj, lambda buffer: memoryview(buffer).nbytes <= _SHORT or buffers.append(buffer))
        code = UNFIT if quick is None or buffers else quick.send_object(
            self._address, self._BY_TEAM, to, tag, stream)
        if code and not finish_quick(code, stream):
            message, keep = pack_pickle(stream, buffers)
            self._start_send(message, to, tag, keep).wait()

    def recv(self, source: Optional[int] = None, tag: int = -1, timeout: Optional[float] = None,
             status: Optional[Status] = None) -> Any:
        """Receives an object from `source` (None: anybody) with `tag` (-1: any).

        Waits at most `timeout` seconds (None: as long as it takes). Only receive from tasks that you
        trust: pickles may run code. Raises TimedOut, TaskGone, HostFailed.
        """
        if quick is not None and timeout is None and status is None:
            got = quick.recv_object(self._address, self._BY_TEAM, self._peer(source), tag)
            if type(got) is bytes:
                return loads(got)
            if got > 0:
                return unpack_object(ffi.cast("covey_msg_t *", got))
            if got not in (ETIMEOUT, UNFIT):
                check(got)
        return unpack_object(self._receive(source, tag, timeout, status))

    def isend(self, obj: Any, to: int, tag: int = 0) -> Request:
        """Starts to send an object, which must not be changed until the request is complete."""
        message, keep = pack_object(obj)
        return self._start_send(message, to, tag, keep)

    def irecv(self, source: Optional[int] = None, tag: int = -1) -> Request:
        """Starts to receive an object: the result of the request."""
        req = ffi.new("covey_req_t **")
        check(self._irecv(self._handle, self._peer(source), tag, req))
        return Request(req, None, _message.result_of_object)

    def sendrecv(self, obj: Any, to: int, source: Optional[int] = None, tag: int = 0,
                 timeout: Optional[float] = None) -> Any:
        """Sends an object and receives one; neither waits for the other."""
        sending = self.isend(obj, to, tag)
        received = self.recv(source, tag, timeout)
        sending.wait()
        return received

    # ---- arrays

    def Send(self, array: Any, to: int, tag: int = 0) -> None:
        """Sends an array from where it lies: numpy's, or any other with a contiguous buffer."""
        kind, base, count = array_of(array)
        req = ffi.new("covey_req_t **")
        code = self._send_array(to, tag, kind, base, count, req)
        if code < 0:
            finish(code, req, base)

    def _send_array(self, to: int, tag: int, kind: int, base: Any, count: int, req: Any) -> int:
        return lib.covey_python_finish(
            self._isend_array(self._handle, to, tag, kind, base, count, req), SLICE_US, req)

    def Recv(self, array: Any, source: Optional[int] = None, tag: int = -1, timeout: Optional[float] = None,
             status: Optional[Status] = None) -> int:
        """Receives an array of the same type straight into this one, which may be larger.

        Returns the number of elements. Raises Truncated and WrongType when it does not fit: the message
        is then still there; TimedOut, TaskGone, HostFailed.
        """
        kind, base, capacity = array_of(array, True)
        return self._receive_array(kind, base, capacity, self._peer(source), tag, timeout, status)

    def Isend(self, array: Any, to: int, tag: int = 0) -> Request:
        """Starts to send an array, which must not be changed until the request is complete."""
        kind, base, count = array_of(array)
        req = ffi.new("covey_req_t **")
        check(self._isend_array(self._handle, to, tag, kind, base, count, req))
        return Request(req, (array, base), None, True)

    def Irecv(self, array: Any, source: Optional[int] = None, tag: int = -1) -> Request:
        """Starts to receive into an array: the result is the number of elements."""
        kind, base, capacity = array_of(array, True)
        req = ffi.new("covey_req_t **")
        check(self._irecv_array(self._handle, self._peer(source), tag, kind, base, capacity, req))
        return Request(req, (array, base), _message.result_of_array)

    def Sendrecv(self, array: Any, to: int, into: Any, source: Optional[int] = None, tag: int = 0,
                 timeout: Optional[float] = None) -> int:
        """Sends an array and receives one into another: the number of elements that came."""
        sending = self.Isend(array, to, tag)
        count = self.Recv(into, source, tag, timeout)
        sending.wait()
        return count

    # ---- messages as they are

    def send_message(self, message: Message, to: int, tag: int = 0) -> None:
        """Sends what was packed; the message may be sent again."""
        self._start_send(message._copy(), to, tag, None).wait()

    def recv_message(self, source: Optional[int] = None, tag: int = -1, timeout: Optional[float] = None) -> Message:
        """Receives a message of any kind, such as one of a program in C."""
        return Message(self._receive(source, tag, timeout, None))

    def probe(self, source: Optional[int] = None, tag: int = -1, timeout: Optional[float] = None) -> Status:
        """Waits for a message without taking it. Raises TimedOut; timeout 0 only looks."""
        status = Status()
        self._note_rank(status, wait_in_slices(
            lambda us: self._probe_any(self._handle, self._peer(source), tag, us, status._info), timeout))
        return status

    # ---- inside

    def _peer(self, source: Optional[int]) -> int:
        return self._ANY if source is None else source

    def _note_rank(self, status: Status, code: int) -> None:
        pass

    def _start_send(self, message: Any, to: int, tag: int, keep: Any) -> Request:
        taken, req = ffi.new("covey_msg_t **", message), ffi.new("covey_req_t **")
        code = self._isend(self._handle, to, tag, taken, req)
        if code < 0:
            error = error_of(code)
            lib.covey_msg_free(message)
            raise error
        return Request(req, keep, None, True)

    def _receive(self, source: Optional[int], tag: int, timeout: Optional[float], status: Optional[Status]) -> Any:
        message, peer, handle, receive = ffi.new("covey_msg_t **"), self._peer(source), self._handle, self._recv_any
        first = min(SLICE_US, microseconds(timeout)) if timeout is not None else SLICE_US
        code = receive(handle, peer, tag, first, message)
        if code == ETIMEOUT and (timeout is None or timeout > first / 1e6):
            code = wait_in_slices(lambda us: receive(handle, peer, tag, us, message),
                                  None if timeout is None else timeout - first / 1e6)
        check(code)
        if status is not None:
            lib.covey_msg_info(message[0], status._info)
            self._note_rank(status, code)
        return message[0]

    def _receive_array(self, kind: int, base: Any, capacity: int, peer: int, tag: int,
                       timeout: Optional[float], status: Optional[Status]) -> int:
        raise NotImplementedError


__all__ = ["Messaging"]
