"""pingpong.py - how long a message takes to the other task and back, by its size.

    covey run -n 2 python3 -m covey.examples.pingpong

Try: both tasks on one host (--host h0), other routes (--route tcp), and `covey bench pingpong`.
"""
import time

import covey
import numpy

ROUNDS = 20
team = covey.join().world()
for size in 8, 1024, 131072, 1048576:
    array = numpy.zeros(size, numpy.uint8)
    if team.rank == 0:
        began = time.perf_counter()
        for _ in range(ROUNDS):
            team.Send(array, 1)
            team.Recv(array, 1)
        seconds = (time.perf_counter() - began) / ROUNDS / 2
        print(f"{size:8} bytes: {seconds * 1e6:9.1f} us, {size / seconds / 1e6:8.1f} MB/s")
    elif team.rank == 1:
        for _ in range(ROUNDS):
            team.Recv(array, 0)
            team.Send(array, 0)
