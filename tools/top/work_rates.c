/*
 * work_rates.c - what two looks at a task make: rates, and shares of its time; apart from work.c,
 * for pure files use it, too.
 */
#include <stdbool.h>

#include "tools/top/work.h"

static double per(double base, double last, double interval)
{
    return base < 0 || last < base || interval <= 0 ? -1 : (last - base) / interval;
}

static double share(double value)
{
    return value > 1 ? 1 : value;
}

/* Where waiting was seen to begin earlier than it is counted later, it is the communication's loss:
 * shares are never more than the whole. */
static void shares(const struct covey_task_stat *base, const struct covey_task_stat *last,
                   struct work_rates *rates)
{
    double interval = last->elapsed_s - base->elapsed_s;
    bool known = base->elapsed_s >= 0 && last->elapsed_s >= 0 && interval > 0 &&
                 last->idle_s >= 0 && last->communication_s >= 0;
    rates->computing = rates->communicating = rates->idle = -1;
    if (!known)
        return;
    double idle = last->idle_s - base->idle_s;
    double communicating = last->communication_s - base->communication_s;
    rates->idle = share(idle > 0 ? idle / interval : 0);
    rates->communicating = communicating > 0 ? communicating / interval : 0;
    if (rates->communicating > 1 - rates->idle)
        rates->communicating = 1 - rates->idle;
    rates->computing = 1 - rates->idle - rates->communicating;
}

void work_rates(const struct covey_task_stat *base, const struct covey_task_stat *last,
                struct work_rates *rates)
{
    static const struct covey_task_stat beginning;
    bool again = base && base->at_s >= 0 && last->at_s > base->at_s;
    if (!again)
        base = &beginning;
    double of_process = again ? last->at_s - base->at_s : last->age_s;
    double of_task = last->elapsed_s - base->elapsed_s;
    rates->cpu = per(base->cpu_s, last->cpu_s, of_process);
    rates->sent = per(base->sent, last->sent, of_task);
    rates->sent_bytes = per(base->sent_bytes, last->sent_bytes, of_task);
    rates->received = per(base->received, last->received, of_task);
    rates->received_bytes = per(base->received_bytes, last->received_bytes, of_task);
    shares(base, last, rates);
}
