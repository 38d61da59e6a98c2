/*
 * used.c - what this process used of the processors in a time that has passed.
 *
 * The monitor of a host tells of the time between its last two looks. It looks when it is asked,
 * so that the ends of that time are mostly times at which this process has asked, and read its own
 * clock: then what it used is known exactly. Those readings are kept; of others, which come as
 * often as plans are made, a few a second are enough.
 */
#include "lib/domain/place/used.h"

#include <math.h>
#include <string.h>

void used_note(struct used_log *log, double at_s, double used_s)
{
    if (log->is_open)
        log->count--;
    if (log->count == USED_READINGS) {
        memmove(log->readings, log->readings + 1, (USED_READINGS - 1) * sizeof *log->readings);
        log->count--;
    }
    log->is_open = log->count > 0 && at_s - log->readings[log->count - 1].at_s < USED_APART_S;
    log->readings[log->count++] = (struct used_reading){at_s, used_s};
}

void used_keep(struct used_log *log)
{
    log->is_open = false;
}

/* Until that time, since the process began. */
static double used_until(const struct used_log *log, double at_s)
{
    const struct used_reading *r = log->readings;
    int after = 0;
    while (after < log->count && r[after].at_s < at_s)
        after++;
    if (after == 0)
        return fmax(0, r[0].used_s - (r[0].at_s - at_s));
    if (after == log->count)
        return r[after - 1].used_s;
    double part = (at_s - r[after - 1].at_s) / (r[after].at_s - r[after - 1].at_s);
    return r[after - 1].used_s + part * (r[after].used_s - r[after - 1].used_s);
}

double used_between(const struct used_log *log, double begin_s, double end_s)
{
    if (log->count == 0 || end_s <= begin_s)
        return 0;
    return used_until(log, end_s) - used_until(log, begin_s);
}
