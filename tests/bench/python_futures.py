"""python_futures.py covey|mpi4py WORKERS SECONDS - empty functions a second that an executor's workers run.

map() with its default of one function a message, submit() one by one, and map() with 100 a message: lines of a name and a rate.
Within Covey the caller is one more process, as with mpi4py, which has one rank more than workers.
"""
import sys
import time


def rate(run, wanted):
    """run(n) runs n functions; more and more, until that takes long enough."""
    count = 200
    while True:
        began = time.monotonic()
        run(count)
        seconds = time.monotonic() - began
        if seconds >= wanted / 2:
            return count / seconds
        count = int(count * min(8, max(2, wanted / max(seconds, 1e-9))))


def measure(executor, wanted):
    def submits(count):
        for future in [executor.submit(abs, -1) for _ in range(count)]:
            assert future.result() == 1

    def maps(count, size=1):
        assert sum(executor.map(abs, range(-count, 0), chunksize=size)) == count * (count + 1) // 2

    maps(500)  # its workers are there
    for name, run in (("map", maps), ("submit", submits), ("map100", lambda n: maps(n, 100))):
        print(name, round(rate(run, wanted)), flush=True)


def main():
    system, workers, wanted = sys.argv[1], int(sys.argv[2]), float(sys.argv[3])
    if system == "covey":
        import covey

        with covey.Executor(workers) as executor:
            measure(executor, wanted)
    else:  # run by `mpirun -n WORKERS+1 python3 -m mpi4py.futures`
        from mpi4py.futures import MPIPoolExecutor

        with MPIPoolExecutor(workers) as executor:
            measure(executor, wanted)


if __name__ == "__main__":
    main()
