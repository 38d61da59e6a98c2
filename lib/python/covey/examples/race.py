"""race.py - two tasks read a number, add one and write it: without a lock additions get lost.

    covey run -n 4 python3 -m covey.examples.race

Try: fewer rounds without the pause: the race is still there, but seldom seen.
"""
import time

import covey

ROUNDS = 5
vm = covey.join()
team = vm.world()


def write(session, count):
    """In place of whatever stands there now."""
    while not session.put(str(count).encode(), session.get()[0]):
        pass


def add(session):
    """Reads, thinks and writes, as if nobody else did: whatever was written meanwhile is lost."""
    count = int(session.get()[1] or 0)
    time.sleep(0.01)
    write(session, count + 1)


with vm.session("race") as session:
    for locked in False, True:
        team.barrier()
        if team.rank == 0:
            write(session, 0)
        team.barrier()
        for _ in range(ROUNDS):
            if locked:
                with vm.lock("race"):
                    add(session)
            else:
                add(session)
        team.barrier()
        if team.rank == 0:
            count, whole = int(session.get()[1]), ROUNDS * team.size
            print("with" if locked else "without", f"a lock: {count} of {whole}" + ", the others are lost" * (count < whole))
    team.barrier()
