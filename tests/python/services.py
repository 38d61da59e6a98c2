"""Locks, tokens, meetings, sessions, elections, decisions, bags, traces, asyncio, starting, notebooks."""
import asyncio
import os
import signal
import subprocess
import sys
import tempfile
import textwrap
import threading
import time
import unittest

import covey
import members


def locker():
    vm = covey.join()
    for _ in range(20):
        with vm.lock("counter"):
            path = os.path.join(os.environ["COVEY_TEST_DIR"], "counter")
            with open(path, encoding="ascii") as file:
                n = int(file.read())
            with open(path, "w", encoding="ascii") as file:
                file.write(str(n + 1))


def squarer():
    with covey.join().bag("squares") as bag:
        for item in bag.items():
            bag.done(item, item.value ** 2)


def meets():
    vm = covey.join()
    place, parties = vm.rendezvous("meeting", 3, b"mine %d" % vm.tid)
    assert parties[place].tid == vm.tid
    assert [p.value for p in parties] == [b"mine %d" % p.tid for p in parties]


class Services(unittest.TestCase):
    def setUp(self):
        self.vm = covey.join()

    def test_lock(self):
        "a lock excludes others, and grants have rising numbers"
        lock = self.vm.lock("one")
        with lock:
            first = lock.fence
            self.assertEqual(lock.owner(), self.vm.tid)
            self.assertIn("one", [h.name for h in self.vm.held()])
            with covey.VM() as other:
                with self.assertRaises(covey.TimedOut):
                    other.lock("one").acquire(timeout=0.1)
                with self.assertRaises(covey.TimedOut):
                    other.lock("one").acquire(timeout=0)
                with self.assertRaises(covey.Exists):
                    self.vm.lock("one").acquire()
        self.assertGreater(lock.acquire(), first)
        lock.release()
        with self.assertRaises(covey.Denied):
            lock.release()
        self.assertIsNone(lock.owner())

    def test_lock_of_tasks(self):
        "tasks that count in a file under a lock"
        path = os.path.join(os.environ["COVEY_TEST_DIR"], "counter")
        with open(path, "w", encoding="ascii") as file:
            file.write("0")
        self.assertTrue(members.all_well(members.start("services", "locker", 4)))
        with open(path, encoding="ascii") as file:
            self.assertEqual(file.read(), "80")

    def test_lock_interrupted(self):
        "Ctrl-C while waiting for a lock: what is granted later is given back"
        with covey.VM() as other:
            held = other.lock("busy")
            held.acquire()
            threading.Timer(0.3, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
            with self.assertRaises(KeyboardInterrupt):
                self.vm.lock("busy").acquire()
            held.release()
            held.acquire(timeout=60)
            held.release()

    def test_token(self):
        "a token goes from task to task"
        token = self.vm.token("baton", create=True)
        self.assertEqual(token.holder(), self.vm.tid)
        with self.assertRaises(covey.Exists):
            self.vm.token("baton", create=True)
        with covey.VM() as other:
            theirs = other.token("baton")
            with self.assertRaises(covey.TimedOut):
                theirs.request(timeout=0.1)
            token.pass_on(other.tid)
            self.assertGreater(theirs.request(timeout=60), token.number)
            with self.assertRaises(covey.Denied):
                token.pass_on()
            theirs.destroy()
        with self.assertRaises(covey.NotFound):
            token.holder()

    def test_meeting(self):
        "tasks meet, each with a value"
        self.assertTrue(members.all_well(members.start("services", "meets", 3)))
        with self.assertRaises(covey.TimedOut):
            self.vm.rendezvous("alone", 2, timeout=0.1)

    def test_session(self):
        "a session: views in order, a shared value"
        with self.vm.session("talk") as session:
            self.assertEqual(session.view.members, [self.vm.tid])
            with self.assertRaises(covey.TimedOut):
                session.next(timeout=0.05)
            with covey.VM() as other:
                theirs = other.session("talk")
                view = session.next(timeout=60)
                self.assertEqual((view.change, view.tid), ("joined", other.tid))
                self.assertEqual(theirs.view, view)
                version = session.put(b"shared", 0)
                self.assertGreater(version, 0)
                self.assertEqual(theirs.get(), (version, b"shared"))
                self.assertEqual(theirs.put(b"late", 0), 0)
                theirs.leave()
                self.assertEqual(session.next(timeout=60).change, "left")

    def test_election(self):
        "an election: who stood first leads, and who is next after it"
        first = self.vm.stand("chair")
        self.assertEqual(first.tid, self.vm.tid)
        with covey.VM() as other:
            self.assertEqual(other.stand("chair"), first)
            self.vm.resign("chair")
            second = self.vm.leader("chair", first.term, timeout=60)
            self.assertEqual(second.tid, other.tid)
            other.resign("chair")
        with self.assertRaises(covey.TimedOut):
            self.vm.leader("nobody", timeout=0.1)

    def test_decision(self):
        "a decision is the same for everyone"
        self.assertEqual(self.vm.propose("dinner", 1, b"soup"), (self.vm.tid, b"soup"))
        with covey.VM() as other:
            self.assertEqual(other.propose("dinner", 1, b"fish"), (self.vm.tid, b"soup"))
            self.assertEqual(other.learn("dinner", 1), (self.vm.tid, b"soup"))
            with self.assertRaises(covey.TimedOut):
                other.learn("dinner", 2, timeout=0.1)
        self.vm.forget("dinner")


class Bags(unittest.TestCase):
    def setUp(self):
        self.vm = covey.join()

    def test_bag(self):
        "items and results, by workers and by hand"
        with self.vm.bag("squares", create=True) as bag:
            with self.assertRaises(covey.Exists):
                self.vm.bag("squares", create=True)
            for n in range(100):
                bag.put(n, priority=n % 3)
            tids = members.start("services", "squarer", 3)
            bag.close()
            with self.vm.bag("squares") as late, self.assertRaises(covey.Denied):
                late.put(1)
                late.flush()
            self.assertEqual({r.number: r.value for r in bag.results()}, {n: n * n for n in range(100)})
            bag.wait(60)
            self.assertIn("squares", [b["name"] for b in covey.bags(self.vm)])
            self.assertEqual(bag.info()["done"], 100)
            self.assertIn("100 of 100 done", bag._repr_html_())
            self.assertTrue(members.all_well(tids))
        with self.assertRaises(covey.NotFound):
            self.vm.bag("cubes")

    def test_bytes(self):
        "bytes as they are, an item that is given back, timeouts"
        with self.vm.bag("raw", create=True, raw=True) as bag:
            with self.assertRaises(covey.TimedOut):
                bag.take(timeout=0.05)
            with self.assertRaises(covey.TimedOut):
                bag.result(timeout=0.05)
            bag.put(b"\0bytes")
            item = bag.take(60)
            bag.give_back(item)
            item = bag.take(60)
            self.assertEqual((item.value, item.number), (b"\0bytes", 0))
            bag.done(item, b"result")
            self.assertEqual(bag.result(60).value, b"result")
            bag.close()
            self.assertIsNone(bag.take(60))
            self.assertIsNone(bag.result(60))


    def test_file(self):
        "what is left goes into a file and comes back; a host's time is over"
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "left")
            bag = self.vm.bag("left", create=True)
            for n in range(3):
                bag.put(n * 10)
            bag.done(bag.take(60), "first")
            bag.close()
            self.assertEqual(covey.save_bag(self.vm, "left", path)["ready"], 2)
            bag.free()
            self.assertEqual(covey.load_bag(self.vm, path, "again")["results"], 1)
            with self.assertRaisesRegex(covey.CoveyError, "loaded before"):
                covey.load_bag(self.vm, path, "twice")
            self.assertEqual(covey.load_bag(self.vm, path, "twice", again=True)["results"], 1)
            with self.vm.bag("twice") as twice:
                twice.destroy()
        self.vm.drain(self.vm.hosts()[-1].index, 3600)
        with self.assertRaises(covey.HostFailed):
            self.vm.drain(4000)
        with self.vm.bag("again") as bag:
            self.assertEqual(bag.result(60).value, "first")
            for item in bag.items():
                bag.done(item, item.value + item.number)
            self.assertEqual({r.number: r.value for r in bag.results()}, {1: 11, 2: 22})
            bag.destroy()
        self.vm.drain(self.vm.hosts()[-1].index, None)
        with self.assertRaisesRegex(covey.CoveyError, "no such file|No such file"):
            covey.load_bag(self.vm, "/nowhere/left")


