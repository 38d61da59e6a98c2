"""covey - a pool of hosts as one virtual machine.

    import covey

    covey.start(local=4)                    # a virtual machine of four hosts on this one
    with covey.Executor() as executor:      # like those of concurrent.futures, on all hosts
        print(sum(executor.map(pow, range(1000), [2] * 1000)))

Times are seconds; a timeout of None waits as long as it takes. Errors are exceptions, subclasses of
CoveyError, with covey's own text. Ctrl-C ends every wait.
"""
from ._core import (
    ANY_TAG,
    ANY_TASK,
    Canceled,
    CoveyError,
    Denied,
    EndOfMessage,
    Exists,
    HostFailed,
    InvalidArgument,
    NoDaemon,
    NoHost,
    NoMemory,
    NotFound,
    TaskGone,
    TimedOut,
    Truncated,
    WrongType,
    lib as _lib,
    text_field as _text,
)
from ._message import Message, Notice, Output, Request, Status, wait_all, wait_any
from ._bag import Bag, Item, Result, bags, load_bag, save_bag
from ._executor import Executor, progress
from ._message import Message, Notice, Output, Request, Status, wait_all, wait_any
from ._pool import BrokenPool, RemoteTraceback, WorkerDied
from ._service import Held, Leader, Lock, Party, Session, Token, View
from ._solve import NotConverged, Report, Singular
from ._start import console, halt, start
from ._team import Group, Op, Team
from ._topology import Topology
from ._trace import Recording
from ._vm import VM, Host, HostSpec, Task, join
from ._window import Window

__version__: str = _text(_lib.covey_version())
TAG_MAX: int = _lib.COVEY_TAG_MAX
TAG_OUTPUT: int = _lib.COVEY_TAG_OUTPUT


def trace(name: str):
    """`with covey.trace("solving"):` - a part of the program in the trace of this task, see VM.trace()."""
    return join().trace(name)
