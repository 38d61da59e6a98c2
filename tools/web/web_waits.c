/*
 * web_waits.c - who waits in a look. All tasks of the look are gone through, those that have no row
 * on the page as well.
 */
#include "tools/web/web_waits.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/top/work.h"

_Static_assert(sizeof((struct web_wait *)0)->what == COLUMN_CELL_BYTES, "a wait is a cell");

static bool waits_now(const struct covey_task_stat *stat)
{
    return stat->waits != COVEY_WAITS_NOT;
}

/* What comes from a daemon may be no number. */
static double since(const struct covey_task_stat *stat)
{
    return isfinite(stat->waits_s) && stat->waits_s > 0 ? stat->waits_s : 0;
}

static void describe(const struct web_look *look, int at, struct web_wait *wait)
{
    const struct covey_task *task = &look->tasks[at];
    const struct covey_task_stat *stat = &look->task_stats[at];
    char program[COLUMN_CELL_BYTES];
    *wait = (struct web_wait){.tid = task->tid, .since_s = since(stat)};
    work_print_program(task->command, program);
    snprintf(wait->program, sizeof wait->program, "%.*s", WEB_PROGRAM_BYTES - 1, program);
    if (waits_now(stat))
        work_print_wait(stat, wait->what);
    for (int i = 0; i < look->host_count; i++)
        if (look->hosts[i].index == task->host)
            snprintf(wait->host, sizeof wait->host, "%s", look->hosts[i].name);
}

/* ---- the longest ---- */

/* The places in the look of the longest waits, the longest first, equals in the look's order. */
static int longest(const struct web_look *look, int places[WEB_WAITS])
{
    int count = 0;
    for (int i = 0; i < look->task_count; i++) {
        double since_s = since(&look->task_stats[i]);
        int at = count;
        if (!waits_now(&look->task_stats[i]))
            continue;
        while (at > 0 && since(&look->task_stats[places[at - 1]]) < since_s)
            at--;
        if (at == WEB_WAITS)
            continue;
        count += count < WEB_WAITS;
        memmove(&places[at + 1], &places[at], (size_t)(count - at - 1) * sizeof *places);
        places[at] = i;
    }
    return count;
}

/* ---- the first ---- */

/* Who has what the task waits for; 0: nobody, or that is not known. */
static covey_tid_t holder_of(const struct web_look *look, const struct covey_task_stat *stat)
{
    for (int i = 0; i < look->held_count; i++) {
        const struct covey_held *held = &look->held[i];
        const char *kind = held->kind == COVEY_HELD_LOCK    ? "lock"
                           : held->kind == COVEY_HELD_TOKEN ? "token"
                                                            : NULL;
        if (kind != NULL && strncmp(stat->call, kind, strlen(kind)) == 0 &&
            strcmp(stat->name, held->name) == 0)
            return held->holder > 0 ? held->holder : 0;
    }
    return 0;
}

static covey_tid_t waited_for(const struct web_look *look, const struct covey_task_stat *stat)
{
    switch (stat->waits) {
    case COVEY_WAITS_MESSAGE:
    case COVEY_WAITS_SEND:
    case COVEY_WAITS_CREDIT:
    case COVEY_WAITS_TURN:
        return stat->peer > 0 ? stat->peer : 0; /* not any task */
    case COVEY_WAITS_NAME:
        return holder_of(look, stat);
    default:
        return 0;
    }
}

static int compare_tids(const void *a, const void *b)
{
    covey_tid_t x = *(const covey_tid_t *)a, y = *(const covey_tid_t *)b;
    return (x > y) - (x < y);
}

static void find_first(struct web_waits *waits, const struct web_look *look)
{
    covey_tid_t *tids = calloc((size_t)look->task_count + 1, sizeof *tids);
    int n = 0;
    for (int i = 0; i < look->task_count && tids != NULL; i++) {
        covey_tid_t tid = waited_for(look, &look->task_stats[i]);
        if (tid != 0 && tid != look->tasks[i].tid)
            tids[n++] = tid;
    }
    if (n > 1)
        qsort(tids, (size_t)n, sizeof *tids, compare_tids);
    for (int i = 0, same = 0; i < n; i++) {
        same = i > 0 && tids[i] == tids[i - 1] ? same + 1 : 1;
        if (same > waits->for_first) {
            waits->for_first = same;
            waits->first.tid = tids[i];
        }
    }
    for (int i = 0; i < look->task_count && n > 0; i++)
        if (look->tasks[i].tid == waits->first.tid)
            describe(look, i, &waits->first);
    free(tids);
}

void web_waits_take(struct web_waits *waits, const struct web_look *look)
{
    int places[WEB_WAITS];
    *waits = (struct web_waits){.count = longest(look, places), .left_out = look->tasks_left_out};
    for (int i = 0; i < look->task_count; i++) {
        waits->all += waits_now(&look->task_stats[i]);
        waits->unknown += look->task_stats[i].elapsed_s < 0;
    }
    for (int i = 0; i < waits->count; i++)
        describe(look, places[i], &waits->rows[i]);
    find_first(waits, look);
}
