/* hello.cpp - one program, many tasks: each does the part of the work that its rank says.
 *
 *     covey run -n 4 ./hello
 *
 * Try: other numbers of tasks. The order of the lines is not that of the ranks.
 */
#include <covey.hpp>

#include <cstdio>

int main()
try {
    const covey::vm vm = covey::join().value_or_throw();
    const covey::team team = vm.team_world().value_or_throw();
    const int rank = team.rank(), size = team.size();
    std::printf("hello from task %d of %d on %s: my items are [", rank, size, vm.myhost());
    for (int item = rank; item < 12; item += size)
        std::printf("%s%d", item == rank ? "" : ", ", item);
    std::printf("]\n");
    return 0;
} catch (const covey::failure &e) {
    std::fprintf(stderr, "hello: %s\n", e.what());
    return 1;
}
