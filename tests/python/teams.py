"""Teams, collective calls on arrays and objects, user operations, groups, exchange."""
import operator
import os
import time
import unittest

import covey
import members
import numpy as np

DTYPES = "i1 i2 i4 i8 u1 u2 u4 u8 f4 f8 c8 c16".split()


def same(a, b):
    np.testing.assert_array_equal(a, b)


# ---- what members do: an assertion that fails ends the task with a bad status

def arrays():
    team = covey.join().world()
    rank, size = team.rank, team.size
    assert size == 4 and team.tid(rank) == covey.join().tid and team.rank_of(team.tid(2)) == 2
    for dtype in DTYPES:
        mine = (np.arange(6) + rank).astype(dtype)
        total = (6 * np.zeros(6) + sum(np.arange(6) + r for r in range(size))).astype(dtype)
        a = np.arange(6).astype(dtype) if rank == 1 else np.zeros(6, dtype)
        team.Bcast(a, root=1)
        same(a, np.arange(6).astype(dtype))
        whole = np.concatenate([(np.arange(6) + r).astype(dtype) for r in range(size)])
        back = np.zeros(6, dtype)
        team.Scatter(whole if rank == 2 else None, back, root=2)
        same(back, mine)
        got = np.zeros((size, 6), dtype)
        team.Gather(mine, got if rank == 0 else None)
        if rank == 0:
            same(got.ravel(), whole)
        got[:] = 0
        team.Allgather(mine, got)
        same(got.ravel(), whole)
        swapped = np.zeros((size, 6), dtype)
        team.Alltoall(np.stack([(mine + r).astype(dtype) for r in range(size)]), swapped)
        same(swapped, np.stack([(np.arange(6) + r + rank).astype(dtype) for r in range(size)]))
        result = np.zeros(6, dtype)
        team.Reduce(mine, result, root=3)
        if rank == 3:
            same(result, total)
        team.Allreduce(mine, result)
        same(result, total)
        team.Scan(mine, result)
        same(result, sum(np.arange(6) + r for r in range(rank + 1)).astype(dtype))
        team.Exscan(mine, result)
        if rank > 0:
            same(result, sum(np.arange(6) + r for r in range(rank)).astype(dtype))
        part = np.zeros(3, dtype)
        counts = [3, 0, 2, 1]
        team.Reduce_scatter(mine, part, counts)
        start = sum(counts[:rank])
        same(part[:counts[rank]], total[start:start + counts[rank]])
    team.Barrier()


def uneven():
    team = covey.join().world()
    rank, size = team.rank, team.size
    counts = [r + 1 for r in range(size)]
    whole = np.concatenate([np.full(r + 1, float(r)) for r in range(size)])
    part = np.zeros(rank + 1)
    team.Scatterv(whole if rank == 0 else None, part, counts)
    same(part, np.full(rank + 1, float(rank)))
    got = np.zeros(whole.size)
    team.Gatherv(part, got if rank == 1 else None, counts, root=1)
    if rank == 1:
        same(got, whole)
    got[:] = 0
    team.Allgatherv(part, got, counts)
    same(got, whole)
    send = np.concatenate([np.full(rank + r, 10.0 * rank + r) for r in range(size)])
    recv = np.zeros(send.size)
    team.Alltoallv(send, [rank + r for r in range(size)], recv, [rank + r for r in range(size)])
    same(recv, np.concatenate([np.full(rank + r, 10.0 * r + rank) for r in range(size)]))
    come = team.exchange({(rank + 1) % size: np.full(1000 + rank, rank, "i4"), rank: np.arange(3, dtype="i4")})
    before = (rank - 1) % size
    assert set(come) == {before, rank}, come
    same(come[before], np.full(1000 + before, before, "i4"))
    assert team.exchange({}) == {}