class Others(unittest.TestCase):
    def setUp(self):
        self.vm = covey.join()

    def test_trace(self):
        "marks of the program in a trace"
        file = os.path.join(os.environ["COVEY_TEST_DIR"], "run.trace")
        self.assertFalse(self.vm.traced)
        with self.vm.record(file) as recording:
            self.assertTrue(self.vm.traced)
            with self.vm.trace("a part of it"):
                self.vm.mark("a moment")
                self.vm.count("a number", 3)
                self.vm.send(1, self.vm.tid, 1)
                self.vm.recv(tag=1)
            with covey.trace("another part"), self.assertRaises(covey.Exists):
                self.vm.record(file + "2")
            self.assertIn("running", recording._repr_html_())
        self.assertIn("a part of it", recording.text("--to", "csv"))
        self.assertIn("<iframe", recording._repr_html_())
        self.assertFalse(self.vm.traced)

    def test_asyncio(self):
        "messages, requests and futures in the loop of asyncio"
        async def talk():
            ticks = []

            async def tick():
                while True:
                    await asyncio.sleep(0.01)
                    ticks.append(1)
            ticker = asyncio.ensure_future(tick())
            with covey.VM() as other:
                waiting = [asyncio.ensure_future(self.vm.arecv(tag=n)) for n in (1, 2)]
                await asyncio.sleep(0.1)
                await other.isend("two", self.vm.tid, 2)
                await other.isend("one", self.vm.tid, 1)
                self.assertEqual(await asyncio.gather(*waiting), ["one", "two"])
                request = self.vm.irecv(tag=3)
                other.send("three", self.vm.tid, 3)
                self.assertEqual(await request, "three")
            with covey.Executor(2) as executor:
                loop = asyncio.get_running_loop()
                self.assertEqual(await asyncio.gather(*[loop.run_in_executor(executor, pow, n, 2) for n in range(5)]),
                                 [0, 1, 4, 9, 16])
            with self.assertRaises(asyncio.TimeoutError):
                await asyncio.wait_for(self.vm.arecv(tag=9), 0.05)
            ticker.cancel()
            self.assertGreater(len(ticks), 3)
        asyncio.run(talk())

    def test_start(self):
        "a program that starts its own virtual machine, which ends with it"
        program = textwrap.dedent("""
            import covey
            vm = covey.start(local=2, name="started-by-python")
            print(len(vm.hosts()), vm.name, covey.Executor(1).submit(pow, 2, 3).result())
            try:
                covey.start(local=2)
            except covey.CoveyError as error:
                print("refused:", error)
        """)
        run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=100)
        self.assertEqual(run.stdout.splitlines()[0], "2 started-by-python 8", run.stderr)
        self.assertIn("already runs here", run.stdout)
        with self.assertRaises(covey.NoDaemon):
            covey.VM("started-by-python")

    def test_notebook(self):
        "what a notebook shows"
        page = self.vm._repr_html_()
        for host in self.vm.hosts():
            self.assertIn(host.name, page)
        self.assertIn("<table>", self.vm.hosts()._repr_html_())
        self.assertIn("<table>", self.vm.load()._repr_html_())
        self.assertIn("none", covey.bags(self.vm)._repr_html_())
        with covey.Executor(2) as executor:
            self.assertIn("not started", executor._repr_html_())
            executor.submit(time.sleep, 0).result()
            self.assertIn("functions are done", executor._repr_html_())


if __name__ == "__main__":
    unittest.main()
