/*
 * spread.c - leaving a processor that this task shares while another one is idle: see spread.h.
 */
#include "lib/member/spread.h"
#include "lib/msg/clock.h"

#include <fcntl.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define TAKEN 8 /* offers in a row, until it looks */
#define PAUSE_MIN_NS 10000000u
#define PAUSE_MAX_NS 640000000u
#define LOADAVG_BYTES 128

bool spread_is_due(struct spread *spread, bool taken, uint64_t now_ns)
{
    spread->taken = taken ? spread->taken + 1 : 0;
    return spread->taken >= TAKEN && now_ns >= spread->next_ns;
}

void spread_looked(struct spread *spread, bool found, uint64_t now_ns)
{
    bool is_soon = now_ns < spread->next_ns + spread->pause_ns;
    uint64_t pause_ns = found && !is_soon ? PAUSE_MIN_NS : 2 * spread->pause_ns;
    pause_ns = pause_ns < PAUSE_MIN_NS ? PAUSE_MIN_NS : pause_ns;
    spread->pause_ns = pause_ns > PAUSE_MAX_NS ? PAUSE_MAX_NS : pause_ns;
    spread->next_ns = now_ns + spread->pause_ns;
    spread->taken = 0;
}

/* "0.20 0.18 0.12 2/80 11206": the fourth is how many want to run, this task among them. */
bool spread_is_room(const char *loadavg, int processors)
{
    const char *at = loadavg;
    for (int i = 0; at != NULL && i < 3; i++) {
        at = strchr(at, ' ');
        at = at == NULL ? NULL : at + 1;
    }
    if (at == NULL || *at < '1' || *at > '9')
        return false;
    char *end;
    long running = strtol(at, &end, 10);
    return *end == '/' && running <= processors;
}

bool spread_move(void)
{
    cpu_set_t all, others;
    int here = sched_getcpu();
    if (here < 0 || here >= CPU_SETSIZE || sched_getaffinity(0, sizeof all, &all) != 0)
        return false;
    others = all;
    CPU_CLR((size_t)here, &others);
    if (CPU_COUNT(&others) == 0 || sched_setaffinity(0, sizeof others, &others) != 0)
        return false;
    sched_setaffinity(0, sizeof all, &all); /* it was allowed before */
    return true;
}

/* The most at any time. */
static _Atomic int beside = 1;

void spread_beside(int tasks)
{
    int before = atomic_load_explicit(&beside, memory_order_relaxed);
    while (tasks > before && !atomic_compare_exchange_weak(&beside, &before, tasks))
        continue;
}

static bool is_room(void)
{
    char text[LOADAVG_BYTES];
    cpu_set_t all;
    if (sched_getaffinity(0, sizeof all, &all) != 0 ||
        atomic_load_explicit(&beside, memory_order_relaxed) > CPU_COUNT(&all))
        return false;
    int fd = open("/proc/loadavg", O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    ssize_t size = read(fd, text, sizeof text - 1);
    close(fd);
    text[size > 0 ? size : 0] = '\0';
    return spread_is_room(text, CPU_COUNT(&all));
}

void spread_offered(bool taken)
{
    static _Thread_local struct spread spread;
    uint64_t now_ns = taken ? clock_ns() : 0; /* most are not, and then it must cost nothing */
    if (spread_is_due(&spread, taken, now_ns))
        spread_looked(&spread, is_room() && spread_move(), now_ns);
}
