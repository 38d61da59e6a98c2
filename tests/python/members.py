"""members.py FUNCTION - a task that a test spawned: runs the function of this name of the module in $COVEY_TEST_MODULE.

`start(module, function, n)` spawns n of them; `finish(vm, tids)` waits for their ends, which must be good ones.
"""
import importlib
import os
import sys

import covey

TAG_ENDED = 4711


def start(module, function, n=1, **options):
    vm = covey.join()
    options["env"] = {"COVEY_TEST_MODULE": module, "PYTHONPATH": os.environ["PYTHONPATH"]}
    tids = vm.spawn([sys.executable, os.path.abspath(__file__), function], n, **options)
    assert min(tids) > 0, tids
    vm.notify("task", TAG_ENDED, tids)
    return tids


def finish(tids, timeout=120):
    """The notices of their ends, by tid. (what they printed as errors is in the log)"""
    vm = covey.join()
    ends = {}
    while len(ends) < len(tids):
        notice = vm.recv_notice(TAG_ENDED, timeout)
        ends[notice.tid] = notice
    return [ends[tid] for tid in tids]


def all_well(tids, timeout=120):
    return all((n.exit_kind, n.value) == (1, 0) for n in finish(tids, timeout))


if __name__ == "__main__":
    getattr(importlib.import_module(os.environ["COVEY_TEST_MODULE"]), sys.argv[1])()
