"""python3 -m covey.demos.mandel - draws the Mandelbrot set by workers on all hosts, a strip of rows after another."""
from __future__ import annotations

import argparse
import struct
import time
import zlib
from typing import Any, NamedTuple, Tuple

import numpy as np

import covey
from covey import demos

SHORT_SIDE = 3.0  # of the picture, in the plane, at zoom 1
PIXELS_MAX = 1 << 28


class View(NamedTuple):
    """The part of the plane that is drawn, as in the demo in C."""

    width: int
    height: int
    re: float
    im: float
    zoom: float
    iterations: int


def escape(view: View, first: int, rows: int) -> Any:
    """How many steps z := z^2 + c take until |z| > 2, for each point of these rows."""
    unit = SHORT_SIDE / (view.zoom * min(view.width, view.height))
    re = view.re + (np.arange(view.width) + 0.5 - view.width / 2) * unit
    im = view.im + (view.height / 2 - np.arange(first, first + rows) - 0.5) * unit
    re, im = (a.ravel() for a in np.meshgrid(re, im))
    counts = np.full(re.size, view.iterations, np.uint16)
    at = np.arange(re.size)  # the points that are still inside
    x, y, x2, y2 = np.zeros((4, re.size))
    for step in range(1, view.iterations):
        y = 2 * x * y + im
        x = x2 - y2 + re
        x2, y2 = x * x, y * y
        inside = x2 + y2 <= 4
        if not inside.all():
            counts[at[~inside]] = step
            at, re, im, x, y, x2, y2 = (a[inside] for a in (at, re, im, x, y, x2, y2))
            if at.size == 0:
                break
    return counts.reshape(rows, view.width)


def strip(view: View, first: int, rows: int) -> Tuple[int, Any, str]:
    """What a worker does."""
    return first, escape(view, first, rows), covey.join().host


def write_png(path: str, view: View, counts: Any) -> None:
    """The counts as colours; the logarithm spreads the few small counts as well as the many of a deep view."""
    phase = 2.2 * np.log1p(np.arange(view.iterations + 1))
    waves = [127.5 * (1 - np.cos(p)) for p in (0.6 * phase, 0.8 * phase, phase + 0.8)]
    palette = np.stack(waves, axis=1).astype(np.uint8)
    palette[view.iterations] = 0
    lines = np.zeros((view.height, 1 + 3 * view.width), np.uint8)  # each begins with the number of its filter
    lines[:, 1:] = palette[counts].reshape(view.height, -1)

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    with open(path, "wb") as file:
        file.write(b"\x89PNG\r\n\x1a\n"
                   + chunk(b"IHDR", struct.pack(">IIBBBBB", view.width, view.height, 8, 2, 0, 0, 0))
                   + chunk(b"IDAT", zlib.compress(lines.tobytes())) + chunk(b"IEND", b""))


def size(text: str) -> Tuple[int, int]:
    parts = text.split("x")
    if len(parts) != 2 or not all(p.isascii() and p.isdigit() and 0 < int(p) <= 1 << 16 for p in parts) \
            or int(parts[0]) * int(parts[1]) > PIXELS_MAX:
        raise argparse.ArgumentTypeError(f"{text!r} is no size like 1024x768")
    return int(parts[0]), int(parts[1])


def centre(text: str) -> Tuple[float, float]:
    try:
        re, im = (float(p) for p in text.split(","))
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is no point like -0.65,0") from None
    return re, im


def arguments() -> Any:
    p = demos.parser("mandel", "Draws the Mandelbrot set on a virtual machine.")
    p.add_argument("-S", "--size", type=size, default=(1024, 768), metavar="WxH", help="pixels; 1024x768")
    p.add_argument("-C", "--centre", type=centre, default=(-0.65, 0.0), metavar="RE,IM", help="its middle; --centre=-0.65,0")
    p.add_argument("-z", "--zoom", type=float, default=1.0, help="magnification; 1")
    p.add_argument("-m", "--iterations", type=demos.amount, default=500, help="a point that stays so long is inside; 500")
    p.add_argument("--strip", type=demos.amount, default=16, metavar="ROWS", help="rows of a strip; 16")
    p.add_argument("-o", "--output", metavar="FILE", help="write the picture as PNG")
    options = p.parse_args()
    if options.iterations > 65535 or not 0 < options.zoom < float("inf"):
        p.error("--iterations is at most 65535, --zoom greater than 0")
    return options


def main() -> int:
    options = arguments()
    view = View(*options.size, *options.centre, options.zoom, options.iterations)
    demos.machine(options)
    counts, hosts = np.empty((view.height, view.width), np.uint16), set()
    with covey.Executor(options.tasks) as executor:
        executor.bootup()
        began = time.monotonic()
        firsts = range(0, view.height, options.strip)
        rows = [min(options.strip, view.height - first) for first in firsts]
        for first, part, host in executor.map(strip, [view] * len(rows), firsts, rows, unordered=True):
            counts[first:first + len(part)] = part
            hosts.add(host)
        seconds = time.monotonic() - began
    print(f"mandel: {view.width}x{view.height}, {len(rows)} strips on {len(hosts)} hosts in {seconds:.2f} s")
    if options.output is not None:
        write_png(options.output, view, counts)
    if options.check:
        right = np.array_equal(counts, escape(view, 0, view.height))
        print("checked: each pixel equals that of a sequential run" if right else "WRONG: the picture differs from a sequential run")
        return int(not right)
    return 0


if __name__ == "__main__":
    # what is sent to workers is the function of a module, not of __main__
    from covey.demos.mandel import main as of_module

    demos.run(of_module)
