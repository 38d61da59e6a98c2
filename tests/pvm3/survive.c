/*
 * survive.c - programs that end a PVM, or that it does not survive. Without an option it does
 * nothing; see survive_test.sh.
 *
 *   survive talk HOST OTHER...   children on the other hosts answer until HOST is gone, and then
 *                                some more; it says "talking" when the first answers have come
 *   survive cut SECONDS HOST...  children on the hosts get numbers and send them back, and all meet
 *                                in a barrier, for so long; it says "talking" when they have
 *                                begun, and at the end how long it took at most to get through
 *   survive many N               N tasks on one host answer all that comes
 *   survive order N              N tasks anywhere stand in the array host by host
 *   survive busy HOST MIB        a child on HOST has work, which others give it fast enough, and
 *                                then receives MIB mebibytes that came meanwhile
 *   survive slow HOST MIB        a child on HOST sleeps before it receives MIB mebibytes
 */
#include "tests/pvm3/say.h"

#include <string.h>
#include <sys/resource.h>
#include <time.h>

#define TAG_ASK 1
#define TAG_ANSWER 2
#define TAG_GONE 3
#define TAG_DATA 4
#define CHILDREN_MAX 1000
#define MORE 100
#define WORKS 100
#define WORK_US 20000
#define KEPT_KIB_MAX (32 * 1024) /* the program itself, 16 MiB, and what is under way */
#define MIB 1048576
#define GROUP "cut"
#define NUMBERS 65536

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

/* The tids of those that were started at once; each host's count up. */
static int in_order(int count)
{
    char *arguments[] = {"answer", NULL};
    static int tids[CHILDREN_MAX];
    int result = 0;
    if (count > CHILDREN_MAX ||
        pvm_spawn(say_program(), arguments, PvmTaskDefault, "", count, tids) != count)
        return 1;
    for (int i = 1; i < count; i++)
        result |= tids[i] <= tids[i - 1];
    return ask_all(tids, count, -1) == count ? result : 1;
}

/* ---- hosts are cut off from each other ------------------------------------------------------- */

static int numbers[NUMBERS];

static int send_numbers(int *tids, int count, int tag)
{
    pvm_initsend(PvmDataDefault);
    pvm_pkint(numbers, NUMBERS, 1);
    return pvm_mcast(tids, count, tag);
}

/* 1 if the next ones are as they were filled in. */
static int get_numbers(int from, int tag, int round)
{
    if (pvm_recv(from, tag) < 0 || pvm_upkint(numbers, NUMBERS, 1) < 0)
        return 0;
    for (int i = 0; i < NUMBERS; i++) {
        if (numbers[i] != round + i)
            return 0;
    }
    return 1;
}

/* A child: sends back what comes, and meets the others; the round is its parent's, or the last. */
static int send_back(int all)
{
    int parent = pvm_parent(), more = 1;
    pvm_joingroup(GROUP);
    for (int round = 0; more; round++) {
        if (pvm_recv(parent, TAG_ASK) < 0)
            return 1;
        pvm_upkint(&more, 1, 1);
        if (!get_numbers(parent, TAG_DATA, round) || send_numbers(&parent, 1, TAG_ANSWER) < 0 ||
            pvm_barrier(GROUP, all) < 0)
            return 1;
    }
    pvm_exit();
    return 0;
}

static double seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* 1 if all took part, and nobody is said to have ended. */
static int one_round(int *tids, int count, int round, int more)
{
    pvm_initsend(PvmDataDefault);
    pvm_pkint(&more, 1, 1);
    for (int i = 0; i < NUMBERS; i++)
        numbers[i] = round + i;
    if (pvm_mcast(tids, count, TAG_ASK) < 0 || send_numbers(tids, count, TAG_DATA) < 0)
        return 0;
    for (int i = 0; i < count; i++) {
        if (!get_numbers(tids[i], TAG_ANSWER, round))
            return 0;
    }
    return pvm_barrier(GROUP, count + 1) >= 0 && (!more || pvm_nrecv(-1, TAG_GONE) == 0);
}

