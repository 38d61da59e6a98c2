"""Waiting for messages and requests in the loop of asyncio.

Futures of an Executor need nothing of it: asyncio.wrap_future() takes them, and loop.run_in_executor() takes
the executor.
"""
from __future__ import annotations

import asyncio
from typing import Any, Callable

from ._core import TimedOut

SHORT_S, LONG_S = 0.0001, 0.005  # between two looks at a request, which no descriptor tells of


async def until_complete(request: Any) -> Any:
    """The result of a request. When the wait is cancelled the request is, too."""
    pause = 0.0
    try:
        while not request.test():
            await asyncio.sleep(pause)
            pause = min(LONG_S, max(SHORT_S, 2 * pause))
    except asyncio.CancelledError:
        request.cancel()
        raise
    return request.wait()


class _Readers:
    """Who waits for the descriptor of a VM in a loop, which takes one reader for it."""

    def __init__(self, loop: Any, fd: int) -> None:
        self.loop, self.fd = loop, fd
        self.waiting: list = []

    async def readable(self) -> None:
        future = self.loop.create_future()
        if not self.waiting:
            self.loop.add_reader(self.fd, self._wake)
        self.waiting.append(future)
        try:
            await future
        finally:
            if future in self.waiting:
                self.waiting.remove(future)
                if not self.waiting:
                    self.loop.remove_reader(self.fd)

    def _wake(self) -> None:
        self.loop.remove_reader(self.fd)
        waiting, self.waiting = self.waiting, []
        for future in waiting:
            if not future.done():
                future.set_result(None)


async def until_message(vm: Any, receive: Callable[[], Any]) -> Any:
    """What receive() gives as soon as it does not raise TimedOut; it is tried when a message is there."""
    loop = asyncio.get_running_loop()
    readers = vm.__dict__.get("_readers")
    if readers is None or readers.loop is not loop:
        readers = vm._readers = _Readers(loop, vm.fileno())
    while True:
        try:
            return receive()
        except TimedOut:
            pass
        await readers.readable()
        try:
            return receive()
        except TimedOut:
            await asyncio.sleep(LONG_S)  # what is there is another's
