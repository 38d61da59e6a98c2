/*
 * group.c - groups: of the task alone, and of four tasks that meet, reduce, gather and scatter.
 */
#include "tests/pvm3/say.h"

#include <string.h>

#define MEMBERS 4
#define GROUP "say.four"

static void alone(void)
{
    int d[2] = {1, 2}, r[2] = {0, 0};
    SAY(pvm_joingroup("say.one"));
    SAY(pvm_joingroup("say.one"));
    SAY(pvm_joingroup(""));
    SAY(pvm_gsize("say.one"));
    SAY(pvm_gsize("say.none"));
    SAY(pvm_gsize(""));
    SAY(pvm_getinst("say.one", pvm_mytid()));
    SAY(pvm_getinst("say.one", 5));
    SAY(pvm_getinst("say.none", 5));
    SAY(pvm_getinst("say.one", -1)); /* no tid: the number of who joins next */
    SAY(pvm_getinst("say.none", -1));
    SAY(pvm_getinst("say.one", 0));
    SAY(pvm_getinst("say.one", -2));
    SAY(pvm_gettid("say.one", 0) == pvm_mytid());
    SAY(pvm_gettid("say.one", 1));
    SAY(pvm_gettid("say.none", 1));
    SAY(pvm_barrier("say.one", 1));
    SAY(pvm_barrier("say.one", -1));
    SAY(pvm_barrier("say.one", 0));
    SAY(pvm_barrier("say.none", 1));
    pvm_initsend(PvmDataDefault);
    SAY(pvm_bcast("say.one", 3));
    SAY(pvm_bcast("say.none", 3));
    SAY(pvm_reduce(PvmSum, d, 2, PVM_INT, 5, "say.one", 0));
    SAY(pvm_reduce(PvmSum, d, 2, PVM_INT, 5, "say.none", 0));
    SAY(pvm_reduce(PvmSum, d, 2, PVM_INT, 5, "say.one", 3));
    SAY(pvm_gather(r, d, 2, PVM_INT, 5, "say.one", 0));
    SAY(r[1]);
    SAY(pvm_gather(r, d, -2, PVM_INT, 5, "say.one", 0));
    SAY(pvm_freezegroup("say.one", 1));
    SAY(pvm_gsize("say.one"));
    SAY(pvm_getinst("say.one", -1));
    SAY(pvm_lvgroup("say.one"));
    SAY(pvm_lvgroup("say.one"));
    SAY(pvm_gsize("say.one"));
    SAY(pvm_freezegroup("say.none", 1));
}

/* Each does it, and the root says what came of it. */
static void together(int own, int say)
{
    double d[2] = {own + 1, 10 * (own + 1)}, all[2 * MEMBERS];
    int n = own == 2 ? -7 : own, product[1] = {own + 1};
    float c[2] = {(float)own, -1};
    pvm_reduce(PvmSum, d, 2, PVM_DOUBLE, 11, GROUP, 0);
    pvm_reduce(PvmMin, &n, 1, PVM_INT, 12, GROUP, 0);
    pvm_reduce(PvmProduct, product, 1, PVM_INT, 13, GROUP, 0);
    pvm_reduce(PvmMax, c, 1, PVM_CPLX, 14, GROUP, 0);
    if (say)
        printf("sum %g %g, min %d, product %d, max (%g, %g)\n", d[0], d[1], n, product[0],
               (double)c[0], (double)c[1]);
    d[0] = own;
    d[1] = -own;
    pvm_gather(all, d, 2, PVM_DOUBLE, 15, GROUP, 0);
    for (int i = 0; i < 2 * MEMBERS && say; i++)
        printf(" %g", all[i]);
    pvm_scatter(d, all, 2, PVM_DOUBLE, 16, GROUP, 0);
    pvm_barrier(GROUP, MEMBERS);
    if (say)
        printf("\nscattered %d\n", d[0] == own && d[1] == -own);
}

static int member(void)
{
    int own = pvm_joingroup(GROUP), word = 0, answer;
    pvm_barrier(GROUP, MEMBERS);
    together(own, 0);
    pvm_recv(-1, 20);
    pvm_upkint(&word, 1, 1);
    answer = word * own;
    pvm_initsend(PvmDataDefault);
    pvm_pkint(&answer, 1, 1);
    pvm_send(pvm_gettid(GROUP, 0), 21);
    pvm_freezegroup(GROUP, MEMBERS);
    pvm_barrier(GROUP, MEMBERS);
    pvm_exit(); /* leaves all groups */
    return 0;
}

static void four(void)
{
    char *arguments[] = {"member", NULL};
    int tids[MEMBERS], word = 100, sum = 0, answer = 0;
    SAY(pvm_joingroup(GROUP));
    SAY(pvm_spawn(say_program(), arguments, PvmTaskDefault, "", MEMBERS - 1, tids));
    SAY(pvm_barrier(GROUP, MEMBERS));
    SAY(pvm_gsize(GROUP));
    int inst = pvm_getinst(GROUP, tids[1]);
    SAY(inst > 0 && inst < MEMBERS);
    SAY(pvm_gettid(GROUP, inst) == tids[1]);
    SAY(pvm_getinst(GROUP, -1));
    together(0, 1);
    pvm_initsend(PvmDataDefault);
    pvm_pkint(&word, 1, 1);
    SAY(pvm_bcast(GROUP, 20));
    for (int i = 1; i < MEMBERS; i++) {
        pvm_recv(-1, 21);
        pvm_upkint(&answer, 1, 1);
        sum += answer;
    }
    SAY(sum);
    SAY(pvm_freezegroup(GROUP, MEMBERS) >= 0);
    SAY(pvm_gsize(GROUP));
    pvm_notify(PvmTaskExit, 30, MEMBERS - 1, tids);
    SAY(pvm_barrier(GROUP, MEMBERS));
    for (int i = 1; i < MEMBERS; i++)
        pvm_recv(-1, 30);
    SAY(pvm_lvgroup(GROUP));
}

int main(int argc, char **argv)
{
    (void)argv;
    if (argc > 1)
        return member();
    say_begin();
    alone();
    four();
    pvm_exit();
    return 0;
}
