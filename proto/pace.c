/*
 * pace.c - carries out one rank's part of a schedule: sends in lanes, hand-overs both ways.
 *
 * A plan is the part of the schedule that concerns one rank, taken out once: its messages in their
 * order with the number of hand-overs that each waits for, and by sender what is told to whom when
 * that sender's message has come. A pace counts down what a run still waits for. Nothing here knows
 * of time, sizes or links; whoever drives it says when a message has left or is as good as here.
 *
 * Why it always ends: the order that the schedule gives is total, a message waits only for earlier
 * ones, and what waits for nothing starts. A rank that is late holds back those that wait for it.
 */
#include "proto/pace.h"

#include <stdlib.h>
#include <string.h>

/* ---- The plan ---------------------------------------------------------------------------- */

/* The most messages that the rank sends in one phase. */
static uint32_t count_lanes(const struct schedule *s, int rank)
{
    uint32_t most = 1, run = 0;

    for (size_t i = 0; i < s->message_count; i++) {
        if (i == 0 || s->messages[i].phase != s->messages[i - 1].phase)
            run = 0;
        run += s->messages[i].from == rank;
        most = run > most ? run : most;
    }
    return most;
}

static void list_sends(struct pace_plan *plan, const struct schedule *s)
{
    for (size_t i = 0; i < s->message_count; i++) {
        const struct schedule_message *m = &s->messages[i];
        if (m->from != plan->rank)
            continue;
        plan->send_of[m->to] = plan->send_count;
        plan->sends[plan->send_count++] = (struct pace_send){.to = m->to};
    }
}

/* Counts what is waited for, and by sender what is to be told: tell_first[i + 1] of sender i. */
static void count_syncs(struct pace_plan *plan, const struct schedule *s)
{
    for (size_t i = 0; i < s->sync_count; i++) {
        const struct schedule_message *before = &s->messages[s->syncs[i].before];
        const struct schedule_message *after = &s->messages[s->syncs[i].after];
        if (after->from == plan->rank)
            plan->sends[plan->send_of[after->to]].waits++;
        if (before->to == plan->rank)
            plan->tell_first[before->from + 1]++;
    }
    for (int i = 0; i < plan->ranks; i++)
        plan->tell_first[i + 1] += plan->tell_first[i];
}

static int list_tells(struct pace_plan *plan, const struct schedule *s)
{
    uint32_t *at = calloc((size_t)plan->ranks + 1, sizeof *at);

    plan->tells = calloc((size_t)plan->tell_first[plan->ranks] + 1, sizeof *plan->tells);
    for (size_t i = 0; at && plan->tells && i < s->sync_count; i++) {
        const struct schedule_message *before = &s->messages[s->syncs[i].before];
        const struct schedule_message *after = &s->messages[s->syncs[i].after];
        if (before->to != plan->rank)
            continue;
        plan->tells[plan->tell_first[before->from] + at[before->from]++] =
            (struct pace_tell){.to = after->from, .about = after->to};
    }
    free(at);
    return at && plan->tells ? 0 : -1;
}

int pace_plan_create(struct pace_plan *plan, const struct schedule *schedule, int rank)
{
    size_t ranks = (size_t)schedule->ranks;

    *plan = (struct pace_plan){.ranks = schedule->ranks, .rank = rank};
    plan->sends = calloc(ranks + 1, sizeof *plan->sends);
    plan->send_of = calloc(ranks + 1, sizeof *plan->send_of);
    plan->tell_first = calloc(ranks + 1, sizeof *plan->tell_first);
    if (plan->sends && plan->send_of && plan->tell_first) {
        plan->lanes = count_lanes(schedule, rank);
        list_sends(plan, schedule);
        count_syncs(plan, schedule);
        if (list_tells(plan, schedule) == 0)
            return 0;
    }
    pace_plan_destroy(plan);
    return -1;
}

void pace_plan_destroy(struct pace_plan *plan)
{
    free(plan->sends);
    free(plan->send_of);
    free(plan->tell_first);
    free(plan->tells);
    *plan = (struct pace_plan){0};
}

/* ---- A run ------------------------------------------------------------------------------- */

int pace_create(struct pace *pace, const struct pace_plan *plan)
{
    *pace = (struct pace){.plan = plan};
    pace->waits = calloc((size_t)plan->send_count + 1, sizeof *pace->waits);
    pace->next = calloc(plan->lanes, sizeof *pace->next);
    pace->busy = calloc(plan->lanes, sizeof *pace->busy);
    if (!pace->waits || !pace->next || !pace->busy) {
        pace_destroy(pace);
        return -1;
    }
    pace_reset(pace);
    return 0;
}

void pace_destroy(struct pace *pace)
{
    free(pace->waits);
    free(pace->next);
    free(pace->busy);
    *pace = (struct pace){0};
}

void pace_reset(struct pace *pace)
{
    const struct pace_plan *plan = pace->plan;

    for (uint32_t i = 0; i < plan->send_count; i++)
        pace->waits[i] = plan->sends[i].waits;
    for (uint32_t lane = 0; lane < plan->lanes; lane++)
        pace->next[lane] = lane;
    memset(pace->busy, 0, plan->lanes);
    pace->left = plan->send_count;
    pace->expected = (uint32_t)plan->ranks - 1;
}

int pace_start(struct pace *pace)
{
    const struct pace_plan *plan = pace->plan;

    for (uint32_t lane = 0; lane < plan->lanes; lane++) {
        uint32_t at = pace->next[lane];
        if (pace->busy[lane] || at >= plan->send_count || pace->waits[at] > 0)
            continue;
        pace->busy[lane] = 1;
        pace->next[lane] = at + plan->lanes;
        return plan->sends[at].to;
    }
    return -1;
}

void pace_on_left(struct pace *pace, int to)
{
    pace->busy[pace->plan->send_of[to] % pace->plan->lanes] = 0;
    pace->left--;
}

bool pace_on_told(struct pace *pace, int about)
{
    if (about < 0 || about >= pace->plan->ranks || about == pace->plan->rank)
        return false;
    uint16_t *waits = &pace->waits[pace->plan->send_of[about]];
    if (*waits == 0)
        return false;
    --*waits;
    return true;
}

uint32_t pace_on_arrived(struct pace *pace, int from, const struct pace_tell **tells)
{
    const uint32_t *first = pace->plan->tell_first;

    pace->expected--;
    *tells = pace->plan->tells + first[from];
    return first[from + 1] - first[from];
}
