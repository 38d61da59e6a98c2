/* scatter_gather.cpp - the root's array in equal blocks to all; each works at its own; the root
 * gathers them.
 *
 *     covey run -n 4 ./scatter_gather
 *
 * Try: 10 numbers for 4 tasks, with scatterv() and gatherv(), which take a count for each rank.
 */
#include <covey.hpp>

#include <cstdio>
#include <vector>

enum { EACH = 3 };

int main()
try {
    const covey::vm vm = covey::join().value_or_throw();
    const covey::team team = vm.team_world().value_or_throw();
    const int rank = team.rank(), size = team.size();
    std::vector<double> whole(rank == 0 ? EACH * size : 0), block(EACH), squares(whole);
    for (std::size_t i = 0; i < whole.size(); i++)
        whole[i] = static_cast<double>(i);
    team.scatter(0, whole, block).value_or_throw();
    for (double &number : block)
        number *= number;
    team.gather(0, block, squares).value_or_throw();
    for (std::size_t i = 0; i < squares.size(); i++)
        std::printf("%s%.0f", i == 0 ? "squares: [" : ", ", squares[i]);
    std::printf(rank == 0 ? "]\n" : "");
    return 0;
} catch (const covey::failure &e) {
    std::fprintf(stderr, "scatter_gather: %s\n", e.what());
    return 1;
}
