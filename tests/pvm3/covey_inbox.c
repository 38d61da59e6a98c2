/*
 * covey_inbox.c - what becomes of messages that wait while a program does unusual things: unpacks
 * one that it only probed for, lets a handler receive, or cancel requests for notices.
 */
#include "tests/pvm3/say.h"

static void send_self(int tag)
{
    pvm_initsend(PvmDataDefault);
    pvm_pkint(&tag, 1, 1);
    pvm_send(pvm_mytid(), tag);
}

/* The receive buffer is freed by the next receive, and so no longer waits. */
static void probed(void)
{
    int x = 0;
    send_self(1);
    send_self(2);
    send_self(3);
    SAY(pvm_setrbuf(pvm_probe(-1, 1)));
    SAY(pvm_upkint(&x, 1, 1));
    SAY(x);
    SAY_SIGN(pvm_recv(-1, 2));
    send_self(4);
    SAY(pvm_nrecv(-1, 1));
    SAY_SIGN(pvm_nrecv(-1, 3));
    SAY_SIGN(pvm_nrecv(-1, 4));
    SAY(pvm_nrecv(-1, -1));
}

/* Takes what waits, while a receive looks for what comes behind. */
static int drain(int bufid)
{
    (void)bufid;
    while (pvm_nrecv(-1, 5) > 0)
        printf("drained\n");
    return 0;
}

#define MANY 1500

static int seen; /* the highest tag in the inbox */

static int count(int bufid, int tid, int tag)
{
    int number = 0;
    (void)tid, (void)tag;
    pvm_bufinfo(bufid, NULL, &number, NULL);
    seen = number > seen ? number : seen;
    return 0;
}

/* A receive whose time is over reads what there is, but not all that somebody sends without end. */
static void flooded(void)
{
    char sign[] = "/tmp/say-flood-XXXXXX", *arguments[] = {"child", sign, NULL};
    struct timeval none = {0, 0};
    int tid = 0;
    close(mkstemp(sign));
    SAY(pvm_spawn(say_program(), arguments, PvmTaskDefault, "", 1, &tid));
    SAY_SIGN(pvm_recv(tid, 1));     /* the way is open */
    while (access(sign, F_OK) == 0) /* a call of the library might read */
        usleep(1000);
    pvm_recvf(count);
    SAY(pvm_trecv(-1, -1, &none));
    SAY(seen < MANY);
    pvm_recvf(NULL);
    for (int i = 2; i <= MANY; i++)
        pvm_recv(tid, i);
}

static int flood(const char *sign)
{
    pvm_initsend(PvmDataDefault);
    for (int i = 1; i <= MANY; i++)
        pvm_send(pvm_parent(), i);
    unlink(sign);
    pvm_exit();
    return 0;
}

static int child(void)
{
    pvm_initsend(PvmDataDefault);
    pvm_send(pvm_parent(), 5);
    pvm_send(pvm_parent(), 6);
    pvm_send(pvm_parent(), 7);
    pvm_exit();
    return 0;
}

static void drained(void)
{
    char *arguments[] = {"child", NULL};
    int tid = 0, handler = pvm_addmhf(-1, 6, 0, drain);
    SAY(pvm_spawn(say_program(), arguments, PvmTaskDefault, "", 1, &tid));
    SAY_SIGN(pvm_recv(tid, 7));
    SAY(pvm_nrecv(-1, -1));
    SAY(pvm_delmhf(handler));
}

/* Cancels a request that the notice which it takes was found behind. */
static int cancel(int bufid)
{
    int own = pvm_mytid();
    (void)bufid;
    SAY(pvm_notify(PvmTaskExit | PvmNotifyCancel, 32, 1, &own));
    return 0;
}

static void cancelled(void)
{
    char *arguments[] = {"child", NULL};
    int tid = 0, own = pvm_mytid(), handler = pvm_addmhf(-1, 31, 0, cancel);
    SAY(pvm_spawn(say_program(), arguments, PvmTaskDefault, "", 1, &tid));
    SAY(pvm_notify(PvmTaskExit, 31, 1, &tid));
    SAY(pvm_notify(PvmTaskExit, 32, 1, &own));
    SAY(pvm_recv(tid, 8));
    SAY(pvm_delmhf(handler));
    while (pvm_nrecv(tid, -1) > 0)
        printf("waited\n");
}

static void refused(void)
{
    struct timeval longest = {1L << 62, 0};
    SAY(pvm_precv(-1, -1, NULL, 1, PVM_INT, NULL, NULL, NULL));
    send_self(8);
    SAY_SIGN(pvm_trecv(-1, 8, &longest));
}

int main(int argc, char **argv)
{
    if (argc > 2)
        return flood(argv[2]);
    if (argc > 1)
        return child();
    say_begin();
    probed();
    drained();
    cancelled();
    flooded();
    refused();
    pvm_exit();
    return 0;
}