def in_place():
    team = covey.join().world()
    rank, size = team.rank, team.size
    a = np.full(5, rank + 1.0)
    team.Allreduce(None, a)
    same(a, np.full(5, 10.0))
    team.Allreduce(a, a, op="max")
    same(a, np.full(5, 10.0))
    whole = np.zeros((size, 2))
    whole[rank] = rank
    team.Allgather(None, whole)
    same(whole[:, 0], np.arange(size))
    rows = np.full((size, 2), rank, "i4")
    team.Gather(None if rank == 0 else rows[rank], rows if rank == 0 else None)
    if rank == 0:
        same(rows[:, 1], np.arange(size))
    a = np.full(3, rank + 1)
    team.Reduce(None if rank == 0 else a, a, root=0)
    if rank == 0:
        same(a, np.full(3, 10))


def operations():
    vm = covey.join()
    team = vm.world()
    rank, size = team.rank, team.size
    for op, expected in (("prod", 24), ("min", 1), ("max", 4), ("band", 0), ("bor", 7), ("bxor", 4), ("land", 1)):
        result = np.zeros(4, "i8")
        team.Allreduce(np.full(4, rank + 1), result, op=op)
        same(result, np.full(4, expected))
    pairs = np.array([[(rank + 2) % size, rank]], "f8")
    least = np.zeros((1, 2))
    team.Allreduce(pairs, least, op="minloc")
    same(least, [[0, 2]])
    longest = vm.op(lambda a, b: np.where(np.abs(a) >= np.abs(b), a, b))
    for count in (3, 100_000):
        result = np.zeros(count)
        team.Allreduce(np.full(count, -1.0 - rank), result, op=longest)
        same(result, np.full(count, -4.0))
    times = vm.op(lambda a, b: (a.reshape(-1, 2, 2) @ b.reshape(-1, 2, 2)).reshape(-1, 4), commutes=False, grain=4)
    matrices = [np.array([[1.0, r], [0.5, 1.0]]) for r in range(size)]
    result = np.zeros((2, 2))
    team.Allreduce(matrices[rank], result, op=times)
    np.testing.assert_allclose(result, matrices[0] @ matrices[1] @ matrices[2] @ matrices[3])
    bad = vm.op(lambda a, b: 1 / 0)
    try:
        team.Allreduce(np.zeros(2), np.zeros(2), op=bad)
        raise AssertionError("an operation that raises was not told")
    except ZeroDivisionError:
        pass


def objects():
    team = covey.join().world()
    rank, size = team.rank, team.size
    assert team.bcast({"from": rank} if rank == 2 else None, root=2) == {"from": 2}
    assert team.gather("x" * rank, root=1) == (["", "x", "xx", "xxx"] if rank == 1 else None)
    assert team.allgather((rank, None)) == [(r, None) for r in range(size)]
    assert team.scatter([f"to {r}" for r in range(size)] if rank == 0 else None) == f"to {rank}"
    assert team.alltoall([(rank, r) for r in range(size)]) == [(r, rank) for r in range(size)]
    assert team.reduce([rank], root=3) == ([0, 1, 2, 3] if rank == 3 else None)
    assert team.allreduce(rank + 1, operator.mul) == 24
    a = team.bcast(np.arange(1e5) if rank == 0 else None)
    a += 1
    assert a[-1] == 1e5
    # by rank
    right, left = (rank + 1) % size, (rank - 1) % size
    assert team.sendrecv(("hello", rank), right, left) == ("hello", left)
    into, status = np.zeros(3), covey.Status()
    sending = team.Isend(np.full(3, float(rank)), right, 5)
    assert team.Recv(into, tag=5, status=status) == 3 and status.rank == left
    sending.wait()
    same(into, np.full(3, float(left)))
    request = team.irecv()
    team.send(rank, left)
    assert request.wait() == right
    # under way while we compute
    requests = [team.Iallreduce(np.full(10, rank), np.zeros(10, int)) for _ in range(3)]
    covey.wait_all(requests)
    half = team.split(rank % 2, -rank)
    assert (half.size, half.rank) == (2, 1 if rank < 2 else 0)
    assert half.allgather(rank) == ([2, 0] if rank % 2 == 0 else [3, 1])
    nothing = team.split(0 if rank == 0 else -1)
    assert (nothing is not None) == (rank == 0)
    assert team.algorithm("bcast", 8) != ""


