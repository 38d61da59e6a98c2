/*
 * covey_better.c - what PVM does not: a long in the default encoding has all its bytes, a message
 * of it arrives as it is in pvm_precv(), and who waits for a task that has ended is told.
 */
#include "tests/pvm3/say.h"

static void longs(void)
{
    long in[2] = {-5, 1L << 40}, out[2] = {0, 0};
    unsigned long uin = 1UL << 63, uout = 0;
    int bytes = 0;
    pvm_initsend(PvmDataDefault);
    SAY(pvm_pklong(in, 2, 1));
    SAY(pvm_pkulong(&uin, 1, 1));
    SAY(pvm_bufinfo(pvm_getsbuf(), &bytes, NULL, NULL));
    SAY(bytes);
    SAY_SIGN(say_turn(5));
    SAY(pvm_upklong(out, 2, 1));
    SAY(pvm_upkulong(&uout, 1, 1));
    SAY(out[0] == in[0] && out[1] == in[1] && uout == uin);
}

static void numbers(void)
{
    int in[3] = {1, 2, 3}, out[3] = {0, 0, 0};
    pvm_initsend(PvmDataDefault);
    pvm_pkint(in, 3, 1);
    pvm_send(pvm_mytid(), 5);
    SAY(pvm_precv(-1, 5, out, 3, PVM_INT, NULL, NULL, NULL));
    printf("%d %d %d\n", out[0], out[1], out[2]);
}

/* Its last message can be received, and then no more. */
static void ended(void)
{
    char *arguments[] = {"child", NULL};
    struct timeval much = {20, 0};
    int tid = 0, x = 0;
    SAY(pvm_spawn(say_program(), arguments, PvmTaskDefault, "", 1, &tid));
    SAY(pvm_recv(tid, 7) > 0 && pvm_upkint(&x, 1, 1) == 0);
    SAY(x);
    SAY(pvm_recv(tid, 7));
    SAY(pvm_trecv(tid, -1, &much));
    SAY(pvm_precv(tid, -1, &x, 1, PVM_INT, NULL, NULL, NULL));
    SAY(pvm_nrecv(-1, -1));
}

static int child(void)
{
    int x = 12;
    pvm_initsend(PvmDataDefault);
    pvm_pkint(&x, 1, 1);
    pvm_send(pvm_parent(), 7);
    pvm_exit();
    return 0;
}

int main(int argc, char **argv)
{
    (void)argv;
    if (argc > 1)
        return child();
    say_begin();
    longs();
    numbers();
    ended();
    pvm_exit();
    return 0;
}
