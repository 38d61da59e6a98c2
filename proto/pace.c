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

/* What a schedule says, for the making of a plan. */
struct source {
    const struct schedule *schedule;
    uint32_t *lanes;             /* by rank */
    uint32_t *sent;              /* by rank: messages listed so far */
    uint32_t *nth;               /* by rank and place: the messages that it sends, in their order */
    struct schedule_sync *syncs; /* the schedule's, and those within lanes */
    size_t sync_count;
};

static int source_create(struct source *in, const struct schedule *s)
{
    size_t ranks = (size_t)s->ranks;

    *in = (struct source){.schedule = s};
    in->lanes = calloc(ranks + 1, sizeof *in->lanes);
    in->sent = calloc(ranks + 1, sizeof *in->sent);
    in->nth = calloc(s->message_count + 1, sizeof *in->nth);
    in->syncs = calloc(s->sync_count + s->message_count + 1, sizeof *in->syncs);
    return in->lanes && in->sent && in->nth && in->syncs ? 0 : -1;
}

static void source_destroy(struct source *in)
{
    free(in->lanes);
    free(in->sent);
    free(in->nth);
    free(in->syncs);
}

/* Messages stand by phase, then sender: those that a rank sends in one phase, side by side. */
static void list_messages(struct source *in)
{
    const struct schedule *s = in->schedule;
    uint32_t run = 0;

    for (uint32_t i = 0; i < s->message_count; i++) {
        const struct schedule_message *m = &s->messages[i];
        bool same = i > 0 && m->phase == m[-1].phase && m->from == m[-1].from;
        run = same ? run + 1 : 1;
        in->lanes[m->from] = run > in->lanes[m->from] ? run : in->lanes[m->from];
        in->nth[m->from * (uint32_t)(s->ranks - 1) + in->sent[m->from]++] = i;
    }
}

/* In each lane of each rank, every message before the next one. */
static void list_lane_syncs(struct source *in)
{
    uint32_t sends = (uint32_t)in->schedule->ranks - 1;

    for (uint32_t rank = 0; rank <= sends; rank++) {
        const uint32_t *nth = in->nth + rank * sends;
        for (uint32_t i = in->lanes[rank]; i < sends; i++)
            in->syncs[in->sync_count++] = (struct schedule_sync){nth[i - in->lanes[rank]], nth[i]};
    }
}

static void list_syncs(struct source *in, bool blind)
{
    const struct schedule *s = in->schedule;

    for (; in->sync_count < s->sync_count; in->sync_count++)
        in->syncs[in->sync_count] = s->syncs[in->sync_count];
    if (blind)
        list_lane_syncs(in);
}

static void take_sends(struct pace_plan *plan, const struct source *in)
{
    uint32_t sends = (uint32_t)plan->ranks - 1;

    plan->lanes = in->lanes[plan->rank] ? in->lanes[plan->rank] : 1;
    for (uint32_t i = 0; i < sends; i++) {
        uint32_t message = in->nth[(uint32_t)plan->rank * sends + i];
        plan->sends[i].to = in->schedule->messages[message].to;
        plan->send_of[plan->sends[i].to] = i;
    }
    plan->send_count = sends;
}

/* Counts what is waited for, and by sender what is to be told: tell_first[i + 1] of sender i. */
static void count_syncs(struct pace_plan *plan, const struct source *in)
{
    const struct schedule_message *all = in->schedule->messages;

    for (size_t i = 0; i < in->sync_count; i++) {
        const struct schedule_message *before = &all[in->syncs[i].before];
        const struct schedule_message *after = &all[in->syncs[i].after];
        if (after->from == plan->rank) {
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

static int take_tells(struct pace_plan *plan, const struct source *in)
{
    const struct schedule_message *all = in->schedule->messages;
    uint32_t *at = calloc((size_t)plan->ranks + 1, sizeof *at);

    plan->tells = calloc((size_t)plan->tell_first[plan->ranks] + 1, sizeof *plan->tells);
    for (size_t i = 0; at && plan->tells && i < in->sync_count; i++) {
        const struct schedule_message *before = &all[in->syncs[i].before];
        const struct schedule_message *after = &all[in->syncs[i].after];
        if (before->to != plan->rank)
            continue;
        plan->tells[plan->tell_first[before->from] + at[before->from]++] =
            (struct pace_tell){.to = after->from, .about = after->to};
    }
    free(at);
    return at && plan->tells ? 0 : -1;
}

static int plan_fill(struct pace_plan *plan, struct source *in, bool blind)
{
    size_t ranks = (size_t)plan->ranks;

    plan->sends = calloc(ranks + 1, sizeof *plan->sends);
    plan->send_of = calloc(ranks + 1, sizeof *plan->send_of);
    plan->hears = calloc(ranks + 1, sizeof *plan->hears);
    plan->tell_first = calloc(ranks + 1, sizeof *plan->tell_first);
    if (!plan->sends || !plan->send_of || !plan->hears || !plan->tell_first)
        return -1;
    list_messages(in);
    list_syncs(in, blind);
    take_sends(plan, in);
    count_syncs(plan, in);
    return take_tells(plan, in);
}

int pace_plan_create(struct pace_plan *plan, const struct schedule *schedule, int rank, bool blind)
{
    struct source in;
    int failed = source_create(&in, schedule);

    *plan = (struct pace_plan){.ranks = schedule->ranks, .rank = rank};
    if (!failed)
        failed = plan_fill(plan, &in, blind);
    source_destroy(&in);
    if (failed)
        pace_plan_destroy(plan);
    return failed;
}

void pace_plan_destroy(struct pace_plan *plan)
{
    free(plan->sends);
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
