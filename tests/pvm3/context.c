/*
 * context.c - contexts and message handlers.
 */
#include "tests/pvm3/say.h"

static int handled;

static int take(int bufid)
{
    int x = 0, tag = 0;
    pvm_bufinfo(bufid, NULL, &tag, NULL);
    pvm_upkint(&x, 1, 1);
    printf("handler: tag %d, %d, active %d, sending %d\n", tag, x, pvm_getrbuf() == bufid,
           pvm_getsbuf());
    handled++;
    return 0;
}

static void number(int x)
{
    pvm_initsend(PvmDataDefault);
    pvm_pkint(&x, 1, 1);
}

static void contexts(void)
{
    SAY(pvm_getcontext());
    int first = pvm_newcontext(), second = pvm_newcontext();
    SAY_SIGN(first);
    SAY(second != first);
    SAY(pvm_setcontext(first));
    SAY(pvm_getcontext() == first);
    number(1);
    pvm_send(pvm_mytid(), 5);
    SAY(pvm_setcontext(0) == first);
    number(2);
    pvm_send(pvm_mytid(), 5);
    int x = 0;
    SAY_SIGN(pvm_recv(-1, 5));
    SAY(pvm_upkint(&x, 1, 1));
    SAY(x);
    pvm_setcontext(second);
    SAY(pvm_nrecv(-1, -1));
    pvm_setcontext(first);
    SAY_SIGN(pvm_recv(-1, -1));
    SAY(pvm_upkint(&x, 1, 1));
    SAY(x);
    pvm_setcontext(0);
    SAY(pvm_freecontext(first));
    SAY(pvm_freecontext(second));
    SAY(pvm_freecontext(999));
}

static void handlers(void)
{
    int own = pvm_addmhf(-1, 44, 0, take);
    SAY(own);
    SAY(pvm_addmhf(-1, 44, 0, take));
    SAY(pvm_addmhf(pvm_mytid(), -1, 0, take));
    SAY_SIGN(pvm_addmhf(-1, 44, 5, take));
    SAY(pvm_delmhf(-1));
    number(17);
    pvm_send(pvm_mytid(), 44);
    number(18);
    SAY_SIGN(say_turn(45));
    SAY(handled);
    SAY(pvm_delmhf(own));
    number(19);
    SAY_SIGN(say_turn(44));
    SAY(handled);
}

int main(void)
{
    say_begin();
    contexts();
    handlers();
    pvm_setopt(PvmAutoErr, 0); /* PVM's own library complains of handlers of its own when it ends */
    pvm_exit();
    return 0;
}
