/* bag.cpp - work lies in a bag of the VM: whoever is free takes an item. What a worker that dies
 * held, others get.
 *
 *     covey run -n 4 ./bag
 *
 * Try: `covey bags` on another console; kill a worker with `covey kill` while it works.
 */
#include <covey.hpp>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <string>

enum { ITEMS = 20 };

static int number_at(const void *bytes)
{
    int number;
    std::memcpy(&number, bytes, sizeof number);
    return number;
}

int main()
try {
    const covey::vm vm = covey::join().value_or_throw();
    const covey::team team = vm.team_world().value_or_throw();
    const int rank = team.rank();
    covey_tid_t first = vm.mytid();
    team.bcast(0, first).value_or_throw();
    const std::string name = "example." + std::to_string(first);
    if (rank == 0) {
        const covey::bag bag = vm.bag_create(name.c_str()).value_or_throw();
        for (int i = 0; i < ITEMS; i++)
            bag.put(0, i).value_or_throw();
        bag.close().value_or_throw();
        team.barrier().value_or_throw();
        int count = 0, last = 0;
        struct covey_bag_result results[5];
        while (const int n = bag.result(COVEY_FOREVER, results).value_or_throw())
            for (int i = 0; i < n; i++, count++)
                last = std::max(last, number_at(results[i].bytes));
        std::printf("%d results, the last is %d\n", count, last);
        team.barrier().value_or_throw();
        return 0;
    }
    team.barrier().value_or_throw(); /* now it is there */
    const covey::bag bag = vm.bag_attach(name.c_str()).value_or_throw();
    struct covey_bag_item item[1];
    while (bag.take(COVEY_FOREVER, item).value_or_throw() > 0) {
        const int number = number_at(item[0].bytes);
        bag.done(item[0], number * number).value_or_throw();
    }
    team.barrier().value_or_throw();
    return 0;
} catch (const covey::failure &e) {
    std::fprintf(stderr, "bag: %s\n", e.what());
    return 1;
}
