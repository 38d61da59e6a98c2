/*
 * route.c - pvm_notify() of routes: of one to a child that comes with the first message and goes
 * with the child, and of one that there is not.
 */
#include "tests/pvm3/say.h"

#include <sys/time.h>

/* What a notice with that tag tells, within some time; 0: none came. */
static int told(int tag, int seconds)
{
    struct timeval much = {seconds, 0};
    int tid = 0;
    if (pvm_trecv(-1, tag, &much) <= 0)
        return 0;
    pvm_upkint(&tid, 1, 1);
    return tid;
}

static void send_empty(int tid, int tag)
{
    pvm_initsend(PvmDataDefault);
    pvm_send(tid, tag);
}

static void begins(int tid)
{
    int any = -1;
    SAY(pvm_notify(PvmRouteAdd, 20, 1, &tid));
    SAY(pvm_notify(PvmRouteAdd, 21, 1, &any));
    SAY(pvm_notify(PvmRouteDelete, 22, 1, &tid));
    SAY(told(22, 5) == tid);
    SAY(told(20, 0));
    send_empty(tid, 7);
    SAY(pvm_recv(tid, 8) > 0);
    SAY(told(20, 5) == tid);
    SAY(told(21, 5) == tid);
    send_empty(tid, 7);
    SAY(pvm_recv(tid, 8) > 0);
    SAY(told(20, 0));
}

static void ends(int tid)
{
    SAY(pvm_notify(PvmRouteDelete, 23, 1, &tid));
    SAY(told(23, 0));
    send_empty(tid, 9);
    SAY(told(23, 5) == tid);
    SAY(pvm_notify(PvmRouteDelete, 24, 1, &tid));
    SAY(told(24, 5) == tid);
}

static void wrong(void)
{
    int me = pvm_mytid();
    SAY(pvm_notify(PvmRouteAdd, -3, 1, &me));
    SAY(pvm_notify(PvmRouteDelete, 25, 0, &me));
}

static int child(void)
{
    pvm_setopt(PvmRoute, PvmRouteDirect);
    int parent = pvm_parent(), id, tag = 0;
    while ((id = pvm_recv(parent, -1)) > 0 && pvm_bufinfo(id, NULL, &tag, NULL) == 0 && tag != 9)
        send_empty(parent, 8);
    pvm_exit();
    return 0;
}

int main(int argc, char **argv)
{
    char *arguments[] = {"child", NULL};
    int tid = 0;
    (void)argv;
    if (argc > 1)
        return child();
    say_begin();
    pvm_setopt(PvmRoute, PvmRouteDirect);
    SAY(pvm_spawn(say_program(), arguments, PvmTaskDefault, "", 1, &tid));
    begins(tid);
    ends(tid);
    wrong();
    pvm_exit();
    return 0;
}
