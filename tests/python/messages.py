"""Joining, spawning, messages of objects and arrays, requests, errors, Ctrl-C, fork, threads."""
import os
import signal
import subprocess
import sys
import textwrap
import threading
import time
import unittest

import covey
import members
import numpy as np

DTYPES = "i1 i2 i4 i8 u1 u2 u4 u8 f4 f8 c8 c16".split()


# ---- what spawned tasks do

def echo():
    """Sends back each object until None, then each array until an empty one."""
    vm = covey.join()
    status = covey.Status()
    while (obj := vm.recv(status=status, tag=1)) is not None:
        vm.send(obj, status.source, 2)
    while True:
        m = vm.probe(vm.parent, 3)
        array = np.empty(m.bytes, "u1")
        message = vm.recv_message(vm.parent, 3)
        if message.peek()[1] == 0:
            break
        array = message.unpack()
        vm.Send(array, vm.parent, 4)


def leave_badly():
    covey.join()
    os._exit(3)


def says_lines():
    covey.join()
    print("a line\nanother")


def sleeper():
    covey.join().recv(tag=77)


class Echoed(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.vm = covey.join()
        cls.tids = members.start("messages", "echo", where="others")
        cls.tid = cls.tids[0]

    @classmethod
    def tearDownClass(cls):
        cls.vm.send(None, cls.tid, 1)
        cls.vm.Send(np.zeros(0), cls.tid, 3)
        assert members.all_well(cls.tids)

    def test_objects(self):
        "any object comes back as it was"
        for obj in (1, "text", b"bytes", [1, (2, 3)], {"a": {4}}, 1 << 200, float("inf"), None.__class__):
            self.vm.send(obj, self.tid, 1)
            self.assertEqual(self.vm.recv(self.tid, 2), obj)

    def test_lambda(self):
        "a function without a name goes by value"
        k = 3
        self.vm.send(lambda x: x * k, self.tid, 1)
        self.assertEqual(self.vm.recv(self.tid, 2)(5), 15)

    def test_arrays_in_objects(self):
        "arrays in objects come back, may be written, and outlive their message"
        big = {"a": np.arange(1e5), "b": [np.ones((3, 4), "f4"), np.zeros(0)], "c": np.arange(6).reshape(2, 3).T}
        self.vm.send(big, self.tid, 1)
        back = self.vm.recv(self.tid, 2)
        for key in "ac":
            np.testing.assert_array_equal(back[key], big[key])
        a = back.pop("a")
        del back
        a += 1
        self.assertEqual(a[-1], 1e5)

    def test_sizes(self):
        "texts and arrays of all sizes come back, alone or within a pickle, by rows or by columns, and may be written"
        team = self.vm.team([self.vm.tid])
        for size in (0, 1, 15, 16, 4096, 4097, 65000, 66000, 300000):
            self.vm.send("x" * size, self.tid, 1)
            self.assertEqual(self.vm.recv(self.tid, 2), "x" * size)
            for array in (np.arange(size, dtype="u1"), np.arange(2 * size).reshape(2, size).T, np.arange(2 * size)[::2]):
                self.vm.send([array, size], self.tid, 1)
                back, number = self.vm.recv(self.tid, 2)
                np.testing.assert_array_equal(back, array)
                back[...] = 1
                self.assertEqual(number, size)
                team.send(array, team.rank, 5)  # to itself, by rank
                np.testing.assert_array_equal(team.recv(team.rank, 5), array)

    def test_no_copy(self):
        "what is received in an object lies in the message"
        self.vm.send(np.arange(1e6), self.tid, 1)
        array = self.vm.recv(self.tid, 2)
        self.assertFalse(array.flags.owndata)

    def test_unpicklable(self):
        "what cannot be pickled raises, and nothing is sent"
        with self.assertRaises(TypeError):
            self.vm.send(threading.Lock(), self.tid, 1)
        self.vm.send("next", self.tid, 1)
        self.assertEqual(self.vm.recv(self.tid, 2), "next")

    def test_requests(self):
        "objects under way: wait, test, wait_any, wait_all"
        receives = [self.vm.irecv(self.tid, 2) for _ in range(5)]
        with self.assertRaises(covey.TimedOut):
            receives[0].wait(0.05)
        self.assertFalse(receives[0].test())
        covey.wait_all([self.vm.isend(i, self.tid, 1) for i in range(5)])
        self.assertEqual(covey.wait_any(receives), 0)
        self.assertEqual(covey.wait_all(receives, 30), list(range(5)))
        self.assertTrue(receives[4].test())

    def test_cancel(self):
        "a receive that is cancelled leaves its message"
        req = self.vm.irecv(self.tid, 2)
        self.assertTrue(req.cancel())
        with self.assertRaises(covey.Canceled):
            req.wait()
        self.vm.send(7, self.tid, 1)
        self.assertEqual(self.vm.recv(self.tid, 2), 7)

    def test_probe_and_status(self):
        "a probe tells sender, tag and size, and takes nothing"
        with self.assertRaises(covey.TimedOut):
            self.vm.probe(self.tid, 2, timeout=0)
        self.vm.send("probed", self.tid, 1)
        status = self.vm.probe(self.tid, 2)
        self.assertEqual((status.source, status.tag), (self.tid, 2))
        self.assertEqual(self.vm.recv(self.tid, 2), "probed")


class Arrays(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.vm = covey.join()
        cls.tids = members.start("messages", "echo", where="others")
        cls.tid = cls.tids[0]
        cls.vm.send(None, cls.tid, 1)

    @classmethod
    def tearDownClass(cls):
        cls.vm.Send(np.zeros(0), cls.tid, 3)
        assert members.all_well(cls.tids)

    def test_types(self):
        "arrays of every type"
        for dtype in DTYPES:
            with self.subTest(dtype):
                a = np.arange(1000).astype(dtype).reshape(10, 100)
                b = np.zeros_like(a)
                self.vm.Send(a, self.tid, 3)
                self.assertEqual(self.vm.Recv(b, self.tid, 4), 1000)
                np.testing.assert_array_equal(a, b)

    def test_requests(self):
        "arrays under way"
        a, b = np.arange(1e6), np.zeros(1_000_000)
        receive = self.vm.Irecv(b, self.tid, 4)
        self.vm.Isend(a, self.tid, 3).wait()
        self.assertEqual(receive.wait(60), a.size)
        np.testing.assert_array_equal(a, b)

    def test_refused(self):
        "arrays that cannot go are refused, with the reason"
        for array, error in ((np.zeros((4, 4))[:, 1], BufferError), (np.zeros(3, "f2"), TypeError),
                             (np.zeros(3, ">f8"), TypeError), (np.array([{}]), TypeError), ("text", TypeError)):
            with self.assertRaises(error):
                self.vm.Send(array, self.tid, 3)
        locked = np.zeros(3)
        locked.flags.writeable = False
        with self.assertRaises((BufferError, ValueError)):
            self.vm.Recv(locked, self.tid, 4, timeout=0)

    def test_too_small(self):
        "an array that is too small, or of another type, leaves the message"
        a = np.arange(10.0)
        self.vm.Send(a, self.tid, 3)
        with self.assertRaises(covey.Truncated):
            self.vm.Recv(np.zeros(3), self.tid, 4, timeout=30)
        with self.assertRaises(covey.WrongType):
            self.vm.Recv(np.zeros(30, "i4"), self.tid, 4, timeout=30)
        with self.assertRaises(covey.WrongType):
            self.vm.Recv(np.zeros(30, "i4"), self.tid, 4)
        b = np.zeros(10)
        self.vm.Recv(b, self.tid, 4)
        np.testing.assert_array_equal(a, b)

    def test_packed(self):
        "messages that are packed by hand"
        m = covey.Message().pack(np.arange(3, dtype="i4"), "grüße", b"\0\1", covey.Message().pack("inside"))
        m.pack(np.array([1 + 2j]))
        self.vm.send_message(m, self.vm.tid, 9)
        got = self.vm.recv_message(self.vm.tid, 9)
        self.assertEqual(got.status.tag, 9)
        self.assertEqual(got.peek(), ("int32", 3))
        np.testing.assert_array_equal(got.unpack(), [0, 1, 2])
        self.assertEqual(got.unpack(), "grüße")
        self.assertEqual(got.unpack(), b"\0\1")
        self.assertEqual(got.unpack().unpack(), "inside")
        self.assertEqual(got.unpack()[0], 1 + 2j)
        self.assertIsNone(got.peek())
        with self.assertRaises(covey.EndOfMessage):
            got.unpack()
        self.assertEqual(got.rewind().peek(), ("int32", 3))

    def test_foreign(self):
        "a message that is no object is told apart"
        self.vm.Send(np.arange(3), self.vm.tid, 8)
        with self.assertRaises(covey.WrongType):
            self.vm.recv(tag=8)


class Machine(unittest.TestCase):
    def setUp(self):
        self.vm = covey.join()

    def test_who(self):
        "who and where the task is"
        self.assertIs(covey.join(), self.vm)
        self.assertIsNone(self.vm.parent)
        self.assertEqual(self.vm.name, os.environ["COVEY_VM"])
        hosts = self.vm.hosts()
        self.assertEqual([h.name for h in hosts], ["h0", "h1", "h2", "h3"])
        self.assertEqual({h.state for h in hosts}, {"up"})
        self.assertIn(self.vm.tid, [t.tid for t in self.vm.tasks()])
        self.assertIn(self.vm.host, self.vm.task_name(self.vm.tid))
        self.assertEqual([row["name"] for row in self.vm.load()], [h.name for h in hosts])
        self.assertGreater(self.vm.timing()["elapsed"], 0)

    def test_further(self):
        "a process may enrol several times"
        with covey.VM(console=True) as other:
            self.assertNotEqual(other.tid, self.vm.tid)
            self.vm.send("to myself", other.tid)
            self.assertEqual(other.recv(self.vm.tid), "to myself")
        with self.assertRaises(covey.InvalidArgument):
            other.recv()
        other.leave()

    def test_spawn(self):
        "tasks on hosts of choice, their ends and their output"
        tids = members.start("messages", "leave_badly", 3, hosts=["h1", "h2"])
        self.assertEqual([(n.exit_kind, n.value) for n in members.finish(tids)], [(1, 3)] * 3)
        with covey.VM(output="self") as me:
            tid, = me.spawn(["/bin/sh", "-c", "echo $WORD; echo oops >&2"], output="self", env={"WORD": "hello"})
            got = {me.recv_message(tid, covey.TAG_OUTPUT, 60).unpack_output() for _ in range(2)}
            self.assertEqual(got, {covey.Output(1, "hello\n"), covey.Output(2, "oops\n")})

    def test_spawn_fails(self):
        "a program that is not there, a host that is not there"
        with self.assertRaises(covey.NotFound):
            self.vm.spawn(["/no/such/program"])
        with self.assertRaises(covey.NoHost):
            self.vm.spawn(["true"], hosts=["nowhere"])
        with self.assertRaises(ValueError):
            self.vm.spawn(["true"], where="somewhere")

    def test_kill(self):
        "a task that is killed: its notice, and what waits for it"
        tids = members.start("messages", "sleeper")
        self.vm.kill(tids[0])
        with self.assertRaises(covey.TaskGone) as caught:
            self.vm.recv(tids[0], 1)
        self.assertIn("ended", str(caught.exception))
        self.assertEqual(caught.exception.name, "ENOTASK")
        members.finish(tids)
        with self.assertRaises(covey.TaskGone):
            self.vm.send(1, tids[0])
        with self.assertRaises(covey.TaskGone):
            self.vm.Send(np.zeros(3), tids[0])

    def test_timeouts(self):
        "a timeout is kept"
        for timeout in (0, 0.02, 0.25):
            began = time.monotonic()
            with self.assertRaises(TimeoutError):
                self.vm.recv(tag=5, timeout=timeout)
            with self.assertRaises(covey.TimedOut):
                self.vm.Recv(np.zeros(1), tag=5, timeout=timeout)
            self.assertGreaterEqual(time.monotonic() - began, 2 * timeout - 0.01)

    def test_mcast(self):
        "one message to several tasks"
        with covey.VM() as one, covey.VM() as two:
            self.vm.mcast([1, 2], [one.tid, two.tid], 3)
            self.vm.cast("both", [one.tid, two.tid], 3)
            self.vm.cast("ordered", [one.tid, two.tid], 3, total=True)
            for other in (one, two):
                self.assertEqual([other.recv(self.vm.tid, 3, 30) for _ in range(3)], [[1, 2], "both", "ordered"])

    def test_threads(self):
        "several threads use one handle"
        def run(number, bad):
            for i in range(200):
                self.vm.send((number, i), self.vm.tid, 100 + number)
                if self.vm.recv(tag=100 + number) != (number, i):
                    bad.append(i)
        bad = []
        threads = [threading.Thread(target=run, args=(n, bad)) for n in range(4)]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        self.assertEqual(bad, [])

    def test_gil(self):
        "other threads run while one waits"
        waiter = threading.Thread(target=lambda: self.vm.recv(tag=55))
        waiter.start()
        began = time.monotonic()
        sum(range(100_000))
        self.vm.send(1, self.vm.tid, 55)
        waiter.join(30)
        self.assertFalse(waiter.is_alive())
        self.assertLess(time.monotonic() - began, 25)

    def test_fork(self):
        "a child of fork() has no part in the VM, and may join anew"
        child = os.fork()
        if child == 0:
            code = 1
            try:
                self.vm.send(1, 1)
            except covey.CoveyError:
                mine = covey.join()
                code = 0 if mine.tid > 0 else 2
                mine.leave()
            os._exit(code)
        self.assertEqual(os.waitpid(child, 0)[1], 0)
        self.vm.send("alive", self.vm.tid, 6)
        self.assertEqual(self.vm.recv(tag=6), "alive")


INTERRUPTED = {
    "recv": "vm.recv()",
    "Recv": "vm.Recv(numpy.zeros(3))",
    "probe": "vm.probe()",
    "wait": "vm.irecv().wait()",
    "wait_any": "covey.wait_any([vm.irecv(), vm.irecv()])",
    "wait_all": "covey.wait_all([vm.irecv()])",
    "send": "[vm.Send(numpy.zeros(1 << 22), other.tid) for _ in range(9)]",
    "patiently": "covey._core.patiently(covey._core.lib.covey_recv, vm._handle, -1, 1234, -1, m)",
}


class Interrupted(unittest.TestCase):
    """Each wait is ended by SIGINT: Ctrl-C."""


def _interrupted(what):
    def test(self):
        program = textwrap.dedent("""
            import covey, numpy, os
            vm, other = covey.join(), covey.VM()
            m = covey._core.ffi.new("covey_msg_t **")
            print("ready", flush=True)
            try:
                {}
            except KeyboardInterrupt:
                print("interrupted", flush=True)
            vm.send("usable", vm.tid, 5)
            print(vm.recv(tag=5), flush=True)
            os._exit(0)  # leaving would wait for the interrupted sends
        """).format(INTERRUPTED[what])
        child = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True)
        self.assertEqual(child.stdout.readline(), "ready\n")
        time.sleep(0.3)  # it may be before the wait or in it: both must end
        child.send_signal(signal.SIGINT)
        self.assertEqual(child.stdout.readline(), "interrupted\n")
        self.assertEqual(child.stdout.readline(), "usable\n")
        child.stdout.close()
        self.assertEqual(child.wait(60), 0)
    test.__doc__ = f"Ctrl-C ends {what}"
    return test


for _what in INTERRUPTED:
    setattr(Interrupted, f"test_{_what}", _interrupted(_what))

if __name__ == "__main__":
    unittest.main()
