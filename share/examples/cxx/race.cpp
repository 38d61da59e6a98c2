/* race.cpp - tasks read a number, add one and write it: without a lock additions get lost.
 *
 *     covey run -n 4 ./race
 *
 * Try: fewer rounds without the pause: the race is still there, but seldom seen.
 */
#include <covey.hpp>

#include <chrono>
#include <cstdio>
#include <cstring>
#include <thread>

enum { ROUNDS = 5 };

static int number_of(const struct covey_value &value)
{
    int number = 0;
    if (value.bytes == sizeof number)
        std::memcpy(&number, value.value, sizeof number);
    return number;
}

/* Whatever another task wrote meanwhile is lost. */
static void set(const covey::session &session, int number)
{
    struct covey_value value = session.get().value_or_throw();
    value.bytes = sizeof number;
    std::memcpy(value.value, &number, sizeof number);
    session.put(value).value_or_throw();
}

static void add(const covey::session &session)
{
    const int number = number_of(session.get().value_or_throw());
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
    set(session, number + 1);
}

int main()
try {
    const covey::vm vm = covey::join().value_or_throw();
    const covey::team team = vm.team_world().value_or_throw();
    const int rank = team.rank(), size = team.size();
    const covey::session session = vm.session_join("race").value_or_throw();
    for (const bool locked : {false, true}) {
        team.barrier().value_or_throw();
        if (rank == 0)
            set(session, 0);
        team.barrier().value_or_throw();
        for (int i = 0; i < ROUNDS; i++) {
            const auto fence = locked ? vm.lock("race", COVEY_FOREVER).value_or_throw() : 0;
            add(session);
            if (locked)
                vm.unlock("race", fence).value_or_throw();
        }
        team.barrier().value_or_throw();
        const int number = number_of(session.get().value_or_throw());
        if (rank == 0)
            std::printf("with%s a lock: %d of %d\n", locked ? "" : "out", number, ROUNDS * size);
    }
    team.barrier().value_or_throw();
    return 0;
} catch (const covey::failure &e) {
    std::fprintf(stderr, "race: %s\n", e.what());
    return 1;
}
