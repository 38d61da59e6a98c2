/*
 * covey_exit.c - pvm_exit() in a handler of exit(), as many programs have it, which was registered
 * before the first call of PVM: Covey has left by then, and calls of the handler fail and end.
 */
#include "tests/pvm3/say.h"

static void leave(void)
{
    struct pvmhostinfo *hosts;
    int tid, x = 1, n = 0;
    SAY(pvm_mytid() > 0);
    SAY_SIGN(pvm_recv(-1, 6));
    SAY_SIGN(pvm_config(&n, NULL, &hosts));
    SAY_SIGN(pvm_spawn(say_program(), NULL, PvmTaskDefault, "", 1, &tid));
    pvm_initsend(PvmDataDefault);
    SAY(pvm_pkint(&x, 1, 1));
    SAY_SIGN(pvm_putinfo("a mailbox", pvm_getsbuf(), PvmMboxDefault));
    SAY(pvm_exit());
    SAY(pvm_exit());
}

int main(void)
{
    if (atexit(leave) != 0)
        return 1;
    say_begin();
    pvm_catchout(stdout);
    SAY(pvm_mytid() > 0);
    return 0;
}
