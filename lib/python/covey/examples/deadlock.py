"""deadlock.py - everyone waits for the one before and sends only then: nobody ever gets anything.

    covey run -n 4 python3 -m covey.examples.deadlock

Try: a longer wait (give it 60), and see who waits for whom by `covey ps` and `covey top`. It is cured by an order:
rank 0 sends first, or sendrecv().
"""
import sys

import covey

wait_s = int(sys.argv[1]) if len(sys.argv) > 1 else 1
team = covey.join().world()
after, before = (team.rank + 1) % team.size, (team.rank - 1) % team.size
try:
    team.send(team.recv(before, timeout=wait_s), after)
except covey.TimedOut:
    print(f"task {team.rank} waited in vain for task {before}")
team.barrier()
got = team.sendrecv(team.rank, after, before)  # sends without waiting for what it receives
if team.rank == 0:
    print("with sendrecv task 0 got", got)
