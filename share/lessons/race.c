/* race.c - two tasks read a number, add one and write it: without a lock additions get lost */
#include "lesson.h"

#include <string.h>
#include <unistd.h>

enum { ROUNDS = 5 };
static covey_session_t *session; /* its shared value is the number */

static int number(void)
{
    struct covey_value value;
    int n;

    check(covey_session_get(session, &value));
    memcpy(&n, value.value, sizeof n);
    return n;
}

static void write_number(int n)
{
    struct covey_value value;

    do { /* in place of whatever stands there now */
        check(covey_session_get(session, &value));
        memcpy(value.value, &n, sizeof n);
        value.bytes = sizeof n;
    } while (check(covey_session_put(session, &value)) == 0);
}

/* As if nobody else did so: what was written meanwhile is lost. */
static void add(void)
{
    int n = number();

    usleep(10000); /* it thinks */
    write_number(n + 1);
}

int main(void)
{
    uint64_t fence;

    begin();
    check(covey_session_join(vm, "race", &session));
    for (int locked = 0; locked <= 1; locked++) {
        check(covey_barrier(team));
        if (rank == 0)
            write_number(0);
        check(covey_barrier(team));
        for (int i = 0; i < ROUNDS; i++) {
            if (locked)
                check(covey_lock(vm, "race", COVEY_FOREVER, &fence));
            add();
            if (locked)
                check(covey_unlock(vm, "race", fence));
        }
        check(covey_barrier(team));
        if (rank == 0)
            printf("%s a lock: %d of %d%s\n", locked ? "with" : "without", number(), ROUNDS * size,
                   number() < ROUNDS * size ? ", the others are lost" : "");
    }
    check(covey_barrier(team));
    check(covey_session_leave(&session));
    return end();
}
