"""reduce.py - pi as an integral: each task adds up every size-th strip, a reduction the sums of all.

    covey run -n 4 python3 -m covey.examples.reduce

Try: Allreduce(), after which all tasks have the sum; op="max"; an operation of your own by vm.op().
"""
import covey
import numpy

STRIPS = 1_000_000
team = covey.join().world()
x = (numpy.arange(team.rank, STRIPS, team.size) + 0.5) / STRIPS
mine = numpy.array([(4 / (1 + x * x)).sum() / STRIPS])
total = numpy.zeros(1)
team.Reduce(mine, total, "sum")
if team.rank == 0:
    print(f"pi is about {total[0]:.9f}")
