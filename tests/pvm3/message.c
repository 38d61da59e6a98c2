/*
 * message.c - sending and receiving: between this task and one that it spawns, which sends each
 * message back with a tag that is greater by 1000, and ends at tag 0.
 */
#include "tests/pvm3/say.h"

#include <string.h>

#define BIG 300000
#define FLOOD 60

static int partner;

static int echo(void)
{
    int tag = -1;
    while (tag != 0) {
        int from, received = pvm_recv(-1, -1);
        pvm_bufinfo(received, NULL, &tag, &from);
        pvm_setsbuf(received);
        if (tag != 0)
            pvm_send(from, tag + 1000);
        pvm_freebuf(received);
    }
    pvm_exit();
    return 0;
}

static void send_number(int x, int tag)
{
    pvm_initsend(PvmDataDefault);
    pvm_pkint(&x, 1, 1);
    SAY(pvm_send(partner, tag));
}

static int number(void)
{
    int x = -1;
    pvm_upkint(&x, 1, 1);
    return x;
}

static void by_tag(void)
{
    for (int i = 1; i <= 4; i++)
        send_number(10 * i, i);
    SAY_SIGN(pvm_recv(partner, 1003));
    SAY(number());
    SAY_SIGN(pvm_recv(-1, 1001));
    SAY(number());
    SAY_SIGN(pvm_recv(partner, -1));
    SAY(number());
    SAY_SIGN(pvm_recv(-1, -1));
    SAY(number());
    SAY(pvm_nrecv(-1, -1));
    SAY(pvm_probe(-1, -1));
}

static void in_time(void)
{
    struct timeval none = {0, 0}, some = {0, 20000}, much = {20, 0};
    SAY(pvm_trecv(-1, 1005, &none));
    SAY(pvm_trecv(partner, 1005, &some));
    send_number(5, 5);
    SAY_SIGN(pvm_trecv(-1, 1005, &much));
    SAY(number());
    send_number(6, 6);
    SAY_SIGN(pvm_trecv(partner, 1006, NULL));
    SAY(number());
}

static void probe(void)
{
    int bytes, tag, tid, found = 0;
    send_number(7, 7);
    send_number(8, 8);
    while (found == 0)
        found = pvm_probe(-1, 1008);
    SAY(pvm_bufinfo(found, &bytes, &tag, &tid));
    printf("%d bytes, tag %d, of the partner: %d\n", bytes, tag, tid == partner);
    SAY(pvm_getrbuf() == found);
    SAY(pvm_nrecv(-1, 1008) == found);
    SAY(number());
    SAY_SIGN(pvm_nrecv(-1, 1007));
    SAY(number());
}

static void arrays(void)
{
    double in[5] = {1, 2, 3, 4, 5}, out[5] = {0, 0, 0, 0, 0};
    int from = 0, tag = 0, bytes = 0;
    SAY(pvm_psend(partner, 9, in, 5, PVM_DOUBLE));
    SAY(pvm_precv(-1, 1009, out, 5, PVM_DOUBLE, &from, &tag, &bytes));
    printf("%d %d %d %g %g\n", from == partner, tag, bytes, out[0], out[4]);
    SAY(pvm_psend(partner, 9, in, 2, PVM_DOUBLE));
    SAY(pvm_precv(partner, -1, out, 5, PVM_DOUBLE, NULL, NULL, &bytes));
    SAY(bytes);
    SAY(pvm_psend(partner, 9, in, 5, PVM_DOUBLE));
    out[3] = -1;
    SAY(pvm_precv(partner, 1009, out, 3, PVM_DOUBLE, NULL, NULL, NULL));
    printf("%g %g\n", out[2], out[3]);
    SAY(pvm_psend(partner, 9, in, 5, 99));
    SAY(pvm_psend(partner, 9, "abc", 4, PVM_STR));
    SAY(pvm_psend(partner, 9, in, 5, PVM_DOUBLE));
    SAY_SIGN(pvm_recv(partner, 1009));
    SAY(pvm_upkdouble(out, 5, 1));
    SAY(out[4] == 5);
}

