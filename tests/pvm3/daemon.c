/*
 * daemon.c - what is asked of the daemon: the time on a host, a descriptor to wait for messages
 * with, and what only PVM's maintainers want to know.
 */
#include "tests/pvm3/say.h"

#include <poll.h>
#include <sys/time.h>

static long us_since(const struct timeval *t)
{
    struct timeval now;
    gettimeofday(&now, NULL);
    return (now.tv_sec - t->tv_sec) * 1000000L + now.tv_usec - t->tv_usec;
}

static void clocks(void)
{
    struct timeval there = {0, 0}, ahead = {9, 9};
    SAY(pvm_hostsync(pvm_tidtohost(pvm_mytid()), &there, &ahead));
    SAY(us_since(&there) >= 0 && us_since(&there) < 60000000);
    SAY(ahead.tv_sec >= -1 && ahead.tv_sec <= 0);
    SAY(ahead.tv_usec >= 0 && ahead.tv_usec < 1000000);
    SAY(pvm_hostsync(pvm_mytid(), &there, NULL));
    SAY(pvm_hostsync(0x40000, NULL, NULL));
    SAY(pvm_hostsync(0x80000, &there, &ahead));
    SAY(pvm_hostsync(0, &there, &ahead));
    SAY(pvm_hostsync(-1, &there, &ahead));
}

static void tickle(int what, int value)
{
    int numbers[2] = {what, value}, results[10] = {-1}, count = -1;
    int result = pvm_tickle(2, numbers, &count, results);
    printf("pvm_tickle(%d, %d) = %d:", what, value, result);
    for (int i = 0; i < count; i++)
        printf(" %d", results[i]);
    printf("\n");
}

static void tickles(void)
{
    int numbers[11] = {1}, count = -1;
    for (int what = 0; what <= 5; what++)
        tickle(what, 0);
    tickle(6, 2);
    tickle(5, 0);
    tickle(6, 0);
    tickle(5, 0);
    tickle(8, 0x80000);
    tickle(9, 0);
    tickle(12, 0);
    SAY(pvm_tickle(1, numbers, NULL, NULL));
    SAY(pvm_tickle(0, numbers, &count, NULL));
    SAY(pvm_tickle(11, numbers, &count, NULL));
}

/* Whether a descriptor of the library is readable within that time. */
static int readable(int ms)
{
    int *list = NULL;
    int count = pvm_getfds(&list);
    struct pollfd fds[8];
    for (int i = 0; i < count; i++)
        fds[i] = (struct pollfd){.fd = list[i], .events = POLLIN};
    return poll(fds, (nfds_t)count, ms) > 0;
}

/* Waits by the descriptor alone, and looks whenever it is readable. */
static int took_by_descriptor(int tag)
{
    for (int i = 0; i < 100; i++) {
        if (pvm_nrecv(-1, tag) > 0)
            return 1;
        if (!readable(10000))
            return 0;
    }
    return 0;
}

static void descriptors(void)
{
    char *arguments[] = {"child", NULL};
    int *list = NULL, tid = 0;
    SAY(pvm_setopt(PvmRoute, PvmDontRoute));
    SAY(pvm_getfds(&list));
    SAY(list[0] > 2);
    SAY(pvm_spawn(say_program(), arguments, PvmTaskDefault, "", 1, &tid));
    SAY(took_by_descriptor(7));
    SAY(readable(200));
    pvm_initsend(PvmDataDefault);
    pvm_send(tid, 8);
    SAY(readable(10000));
    SAY(took_by_descriptor(9));
    SAY(took_by_descriptor(9));
    SAY(took_by_descriptor(9));
    SAY(readable(200));
    SAY(pvm_getfds(&list));
}

/* Three messages for one, so that some wait. */
static int child(void)
{
    pvm_setopt(PvmRoute, PvmDontRoute);
    pvm_initsend(PvmDataDefault);
    pvm_send(pvm_parent(), 7);
    pvm_recv(pvm_parent(), 8);
    pvm_initsend(PvmDataDefault);
    for (int i = 0; i < 3; i++)
        pvm_send(pvm_parent(), 9);
    pvm_exit();
    return 0;
}

int main(int argc, char **argv)
{
    (void)argv;
    if (argc > 1)
        return child();
    say_begin();
    clocks();
    tickles();
    descriptors();
    pvm_exit();
    return 0;
}
