/*
 * survive.c - programs that end a PVM, or that it does not survive. Without an option it does
 * nothing; see survive_test.sh.
 *
 *   survive talk HOST OTHER...   children on the other hosts answer until HOST is gone, and then
 *                                some more; it says "talking" when the first answers have come
 *   survive many N               N tasks on one host answer all that comes
 *   survive slow HOST MIB        a child on HOST sleeps before it receives MIB mebibytes
 */
#include "tests/pvm3/say.h"

#include <string.h>
#include <sys/resource.h>

#define TAG_ASK 1
#define TAG_ANSWER 2
#define TAG_GONE 3
#define TAG_DATA 4
#define CHILDREN_MAX 1000
#define MORE 100
#define MIB 1048576

/* Answers each number until it is negative. */
static int answer(void)
{
    int number = 0;
    while (number >= 0 && pvm_recv(pvm_parent(), TAG_ASK) > 0) {
        pvm_upkint(&number, 1, 1);
        pvm_initsend(PvmDataDefault);
        pvm_pkint(&number, 1, 1);
        pvm_send(pvm_parent(), TAG_ANSWER);
    }
    pvm_exit();
    return 0;
}

static int ask_all(int *tids, int count, int number)
{
    int sum = 0;
    pvm_initsend(PvmDataDefault);
    pvm_pkint(&number, 1, 1);
    if (pvm_mcast(tids, count, TAG_ASK) < 0)
        return -1;
    for (int i = 0, got = 0; i < count; i++) {
        if (pvm_recv(-1, TAG_ANSWER) < 0)
            return -1;
        pvm_upkint(&got, 1, 1);
        sum += got == number;
    }
    return sum;
}

/* The tid of a host's daemon, or -1. */
static int host_tid(const char *name)
{
    struct pvmhostinfo *list = NULL;
    int count = 0;
    pvm_config(&count, NULL, &list);
    for (int i = 0; i < count; i++) {
        if (strcmp(list[i].hi_name, name) == 0)
            return list[i].hi_tid;
    }
    return -1;
}

static int talk(char *lost, char **others, int count)
{
    char *arguments[] = {"answer", NULL};
    int tids[CHILDREN_MAX], host = host_tid(lost), rounds = 0;
    for (int i = 0; i < count; i++) {
        if (pvm_spawn(say_program(), arguments, PvmTaskHost, others[i], 1, &tids[i]) != 1)
            return 1;
    }
    if (pvm_notify(PvmHostDelete, TAG_GONE, 1, &host) < 0)
        return 1;
    for (int more = MORE; more > 0; rounds++) {
        if (ask_all(tids, count, rounds) != count)
            return 1;
        if (rounds == 10)
            printf("talking\n");
        usleep(2000);
        more -= more < MORE || pvm_nrecv(-1, TAG_GONE) > 0;
    }
    return ask_all(tids, count, -1) == count ? 0 : 1;
}

static int many(int count)
{
    char *arguments[] = {"answer", NULL};
    static int tids[CHILDREN_MAX];
    if (count > CHILDREN_MAX ||
        pvm_spawn(say_program(), arguments, PvmTaskHost, ".", count, tids) != count)
        return 1;
    for (int i = 0; i < 3; i++) {
        if (ask_all(tids, count, i) != count)
            return 1;
    }
    return ask_all(tids, count, -1) == count ? 0 : 1;
}

/* Sleeps first, and tells how much memory it has had until then. */
static int receive_late(int mib)
{
    static char bytes[MIB];
    struct rusage use;
    pvm_mytid();
    sleep(2);
    getrusage(RUSAGE_SELF, &use);
    int kib = (int)use.ru_maxrss;
    for (int i = 0; i < mib; i++) {
        if (pvm_recv(pvm_parent(), TAG_DATA) < 0 || pvm_upkbyte(bytes, MIB, 1) < 0 ||
            bytes[0] != (char)i || bytes[MIB - 1] != (char)i)
            return 1;
    }
    pvm_initsend(PvmDataDefault);
    pvm_pkint(&kib, 1, 1);
    pvm_send(pvm_parent(), TAG_ANSWER);
    pvm_exit();
    return 0;
}

static int send_late(char *host, char *mib)
{
    char *arguments[] = {"late", mib, NULL};
    static char bytes[MIB];
    int tid = 0, kib = 0;
    if (pvm_spawn(say_program(), arguments, PvmTaskHost, host, 1, &tid) != 1)
        return 1;
    for (int i = 0; i < atoi(mib); i++) {
        memset(bytes, i, sizeof bytes);
        pvm_initsend(PvmDataRaw);
        if (pvm_pkbyte(bytes, MIB, 1) < 0 || pvm_send(tid, TAG_DATA) < 0)
            return 1;
    }
    if (pvm_recv(tid, TAG_ANSWER) < 0 || pvm_upkint(&kib, 1, 1) < 0)
        return 1;
    printf("the receiver had %d KiB\n", kib);
    return kib < 1024 * atoi(mib) / 2 ? 0 : 1;
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "";
    int result = 0;
    setvbuf(stdout, NULL, _IOLBF, 0);
    if (strcmp(what, "answer") == 0)
        return answer();
    if (strcmp(what, "late") == 0)
        return receive_late(atoi(argv[2]));
    if (strcmp(what, "talk") == 0)
        result = talk(argv[2], argv + 3, argc - 3);
    else if (strcmp(what, "many") == 0)
        result = many(atoi(argv[2]));
    else if (strcmp(what, "slow") == 0)
        result = send_late(argv[2], argv[3]);
    pvm_exit();
    return result;
}
