"""The executor: functions on workers, what they raise, cancelling, deaths, hosts that come, the end."""
import os
import random
import signal
import subprocess
import sys
import textwrap
import threading
import time
import unittest
from concurrent.futures import CancelledError, as_completed, wait

import covey
from covey.futures import ThenableFuture, collect, compose


def square(x):
    return x * x


def fail(text):
    raise ValueError(text)


def where():
    return covey.join().tid, os.getpid()


def nap(seconds, value=None):
    time.sleep(seconds)
    return value


def hold(gate):
    while not os.path.exists(gate):
        time.sleep(0.01)


def die_if(path):
    """Kills its own process, the first time."""
    if not os.path.exists(path):
        open(path, "w").close()
        os.kill(os.getpid(), signal.SIGKILL)
    return "the second time"


def die():
    os.kill(os.getpid(), signal.SIGKILL)


def slow_then(x):
    time.sleep(0.02)
    return x + 1


class Unreadable:
    def __reduce__(self):
        return fail, ("not to be read",)


def begun(value):
    covey.begun = value


class Calls(unittest.TestCase):
    """What one executor does."""

    @classmethod
    def setUpClass(cls):
        cls.executor = covey.Executor(4).bootup()

    @classmethod
    def tearDownClass(cls):
        cls.executor.shutdown()

    def test_submit(self):
        "a function of a module, a builtin one, a lambda"
        y = 5
        self.assertEqual(self.executor.submit(square, 7).result(), 49)
        self.assertEqual(self.executor.submit(pow, 2, 5).result(), 32)
        self.assertEqual(self.executor.submit(lambda x: x + y, x=1).result(), 6)

    def test_raises(self):
        "what a function raises comes here, with its traceback there"
        error = self.executor.submit(fail, "so it was").exception()
        self.assertIsInstance(error, ValueError)
        self.assertEqual(str(error), "so it was")
        self.assertIn("in fail", str(error.__cause__))
        with self.assertRaises(SystemExit):
            self.executor.submit(sys.exit, 3).result()

    def test_unpicklable(self):
        "arguments and results that cannot be pickled, or not be read"
        with self.assertRaises(TypeError):
            self.executor.submit(square, threading.Lock()).result()
        with self.assertRaises(TypeError):
            self.executor.submit(threading.Lock).result()
        with self.assertRaises(ValueError) as there:
            self.executor.submit(square, Unreadable()).result()
        self.assertIsInstance(there.exception.__cause__, covey.RemoteTraceback)
        with self.assertRaises(ValueError):
            self.executor.submit(Unreadable).result()
        self.assertEqual(self.executor.submit(square, 3).result(), 9)

    def test_map(self):
        "map: chunks, buffers, without order, several iterables"
        expected = [square(i) for i in range(100)]
        for options in ({}, {"chunksize": 7}, {"chunksize": None}, {"buffersize": 3}, {"chunksize": 9, "buffersize": 2}):
            with self.subTest(options):
                self.assertEqual(list(self.executor.map(square, range(100), **options)), expected)
        self.assertEqual(sorted(self.executor.map(square, range(100), unordered=True, chunksize=3)), expected)
        self.assertEqual(list(self.executor.map(pow, [2, 3], [4, 5])), [16, 243])
        self.assertEqual(list(self.executor.starmap(pow, [(2, 4), (3, 5)])), [16, 243])
        self.assertEqual(list(self.executor.map(square, [])), [])

    def test_map_lazily(self):
        "with a buffer an endless iterable is read as results are taken"
        read = []
        numbers = (read.append(i) or i for i in iter(lambda: len(read), -1))
        results = self.executor.map(square, numbers, buffersize=4)
        self.assertEqual([next(results) for _ in range(6)], [0, 1, 4, 9, 16, 25])
        self.assertLess(len(read), 12)
        results.close()

    def test_map_raises(self):
        "map: the first failure, and what else it refuses"
        results = self.executor.map(divmod, [1, 1, 1], [2, 0, 5])
        self.assertEqual(next(results), (0, 1))
        with self.assertRaises(ZeroDivisionError):
            next(results)
        for wrong in ({"chunksize": 0}, {"buffersize": 0}, {"buffersize": 1, "unordered": True}):
            with self.assertRaises(ValueError):
                self.executor.map(square, [1], **wrong)
        with self.assertRaises(TimeoutError):
            list(self.executor.map(nap, [2], timeout=0.05))

    def test_progress(self):
        "progress is told of each item"
        told = []
        list(self.executor.map(square, range(20), chunksize=3, progress=lambda done, of: told.append((done, of))))
        deadline = time.monotonic() + 60  # the last callback runs beside us
        while len(told) < 7 and time.monotonic() < deadline:
            time.sleep(0.01)
        self.assertEqual(told[-1], (20, 20))
        self.assertEqual(sorted(told), told)

    def test_workers(self):
        "each worker is a task of its own, on all hosts"
        places = {self.executor.submit(where).result() for _ in range(40)}
        self.assertLessEqual(len(places), 4)
        self.assertEqual(self.executor.num_workers, 4)
        self.assertIn("4 workers", repr(self.executor))

    def test_threads(self):
        "several threads submit"
        sums = []

        def many(number):
            sums.append(sum(f.result() for f in [self.executor.submit(square, number) for _ in range(200)]))
        threads = [threading.Thread(target=many, args=(n,)) for n in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(sorted(sums), [0, 200, 800, 1800])

    def test_callbacks(self):
        "as_completed, wait, callbacks, and futures put together"
        futures = [self.executor.submit(square, n) for n in range(9)]
        self.assertEqual({f.result() for f in as_completed(futures)}, {square(n) for n in range(9)})
        self.assertEqual(wait(futures).not_done, set())
        self.assertEqual(collect(self.executor.submit(square, n) for n in range(3)).result(), [0, 1, 4])
        self.assertEqual(compose(self.executor.submit(square, 3), str).result(), "9")
        then = ThenableFuture()
        then2 = then.then(lambda x: x + 1).then(lambda x: [x])
        then.set_result(1)
        self.assertEqual(then2.result(), [2])

    def test_fork(self):
        "a child of fork() has no part in it"
        child = os.fork()
        if child == 0:
            try:
                self.executor.submit(square, 1)
            except RuntimeError:
                os._exit(0)
            os._exit(1)
        self.assertEqual(os.waitpid(child, 0)[1], 0)
        self.assertEqual(self.executor.submit(square, 2).result(), 4)

    def test_memory(self):
        "many futures leave nothing behind"
        def resident():
            with open("/proc/self/statm", encoding="ascii") as file:
                return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")

        rounds = 50 if os.environ.get("SOAK") else 5  # of 20,000
        with covey.Executor(2) as executor:
            sizes = []
            for _ in range(rounds + 3):
                assert sum(executor.map(abs, range(-20000, 0))) == 20000 * 20001 // 2
                sizes.append(resident())
        self.assertLess(min(sizes[-3:]), sizes[2] + (8 << 20), sizes)  # a round more or less varies by some MB

    def test_output(self):
        "an array goes there and back"
        import numpy as np
        a = np.arange(300_000.0)
        back = self.executor.submit(np.multiply, a, 2).result()
        np.testing.assert_array_equal(back, 2 * a)
        back[0] = 1  # it may be written


class Life(unittest.TestCase):
    """The beginning and the end of executors, and what happens to their workers."""

    def test_lazy(self):
        "nothing starts before the first function"
        executor = covey.Executor(2)
        self.assertIn("not started", repr(executor))
        executor.shutdown()
        with self.assertRaises(RuntimeError):
            executor.submit(square, 1)
        with self.assertRaises(RuntimeError):
            executor.bootup()
        self.assertEqual(executor.num_workers, 0)

    def test_refused(self):
        "arguments that are wrong"
        for options, error in (({"max_workers": 0}, ValueError), ({"initializer": 3}, TypeError), ({"wrong": 1}, TypeError)):
            with self.assertRaises(error):
                covey.Executor(**options)
        with self.assertRaises(covey.NoDaemon):
            covey.Executor(vm="no-such-vm").bootup()

    def test_shutdown(self):
        "what was submitted before the end is done, and workers are gone after it"
        with covey.Executor(2) as executor:
            futures = [executor.submit(nap, 0.01, n) for n in range(30)]
            tid = executor.submit(where).result()[0]
        self.assertEqual([f.result() for f in futures], list(range(30)))
        self.assertNotIn(tid, [t.tid for t in covey.join().tasks()])

    def test_cancel(self):
        "what no worker has is cancelled; what one has is not"
        with covey.Executor(1) as executor:
            first = executor.submit(nap, 0.3, "done")
            rest = [executor.submit(nap, 0.3) for _ in range(20)]
            self.assertTrue(rest[-1].cancel())
            executor.shutdown(wait=False, cancel_futures=True)
            wait(rest)
            self.assertEqual(first.result(), "done")
            self.assertGreater(sum(f.cancelled() for f in rest), 15)
            with self.assertRaises(CancelledError):
                rest[-2].result()

    def test_priorities(self):
        "those of a higher priority come first"
        gate = os.path.join(os.environ["COVEY_TEST_DIR"], "gate")
        with covey.Executor(1).bootup() as executor:
            executor.submit(hold, gate)
            order = []
            low = [executor.submit(nap, 0.01, n) for n in range(10)]
            high = [executor.submit_first(5, nap, 0.01, 100 + n) for n in range(5)]
            for f in low + high:
                f.add_done_callback(lambda f: order.append(f.result()))
            open(gate, "w").close()
            wait(low + high)
        self.assertLess(max(map(order.index, range(100, 105))), order.index(9))

    def test_initializer(self):
        "the initializer runs first; names that all functions find"
        with covey.Executor(1, begun, ("yes",), globals={"shared_number": 42}) as executor:
            self.assertEqual(executor.submit(lambda: (covey.begun, shared_number)).result(), ("yes", 42))  # noqa: F821

    def test_initializer_fails(self):
        "an initializer that raises breaks the executor, and says why"
        executor = covey.Executor(2, fail, ("it cannot begin",))
        future = executor.submit(square, 1)
        with self.assertRaises(covey.BrokenPool) as caught:
            future.result()
        self.assertIn("it cannot begin", str(caught.exception))
        self.assertIsInstance(caught.exception.__cause__, ValueError)
        with self.assertRaises(covey.BrokenPool):
            executor.submit(square, 1)
        executor.shutdown()

    def test_start_fails(self):
        "workers that cannot start"
        for options in ({"python_exe": "/no/such/python"}, {"python_exe": "/bin/false"}, {"python_args": ["-c", "x x"]}):
            with self.subTest(options), self.assertRaises(covey.BrokenPool):
                with covey.Executor(1, **options) as executor:
                    executor.submit(square, 1).result()

    def test_environment(self):
        "variables, options of Python, the folder of work"
        with covey.Executor(1, env={"WORD": "said"}, python_args=["-O"], wdir="/") as executor:
            self.assertEqual(executor.submit(os.getenv, "WORD").result(), "said")
            self.assertEqual(executor.submit(eval, "__debug__").result(), False)
            self.assertEqual(executor.submit(os.getcwd).result(), "/")

    def test_death(self):
        "what a worker ran that died comes from another, and the worker is replaced"
        path = os.path.join(os.environ["COVEY_TEST_DIR"], "died-once")
        with covey.Executor(2) as executor:
            self.assertEqual(executor.submit(die_if, path).result(), "the second time")
            self.assertEqual(list(executor.map(square, range(50))), [n * n for n in range(50)])

    def test_deadly(self):
        "a function that kills each worker is given up, and others go on"
        with covey.Executor(2) as executor:
            deadly = executor.submit(die)
            others = [executor.submit(square, n) for n in range(50)]
            with self.assertRaises(covey.WorkerDied):
                deadly.result()
            self.assertEqual([f.result() for f in others], [n * n for n in range(50)])

    def test_killed(self):
        "workers are killed all the time, and no result is lost"
        dice = random.Random(23)
        with covey.Executor(4, deaths_max=100).bootup() as executor:
            futures = [executor.submit(slow_then, n) for n in range(400)]
            kills = 0
            while not all(f.done() for f in futures):
                workers = list(executor._pool.workers)
                if workers:
                    try:
                        executor._pool.vm.signal(dice.choice(workers), signal.SIGKILL)
                        kills += 1
                    except covey.CoveyError:
                        pass  # it has ended
                time.sleep(0.15)
            self.assertEqual([f.result() for f in futures], [n + 1 for n in range(400)])
        self.assertGreater(kills, 3)

    def test_host_comes(self):
        "a host that joins the VM gets workers"
        vm = covey.join()
        with covey.Executor().bootup() as executor:
            hosts = {t.host for t in vm.tasks() if t.tid in executor._pool.workers}
            self.assertEqual(len(hosts), len(vm.hosts()))
            self.assertEqual(vm.add_hosts(covey.HostSpec("late", "local")), [""])
            late = next(h.index for h in vm.hosts() if h.name == "late")
            deadline = time.monotonic() + 60
            while not any(tid >> 18 == late and ready for tid, ready in list(executor._pool.workers.items())):
                self.assertLess(time.monotonic(), deadline)
                time.sleep(0.05)
            # a host that goes takes workers with it, and nothing is lost
            futures = [executor.submit(slow_then, n) for n in range(200)]
            self.assertEqual(vm.remove_hosts("late"), 1)
            self.assertEqual([f.result() for f in futures], [n + 1 for n in range(200)])

    def test_interrupt(self):
        "Ctrl-C ends a wait for a result, and the program"
        program = textwrap.dedent("""
            import covey, time
            try:
                with covey.Executor(1).bootup() as executor:
                    futures = [executor.submit(time.sleep, 0.5) for _ in range(1000)]
                    print("ready", flush=True)
                    futures[-1].result()
            except KeyboardInterrupt:
                print("interrupted", sum(f.cancelled() for f in futures) > 900, flush=True)
        """)
        child = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True)
        self.assertEqual(child.stdout.readline(), "ready\n")
        time.sleep(0.2)
        child.send_signal(signal.SIGINT)
        self.assertEqual(child.stdout.readline(), "interrupted True\n")
        child.stdout.close()
        self.assertEqual(child.wait(60), 0)

    def test_exit(self):
        "a program that ends without shutdown() does what was submitted, and functions of __main__ go by value"
        program = textwrap.dedent("""
            import covey, time
            def shout(n):
                return helper(n)
            def helper(n):
                time.sleep(0.1)
                return f"done {n}"
            executor = covey.Executor(2)
            executor.submit(shout, 7).add_done_callback(lambda f: print(f.result(), flush=True))
        """)
        run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=100)
        self.assertEqual((run.stdout, run.stderr, run.returncode), ("done 7\n", "", 0))

    def test_printed(self):
        "what a function prints is printed here"
        program = "import covey\nwith covey.Executor(1) as e: e.submit(print, 'from a worker').result()\n"
        run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=100)
        self.assertEqual((run.stdout, run.returncode), ("from a worker\n", 0))


if __name__ == "__main__":
    unittest.main()
