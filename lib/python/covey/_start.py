"""Starting and halting a virtual machine, by the console `covey`."""
from __future__ import annotations

import atexit
import os
import shutil
import subprocess
from typing import Any, List, Optional

from . import _core, _vm
from ._core import lib


def console_path() -> str:
    """Where `covey` is: $COVEY_CONSOLE, beside this package as it was built, or in PATH."""
    here = os.path.dirname(os.path.abspath(__file__))
    beside = [os.path.join(here, *up, name) for up, name in (
        (("..", ".."), "covey"), (("..", "..", "..", ".."), os.path.join("bin", "covey")))]
    for path in [os.environ.get("COVEY_CONSOLE"), *beside, shutil.which("covey")]:
        if path and os.access(path, os.X_OK) and not os.path.isdir(path):
            return os.path.normpath(path)
    raise _core.error_of(lib.COVEY_ENOENT, "the console covey is not found: set COVEY_CONSOLE to its path")


def console(*arguments: str) -> str:
    """What `covey ARGUMENTS` prints. Raises CoveyError with its words when it fails."""
    run = subprocess.run([console_path(), *arguments], capture_output=True, text=True, check=False)
    if run.returncode:
        words = (run.stderr.strip() or run.stdout.strip()).splitlines()
        raise _core.error_of(lib.COVEY_ESYS, words[-1] if words else f"covey ended with {run.returncode}")
    return run.stdout


_started: List[tuple] = []


def start(local: Optional[int] = None, hosts: Optional[str] = None, name: Optional[str] = None, keep: bool = False,
          options: Any = ()) -> _vm.VM:
    """Starts a virtual machine and joins it.

    local    so many virtual hosts on this machine
    hosts    a file of hosts, see covey.hosts(5)
    name     of the VM; None: $COVEY_VM, otherwise "default"
    keep     True: it stays when this process ends; otherwise it is halted then, or by halt()
    options  more of `covey start`: ["--encrypt"]

    Raises CoveyError with the console's words: one of that name runs already, and join() joins it.
    """
    given = ([] if local is None else ["--local", str(local)]) + ([] if hosts is None else ["--hosts", hosts])
    console("start", *given, *(["--name", name] if name else []), *options)
    if name:
        os.environ["COVEY_VM"] = name
    _vm._current = None
    vm = _vm.join()
    if not keep:
        _started.append((os.getpid(), vm.name))
    return vm


def halt(name: Optional[str] = None) -> None:
    """Ends the VM of this name (None: the one that this process joined): its tasks, then its daemons."""
    if name is None:
        vm = _vm.join()
        name = vm.name
        vm.halt()
    else:
        with _vm.VM(name, console=True) as vm:
            vm.halt()
    _started[:] = [s for s in _started if s[1] != name]


@atexit.register
def _halt_started() -> None:
    for pid, name in _started:
        if pid == os.getpid():
            try:
                halt(name)
            except _core.CoveyError:
                pass  # it was halted elsewhere
