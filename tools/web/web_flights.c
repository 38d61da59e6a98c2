/*
 * web_flights.c - counts of who has sent to whom become what was sent between two looks. A count
 * that is less than before began anew: another task has the tid, or the sender had no room for the
 * pair meanwhile.
 */
#include "tools/web/web_flights.h"

#include <stdlib.h>
#include <string.h>

static int compare_pairs(const void *a, const void *b)
{
    const struct covey_task_peer *x = a, *y = b;
    if (x->from != y->from)
        return x->from < y->from ? -1 : 1;
    return (x->to > y->to) - (x->to < y->to);
}

static void put_row(struct web_flights *flights, const struct web_flight *flight)
{
    int at = flights->count;
    while (at > 0 && flights->rows[at - 1].messages < flight->messages)
        at--;
    if (at == WEB_FLIGHTS)
        return;
    flights->count += flights->count < WEB_FLIGHTS;
    memmove(&flights->rows[at + 1], &flights->rows[at],
            (size_t)(flights->count - at - 1) * sizeof *flights->rows);
    flights->rows[at] = *flight;
}

/* `then` is the pair's row of the look before, NULL: it had none. */
static void put_pair(struct web_flights *flights, const struct covey_task_peer *now,
                     const struct covey_task_peer *then)
{
    struct web_flight flight = {now->from, now->to, now->sent, now->sent_bytes};
    if (then != NULL && then->sent <= now->sent && then->sent_bytes <= now->sent_bytes) {
        flight.messages -= then->sent;
        flight.bytes -= then->sent_bytes;
    }
    if (flight.messages == 0)
        return;
    flights->all[flights->pairs++] = flight;
    flights->messages += flight.messages;
    flights->bytes += flight.bytes;
    put_row(flights, &flight);
}

void web_flights_take(struct web_flights *flights, const struct web_look *look)
{
    flights->count = flights->pairs = 0;
    flights->messages = flights->bytes = 0;
    flights->some_left_out = look->task_count + look->tasks_left_out > WEB_PEERS_A_LOOK;
    if (!look->has_peers)
        return;
    size_t n = (size_t)look->peer_count;
    struct covey_task_peer *now = calloc(n + 1, sizeof *now);
    free(flights->all);
    flights->all = calloc(n + 1, sizeof *flights->all);
    if (now == NULL || flights->all == NULL) {
        free(now);
        return;
    }
    if (n > 0)
        memcpy(now, look->peers, n * sizeof *now);
    qsort(now, n, sizeof *now, compare_pairs);
    const struct covey_task_peer *then = flights->before;
    int left = flights->before_count;
    for (size_t i = 0; i < n && flights->before != NULL; i++) {
        for (; left > 0 && compare_pairs(then, &now[i]) < 0; left--)
            then++;
        put_pair(flights, &now[i], left > 0 && compare_pairs(then, &now[i]) == 0 ? then : NULL);
    }
    free(flights->before);
    flights->before = now;
    flights->before_count = look->peer_count;
}

void web_flights_end(struct web_flights *flights)
{
    free(flights->before);
    free(flights->all);
}
