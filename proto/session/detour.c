/* detour.c - see detour.h. */
#include "proto/session/detour.h"

#define ASKS_A_SILENCE 8  /* so often an end asks in all of `after_us` */
#define ASK_US_MAX 100000 /* a way that works again is not to be missed for long */

void detour_init(struct detour *d, uint64_t after_us)
{
    *d = (struct detour){.after_us = after_us, .quiet_us = UINT64_MAX};
}

static bool detour_take(struct detour *d, bool taken)
{
    bool changes = d->taken != taken;
    d->taken = taken;
    d->quiet_us = UINT64_MAX;
    return changes;
}

void detour_on_proof(struct detour *d)
{
    d->quiet_us = UINT64_MAX;
}

bool detour_on_answer(struct detour *d, uint64_t now_us)
{
    if (d->taken)
        d->deaf_us = now_us + d->after_us;
    return detour_take(d, false);
}

bool detour_on_met(struct detour *d, uint64_t now_us)
{
    return d->after_us != 0 && now_us >= d->deaf_us && detour_take(d, true);
}

bool detour_step(struct detour *d, bool owed, uint64_t now_us)
{
    if (!owed || d->taken || d->after_us == 0) {
        d->quiet_us = UINT64_MAX;
        return false;
    }
    if (d->quiet_us == UINT64_MAX) {
        d->quiet_us = now_us;
        d->ask_us = now_us + d->after_us / 2;
    }
    return now_us >= d->quiet_us + d->after_us && detour_take(d, true);
}

uint64_t detour_deadline(const struct detour *d)
{
    if (d->quiet_us == UINT64_MAX)
        return UINT64_MAX;
    uint64_t end_us = d->quiet_us + d->after_us;
    return d->ask_us < end_us ? d->ask_us : end_us;
}

static uint64_t pause_us(const struct detour *d)
{
    uint64_t pause_us = d->after_us / ASKS_A_SILENCE;
    return pause_us < ASK_US_MAX ? pause_us : ASK_US_MAX;
}

bool detour_asks(struct detour *d, bool sends, uint64_t now_us)
{
    bool wants = d->taken ? sends : d->quiet_us != UINT64_MAX;
    if (!wants || now_us < d->ask_us)
        return false;
    d->ask_us = now_us + pause_us(d);
    return true;
}
