"""ring.py - a message goes round: each task receives it from the one before, and adds its rank.

    covey run -n 4 python3 -m covey.examples.ring

Try: let it go round 1000 times, and divide the time by the number of messages.
"""
import covey

team = covey.join().world()
after, before = (team.rank + 1) % team.size, (team.rank - 1) % team.size
if team.rank == 0:
    team.send([0], after)
    print("round the ring came", team.recv(before))
else:
    team.send(team.recv(before) + [team.rank], after)
