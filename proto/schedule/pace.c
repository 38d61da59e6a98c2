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
#include "proto/schedule/pace.h"

#include <assert.h>
#include <stdlib.h>

/* ---- The plan ---------------------------------------------------------------------------- */

/* What an order says, for the making of a plan. */
struct source {
    const struct pace_order *order;
    uint32_t *first;             /* by rank, in nth; one more at the end */
    uint32_t *nth;               /* the messages that a rank sends, in their order */
    struct schedule_sync *syncs; /* the order's, and those within lanes */
    size_t sync_count;
};

static int source_create(struct source *in, const struct pace_order *order)
{
    size_t ranks = (size_t)order->ranks;

    *in = (struct source){.order = order};
    in->first = calloc(ranks + 2, sizeof *in->first);
    in->nth = calloc(order->message_count + 1, sizeof *in->nth);
    in->syncs = calloc(order->sync_count + order->message_count + 1, sizeof *in->syncs);
    return in->first != NULL && in->nth != NULL && in->syncs != NULL ? 0 : -1;
}

static void list_syncs(struct source *in)
{
    const struct pace_order *o = in->order;

    for (; in->sync_count < o->sync_count; in->sync_count++)
        in->syncs[in->sync_count] = o->syncs[in->sync_count];
    if (o->blind) {
        /* In each lane of each rank, every message before the next one. */
        for (int rank = 0; rank < in->order->ranks; rank++) {
            uint32_t lanes = in->order->lanes[rank];
            for (uint32_t i = in->first[rank] + lanes; i < in->first[rank + 1]; i++)
                in->syncs[in->sync_count++] =
                    (struct schedule_sync){in->nth[i - lanes], in->nth[i]};
        }
    }
}

static void take_messages(struct pace_plan *plan, const struct source *in)
{
    const struct schedule_message *all = in->order->messages;
    uint32_t first = in->first[plan->rank];

    plan->lanes = in->order->lanes[plan->rank] ? in->order->lanes[plan->rank] : 1;
    plan->loose = in->order->loose;
    plan->send_count = in->first[plan->rank + 1] - first;
    for (int i = 0; i < plan->ranks; i++)
        plan->send_of[i] = PACE_NONE;
    for (uint32_t i = 0; i < plan->send_count; i++) {
        plan->sends[i].to = all[in->nth[first + i]].to;
        plan->send_of[plan->sends[i].to] = i;
    }
    for (size_t i = 0; i < in->order->message_count; i++) {
        if (all[i].to == plan->rank)
            plan->receives[plan->receive_count++] = all[i].from;
    }
}

/* Counts what is waited for, and by sender what is to be told: tell_first[i + 1] of sender i. */
static void count_syncs(struct pace_plan *plan, const struct source *in)
{
    const struct schedule_message *all = in->order->messages;

    for (size_t i = 0; i < in->sync_count; i++) {
        const struct schedule_message *before = &all[in->syncs[i].before];
        const struct schedule_message *after = &all[in->syncs[i].after];
        if (after->from == plan->rank) {
            assert(plan->send_of[after->to] != PACE_NONE);
            plan->sends[plan->send_of[after->to]].waits++;
            plan->hears[before->to] =
                (uint16_t)(plan->hears[before->to] + (before->to != plan->rank));
        }
        if (before->to == plan->rank)
            plan->tell_first[before->from + 1]++;
    }
    for (int i = 0; i < plan->ranks; i++)
        plan->tell_first[i + 1] += plan->tell_first[i];
}

static int plan_fill(struct pace_plan *plan, struct source *in)
{
    size_t ranks = (size_t)plan->ranks;

    plan->sends = calloc(ranks + 1, sizeof *plan->sends);
    plan->receives = calloc(ranks + 1, sizeof *plan->receives);
    plan->send_of = calloc(ranks + 1, sizeof *plan->send_of);
    plan->hears = calloc(ranks + 1, sizeof *plan->hears);
    plan->tell_first = calloc(ranks + 1, sizeof *plan->tell_first);
    if (plan->sends == NULL || plan->receives == NULL || plan->send_of == NULL ||
        plan->hears == NULL || plan->tell_first == NULL)
        return -1;
    /* Counts two places on and adds up one place on, so that filling moves each to where it begins.
     */
    const struct pace_order *o = in->order;

    for (size_t i = 0; i < o->message_count; i++)
        in->first[o->messages[i].from + 2]++;
    for (int rank = 0; rank < o->ranks; rank++)
        in->first[rank + 1] += in->first[rank];
    for (uint32_t i = 0; i < o->message_count; i++)
        in->nth[in->first[o->messages[i].from + 1]++] = i;
    list_syncs(in);
    take_messages(plan, in);
    count_syncs(plan, in);
    const struct schedule_message *all = in->order->messages;
    uint32_t *at = calloc((size_t)plan->ranks + 1, sizeof *at);

    plan->tells = calloc((size_t)plan->tell_first[plan->ranks] + 1, sizeof *plan->tells);
    for (size_t i = 0; at != NULL && plan->tells != NULL && i < in->sync_count; i++) {
        const struct schedule_message *before = &all[in->syncs[i].before];
        const struct schedule_message *after = &all[in->syncs[i].after];
        if (before->to != plan->rank)
            continue;
        plan->tells[plan->tell_first[before->from] + at[before->from]++] =
            (struct pace_tell){.to = after->from, .about = after->to};
    }
    free(at);
    return at != NULL && plan->tells != NULL ? 0 : -1;
}

