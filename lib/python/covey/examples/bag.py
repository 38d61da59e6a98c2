"""bag.py - work lies in a bag of the VM: whoever is free takes an item. What a worker that dies held, others get.

    covey run -n 4 python3 -m covey.examples.bag

Try: `covey bags` on another console; kill a worker with `covey kill` while it works.
"""
import covey

vm = covey.join()
team = vm.world()
name = team.bcast(f"example.{vm.tid:x}")
if team.rank == 0:
    with vm.bag(name, create=True) as bag:
        for number in range(20):
            bag.put(number)
        bag.close()
        team.barrier()
        squares = sorted(result.value for result in bag.results())
        print(len(squares), "results, the last is", squares[-1])
        team.barrier()
else:
    team.barrier()  # now it is there
    with vm.bag(name) as bag:
        for item in bag.items():
            bag.done(item, item.value ** 2)
        team.barrier()
