"""master_worker.py - rank 0 gives the next piece of work to each worker that has done one.

    covey run -n 4 python3 -m covey.examples.master_worker

Try: count how many pieces each worker did, and let one of them sleep a little at each.
"""
import covey

WORK, STOP = 1, 2
team = covey.join().world()
if team.rank == 0:
    pieces, results, busy = list(range(20)), {}, 0
    for worker in range(1, team.size):
        if pieces:
            team.send(pieces.pop(0), worker, WORK)
            busy += 1
    status = covey.Status()
    while busy:
        piece, square = team.recv(status=status)
        results[piece] = square
        if pieces:
            team.send(pieces.pop(0), status.rank, WORK)
        else:
            busy -= 1
    for worker in range(1, team.size):
        team.send(None, worker, STOP)
    print(f"{len(results)} results, their sum is {sum(results.values())}")
else:
    while (piece := team.recv(0)) is not None:
        team.send((piece, piece * piece), 0)
