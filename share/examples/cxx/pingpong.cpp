/* pingpong.cpp - how long a message takes to the other task and back, by its size.
 *
 *     covey run -n 2 ./pingpong
 *
 * Try: both tasks on one host (--host h0), other routes (--route tcp), and `covey bench pingpong`.
 */
#include <covey.hpp>

#include <chrono>
#include <cstdio>
#include <vector>

enum { ROUNDS = 20, TAG = 1 };

static double now()
{
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch())
        .count();
}

int main()
try {
    const covey::vm vm = covey::join().value_or_throw();
    const covey::team team = vm.team_world().value_or_throw();
    const int rank = team.rank();
    for (const int bytes : {8, 1024, 131072, 1048576}) {
        std::vector<char> array(bytes);
        const double began = now();
        for (int i = 0; i < ROUNDS && rank < 2; i++) {
            if (rank == 0)
                team.send_array(1, TAG, array).value_or_throw();
            team.recv_array(1 - rank, TAG, COVEY_FOREVER, array).value_or_throw();
            if (rank == 1)
                team.send_array(0, TAG, array).value_or_throw();
        }
        const double seconds = (now() - began) / ROUNDS / 2;
        if (rank == 0)
            std::printf("%8d bytes: %9.1f us, %8.1f MB/s\n", bytes, seconds * 1e6,
                        bytes / seconds / 1e6);
    }
    return 0;
} catch (const covey::failure &e) {
    std::fprintf(stderr, "pingpong: %s\n", e.what());
    return 1;
}
