"""python -m covey map - runs the commands of a file on all hosts, as GNU parallel does."""
from __future__ import annotations

import argparse
import collections
import os
import shlex
import signal
import subprocess
import sys
import time
from typing import Any, Dict, Iterator, List, NamedTuple, Optional, TextIO, Tuple

from . import CoveyError, Executor, progress
from ._pool import BrokenPool, WorkerDied

HEADER = "Seq\tHost\tStarttime\tJobRuntime\tSend\tReceive\tExitval\tSignal\tCommand\n"
DESCRIPTION = """\
Runs commands on all hosts of the virtual machine: each line of FILE is one for the shell, or, behind
--command, what is put into it for {} (quoted). Lines that are empty or begin with # are left out. What a
command prints is printed when it has ended. The log is that of GNU parallel.

Ends with the number of commands that failed, at most 100; 101: more; 255: it could not be done at all."""


class Outcome(NamedTuple):
    """How a command ended on a host."""

    host: str
    began: float
    seconds: float
    status: int  #: 0 also where a signal ended it
    signal: int
    output: bytes
    errors: bytes


def run_command(command: str, timeout: Optional[float]) -> Outcome:
    """What a worker does: runs it by the shell, with nothing to read."""
    from ._vm import join

    began = time.time()
    child = subprocess.Popen(["/bin/sh", "-c", command], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                             stderr=subprocess.PIPE, start_new_session=True)
    try:
        output, errors = child.communicate(timeout=timeout)
    except subprocess.TimeoutExpired:
        os.killpg(child.pid, signal.SIGKILL)
        output, errors = child.communicate()
    code = child.returncode
    return Outcome(join().host, began, time.time() - began, max(code, 0), max(-code, 0), output, errors)


def commands_of(file: TextIO, template: Optional[str]) -> Iterator[str]:
    for line in file:
        text = line.rstrip("\n")
        if not text.strip() or text.lstrip().startswith("#"):
            continue
        if template is None:
            yield text
        elif "{}" in template:
            yield template.replace("{}", shlex.quote(text))
        else:
            yield f"{template} {shlex.quote(text)}"


def read_log(path: str) -> Dict[int, Tuple[bool, str]]:
    """Seq -> (whether it went well, its command). A last line that was cut off is none."""
    done = {}
    with open(path, encoding="utf-8", errors="surrogateescape") as file:
        for line in file:
            fields = line.rstrip("\n").split("\t", 8)
            if line.endswith("\n") and len(fields) == 9 and fields[0].isdigit():
                done[int(fields[0])] = (fields[6] == "0" and fields[7] == "0", fields[8])
    return done


def to_run(commands: List[str], options: Any) -> List[Tuple[int, str]]:
    """(number from 1, command) of those that the log does not have, where it is to be resumed."""
    rows = list(enumerate(commands, 1))
    if not (options.resume or options.resume_failed) or not os.path.exists(options.joblog):
        return rows
    log = read_log(options.joblog)
    for number, command in rows:
        if number in log and log[number][1] != command:
            sys.exit(f"covey map: {options.joblog}: command {number} was another one: {log[number][1]}")
    return [(n, c) for n, c in rows if n not in log or options.resume_failed and not log[n][0]]


