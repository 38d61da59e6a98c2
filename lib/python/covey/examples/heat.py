"""heat.py - heat along a rod: each task has a piece, and gets the edges of its neighbours at each step.

    covey run -n 4 python3 -m covey.examples.heat

Try: with other numbers of tasks the result has the same bits. Why do the two sends not wait for each other?
"""
import covey
import numpy

POINTS, STEPS = 64, 500
team = covey.join().world()
first, last = POINTS * team.rank // team.size, POINTS * (team.rank + 1) // team.size
rod = numpy.zeros(last - first + 2)  # with a point of each neighbour
if team.rank == 0:
    rod[0] = 100.0  # one end is kept hot, the other one cold
for _ in range(STEPS):
    sends = []
    for edge, neighbour in (rod[1:2], team.rank - 1), (rod[-2:-1], team.rank + 1):
        if 0 <= neighbour < team.size:
            sends.append(team.Isend(edge, neighbour))
    if team.rank > 0:
        team.Recv(rod[:1], team.rank - 1)
    if team.rank < team.size - 1:
        team.Recv(rod[-1:], team.rank + 1)
    covey.wait_all(sends)
    rod[1:-1] += 0.25 * (rod[:-2] - 2 * rod[1:-1] + rod[2:])
pieces = team.gather(rod[1:-1])
if team.rank == 0:
    print("each eighth point:", *(f"{point:.2f}" for point in numpy.concatenate(pieces)[::8]))
