"""valgrind.py - a task that uses what the extension has, some of it wrongly; run under valgrind. Says "done" at its end."""
import gc
import threading

import covey
import numpy

vm = covey.VM()
other = covey.VM()
me = vm.tid


def refused(kind, call, *args, **options):
    try:
        call(*args, **options)
    except kind:
        return
    raise AssertionError(f"{call} was not refused")


def messages():
    for obj in (1, "text", {"a": numpy.arange(1000.0)}, [numpy.ones((3, 4), "f4"), None], lambda x: x):
        vm.send(obj, me, 1)
        vm.recv(me, 1)
    a, b = numpy.arange(100000.0), numpy.zeros(100000)
    for _ in range(3):
        vm.Send(a, other.tid, 2)
        other.Recv(b, me, 2)
    kept = [vm.isend(b"bytes", me, 3), vm.irecv(me, 3), vm.Isend(a, me, 4), vm.Irecv(b, me, 4)]
    covey.wait_all(kept)
    waiting = vm.irecv(me, 5)
    assert waiting.cancel()
    refused(covey.Canceled, waiting.wait)
    vm.irecv(me, 5)  # nobody waits for it
    refused(covey.TimedOut, vm.recv, me, 5, timeout=0.01)
    refused(covey.TaskGone, vm.Send, a, me + 99)
    refused(TypeError, vm.Send, numpy.zeros(3, "f2"), me)
    refused(BufferError, vm.Send, a[::2], me)
    m = covey.Message().pack(a, "words", b"\0\1", covey.Message().pack("inside"))
    vm.send_message(m, me, 6)
    got = vm.recv_message(me, 6)
    array, _, _, inner = (got.unpack() for _ in range(4))
    assert inner.unpack() == "inside"
    refused(covey.EndOfMessage, got.unpack)
    del got, m
    gc.collect()
    assert array[-1] == a[-1]  # it lies in a message that nobody else has
    vm.Send(a, me, 7)
    refused(covey.Truncated, vm.Recv, numpy.zeros(3), me, 7)
    refused(covey.WrongType, vm.recv, me, 7)


def member(one, results):
    team = one.team([me, other.tid])
    team.barrier()
    a, b = numpy.full(1000, team.rank + 1.0), numpy.zeros(1000)
    team.Allreduce(a, b)
    team.Allreduce(a, b, one.op(lambda x, y: x + y))
    team.Bcast(a, 1)
    team.Iallreduce(a, b, "max").wait()
    team.Alltoall(a, b)
    team.sendrecv([team.rank], 1 - team.rank, 1 - team.rank)
    results.append((team.allgather({"rank": team.rank}), team.bcast(b, 0), team.alltoall(["x", a]), team.allreduce(1)))
    refused(ValueError, team.Allreduce, a, b, "none")
    team.exchange({1 - team.rank: a[:10]})
    team.barrier()
    team.free()
    refused(covey.InvalidArgument, team.barrier)


def teams():
    results = []
    threads = [threading.Thread(target=member, args=(one, results)) for one in (vm, other)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(results) == 2


def services():
    with vm.lock("door"):
        pass
    with vm.session("talk") as session:
        session.put(b"value", session.get()[0])
    with vm.group("singers") as group:
        group.members()
    with vm.bag("work", create=True) as bag:
        for number in range(5):
            bag.put(number)
        bag.close()
        for item in bag.items():
            bag.done(item, item.value ** 2)
        assert sum(result.value for result in bag.results()) == 30
    vm.hosts(), vm.tasks(), vm.load(), vm.timing(), vm.task_name(me)
    refused(covey.NotFound, vm.bag, "nowhere")
    refused(covey.NotFound, vm.spawn, ["/no/such/program"])
    tid, = vm.spawn(["true"], env={"A": "b"})
    vm.notify("task", 9, [tid])
    assert vm.recv_notice(9).value == 0


def executor():
    with covey.Executor(1, python_exe="/usr/bin/python3") as one:
        assert list(one.map(abs, range(-20, 0), chunksize=5)) == list(range(20, 0, -1))
        refused(ZeroDivisionError, one.submit(divmod, 1, 0).result)


for part in (messages, teams, services, executor):
    part()
    print(part.__name__, flush=True)
other.leave()
vm.leave()
gc.collect()
print("done", flush=True)
