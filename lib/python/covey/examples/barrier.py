"""barrier.py - nobody leaves a barrier before all have come to it.

    covey run -n 4 python3 -m covey.examples.barrier

Try: leave the barrier out: then the earliest task leaves long before the last one comes.
"""
import time

import covey

team = covey.join().world()
time.sleep(0.1 * team.rank)  # they come one after another
came = time.time()
team.barrier()
left = time.time()
times = team.gather((came, left))
if team.rank == 0:  # clocks of several hosts differ: these are virtual hosts of one machine
    last_came, first_left = max(t[0] for t in times), min(t[1] for t in times)
    print("all had come before the first one left:", "yes" if last_came <= first_left else "no")
