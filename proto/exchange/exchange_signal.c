/*
 * exchange_signal.c - signals by the links that messages hand on.
 *
 * Messages are taken in the order in which they start. On every link one takes first what nobody
 * has used yet, and then what earlier messages left, that which ended first before the others: it
 * must wait for these, for no other had that share in between.
 */
#include "proto/exchange/exchange_signal.h"

#include <stdbool.h>
#include <stdlib.h>

#include "proto/wire/grow.h"

/* What a message that used a link has left there for later ones. */
struct share {
    uint32_t message;
    double rate;
};

struct link {
    double unused; /* of its rate */
    struct share *shares;
    size_t count, capacity;
};

struct finding {
    const struct exchange *x;
    const struct network *network;
    double slowest;     /* link's rate */
    struct link *links; /* by directed edge */
    int *path;
    struct exchange_signal *found;
    size_t count, capacity;
    bool failed;
};

static double rate_of(const struct finding *f, const struct exchange_message *m)
{
    return (double)m->bytes * f->slowest / (double)(m->end - m->start);
}

static void add_share(struct finding *f, struct link *link, uint32_t message, double rate)
{
    f->failed |= !GROW(link->shares, link->capacity, link->count + 1, 16);
    if (link->count == link->capacity)
        return;
    link->shares[link->count++] = (struct share){message, rate};
}

/* Of what ended before then, the share that did first; NULL: none. */
static struct share *earliest(const struct finding *f, const struct link *link, uint64_t before)
{
    struct share *first = NULL;
    uint64_t end = before;

    for (size_t i = 0; i < link->count; i++) {
        uint64_t here = f->x->messages[link->shares[i].message].end;
        if (here > before || (first != NULL && here >= end))
            continue;
        first = &link->shares[i];
        end = here;
    }
    return first;
}

static void take_link(struct finding *f, struct link *link, uint32_t message)
{
    const struct exchange_message *m = &f->x->messages[message];
    double rate = rate_of(f, m), wanted = rate * 0.99; /* ends are whole numbers */
    double unused = link->unused < wanted ? link->unused : wanted;

    link->unused -= unused;
    wanted -= unused;
    while (wanted > 0 && !f->failed) {
        struct share *share = earliest(f, link, m->start);
        if (share == NULL)
            break;
        double taken = share->rate < wanted ? share->rate : wanted;
        wanted -= taken;
        share->rate -= taken;
        uint32_t before = share->message;
        f->failed |= !GROW(f->found, f->capacity, f->count + 1, 64);
        if (f->count != f->capacity)
            f->found[f->count++] = (struct exchange_signal){before, message};
        if (share->rate <= 0)
            *share = link->shares[--link->count];
    }
    add_share(f, link, message, rate * 0.99);
}

static void take_way(struct finding *f, uint32_t message)
{
    const struct exchange_message *m = &f->x->messages[message];
    int length = network_path(f->network, m->from, m->to, f->path);

    for (int k = 0; k < length && !f->failed; k++)
        take_link(f, &f->links[f->path[k]], message);
}

static int by_message(const void *a, const void *b)
{
    const struct exchange_signal *s = a, *t = b;
    if (s->before != t->before)
        return s->before < t->before ? -1 : 1;
    return s->after < t->after ? -1 : s->after > t->after;
}

static size_t without_doubles(struct exchange_signal *signals, size_t count)
{
    size_t kept = 0;
    for (size_t i = 0; i < count; i++) {
        if (kept == 0 || by_message(&signals[kept - 1], &signals[i]) != 0)
            signals[kept++] = signals[i];
    }
    return kept;
}

int exchange_signals(const struct exchange *exchange, const struct network *network,
                     struct exchange_signal **signals, size_t *count)
{
    size_t edges = 2 * (size_t)network->node_count;
    struct finding f = {
        .x = exchange, .network = network, .slowest = (double)network_slowest(network)};

    f.links = calloc(edges + 1, sizeof *f.links);
    f.path = calloc((size_t)network->path_max + 1, sizeof *f.path);
    f.failed = f.links == NULL || f.path == NULL;
    for (size_t e = 0; !f.failed && e < edges; e++)
        f.links[e].unused = (double)network_rate(network, e);
    for (uint32_t i = 0; !f.failed && i < exchange->count; i++)
        take_way(&f, i);
    for (size_t e = 0; f.links != NULL && e < edges; e++)
        free(f.links[e].shares);
    free(f.links);
    free(f.path);
    if (f.failed) {
        free(f.found);
        return -1;
    }
    if (f.count > 0)
        qsort(f.found, f.count, sizeof *f.found, by_message);
    *count = without_doubles(f.found, f.count);
    *signals = f.found;
    return 0;
}
