"""python3 -m covey.demos.sort - sorts random keys that lie at several tasks by samples, as a team.

Each task sorts its own keys, and all tell each other a sample of them. The samples say which range of keys
belongs to which task; the tasks exchange their keys, and merge what came.
"""
from __future__ import annotations

import sys
import time
from typing import Any

import numpy as np

import covey
from covey import demos
from covey._executor import module_folders

SAMPLES = 64  # of each task for each task: with more the ranges are more equal
TAG_END = 1


def sample_sort(team: covey.Team, keys: Any) -> Any:
    """The keys of all members, sorted: rank 0 has the smallest, the others what follows."""
    keys.sort()
    per_task = SAMPLES * team.size
    places = ((np.arange(per_task) + 0.5) * (len(keys) / per_task)).astype(int)
    sample = keys[places] if len(keys) else np.zeros(per_task, keys.dtype)
    samples = np.empty(per_task * team.size, keys.dtype)
    team.Allgather(sample, samples)
    samples.sort()
    edges = np.searchsorted(keys, samples[per_task::per_task])
    counts = np.diff(edges, prepend=0, append=len(keys))
    coming = np.empty_like(counts)
    team.Alltoall(counts, coming)
    mine = np.empty(coming.sum(), keys.dtype)
    team.Alltoallv(keys, counts.tolist(), mine, coming.tolist())
    mine.sort(kind="stable")  # of runs that are sorted: it merges them
    return mine


def figures(team: covey.Team, keys: Any) -> list:
    """What sorting does not change: how many keys all members have, their sum and that of their squares."""
    with np.errstate(over="ignore"):
        both = np.array([len(keys), keys.sum(), (keys * keys).sum()], np.int64)
    total = np.zeros_like(both)
    team.Allreduce(both, total)
    return total.tolist()


def in_order(team: covey.Team, keys: Any) -> bool:
    """Whether each member's keys are in order, and no smaller than those of lower ranks."""
    ends = [edge for edge in team.allgather((keys[0], keys[-1]) if len(keys) else ()) for edge in edge]
    well = bool((keys[1:] >= keys[:-1]).all()) and all(a <= b for a, b in zip(ends, ends[1:]))
    return all(team.allgather(well))


def member(options: Any) -> int:
    """What each task does."""
    team = covey.join().world()
    share = options.keys * (team.rank + 1) // team.size - options.keys * team.rank // team.size
    keys = np.random.default_rng([options.seed, team.rank]).integers(-1 << 63, (1 << 63) - 1, share, np.int64)
    before = figures(team, keys)
    team.Barrier()
    began = time.monotonic()
    keys = sample_sort(team, keys)
    team.Barrier()
    seconds = time.monotonic() - began
    most = max(team.allgather(len(keys)))
    if team.rank == 0:
        print(f"sort: {options.keys} keys by {team.size} tasks in {seconds:.3f} s; at most {most} at one", flush=True)
    if not options.check:
        return 0
    right = figures(team, keys) == before and in_order(team, keys)
    if team.rank == 0:
        print("checked: the same keys, in order" if right else "WRONG: not the same keys in order", flush=True)
    return int(not right)


def lead(options: Any) -> int:
    """Starts the tasks and waits for them: 0 if all of them ended well."""
    vm = demos.machine(options)
    count = options.tasks or sum(host.cores for host in vm.hosts())
    program = [sys.executable, "-m", "covey.demos.sort", f"--keys={options.keys}", f"--seed={options.seed}"]
    tids = vm.spawn(program + ["--check"] * options.check, count, tether=True, env={"PYTHONPATH": module_folders()})
    for tid in tids:
        if tid < 0:
            raise covey.CoveyError(f"only {sum(t > 0 for t in tids)} of {count} tasks could be started")
    vm.notify("output", TAG_END, tids)
    vm.notify("task", TAG_END + 1, tids)
    ends = [vm.recv_notice(TAG_END + 1) for _ in tids]
    for _ in tids:
        vm.recv_notice(TAG_END)
    return int(any((end.exit_kind, end.value) != (1, 0) for end in ends))


def main() -> int:
    p = demos.parser("sort", "Sorts random keys by the tasks of a team. `covey run -n N python3 -m covey.demos.sort` starts the tasks, too.")
    p.add_argument("-k", "--keys", type=demos.amount, default=1 << 20, metavar="N", help="how many; 1M")
    p.add_argument("-s", "--seed", type=demos.amount, default=1, help="other keys; 1")
    options = p.parse_args()
    if options.local is None and covey.join().parent is not None:
        return member(options)
    return lead(options)


if __name__ == "__main__":
    demos.run(main)
