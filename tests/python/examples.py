"""The small programs of covey.examples, as `covey run` runs them: what they print."""
import os
import re
import unittest

import numpy as np
from demos import COVEY_RUN, run



def heat(points, steps):
    """What one process gets."""
    rod = np.zeros(points + 2)
    rod[0] = 100
    for _ in range(steps):
        rod[1:-1] += 0.25 * (rod[:-2] - 2 * rod[1:-1] + rod[2:])
    return " ".join(f"{point:.2f}" for point in rod[1:-1:8])


SAYS = {  # the lines, in any order, as patterns
    "hello": [rf"hello from task {i} of 4 on h\d: my items are \[{i}, {i + 4}, {i + 8}\]" for i in range(4)],
    "master_worker": ["20 results, their sum is 2470"],
    "ring": [r"round the ring came \[0, 1, 2, 3\]"],
    "pipeline": [r"out of the pipeline came \[15, 31, 47, 63, 79, 95, 111, 127\]"],
    "scatter_gather": [r"squares: \[0, 1, 4, 9, 16, 25, 36, 49, 64, 81, 100, 121\]"],
    "reduce": ["pi is about 3.141592654"],
    "barrier": ["all had come before the first one left: yes"],
    "race": [r"without a lock: \d+ of 20, the others are lost", "with a lock: 20 of 20"],
    "bag": ["20 results, the last is 361"],
    "pingpong": [rf" *{size} bytes: +[0-9.]+ us, +[0-9.]+ MB/s" for size in (8, 1024, 131072, 1048576)],
    "heat": [re.escape("each eighth point: " + heat(64, 500))],
    "deadlock": [f"task {i} waited in vain for task {(i - 1) % 4}" for i in range(4)] + [r"with sendrecv task 0 got 3"],
}


class Examples(unittest.TestCase):
    def test_all_are_here(self):
        "each example has a row here"
        import covey.examples

        folder = os.path.dirname(covey.examples.__file__)
        self.assertEqual(set(SAYS), {f[:-3] for f in os.listdir(folder) if f.endswith(".py")} - {"__init__"})


def add_test(name, patterns):
    def test(self):
        lines = run(*COVEY_RUN, "covey.examples." + name).splitlines()
        self.assertEqual(len(lines), len(patterns), lines)
        for pattern in patterns:
            self.assertTrue(any(re.fullmatch(pattern, line) for line in lines), f"{pattern} is none of {lines}")

    test.__doc__ = f"{name} prints what it should"
    setattr(Examples, "test_" + name, test)


for row in SAYS.items():
    add_test(*row)


if __name__ == "__main__":
    unittest.main()
