"""Demonstrations of whole programs: python3 -m covey.demos.mandel, python3 -m covey.demos.sort.

Here is what they have in common.
"""
from __future__ import annotations

import argparse
import sys
from typing import Any, Callable

import covey


def amount(text: str) -> int:
    """A number of at least 1, with K, M or G behind it as the demos in C have them."""
    factor = {"K": 1 << 10, "M": 1 << 20, "G": 1 << 30}.get(text[-1:].upper(), 1)
    digits = text if factor == 1 else text[:-1]
    if not (digits.isascii() and digits.isdigit()) or not 0 < int(digits) * factor < 1 << 40:
        raise argparse.ArgumentTypeError(f"{text!r} is no number like 1000, 64K or 8M")
    return int(digits) * factor


def parser(name: str, text: str) -> argparse.ArgumentParser:
    """Reads the options that all demos have."""
    p = argparse.ArgumentParser(prog=f"python3 -m covey.demos.{name}", description=text)
    p.add_argument("-n", "--tasks", type=amount, metavar="N", help="so many workers; one for each processor of the VM")
    p.add_argument("-c", "--check", action="store_true", help="check the result")
    p.add_argument("--local", type=amount, metavar="HOSTS", help="start a virtual machine of so many hosts on this one first")
    return p


def machine(options: Any) -> covey.VM:
    """The VM to run on."""
    return covey.join() if options.local is None else covey.start(local=options.local)


def run(main: Callable[[], int]) -> None:
    """Ends the process with what main() returns; an error is one line, status 1."""
    try:
        status = main()
    except KeyboardInterrupt:
        status = 130
    except (covey.CoveyError, covey.BrokenPool, OSError, MemoryError) as error:
        print(f"{sys.argv[0].rpartition('/')[2]}: {error or 'out of memory'}", file=sys.stderr)
        status = 1
    sys.exit(status)
