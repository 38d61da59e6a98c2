/* deadlock.cpp - everyone waits for the one before and sends only then: nobody ever gets anything.
 *
 *     covey run -n 4 ./deadlock
 *
 * Try: a wait without a timeout, and see who waits for whom by `covey ps` and `covey top`.
 */
#include <covey.hpp>

#include <cstdio>

enum { TAG = 1, SECOND_US = 1000000 };

int main()
try {
    const covey::vm vm = covey::join().value_or_throw();
    const covey::team team = vm.team_world().value_or_throw();
    const int rank = team.rank(), size = team.size();
    const int after = (rank + 1) % size, before = (rank + size - 1) % size;
    int got = 0;
    if (team.recv_array(before, TAG, SECOND_US, got).code() == COVEY_ETIMEOUT)
        std::printf("task %d waited in vain for task %d\n", rank, before);
    else
        team.send_array(after, TAG, rank).value_or_throw();
    team.barrier().value_or_throw();
    team.sendrecv_array(after, before, TAG, COVEY_FOREVER, rank, got).value_or_throw();
    if (rank == 0)
        std::printf("with sendrecv() task 0 got %d\n", got);
    return 0;
} catch (const covey::failure &e) {
    std::fprintf(stderr, "deadlock: %s\n", e.what());
    return 1;
}