static void big(int encoding)
{
    static int in[BIG], out[BIG];
    for (int i = 0; i < BIG; i++)
        in[i] = 3 * i - 7;
    memset(out, 0, sizeof out);
    pvm_initsend(encoding);
    SAY(pvm_pkint(in, BIG, 1));
    SAY(pvm_send(partner, 10));
    SAY_SIGN(pvm_recv(partner, 1010));
    SAY(pvm_upkint(out, BIG, 1));
    SAY(memcmp(in, out, sizeof in));
}

static int prefer_odd(int bufid, int tid, int tag)
{
    int got = 0;
    (void)tid;
    (void)tag;
    pvm_bufinfo(bufid, NULL, &got, NULL);
    return got % 2 == 1 ? got : 0; /* the greatest odd tag */
}

static void own_match(void)
{
    int tag;
    for (int i = 11; i <= 14; i++)
        send_number(i, i);
    pvm_recv(partner, 1014); /* all of them are there */
    pvm_recvf(prefer_odd);
    SAY(pvm_bufinfo(pvm_recv(-1, -1), NULL, &tag, NULL));
    SAY(tag);
    SAY(pvm_bufinfo(pvm_recv(-1, -1), NULL, &tag, NULL));
    SAY(tag);
    SAY(pvm_nrecv(-1, -1));
    pvm_recvf(NULL);
    SAY(pvm_bufinfo(pvm_recv(-1, -1), NULL, &tag, NULL));
    SAY(tag);
}

static void many(void)
{
    int tids[2] = {partner, pvm_mytid()};
    pvm_initsend(PvmDataDefault);
    SAY(pvm_mcast(tids, 2, 20));
    SAY_SIGN(pvm_recv(partner, 1020));
    SAY(pvm_nrecv(-1, 20));
    SAY(pvm_mcast(tids, 0, 20));
    SAY(pvm_mcast(tids, -1, 20));
    tids[0] = 0;
    SAY(pvm_mcast(tids, 1, 20));
}

static int highest; /* of the tags in the inbox */

static int see(int bufid, int tid, int tag)
{
    int got = 0;
    (void)tid;
    (void)tag;
    pvm_bufinfo(bufid, NULL, &got, NULL);
    highest = got > highest ? got : highest;
    return 0;
}

/* pvm_nrecv() and pvm_probe() read one message of all that have come. */
static void one_a_call(void)
{
    char sign[] = "/tmp/say-flood-XXXXXX", *arguments[] = {"flood", sign, NULL};
    int tid, most = 0, results = 0;
    close(mkstemp(sign));
    SAY(pvm_spawn(say_program(), arguments, PvmTaskDefault, "", 1, &tid));
    while (access(sign, F_OK) == 0) /* a call of the library might read */
        usleep(1000);
    pvm_recvf(see);
    for (int i = 0; highest < FLOOD; i++) {
        int before = highest;
        results |= i % 2 == 0 ? pvm_nrecv(-1, -1) : pvm_probe(-1, -1);
        most = highest - before > most ? highest - before : most;
    }
    pvm_recvf(NULL);
    SAY(most);
    SAY(results);
    for (int i = 1; i <= FLOOD; i++)
        pvm_recv(tid, i);
}

/* Removes the file when all are sent. */
static int flood(const char *sign)
{
    pvm_initsend(PvmDataDefault);
    for (int i = 1; i <= FLOOD; i++)
        pvm_send(pvm_parent(), i);
    unlink(sign);
    pvm_exit();
    return 0;
}

static void refused(void)
{
    pvm_initsend(PvmDataDefault);
    SAY(pvm_send(0, 1));
    SAY(pvm_send(-1, 1));
    SAY(pvm_send(partner, -1));
    SAY(pvm_nrecv(0, 7));
    SAY(pvm_precv(-1, 1, NULL, 1, PVM_STR, NULL, NULL, NULL));
}

int main(int argc, char **argv)
{
    char *arguments[] = {"echo", NULL};
    if (argc > 1)
        return strcmp(argv[1], "flood") == 0 ? flood(argv[2]) : echo();
    say_begin();
    SAY(pvm_spawn(say_program(), arguments, PvmTaskDefault, "", 1, &partner));
    by_tag();
    in_time();
    probe();
    arrays();
    big(PvmDataDefault);
    big(PvmDataRaw);
    big(PvmDataInPlace);
    own_match();
    many();
    one_a_call();
    refused();
    send_number(0, 0);
    pvm_exit();
    return 0;
}