class Runner:
    """Commands under way, and what is written of those that ended."""

    def __init__(self, options: Any, rows: List[Tuple[int, str]]) -> None:
        self.options, self.rows = options, rows
        self.failed = self.done = 0
        self.held: Dict[int, Outcome] = {}  # with --keep-order: what is before them is missing
        self.order = collections.deque(number for number, _ in rows)
        self.log = self._open_log()

    def _open_log(self) -> Optional[TextIO]:
        path = self.options.joblog
        if path is None:
            return None
        again = (self.options.resume or self.options.resume_failed) and os.path.exists(path)
        if again:  # what was cut off when it was written is no line of its own
            with open(path, "rb+") as file:
                whole = file.read()
                file.truncate(whole.rfind(b"\n") + 1)
        log = open(path, "a" if again else "w", encoding="utf-8", errors="surrogateescape", buffering=1)
        if not again or log.tell() == 0:
            log.write(HEADER)
        return log

    def run(self) -> int:
        with Executor(self.options.jobs, single=True) as executor:
            tries = {number: self.options.retries + 1 for number, _ in self.rows}
            left = [(number, command, executor.submit(run_command, command, self.options.timeout))
                    for number, command in self.rows]
            while left:
                again = []
                for number, command, outcome in self._as_they_end(left):
                    tries[number] -= 1
                    if (outcome.status or outcome.signal) and tries[number] > 0:
                        again.append((number, command, executor.submit(run_command, command, self.options.timeout)))
                    else:
                        self._ended(number, command, outcome)
                left = again
        return min(self.failed, 101)

    def _as_they_end(self, rows: list) -> Iterator[Tuple[int, str, Outcome]]:
        from concurrent.futures import as_completed

        which = {future: (number, command) for number, command, future in rows}
        for future in as_completed(list(which)):
            number, command = which.pop(future)
            try:
                outcome = future.result()
            except WorkerDied as error:
                outcome = Outcome("-", time.time(), 0.0, 0, int(signal.SIGKILL), b"", f"{error}\n".encode())
            except (BrokenPool, CoveyError):
                raise
            except OSError as error:
                outcome = Outcome("-", time.time(), 0.0, 127, 0, b"", f"{error}\n".encode())
            yield number, command, outcome

    def _ended(self, number: int, command: str, outcome: Outcome) -> None:
        self.done += 1
        self.failed += bool(outcome.status or outcome.signal)
        if self.log is not None:
            self.log.write(f"{number}\t{outcome.host}\t{outcome.began:.3f}\t{outcome.seconds:.3f}\t0\t"
                           f"{len(outcome.output)}\t{outcome.status}\t{outcome.signal}\t{command}\n")
        if not self.options.keep_order:
            _print(outcome)
        else:
            self.held[number] = outcome
            while self.order and self.order[0] in self.held:
                _print(self.held.pop(self.order.popleft()))
        if self.options.progress:
            progress(self.done, len(self.rows))


def _print(outcome: Outcome) -> None:
    sys.stdout.buffer.write(outcome.output)
    sys.stdout.buffer.flush()
    sys.stderr.buffer.write(outcome.errors)
    sys.stderr.buffer.flush()


def parser() -> argparse.ArgumentParser:
    p = argparse.ArgumentParser(prog="covey map", description=DESCRIPTION,
                                formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("file", nargs="?", default="-", metavar="FILE", help="the commands; -: standard input")
    p.add_argument("-c", "--command", metavar="COMMAND", help="each line is put into this for {}, or behind it")
    p.add_argument("-j", "--jobs", type=int, metavar="N", help="so many at once; one for each processor of the VM")
    p.add_argument("-l", "--joblog", metavar="LOG", help="write a line for each command that ended")
    p.add_argument("-r", "--resume", action="store_true", help="leave out what the log has")
    p.add_argument("-R", "--resume-failed", action="store_true", help="the same, but what failed is run again")
    p.add_argument("-t", "--timeout", type=float, metavar="S", help="kill a command that takes longer")
    p.add_argument("--retries", type=int, default=0, metavar="N", help="run what fails again, up to N times")
    p.add_argument("-k", "--keep-order", action="store_true", help="print in the order of the file")
    p.add_argument("-p", "--progress", action="store_true", help="show a line of progress")
    p.add_argument("-n", "--dry-run", action="store_true", help="print the commands and run none")
    return p


def map_command(arguments: List[str]) -> int:
    p = parser()
    options = p.parse_args(arguments)
    if (options.resume or options.resume_failed) and options.joblog is None:
        p.error("what is to be resumed is in the log: --joblog")
    if options.jobs is not None and options.jobs < 1 or options.retries < 0:
        p.error("--jobs is at least 1, --retries at least 0")
    with (sys.stdin if options.file == "-" else open(options.file, encoding="utf-8", errors="surrogateescape")) as file:
        rows = to_run(list(commands_of(file, options.command)), options)
    if options.dry_run:
        print("\n".join(command for _, command in rows))
        return 0
    return Runner(options, rows).run() if rows else 0


def main() -> int:
    if sys.argv[1:2] != ["map"]:
        print("usage: python3 -m covey map [OPTION...] [FILE]; see its --help", file=sys.stderr)
        return 2
    try:
        return map_command(sys.argv[2:])
    except KeyboardInterrupt:
        return 130
    except (CoveyError, BrokenPool, OSError) as error:
        print(f"covey map: {error}", file=sys.stderr)
        return 255


if __name__ == "__main__":
    # what is sent to workers is the function of a module, not of __main__
    from covey.__main__ import main as run

    sys.exit(run())
