/* master_worker.cpp - rank 0 gives the next piece of work to each worker that has done one.
 *
 *     covey run -n 4 ./master_worker
 *
 * Try: count how many pieces each worker did, and let one of them sleep a little at each.
 */
#include <covey.hpp>

#include <array>
#include <cstdio>
#include <vector>

enum { PIECES = 20, WORK = 1, STOP = 2 };

int main()
try {
    const covey::vm vm = covey::join().value_or_throw();
    const covey::team team = vm.team_world().value_or_throw();
    const int rank = team.rank(), size = team.size();
    if (rank > 0) {
        for (int piece;;) {
            if (team.recv_array(0, COVEY_ANY_TAG, COVEY_FOREVER, piece).value_or_throw() == 0)
                break; /* an array of nothing: there is no more */
            team.send_array(0, WORK, std::array{piece, piece * piece}).value_or_throw();
        }
        return 0;
    }
    int next = 0, busy = 0, results = 0, sum = 0;
    const auto give = [&](int worker) {
        if (next == PIECES) {
            team.send_array(worker, STOP, std::vector<int>()).value_or_throw();
            return;
        }
        team.send_array(worker, WORK, next++).value_or_throw();
        busy++;
    };
    for (int worker = 1; worker < size; worker++)
        give(worker);
    for (std::array<int, 2> result; busy > 0; busy--, results++) {
        const int worker = team.recv_array(COVEY_ANY_RANK, WORK, COVEY_FOREVER, result).code();
        if (worker < 0)
            throw covey::failure(worker, covey_error_text());
        sum += result[1];
        give(worker);
    }
    std::printf("%d results, their sum is %d\n", results, sum);
    return 0;
} catch (const covey::failure &e) {
    std::fprintf(stderr, "master_worker: %s\n", e.what());
    return 1;
}
