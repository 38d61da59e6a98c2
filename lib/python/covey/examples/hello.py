"""hello.py - one program, many tasks: each does the part of the work that its rank says.

    covey run -n 4 python3 -m covey.examples.hello

Try: other numbers of tasks. The order of the lines is not that of the ranks.
"""
import covey

vm = covey.join()
team = vm.world()
mine = list(range(team.rank, 12, team.size))
print(f"hello from task {team.rank} of {team.size} on {vm.host}: my items are {mine}")
