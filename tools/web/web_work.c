/*
 * web_work.c - what a task does as bytes. The shares of its time are one byte a sample, as its
 * state was before they were known: ten minutes of them cost a viewer nothing more.
 */
#include "tools/web/web_work.h"

#include <math.h>

#define STEPS 20 /* of the whole time; all pairs of shares in such steps are less than 256 */

uint8_t web_rate_byte(double value)
{
    if (value < 0 || isnan(value))
        return WEB_UNKNOWN;
    double steps = round(6 * log2(1 + value));
    return (uint8_t)(steps > 254 ? 254 : steps);
}

uint8_t web_task_byte(int state, const struct work_rates *rates)
{
    if (state < COVEY_TASK_STARTING || state > COVEY_TASK_ENDING)
        return WEB_UNKNOWN;
    if (state == COVEY_TASK_RUNNING && rates->computing >= 0) {
        int c = (int)lround(rates->computing * STEPS);
        int m = (int)lround(rates->communicating * STEPS);
        c = c > STEPS ? STEPS : c;
        m = m > STEPS - c ? STEPS - c : m;
        return (uint8_t)(WEB_TASK_SHARES + c * (2 * STEPS + 3 - c) / 2 + m);
    }
    if (state == COVEY_TASK_RUNNING && rates->cpu >= 0)
        return (uint8_t)(WEB_TASK_BUSY + lround((rates->cpu > 1 ? 1 : rates->cpu) * 10));
    return (uint8_t)state;
}

void web_figures(const struct covey_task_stat *stat, const struct work_rates *rates,
                 uint8_t figures[WEB_FIGURES])
{
    figures[WEB_CPU] = web_rate_byte(rates->cpu * 1000);
    figures[WEB_MEMORY] = web_rate_byte(stat->memory_bytes);
    figures[WEB_SENT] = web_rate_byte(rates->sent * 1000);
    figures[WEB_RECEIVED] = web_rate_byte(rates->received * 1000);
    figures[WEB_SENT_BYTES] = web_rate_byte(rates->sent_bytes);
    figures[WEB_RECEIVED_BYTES] = web_rate_byte(rates->received_bytes);
}
