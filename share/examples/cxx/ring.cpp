/* ring.cpp - a number goes round: each task receives it from the one before, and adds its rank.
 *
 *     covey run -n 4 ./ring
 *
 * Try: let it go round 1000 times, and divide the time by the number of messages.
 */
#include <covey.hpp>

#include <cstdio>
#include <vector>

enum { TAG = 1 };

int main()
try {
    const covey::vm vm = covey::join().value_or_throw();
    const covey::team team = vm.team_world().value_or_throw();
    const int rank = team.rank(), size = team.size();
    const int after = (rank + 1) % size, before = (rank + size - 1) % size;
    std::vector<int> ranks(rank + (rank == 0 ? size : 0));
    if (rank == 0)
        team.send_array(after, TAG, rank).value_or_throw();
    team.recv_array(before, TAG, COVEY_FOREVER, ranks).value_or_throw();
    if (rank > 0) {
        ranks.push_back(rank);
        team.send_array(after, TAG, ranks).value_or_throw();
        return 0;
    }
    std::printf("round the ring came [");
    for (int i = 0; i < size; i++)
        std::printf("%s%d", i == 0 ? "" : ", ", ranks[i]);
    std::printf("]\n");
    return 0;
} catch (const covey::failure &e) {
    std::fprintf(stderr, "ring: %s\n", e.what());
    return 1;
}