int pace_plan_of(struct pace_plan *plan, const struct pace_order *order, int rank)
{
    struct source in;
    int failed = source_create(&in, order);

    *plan = (struct pace_plan){.ranks = order->ranks, .rank = rank};
    if (!failed)
        failed = plan_fill(plan, &in);
    free(in.first);
    free(in.nth);
    free(in.syncs);
    if (failed)
        pace_plan_destroy(plan);
    return failed;
}

int pace_plan_create(struct pace_plan *plan, const struct schedule *schedule, int rank, bool blind)
{
    uint32_t *lanes = calloc((size_t)schedule->ranks + 1, sizeof *lanes);
    const struct pace_order order = {.ranks = schedule->ranks,
                                     .blind = blind,
                                     .lanes = lanes,
                                     .message_count = schedule->message_count,
                                     .sync_count = schedule->sync_count,
                                     .messages = schedule->messages,
                                     .syncs = schedule->syncs};

    *plan = (struct pace_plan){0};
    if (lanes == NULL)
        return -1;
    /* Messages stand by phase, then sender: those that a rank sends in one phase, side by side. */
    uint32_t run = 0;

    for (size_t i = 0; i < schedule->message_count; i++) {
        const struct schedule_message *m = &schedule->messages[i];
        bool same = i > 0 && m->phase == m[-1].phase && m->from == m[-1].from;
        run = same ? run + 1 : 1;
        lanes[m->from] = run > lanes[m->from] ? run : lanes[m->from];
    }
    int failed = pace_plan_of(plan, &order, rank);
    free(lanes);
    return failed;
}

void pace_plan_destroy(struct pace_plan *plan)
{
    free(plan->sends);
    free(plan->receives);
    free(plan->send_of);
    free(plan->hears);
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
    pace->begun = calloc((size_t)plan->send_count + 1, sizeof *pace->begun);
    if (pace->waits == NULL || pace->next == NULL || pace->busy == NULL || pace->begun == NULL) {
        pace_destroy(pace);
        return -1;
    }
    for (uint32_t i = 0; i < plan->send_count; i++)
        pace->waits[i] = plan->sends[i].waits;
    for (uint32_t lane = 0; lane < plan->lanes; lane++)
        pace->next[lane] = lane;
    pace->left = plan->send_count;
    pace->expected = plan->receive_count;
    return 0;
}

void pace_destroy(struct pace *pace)
{
    free(pace->waits);
    free(pace->next);
    free(pace->busy);
    free(pace->begun);
    *pace = (struct pace){0};
}

/* The first message that may go. */
static int start_loose(struct pace *pace)
{
    const struct pace_plan *plan = pace->plan;

    while (pace->first < plan->send_count && pace->begun[pace->first])
        pace->first++;
    for (uint32_t at = pace->first; at < plan->send_count && pace->busy_lanes < plan->lanes; at++) {
        if (pace->begun[at] || pace->waits[at] > 0)
            continue;
        pace->begun[at] = 1;
        pace->busy_lanes++;
        return plan->sends[at].to;
    }
    return -1;
}

int pace_start(struct pace *pace)
{
    const struct pace_plan *plan = pace->plan;

    if (plan->loose)
        return start_loose(pace);
    for (uint32_t lane = 0; lane < plan->lanes; lane++) {
        uint32_t at = pace->next[lane];
        if (pace->busy[lane] || at >= plan->send_count || pace->waits[at] > 0)
            continue;
        assert(at % plan->lanes == lane);
        pace->busy[lane] = 1;
        pace->next[lane] = at + plan->lanes;
        return plan->sends[at].to;
    }
    return -1;
}

void pace_on_left(struct pace *pace, int to)
{
    assert(pace->left > 0 && pace->plan->send_of[to] != PACE_NONE);
    assert(!pace->plan->loose || pace->busy_lanes > 0);
    pace->busy[pace->plan->send_of[to] % pace->plan->lanes] = 0;
    pace->busy_lanes -= pace->plan->loose;
    pace->left--;
}

bool pace_on_told(struct pace *pace, int about)
{
    if (about < 0 || about >= pace->plan->ranks || pace->plan->send_of[about] == PACE_NONE)
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

    assert(pace->expected > 0);
    pace->expected--;
    *tells = pace->plan->tells + first[from];
    return first[from + 1] - first[from];
}
