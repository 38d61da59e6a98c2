"""python -m covey map: commands of a file, their log, going on where it ended."""
import os
import signal
import subprocess
import sys
import time
import unittest


class Map(unittest.TestCase):
    def setUp(self):
        self.folder = os.path.join(os.environ["COVEY_TEST_DIR"], self._testMethodName)
        os.mkdir(self.folder)

    def path(self, name):
        return os.path.join(self.folder, name)

    def write(self, *lines):
        with open(self.path("commands"), "w", encoding="utf-8") as file:
            file.write("".join(line + "\n" for line in lines))

    def map(self, *arguments, **options):
        return subprocess.run([sys.executable, "-m", "covey", "map", *arguments], capture_output=True, text=True,
                              timeout=100, cwd=self.folder, **options)

    def log(self):
        with open(self.path("log"), encoding="utf-8") as file:
            return [line.rstrip("\n").split("\t") for line in file]

    def test_commands(self):
        "commands: what they print, their number of failures, the log"
        self.write("echo one", "# a remark", "", "echo two; echo oops >&2", "exit 7", "kill -KILL $$", "cd / && pwd")
        run = self.map("--joblog", "log", "commands")
        self.assertEqual(sorted(run.stdout.splitlines()), ["/", "one", "two"])
        self.assertEqual(run.stderr, "oops\n")
        self.assertEqual(run.returncode, 2)
        rows = {int(r[0]): r for r in self.log()[1:]}
        self.assertEqual(self.log()[0], "Seq Host Starttime JobRuntime Send Receive Exitval Signal Command".split())
        self.assertEqual([(rows[n][6], rows[n][7]) for n in range(1, 6)],
                         [("0", "0"), ("0", "0"), ("7", "0"), ("0", "9"), ("0", "0")])
        self.assertEqual(rows[5][8], "cd / && pwd")
        self.assertRegex(rows[1][1], "^h[0-3]$")

    def test_template(self):
        "lines that are put into a command, in order"
        run = self.map("-k", "-c", "printf '<%s>\\n'", input="a b\nit's\n$HOME\n")
        self.assertEqual((run.stdout, run.returncode), ("<a b>\n<it's>\n<$HOME>\n", 0), run.stderr)
        run = self.map("-k", "-n", "-c", "cp {} {}.old", input="x y\n")
        self.assertEqual(run.stdout, "cp 'x y' 'x y'.old\n")

    def test_resume(self):
        "what the log has is not run again, failures are if wanted"
        self.write(*(f"echo {n} >>ran; test -e good || test {n} != 3" for n in range(1, 6)))
        self.assertEqual(self.map("-l", "log", "commands").returncode, 1)
        self.assertEqual(self.map("-l", "log", "-r", "commands").returncode, 0)
        with open(self.path("log"), "a", encoding="utf-8") as file:
            file.write("6\th0\t0.0")  # it was cut off here
        open(self.path("good"), "w").close()
        with open(self.path("commands"), "a", encoding="utf-8") as file:
            file.write("echo 6 >>ran\n")
        self.assertEqual(self.map("-l", "log", "-R", "commands").returncode, 0)
        with open(self.path("ran"), encoding="utf-8") as file:
            self.assertEqual(sorted(file.read().split()), ["1", "2", "3", "3", "4", "5", "6"])
        self.write("another")
        run = self.map("-l", "log", "-r", "commands")
        self.assertIn("command 1 was another one", run.stderr)
        self.assertNotEqual(run.returncode, 0)

    def test_once(self):
        "what takes longer than others is not run a second time by who has nothing to do"
        self.write(*["true"] * 20, "echo long >>ran; sleep 2")
        self.assertEqual(self.map("-j", "4", "commands").returncode, 0)
        with open(self.path("ran"), encoding="utf-8") as file:
            self.assertEqual(file.read(), "long\n")

    def test_retries(self):
        "what fails is run again, what takes too long is killed"
        self.write("echo x >>tries; test $(wc -l <tries) -ge 3", "sleep 100")
        began = time.monotonic()
        self.assertEqual(self.map("--retries", "5", "-t", "0.5", "commands").returncode, 1)
        with open(self.path("tries"), encoding="utf-8") as file:
            self.assertEqual(len(file.read().split()), 3)
        self.assertLess(time.monotonic() - began, 90)

    def test_interrupt(self):
        "Ctrl-C ends it, and the log says what was done"
        self.write(*(f"sleep 0.05; echo {n}" for n in range(2000)))
        child = subprocess.Popen([sys.executable, "-m", "covey", "map", "-l", "log", "commands"], cwd=self.folder,
                                 stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        child.stdout.readline()
        child.send_signal(signal.SIGINT)
        child.stdout.read()
        child.stdout.close()
        self.assertEqual(child.wait(60), 130)
        self.assertGreater(len(self.log()), 1)
        self.assertLess(len(self.log()), 1900)

    def test_console(self):
        "covey map is the same"
        run = subprocess.run(["covey", "map", "--keep-order", "-c", "echo {};"], input="one\ntwo\n",
                             capture_output=True, text=True, timeout=100)
        self.assertEqual((run.stdout, run.stderr, run.returncode), ("one\ntwo\n", "", 0))
        run = subprocess.run(["covey", "--vm", "no-such-vm", "map"], input="true\n", capture_output=True, text=True,
                             timeout=100)
        self.assertIn("no VM named 'no-such-vm'", run.stderr)
        self.assertEqual(run.returncode, 255)

    def test_wrong(self):
        "what is wrong is said in one line"
        for arguments, words in ((["no-such-file"], "No such file"), (["-r", "x"], "--joblog"), (["-j", "0", "x"], "--jobs")):
            run = self.map(*arguments)
            self.assertIn(words, run.stderr.splitlines()[-1])
            self.assertNotEqual(run.returncode, 0)
        run = self.map(input="true\n", env={**os.environ, "COVEY_VM": "no-such-vm"})
        self.assertEqual((run.returncode, len(run.stderr.splitlines())), (255, 1), run.stderr)
        self.assertIn("no VM named", run.stderr)


if __name__ == "__main__":
    unittest.main()
