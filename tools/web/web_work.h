/*
 * web_work.h - what a task does as bytes: one of each sample, and some that tell of now. Pure.
 */
#ifndef COVEY_TOOLS_WEB_WORK_H
#define COVEY_TOOLS_WEB_WORK_H

#include "tools/top/work.h"

/* A figure of any size, such as bytes a second, as 6 log2(1 + v), rounded: right to 6 %. What is
 * not known, below 0, is WEB_UNKNOWN. */
#define WEB_UNKNOWN 255
uint8_t web_rate_byte(double value);

/* A sample of a task is a byte: its enum covey_task_state; or, while it runs, how much of the time
 * between two looks it computed and was in calls, in 20th; or else how busy its processor was. */
enum web_task_byte {
    WEB_TASK_ENDED = 0,
    WEB_TASK_SILENT = 4,  /* its host does not answer */
    WEB_TASK_BUSY = 5,    /* + tenths of a processor; its program does not use the library */
    WEB_TASK_SHARES = 16, /* + c (43 - c) / 2 + m: computed c, was in calls m, waited 20 - c - m */
};
uint8_t web_task_byte(int state, const struct work_rates *rates);

/* Of now; each as web_rate_byte(). */
enum web_figure {
    WEB_CPU, /* thousandth of a processor */
    WEB_MEMORY,
    WEB_SENT, /* messages in 1000 s */
    WEB_RECEIVED,
    WEB_SENT_BYTES, /* a second */
    WEB_RECEIVED_BYTES,
    WEB_FIGURES
};
void web_figures(const struct covey_task_stat *stat, const struct work_rates *rates,
                 uint8_t figures[WEB_FIGURES]);

#endif
