/*
 * covey_causal.c - order among three tasks: the first one sends to the third, and then to the
 * second, which sends to the third, which must get what was sent first before. PVM keeps this order
 * by its daemons, and not where PvmRouteDirect asks for other ways.
 */
#include "tests/pvm3/say.h"

#define TAG_BEGIN 1
#define TAG_FIRST 2
#define TAG_GO 3
#define TAG_SECOND 4
#define TAG_ACK 5
#define TAG_RESULT 6
#define TRIO 3
#define TRIOS 4
#define ROUNDS 200
#define AHEAD 8

enum { SEND, MCAST, PSEND };

static int ints[100000];

static int size_of(int number)
{
    static const int sizes[] = {1, 5000, 10000, 1000, 5000, 100, 20000, 15000, 1, 70000, 1};
    return sizes[(size_t)number % (sizeof sizes / sizeof sizes[0])];
}

static void pack(int number, int size)
{
    ints[0] = number;
    pvm_initsend(PvmDataRaw);
    pvm_pkint(ints, size, 1);
}

static void first(const int *tids, int how, int number)
{
    int both[] = {tids[number % 2 + 1], tids[2 - number % 2]};
    for (int r = 0; r < ROUNDS; r++) {
        ints[0] = r;
        if (how == PSEND) {
            pvm_psend(tids[2], TAG_FIRST, ints, size_of(r + number), PVM_INT);
        } else {
            pack(r, size_of(r + number));
            if (how == MCAST)
                pvm_mcast(both, 2, TAG_FIRST);
            else
                pvm_send(tids[2], TAG_FIRST);
        }
        if (how != MCAST) {
            pack(r, 1);
            pvm_send(tids[1], TAG_GO);
        }
        if (r % AHEAD == AHEAD - 1)
            pvm_recv(tids[2], TAG_ACK);
    }
}

static void second(const int *tids, int how)
{
    for (int r = 0; r < ROUNDS; r++) {
        pvm_recv(tids[0], how == MCAST ? TAG_FIRST : TAG_GO);
        pack(r, 1);
        pvm_send(tids[2], TAG_SECOND);
    }
}

static void judge(const int *tids)
{
    int wrong = 0, last = -1;
    for (int i = 0; i < 2 * ROUNDS; i++) {
        int tag, id = pvm_recv(-1, -1);
        pvm_bufinfo(id, NULL, &tag, NULL);
        int r = upk();
        if (tag == TAG_FIRST) {
            last = r;
            continue;
        }
        wrong += last < r;
        if (r % AHEAD == AHEAD - 1) {
            pack(r, 1);
            pvm_send(tids[0], TAG_ACK);
        }
    }
    pack(wrong, 1);
    pvm_send(pvm_parent(), TAG_RESULT);
}

static int child(void)
{
    int tids[TRIO];
    pvm_recv(pvm_parent(), TAG_BEGIN);
    int rank = upk(), how = upk(), number = upk(), route = upk();
    pvm_upkint(tids, TRIO, 1);
    pvm_setopt(PvmRoute, route);
    if (rank == 0)
        first(tids, how, number);
    else if (rank == 1)
        second(tids, how);
    else
        judge(tids);
    pvm_exit();
    return 0;
}

/* How often tasks of so many trios got something out of order. */
static int out_of_order(int how, int route)
{
    char *arguments[] = {"child", NULL};
    int wrong = 0;
    for (int number = 0; number < TRIOS; number++) {
        int tids[TRIO];
        if (pvm_spawn(say_program(), arguments, PvmTaskDefault, "", TRIO, tids) != TRIO)
            return -1;
        for (int rank = 0; rank < TRIO; rank++) {
            int job[] = {rank, how, number, route};
            pvm_initsend(PvmDataRaw);
            pvm_pkint(job, 4, 1);
            pvm_pkint(tids, TRIO, 1);
            pvm_send(tids[rank], TAG_BEGIN);
        }
        pvm_recv(tids[2], TAG_RESULT);
        wrong += upk();
    }
    return wrong;
}

int main(int argc, char **argv)
{
    (void)argv;
    if (argc > 1)
        return child();
    say_begin();
    SAY(out_of_order(SEND, PvmAllowDirect));
    SAY(out_of_order(SEND, PvmRouteDirect));
    SAY(out_of_order(SEND, PvmDontRoute));
    SAY(out_of_order(MCAST, PvmAllowDirect));
    SAY(out_of_order(MCAST, PvmRouteDirect));
    SAY(out_of_order(PSEND, PvmRouteDirect));
    pvm_exit();
    return 0;
}
