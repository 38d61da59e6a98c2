"""Traces: marks of the program's own, and collecting what tasks do; see covey_trace(3)."""
from __future__ import annotations

import contextlib
import time
from typing import Any, Iterator, Optional

from . import _core
from ._core import check, encoded, ffi, lib


class Recording:
    """A trace that is being collected in a file, until stop(): VM.record()."""

    def __init__(self, vm: Any, file: str, of: Optional[int]) -> None:
        self._slot, self.file = ffi.new("covey_trace_t **"), file
        keep = ffi.new("char[]", encoded(vm.name))
        options = ffi.new("struct covey_options *", {"vm": keep})
        check(lib.covey_trace_open(self._slot, options, encoded(file), of or 0))
        end = time.monotonic() + 0.5
        while not vm.traced and time.monotonic() < end:  # this task hears of it from its daemon
            time.sleep(0.001)

    def stop(self) -> "Recording":
        """Fetches what is left and ends the trace. More calls do nothing."""
        if self._slot[0] != ffi.NULL:
            _core.patiently(lib.covey_trace_close, self._slot, ffi.NULL)
        return self

    def __enter__(self) -> "Recording":
        return self

    def __exit__(self, *_: Any) -> None:
        self.stop()

    def __repr__(self) -> str:
        return f"<covey.Recording {self.file!r}{', running' if self._slot[0] else ''}>"

    def text(self, *options: str) -> str:
        """What `covey trace` tells of the file, with options such as "--why"."""
        from ._start import console

        return console("trace", *options, self.file)

    def _repr_html_(self) -> str:
        from ._display import trace

        return trace(self)


class Traces:
    """What VM has of them."""

    _handle: Any

    @contextlib.contextmanager
    def trace(self, name: str) -> Iterator[None]:
        """A part of the program in the trace of this task; does nothing while nobody traces it."""
        check(lib.covey_trace_begin(self._handle, encoded(name)))
        try:
            yield
        finally:
            check(lib.covey_trace_end(self._handle, encoded(name)))

    def mark(self, name: str) -> None:
        """A moment in the trace."""
        check(lib.covey_trace_mark(self._handle, encoded(name)))

    def count(self, name: str, value: float) -> None:
        """A number as it is from now on in the trace."""
        check(lib.covey_trace_count(self._handle, encoded(name), value))

    @property
    def traced(self) -> bool:
        """Whether somebody traces this task."""
        return check(lib.covey_trace_on(self._handle)) == 1

    def record(self, file: str, of: Optional[int] = None) -> Recording:
        """Collects in a file what the task `of` does and all that descend from it; None: all tasks.

            with vm.record("run.trace"):
                ...

        A VM has one trace at a time. Raises Exists.
        """
        return Recording(self, file, of)
