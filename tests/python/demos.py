"""The demos of the package, as a user runs them."""
import os
import struct
import subprocess
import sys
import unittest
import zlib

# the daemons of the suite know nothing of the package
COVEY_RUN = ["covey", "run", "-n", "4", "env", "PYTHONPATH=" + os.environ["PYTHONPATH"], sys.executable, "-m"]


def run(*command, status=0):
    done = subprocess.run(command, capture_output=True, text=True, timeout=200)
    assert done.returncode == status, f"{command} ended with {done.returncode}: {done.stdout}{done.stderr}"
    return done.stdout if status == 0 else done.stderr


def demo(name, *options, status=0):
    return run(sys.executable, "-m", "covey.demos." + name, *options, status=status)


class Demos(unittest.TestCase):
    def test_mandel(self):
        "a picture in strips is that of a sequential run, and a PNG"
        path = os.path.join(os.environ["COVEY_TEST_DIR"], "mandel.png")
        out = demo("mandel", "--size", "60x50", "--tasks", "3", "--strip", "7", "--check", "--output", path)
        self.assertIn("60x50, 8 strips", out)
        self.assertIn("each pixel equals", out)
        with open(path, "rb") as file:
            data = file.read()
        self.assertEqual(data[:8], b"\x89PNG\r\n\x1a\n")
        chunks, at = {}, 8
        while at < len(data):
            size, kind = struct.unpack(">I4s", data[at:at + 8])
            body = data[at + 8:at + 8 + size]
            self.assertEqual(struct.unpack(">I", data[at + 8 + size:at + 12 + size])[0], zlib.crc32(kind + body))
            chunks[kind], at = body, at + 12 + size
        self.assertEqual(struct.unpack(">IIBBBBB", chunks[b"IHDR"]), (60, 50, 8, 2, 0, 0, 0))
        self.assertEqual(len(zlib.decompress(chunks[b"IDAT"])), 50 * (1 + 3 * 60))
        self.assertEqual(list(chunks)[-1], b"IEND")

    def test_sort(self):
        "keys of several tasks are the same ones in order, also where there are fewer keys than tasks"
        for keys, tasks in ("64K", 3), ("5000", 1), ("2", 4):
            with self.subTest(keys=keys, tasks=tasks):
                self.assertIn("the same keys, in order", demo("sort", "--keys", keys, "--tasks", str(tasks), "--check"))
        out = run(*COVEY_RUN, "covey.demos.sort", "--keys", "10K", "--check")
        self.assertIn("10240 keys by 4 tasks", out)

    def test_mistakes(self):
        "wrong options are an error of one line"
        for name, option, words in (("mandel", "--size=10", "no size"), ("mandel", "--centre=1", "no point"),
                                    ("mandel", "--zoom=nan", "--zoom"), ("sort", "--keys=0", "no number")):
            with self.subTest(option=option):
                self.assertIn(words, demo(name, option, status=2).splitlines()[-1])
        self.assertEqual(demo("mandel", "--size=8x8", "--output=/nowhere/picture", status=1).count("\n"), 1)


if __name__ == "__main__":
    unittest.main()
