"""pipeline.py - each task is a stage: while one works at an item, those before it work at later ones.

    covey run -n 4 python3 -m covey.examples.pipeline

Try: a longer loop with `covey run --trace run.trace ...`, then `covey trace run.trace --why`: how do the stages overlap?
"""
import covey

ITEMS = 8
team = covey.join().world()
done = []
for number in range(ITEMS):
    item = number if team.rank == 0 else team.recv(team.rank - 1)
    item = item * 2 + 1  # what a stage does
    if team.rank < team.size - 1:
        team.send(item, team.rank + 1)
    else:
        done.append(item)
if done:
    print("out of the pipeline came", done)
