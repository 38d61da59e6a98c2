/* barrier.cpp - nobody leaves a barrier before all have come to it.
 *
 *     covey run -n 4 ./barrier
 *
 * Try: leave the barrier out: then the earliest task leaves long before the last one comes.
 */
#include <covey.hpp>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <thread>

int main()
try {
    const covey::vm vm = covey::join().value_or_throw();
    const covey::team team = vm.team_world().value_or_throw();
    const int rank = team.rank();
    const auto now = [] {
        return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch())
            .count();
    };
    std::this_thread::sleep_for(
        std::chrono::milliseconds(100 * rank)); /* they come one after another */
    const double came = now();
    team.barrier().value_or_throw();
    const double left = now();
    double last_came = 0, first_left = 0;
    team.reduce(0, COVEY_OP_MAX, came, last_came).value_or_throw();
    team.reduce(0, COVEY_OP_MIN, left, first_left).value_or_throw();
    if (rank == 0) /* clocks of several hosts differ: these are virtual hosts of one machine */
        std::printf("all had come before the first one left: %s\n",
                    last_came <= first_left ? "True" : "False");
    return 0;
} catch (const covey::failure &e) {
    std::fprintf(stderr, "barrier: %s\n", e.what());
    return 1;
}
