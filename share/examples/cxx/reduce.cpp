/* reduce.cpp - pi as an integral: each task adds up every size-th strip, a reduction the sums of
 * all.
 *
 *     covey run -n 4 ./reduce
 *
 * Try: allreduce(), after which all tasks have the sum; COVEY_OP_MAX; an operation of your own.
 */
#include <covey.hpp>

#include <cstdio>

enum { STRIPS = 1000000 };

int main()
try {
    const covey::vm vm = covey::join().value_or_throw();
    const covey::team team = vm.team_world().value_or_throw();
    const int rank = team.rank(), size = team.size();
    double mine = 0, total = 0;
    for (int i = rank; i < STRIPS; i += size) {
        const double x = (i + 0.5) / STRIPS;
        mine += 4 / (1 + x * x) / STRIPS;
    }
    team.reduce(0, COVEY_OP_SUM, mine, total).value_or_throw();
    if (rank == 0)
        std::printf("pi is about %.9f\n", total);
    return 0;
} catch (const covey::failure &e) {
    std::fprintf(stderr, "reduce: %s\n", e.what());
    return 1;
}