static int talk_through(double for_s, char **hosts, int count)
{
    char all[16], *arguments[] = {"back", all, NULL};
    int tids[CHILDREN_MAX], more = 1;
    double end = seconds() + for_s, worst = 0;
    snprintf(all, sizeof all, "%d", count + 1);
    pvm_joingroup(GROUP);
    for (int i = 0; i < count; i++) {
        if (pvm_spawn(say_program(), arguments, PvmTaskHost, hosts[i], 1, &tids[i]) != 1)
            return 1;
    }
    if (pvm_notify(PvmTaskExit, TAG_GONE, count, tids) < 0)
        return 1;
    for (int round = 0; more; round++) {
        double start = seconds();
        more = start < end;
        if (!one_round(tids, count, round, more))
            return 1;
        worst = seconds() - start > worst ? seconds() - start : worst;
        if (round == 3)
            printf("talking\n");
        usleep(10000);
    }
    printf("all got through, the last of them after %.1f s\n", worst);
    return 0;
}

/* ---- a receiver that is slow ----------------------------------------------------------------- */

/* Gives work, which takes longer than giving it: the other one never waits. */
static int give_work(int tid)
{
    pvm_initsend(PvmDataDefault);
    for (int i = 0; i < WORKS; i++) {
        pvm_send(tid, TAG_ASK);
        if (i > WORKS / 5)
            usleep(WORK_US / 10);
    }
    pvm_exit();
    return 0;
}

static int do_work(void)
{
    for (int i = 0; i < WORKS; i++) {
        if (pvm_recv(-1, TAG_ASK) < 0)
            return -1;
        usleep(WORK_US);
    }
    return 0;
}

/* Sleeps first, or works, and tells how much memory it has had until then. */
static int receive_late(int mib, int works)
{
    static char bytes[MIB];
    struct rusage use;
    pvm_mytid();
    if (!works)
        sleep(2);
    else if (do_work() < 0)
        return 1;
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

static int start_giver(char *host, int tid)
{
    char text[16], *arguments[] = {"give", text, NULL};
    snprintf(text, sizeof text, "%d", tid);
    return pvm_spawn(say_program(), arguments, PvmTaskHost, host, 1, NULL);
}

static int send_late(char *host, char *mib, char *how)
{
    char *arguments[] = {how, mib, NULL};
    static char bytes[MIB];
    int tid = 0, kib = 0;
    if (pvm_spawn(say_program(), arguments, PvmTaskHost, host, 1, &tid) != 1)
        return 1;
    if (strcmp(how, "works") == 0 && start_giver(host, tid) != 1)
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
    return kib < KEPT_KIB_MAX ? 0 : 1;
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "";
    int result = 0;
    setvbuf(stdout, NULL, _IOLBF, 0);
    if (strcmp(what, "answer") == 0)
        return answer();
    if (strcmp(what, "late") == 0)
        return receive_late(atoi(argv[2]), 0);
    if (strcmp(what, "works") == 0)
        return receive_late(atoi(argv[2]), 1);
    if (strcmp(what, "give") == 0)
        return give_work(atoi(argv[2]));
    if (strcmp(what, "back") == 0)
        return send_back(atoi(argv[2]));
    if (strcmp(what, "talk") == 0)
        result = talk(argv[2], argv + 3, argc - 3);
    else if (strcmp(what, "cut") == 0)
        result = talk_through(atof(argv[2]), argv + 3, argc - 3);
    else if (strcmp(what, "many") == 0)
        result = many(atoi(argv[2]));
    else if (strcmp(what, "order") == 0)
        result = in_order(atoi(argv[2]));
    else if (strcmp(what, "slow") == 0)
        result = send_late(argv[2], argv[3], "late");
    else if (strcmp(what, "busy") == 0)
        result = send_late(argv[2], argv[3], "works");
    pvm_exit();
    return result;
}
