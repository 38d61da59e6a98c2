"""scatter_gather.py - the root's array in equal blocks to all; each works at its own; the root gathers them.

    covey run -n 4 python3 -m covey.examples.scatter_gather

Try: 10 numbers for 4 tasks, with Scatterv() and Gatherv(), which take a count for each rank.
"""
import covey
import numpy

EACH = 3
team = covey.join().world()
whole = numpy.arange(EACH * team.size, dtype=float) if team.rank == 0 else None
block = numpy.empty(EACH)
team.Scatter(whole, block)
block **= 2
squares = numpy.empty(EACH * team.size) if team.rank == 0 else None
team.Gather(block, squares)
if team.rank == 0:
    print("squares:", squares.astype(int).tolist())
