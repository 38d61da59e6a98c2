/*
 * The model's clock stands at the next moment at which a message arrives or a signal does; then
 * whoever waits is looked at, the one that has waited for longest first.
 */
#include "tools/bench/exchange_model.h"

#include <math.h>
#include <stdlib.h>

/* What a rank does. Its messages are those of `sends`, and those of `receives`, by their order. */
struct rank {
    const int *sends, *receives;
    int send_count, receive_count;
    int sent, sending; /* so many have left, and another is on its way if sending != sent */
    int received;      /* have arrived */
    int granted;       /* of its receives: signals were given */
    double waits_since;
};

struct event {
    double end_us, ready_us; /* of a message: when it arrives; from when on it may be sent */
};

struct run {
    const struct exchange_model *model;
    const struct covey_exchange_message *messages;
    size_t count;
    bool signals;
    struct rank *ranks;
    int *lists;
    int *used; /* by edge */
    struct event *events;
    double now_us;
    size_t arrived;
};

/* ---- Lists ------------------------------------------------------------------------------- */

static void make_lists(struct run *r)
{
    int *at = r->lists;
    for (int rank = 0; rank < r->model->ranks; rank++) {
        struct rank *one = &r->ranks[rank];
        one->sends = at;
        for (size_t i = 0; i < r->count; i++) {
            if (r->messages[i].from == rank)
                at[one->send_count++] = (int)i;
        }
        at += one->send_count;
        one->receives = at;
        for (size_t i = 0; i < r->count; i++) {
            if (r->messages[i].to == rank)
                at[one->receive_count++] = (int)i;
        }
        at += one->receive_count;
    }
}

static const int *message_path(const struct run *r, int message)
{
    const struct covey_exchange_message *m = &r->messages[message];
    return r->model->paths + (m->from * r->model->ranks + m->to) * r->model->path_max;
}

/* ---- Signals ----------------------------------------------------------------------------- */

static void give_signals(struct run *r, struct rank *one)
{
    while (r->signals && one->granted < one->receive_count && one->granted <= one->received) {
        int message = one->receives[one->granted];
        /* Whether what the rank sends in earlier phases has left. */
        if (one->sent != one->send_count &&
            r->messages[one->sends[one->sent]].phase < r->messages[message].phase)
            return;
        r->events[message].ready_us = r->now_us + r->model->alpha_us;
        one->granted++;
    }
}

/* ---- Messages ---------------------------------------------------------------------------- */

static bool can_start(const struct run *r, int message)
{
    const int *path = message_path(r, message);
    if (r->events[message].ready_us > r->now_us)
        return false;
    for (int k = 0; k < r->model->path_max && path[k] >= 0; k++) {
        if (r->used[path[k]] >= r->model->widths[path[k]])
            return false;
    }
    return true;
}

static void use_path(struct run *r, int message, int by)
{
    const int *path = message_path(r, message);
    for (int k = 0; k < r->model->path_max && path[k] >= 0; k++)
        r->used[path[k]] += by;
}

/* The rank that has waited for longest and can send now; NULL: none. */
static struct rank *find_first(struct run *r)
{
    struct rank *first = NULL;
    for (int i = 0; i < r->model->ranks; i++) {
        struct rank *one = &r->ranks[i];
        if (one->sending == one->sent && one->sent < one->send_count &&
            (!first || one->waits_since < first->waits_since) &&
            can_start(r, one->sends[one->sent]))
            first = one;
    }
    return first;
}

static void play_messages(struct run *r)
{
    for (int i = 0; i < r->model->ranks; i++)
        give_signals(r, &r->ranks[i]);
    while (r->arrived < r->count) {
        for (struct rank *one; (one = find_first(r));) {
            int message = one->sends[one->sent];
            double bytes = (double)r->messages[message].bytes;
            one->sending++;
            use_path(r, message, 1);
            r->events[message].end_us = r->now_us + r->model->alpha_us + bytes * r->model->us_byte;
        }
        /* When something happens next. */
        double next = INFINITY;
        for (int i = 0; i < r->model->ranks; i++) {
            const struct rank *one = &r->ranks[i];
            if (one->sent == one->send_count)
                continue;
            const struct event *event = &r->events[one->sends[one->sent]];
            double at = one->sending > one->sent ? event->end_us : event->ready_us;
            if (at > r->now_us && at < next)
                next = at;
        }
        if (isinf(next))
            return;
        r->now_us = next;
        for (int i = 0; i < r->model->ranks; i++) {
            struct rank *one = &r->ranks[i];
            if (one->sending > one->sent && r->events[one->sends[one->sent]].end_us <= next) {
                int message = one->sends[one->sent++];
                struct rank *to = &r->ranks[r->messages[message].to];
                use_path(r, message, -1);
                one->waits_since = r->now_us;
                to->received++;
                r->arrived++;
                give_signals(r, to);
                give_signals(r, one);
            }
        }
    }
}

double exchange_model_run(const struct exchange_model *model,
                          const struct covey_exchange_message *messages, size_t count,
                          int synchrony)
{
    struct run r = {.model = model,
                    .messages = messages,
                    .count = count,
                    .signals = synchrony == COVEY_EXCHANGE_S1};
    double took_us = -1;
    r.ranks = calloc((size_t)model->ranks, sizeof *r.ranks);
    r.lists = calloc(2 * count + 1, sizeof *r.lists);
    r.used = calloc((size_t)model->edges + 1, sizeof *r.used);
    r.events = calloc(count + 1, sizeof *r.events);
    if (r.ranks && r.lists && r.used && r.events) {
        for (size_t i = 0; r.signals && i < count; i++)
            r.events[i].ready_us = INFINITY;
        make_lists(&r);
        play_messages(&r);
        took_us = r.now_us;
    }
    free(r.ranks);
    free(r.lists);
    free(r.used);
    free(r.events);
    return took_us;
}
