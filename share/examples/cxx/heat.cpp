/* heat.cpp - heat along a rod: each task has a piece, and gets the edges of its neighbours at each
 * step.
 *
 *     covey run -n 4 ./heat
 *
 * Try: other numbers of tasks: the result has the same bits. Why do the two sends not wait for each
 * other?
 */
#include <covey.hpp>

#include <cmath>
#include <cstdio>
#include <vector>

enum { POINTS = 64, STEPS = 500, EACH = 8, TO_NEXT = 1, TO_LAST = 2 };

int main()
try {
    const covey::vm vm = covey::join().value_or_throw();
    const covey::team team = vm.team_world().value_or_throw();
    const int rank = team.rank(), size = team.size();
    const int first = POINTS * rank / size, n = POINTS * (rank + 1) / size - first;
    std::vector<double> rod(n + 2), next(rod); /* with a point of each neighbour */
    if (rank == 0)
        rod[0] = next[0] = 100; /* one end is kept hot, the other one cold */
    for (int i = 0; i < STEPS; i++) {
        std::vector<covey::request> sends;
        if (rank > 0)
            sends.push_back(team.isend_array(rank - 1, TO_LAST, rod[1]).value_or_throw());
        if (rank < size - 1)
            sends.push_back(team.isend_array(rank + 1, TO_NEXT, rod[n]).value_or_throw());
        if (rank > 0)
            team.recv_array(rank - 1, TO_NEXT, COVEY_FOREVER, rod[0]).value_or_throw();
        if (rank < size - 1)
            team.recv_array(rank + 1, TO_LAST, COVEY_FOREVER, rod[n + 1]).value_or_throw();
        covey::wait_all(sends, COVEY_FOREVER).value_or_throw();
        for (int p = 1; p <= n; p++)
            next[p] = rod[p] + 0.25 * (rod[p - 1] - 2 * rod[p] + rod[p + 1]);
        next[n + 1] = rod[n + 1];
        std::swap(rod, next);
    }
    std::vector<double> all(rank == 0 ? POINTS : 0);
    std::vector<std::size_t> counts(size);
    for (int i = 0; i < size; i++)
        counts[i] = POINTS * (i + 1) / size - POINTS * i / size;
    team.gatherv(0, covey::span(&rod[1], std::size_t(n)), all, counts).value_or_throw();
    for (std::size_t i = 0; i < all.size(); i += EACH)
        std::printf("%s%.4g", i == 0 ? "each eighth point: [" : ", ",
                    std::round(all[i] * 100) / 100);
    std::printf(rank == 0 ? "]\n" : "");
    return 0;
} catch (const covey::failure &e) {
    std::fprintf(stderr, "heat: %s\n", e.what());
    return 1;
}