def breaks():
    team = covey.join().world()
    if team.rank == 3:
        os._exit(5)
    try:
        team.Allreduce(np.zeros(3), np.zeros(3))
        raise AssertionError("nobody ended")
    except covey.TaskGone:
        pass
    try:
        team.Barrier()
        raise AssertionError("the team is not broken")
    except covey.CoveyError:
        pass


def times_out():
    team = covey.join().world()
    if team.rank == 0:
        covey.join().recv(tag=1)  # until the others gave up
        return
    team.timeout = 0.2
    try:
        team.Barrier()
        raise AssertionError("it did not wait")
    except covey.CoveyError as error:
        assert isinstance(error, (covey.TimedOut, covey.Canceled)), error
    covey.join().send(1, team.tid(0), 1)


def refused():
    team = covey.join().world()
    for call in (lambda: team.Allreduce(np.zeros(3), np.zeros(3, "f4")), lambda: team.Bcast(np.zeros((4, 4))[:, 0]),
                 lambda: team.Allreduce(np.zeros(3), np.zeros(2)), lambda: team.Allgather(np.zeros(3), np.zeros(11)),
                 lambda: team.Allreduce(np.zeros(3), np.zeros(3), op="mean"), lambda: team.alltoall([1, 2])):
        try:
            call()
            raise AssertionError("it was not refused")
        except (TypeError, BufferError, ValueError):
            pass
    team.Barrier()


def windows():
    team = covey.join().world()
    rank, size = team.rank, team.size
    after, before = (rank + 1) % size, (rank - 1) % size
    with team.window(8 * 10, signals=2) as window:
        mine = window.part().view("f8")
        assert mine.size == 10 and not mine.any() and window.size(after) == 80
        team.Barrier()
        window.put(np.full(3, float(rank)), after, 8 * 2)
        window.fence()
        same(mine, [0, 0] + [before] * 3 + [0] * 5)
        team.Barrier()
        got = np.zeros(3)
        window.get(got, before, 8 * 2)
        window.flush(before)
        same(got, [(before - 1) % size] * 3)
        window.put(np.array([rank + 0.5]), after)
        window.signal(after, 1)
        window.wait(1, 1, 60)
        assert mine[0] == before + 0.5
        fails(covey.TimedOut, window.wait, 2, 1, 0.01)
        for _ in range(5):  # without the lock additions would get lost
            with window.lock(0):
                count = np.zeros(1)
                window.get(count, 0, 8 * 9)
                window.flush(0)
                window.put(count + 1, 0, 8 * 9)
        team.Barrier()
        if rank == 0:
            assert mine[9] == 5 * size, mine
        with window.lock(0, shared=True):
            window.get(count, 0, 8 * 9)
        assert count[0] == 5 * size
        fails(covey.InvalidArgument, window.put, np.zeros(3), after, 8 * 8)  # beyond its part
        fails(covey.InvalidArgument, window.put, np.zeros(3), size)
        fails(covey.InvalidArgument, window.flush, size)
        fails(BufferError, window.put, np.zeros((4, 4))[:, 1], after)
        fails(BufferError, window.free)  # `mine` is its memory
        del mine
        team.Barrier()
    fails(covey.InvalidArgument, window.fence)


def fails(kind, call, *args):
    try:
        call(*args)
    except kind:
        return
    raise AssertionError(f"{call} was not refused")


def networks():
    vm = covey.join()
    team = vm.world()
    net = covey.Topology.parse("switch a b\nlink a b 100M\n" + "".join(f"host h{i} {'ab'[i % 2]} 1G\n" for i in range(4)))
    assert [n.name for n in net.nodes if not n.is_switch] == ["h0", "h1", "h2", "h3"]
    assert (net.links[0].a, net.links[0].b, net.links[0].rate) == ("a", "b", 10 ** 8)
    assert covey.Topology.parse(net.text("file")).links == net.links and "h3" in str(net)
    team.set_topology(net)
    assert all(team.force("bcast", name) in (True, False) for name in team.algorithms("bcast")) and team.force("bcast")
    send, recv = np.full(team.size, float(team.rank)), np.zeros(team.size)
    team.Alltoall(send, recv)
    same(recv, np.arange(team.size))
    team.set_topology(None)
    if team.rank == 0:
        assert vm.topology() is None
        vm.set_topology(net)
        assert vm.topology().links == net.links
        vm.set_topology(None)
        fails(covey.InvalidArgument, covey.Topology.parse, "host h0 nowhere")
        fails(ValueError, net.text, "picture")
    team.Barrier()


