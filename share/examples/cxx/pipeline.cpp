/* pipeline.cpp - each task is a stage: while one works at an item, those before it work at later
 * ones.
 *
 *     covey run -n 4 ./pipeline
 *
 * Try: a longer loop with `covey run --trace run.trace ...`, then `covey trace run.trace --why`.
 */
#include <covey.hpp>

#include <cstdio>
#include <vector>

enum { ITEMS = 8, TAG = 1 };

int main()
try {
    const covey::vm vm = covey::join().value_or_throw();
    const covey::team team = vm.team_world().value_or_throw();
    const int rank = team.rank(), size = team.size();
    std::vector<int> done;
    for (int item = 0, i = 0; i < ITEMS; i++) {
        item = i;
        if (rank > 0)
            team.recv_array(rank - 1, TAG, COVEY_FOREVER, item).value_or_throw();
        item = item * 2 + 1; /* what a stage does */
        if (rank < size - 1)
            team.send_array(rank + 1, TAG, item).value_or_throw();
        else
            done.push_back(item);
    }
    for (std::size_t i = 0; i < done.size(); i++)
        std::printf("%s%d", i == 0 ? "out of the pipeline came [" : ", ", done[i]);
    std::printf(done.empty() ? "" : "]\n");
    return 0;
} catch (const covey::failure &e) {
    std::fprintf(stderr, "pipeline: %s\n", e.what());
    return 1;
}
