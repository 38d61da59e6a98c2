"""python_load.py covey|mpi4py SAMPLE_MS LIMIT_S CALL:BYTES... - calls of a task in Python, as beside_load.h times them in C.

The same lines come out of it: call, bytes, repetitions, seconds and seconds of processor time. Calls are ping (an array to
and fro), bcast, allreduce (of doubles), alltoall, and object: an array to and fro as an object, by pickle.
"""
import sys
import time

import numpy

REPETITIONS_MIN, REPETITIONS_MAX = 8, 1000000
PATIENCE, GROWTH_MIN, GROWTH_MAX = 4, 2, 16  # as in beside_load.c
TAG = 1


class Side:
    """What both systems are called by alike: self.team with its calls, and self.put, self.get of arrays, self.at(rank)."""

    def ping(self, send, recv, peer, repetitions):
        put, get, peer, first = self.put, self.get, self.at(peer), self.rank % 2 == 0
        for _ in range(repetitions):
            if first:
                put(send, peer, TAG)
            get(recv, peer, TAG)
            if not first:
                put(send, peer, TAG)

    def barrier(self):
        self.team.Barrier()

    def share(self, mine, all_of):
        self.team.Allgather(mine, all_of)

    def calls(self):
        return self.team.Bcast, self.team.Allreduce, self.team.Alltoall


class Covey(Side):
    def __init__(self):
        import covey

        self.vm = covey.join()
        self.team = self.vm.world()
        self.rank, self.size = self.team.rank, self.team.size
        self.put, self.get, self.at = self.vm.Send, self.vm.Recv, self.team.tid  # by tid, as beside_covey.c has them

    def object(self, send, peer, repetitions):
        put, get, peer, first = self.vm.send, self.vm.recv, self.at(peer), self.rank % 2 == 0
        for _ in range(repetitions):
            if first:
                put(send, peer, TAG)
            got = get(peer, TAG)
            if not first:
                put(send, peer, TAG)
        return got


class Mpi(Side):
    def __init__(self):
        from mpi4py import MPI

        self.team = MPI.COMM_WORLD
        self.rank, self.size = self.team.rank, self.team.size
        self.put, self.get, self.at = self.team.Send, self.team.Recv, int

    def object(self, send, peer, repetitions):
        put, get, first = self.team.send, self.team.recv, self.rank % 2 == 0
        for _ in range(repetitions):
            if first:
                put(send, peer, TAG)
            got = get(None, peer, TAG)
            if not first:
                put(send, peer, TAG)
        return got


def expect(is_right):
    if not is_right:
        sys.exit("python_load.py: what came is wrong")


class Load:
    """A call with its arrays: begin() fills them, run(n) makes the call so often, check() looks at what came."""

    pair = False

    def __init__(self, system, name, size):
        self.system, self.name, self.bytes, self.rank, self.size = system, name, size, system.rank, system.size
        blocks = self.size if name == "alltoall" else 1
        if name == "allreduce":
            self.send = numpy.arange(size // 8, dtype="f8") % 11 * (self.rank + 1)
        else:
            self.send = numpy.repeat((numpy.arange(blocks) * 13 + self.rank * 7).astype("u1"), size)
        self.recv = numpy.empty_like(self.send)
        self.pair = name in ("ping", "object")
        self.clear()

    def clear(self):
        self.recv[...] = 99
        self.got = self.recv

    def run(self, repetitions):
        if self.pair and self.rank > 1:
            return
        bcast, allreduce, alltoall = self.system.calls()
        if self.name == "ping":
            self.system.ping(self.send, self.recv, self.rank ^ 1, repetitions)
        elif self.name == "object":
            self.got = self.system.object(self.send, self.rank ^ 1, repetitions)
        elif self.name == "bcast":
            array = self.send if self.rank == 0 else self.recv
            for _ in range(repetitions):
                bcast(array, 0)
        elif self.name == "allreduce":
            for _ in range(repetitions):
                allreduce(self.send, self.recv)
        elif self.name == "alltoall":
            for _ in range(repetitions):
                alltoall(self.send, self.recv)
        else:
            sys.exit(f"python_load.py: there is no call {self.name}")

    def check(self):
        if self.pair and self.rank < 2:
            expect((self.got == (self.rank ^ 1) * 7).all())
        elif self.name == "bcast" and self.rank > 0:
            expect((self.recv == 0).all())
        elif self.name == "allreduce":
            expect((self.recv == self.send / (self.rank + 1) * (self.size * (self.size + 1) // 2)).all())
        elif self.name == "alltoall":
            from_all = (numpy.arange(self.size) * 7 + self.rank * 13).astype("u1")
            expect((self.recv == numpy.repeat(from_all, self.bytes)).all())


def take(system, load, repetitions):
    """One sample: seconds of the slowest, processor time of all, the clock of rank 0."""
    system.barrier()
    processor, start = time.process_time(), time.monotonic()
    load.run(repetitions)
    clock = time.monotonic()
    seconds, used = clock - start, time.process_time() - processor
    system.barrier()
    if load.pair and system.rank > 1:
        seconds, used = 0.0, time.process_time() - processor
    all_of = numpy.empty((system.size, 3))
    system.share(numpy.array([seconds, used, clock]), all_of)
    return all_of[:, 0].max(), all_of[:, 1].sum(), all_of[0, 2]


def is_enough(repetitions, seconds, wanted):
    return (repetitions == REPETITIONS_MAX or seconds >= wanted * PATIENCE
            or seconds >= wanted / 2 and repetitions >= REPETITIONS_MIN)


def measure(system, load, wanted):
    load.run(1)
    load.check()
    repetitions = 1
    while True:
        load.clear()
        seconds, processor, clock = take(system, load, repetitions)
        if is_enough(repetitions, seconds, wanted):
            break
        growth = wanted / seconds if seconds > 0 else GROWTH_MAX
        repetitions = min(REPETITIONS_MAX, int(repetitions * min(GROWTH_MAX, max(GROWTH_MIN, growth))))
    load.check()
    if system.rank == 0:
        calls = repetitions * (2 if load.pair else 1)
        print(f"{load.name} {load.bytes} {repetitions} {seconds / calls:.9f} {processor / calls:.9f}", flush=True)
    return clock


def main():
    system = Covey() if sys.argv[1] == "covey" else Mpi()
    wanted, limit = float(sys.argv[2]) / 1000, float(sys.argv[3])
    began = clock = None
    for word in sys.argv[4:]:
        name, _, size = word.partition(":")
        if began is not None and clock > began + limit:
            break
        clock = measure(system, Load(system, name, int(size)), wanted)
        began = clock if began is None else began


if __name__ == "__main__":
    main()