class Tensor:
    """An array of another library: it has DLPack, and no buffer."""

    def __init__(self, array, device=1):
        self.array, self.device = array, device

    def __dlpack__(self, **options):
        return self.array.__dlpack__(**options)

    def __dlpack_device__(self):
        return self.device, 0


def tensors():
    team = covey.join().world()
    a, b = np.arange(5.0) + team.rank, np.zeros(5)
    team.Allreduce(Tensor(a), Tensor(b))
    same(b, sum(np.arange(5.0) + r for r in range(team.size)))
    team.Isend(Tensor(a), team.rank).wait()
    assert team.Recv(Tensor(b), team.rank) == 5
    same(a, b)
    fails(BufferError, team.Isend, Tensor(a, 2), 0)  # on a graphics processor
    fails(BufferError, team.Isend, Tensor(np.zeros((4, 4))[:, 1]), 0)
    fails(TypeError, team.Isend, Tensor(np.zeros(3, "f2")), 0)
    team.Bcast(memoryview(b), 0)
    team.Barrier()


def groups():
    vm = covey.join()
    with vm.group("singers") as group:
        team = group.team(4, 60)
        assert team.rank == group.instance
        group.barrier(4, 60)
        assert sorted(group.members().values()) == sorted(team.tid(r) for r in range(4)) and group.size == 4
        if group.instance == 0:
            group.bcast("la", tag=3)
        else:
            assert vm.recv(tag=3) == "la"
        group.bcast(group.instance, tag=4, total=True)
        heard = [vm.recv(tag=4) for _ in range(4)]
        assert team.allgather(heard) == [heard] * 4, heard
        group.barrier(4, 60)


class Teams(unittest.TestCase):
    pass


def _test(function, text, ends=None):
    def test(self):
        tids = members.start("teams", function, 4)
        got = [(n.exit_kind, n.value) for n in members.finish(tids)]
        self.assertEqual(got, ends or [(1, 0)] * 4)
    test.__doc__ = text
    setattr(Teams, f"test_{function}", test)


_test("arrays", "each collective call with arrays of every type")
_test("uneven", "arrays of uneven sizes, and an exchange")
_test("in_place", "arrays in place")
_test("operations", "operations: the library's, and the program's own in order and with a grain")
_test("objects", "collective calls on objects, messages by rank, requests, split")
_test("breaks", "a member that dies breaks the team, and nobody hangs", [(1, 0)] * 3 + [(1, 5)])
_test("times_out", "a call that runs out of time is given up for all")
_test("refused", "what is wrong at one member raises before anything is sent")
_test("windows", "windows: put, get, locks, signals, and what is wrong")
_test("networks", "topologies and algorithms")
_test("tensors", "arrays by DLPack, and those that are refused")
_test("groups", "groups: members, barrier, casts, and a team of one")


class Alone(unittest.TestCase):
    def test_one(self):
        "a team of the caller alone"
        vm = covey.join()
        with vm.team([vm.tid]) as team:
            a = np.arange(3.0)
            team.Allreduce(a, a)
            same(a, np.arange(3.0))
            self.assertEqual(team.allgather("me"), ["me"])
        with self.assertRaises(covey.InvalidArgument):
            team.Barrier()
        with self.assertRaises(covey.CoveyError):
            vm.world()

    def test_interrupt(self):
        "Ctrl-C ends a call that others do not make"
        import signal
        import threading
        vm = covey.join()
        with covey.VM() as other:
            made = []
            thread = threading.Thread(target=lambda: made.append(other.team([vm.tid, other.tid])))
            thread.start()
            team = vm.team([vm.tid, other.tid])
            thread.join()
            threading.Timer(0.3, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
            began = time.monotonic()
            with self.assertRaises(KeyboardInterrupt):
                team.Barrier()
            self.assertLess(time.monotonic() - began, 30)
            with self.assertRaises(covey.CoveyError):
                team.Barrier()


if __name__ == "__main__":
    unittest.main()
