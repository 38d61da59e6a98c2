/*
 * duty.c - a host that is slower than the machine. An ordinary user may not give processes a share
 * of a processor, so that the daemon stops and continues those that it has started, 50 times a
 * second: each period begins with the part in which they run. A task that was started by hand is
 * left alone, for a shell would take it for suspended. Tasks end with their daemon, also those that
 * are stopped; one that is to end gets its signal when it runs again, a moment later.
 */
#include <signal.h>

#include "daemon/base/daemon.h"
#include "daemon/table/task.h"

#define PERIOD_US 20000

struct duty {
    uint64_t period_us; /* when the one under way began; 0: none has */
    bool stopped;
};

static void signal_all(const struct daemon *d, int number)
{
    for (const struct task *t = d->tasks->first; t != NULL; t = t->next)
        if (t->end.child != NULL && !t->end.reaped)
            kill(t->pid, number);
}

static uint64_t duty_settle(struct daemon *d, uint64_t now_us)
{
    struct duty *duty = d->own.duty;
    uint32_t speed = slow_speed(&d->conf.slow, d->self.name);
    uint64_t runs_us = (uint64_t)PERIOD_US * speed / SLOW_WHOLE;
    if (speed == SLOW_WHOLE)
        return UINT64_MAX;
    if (now_us >= duty->period_us + PERIOD_US) { /* one that is late is not made up for */
        bool late = now_us >= duty->period_us + 2 * (uint64_t)PERIOD_US;
        duty->period_us = late ? now_us : duty->period_us + PERIOD_US;
    }
    bool stop = now_us >= duty->period_us + runs_us;
    if (stop || duty->stopped)
        signal_all(d, stop ? SIGSTOP : SIGCONT); /* again: of those that have come meanwhile */
    duty->stopped = stop;
    return duty->period_us + (stop ? PERIOD_US : runs_us);
}

static void duty_joined(struct daemon *d)
{
    part_want(d, PART_duty);
}

static void duty_destroy(struct daemon *d)
{
    if (d->own.duty->stopped)
        signal_all(d, SIGCONT);
}

const struct part duty_part = {.name = "duty",
                               .state_bytes = sizeof(struct duty),
                               .destroy = duty_destroy,
                               .joined = duty_joined,
                               .settle = duty_settle};
