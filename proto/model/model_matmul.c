/*
 * model_matmul.c - pipe-multiply-roll as matmul of apps/ does it: panels of A go along the rows and
 * panels of B up the columns while what has arrived is multiplied.
 *
 * Task (i, j) multiplies in the order t = 0 .. q panels - 1. In step t / panels it needs block
 * c = (i + step) mod q of its row of A and of its column of B. A panel of A is handed on at most a
 * step before its turn, one of B two panels, and a place for it is free once the panel that had it
 * was multiplied.
 */
#include <math.h>
#include <stdlib.h>

#include "proto/model/model_play.h"

#define ELEMENT 8.0 /* bytes of a double */

double model_madd(const struct model_host *host, double block)
{
    double at = log2(block / MODEL_BLOCK_SMALLEST);
    if (!(at > 0))
        return host->madd_s[0];
    int low = (int)at;
    if (low >= MODEL_BLOCKS - 1)
        return host->madd_s[MODEL_BLOCKS - 1];
    return host->madd_s[low] + (at - low) * (host->madd_s[low + 1] - host->madd_s[low]);
}

/* ---- Where the tasks are -------------------------------------------------------------------- */

/* The smallest grid whose tasks divide evenly over the hosts without being more than four on each;
 * otherwise the largest with at most one on each. */
int model_grid(int hosts)
{
    int q = 1;
    while (q * q < hosts)
        q++;
    for (int larger = q; larger * larger <= 4 * hosts; larger++) {
        if (larger * larger % hosts == 0)
            return larger;
    }
    return q * q == hosts ? q : q - 1;
}

/* Rows of hosts, when the grid is cut into equal rectangles, as near to squares as can be; 0: it
 * cannot be. */
static int host_rows(int q, int hosts)
{
    int best = 0;
    for (int rows = 1; rows <= hosts && rows <= q; rows++) {
        if (hosts % rows != 0 || q % rows != 0 || q % (hosts / rows) != 0)
            continue;
        if (best == 0 || rows + hosts / rows <= best + hosts / best)
            best = rows;
    }
    return best;
}

/* Without rectangles the hosts get ranks in a row, the first ones one more. */
static int host_in_order(int rank, int ranks, int hosts)
{
    int share = ranks / hosts, more = ranks % hosts;
    return rank < more * (share + 1) ? rank / (share + 1)
                                     : more + (rank - more * (share + 1)) / share;
}

void model_grid_place(int q, int hosts, int *host_of)
{
    int used = hosts < q * q ? hosts : q * q;
    int rows = host_rows(q, hosts), columns = rows > 0 ? hosts / rows : 0;
    for (int rank = 0; rank < q * q; rank++) {
        if (rows > 0)
            host_of[rank] = rank / q / (q / rows) * columns + rank % q / (q / columns);
        else
            host_of[rank] = host_in_order(rank, q * q, used);
    }
}

/* ---- The activities -------------------------------------------------------------------------- */

/* All by task and t, at index task * length + t; PLAY_NONE: it is in place. */
struct multiplication {
    struct play *play;
    int q, panels, length;
    double rows, width; /* of a block; of a panel: columns of A, rows of B */
    const int *host_of;
    int *products, *a, *b;
};

static int at(const struct multiplication *m, int task, int t)
{
    return t < 0 ? PLAY_NONE : task * m->length + t;
}

static int activity(const int *list, int index)
{
    return index < 0 ? PLAY_NONE : list[index];
}

static bool add_products(struct multiplication *m, const struct model_machine *machine)
{
    for (int task = 0; task < m->q * m->q; task++) {
        const struct model_host *host = &machine->hosts[m->host_of[task]];
        double seconds = m->rows * m->rows * m->width * model_madd(host, m->rows);
        if (!(seconds > 0))
            return false;
        for (int t = 0; t < m->length; t++) {
            m->products[at(m, task, t)] = play_compute(m->play, task, seconds);
            play_after(m->play, m->products[at(m, task, t)],
                       activity(m->products, at(m, task, t - 1)));
        }
    }
    return true;
}

/* A panel goes, at most `window` panels before its turn, from where it is parcel t to where it
 * becomes parcel t + hop, on a stream whose receiver has room for `depth`. */
struct hand {
    int from, to, t, window, hop, depth;
    int *stream;
};

/* The last one before it that came to the task; PLAY_NONE: all are in place. */
static int arrival_before(const struct multiplication *m, const int *stream, int task, int t)
{
    int last = PLAY_NONE;
    while (last == PLAY_NONE && t-- > 0)
        last = stream[at(m, task, t)];
    return last;
}

/* Posted between two products, once it and all before it have arrived and its turn is near; it goes
 * behind what was posted before it. */
static void add_hand(struct multiplication *m, const struct hand *h)
{
    int posted = play_compute(m->play, h->from, 0);
    double bytes = ELEMENT * m->rows * m->width;
    int sent = play_send(m->play, h->from, h->to, bytes), arrives = h->t + h->hop;
    int there = play_receive(m->play, sent, MODEL_PACKING_DOUBLE, bytes);
    h->stream[at(m, h->to, arrives)] = there;
    play_after(m->play, posted, activity(h->stream, at(m, h->from, h->t)));
    play_after(m->play, posted, arrival_before(m, h->stream, h->from, h->t));
    play_after(m->play, posted, activity(m->products, at(m, h->from, h->t - h->window)));
    play_after(m->play, sent, posted);
    play_after(m->play, sent, activity(h->stream, at(m, h->to, arrives - 1)));
    play_after(m->play, sent, activity(m->products, at(m, h->to, arrives - h->depth)));
    play_after(m->play, m->products[at(m, h->to, arrives)], there);
}

/* The pipe: from its owner on through all columns, those on one host one after the other. */
static void add_pipe(struct multiplication *m, int row, int t)
{
    int root = (row + t / m->panels) % m->q, from = root;
    for (int i = 0; i < m->q; i++) {
        int leader = row * m->q + (root + i) % m->q;
        for (int j = 0; j < m->q; j++) {
            int task = row * m->q + (root + j) % m->q;
            bool passed = j == 0 || m->a[at(m, task, t)] != PLAY_NONE;
            if (passed || m->host_of[task] != m->host_of[leader])
                continue;
            add_hand(m, &(struct hand){row * m->q + from, task, t, m->panels, 0, m->panels, m->a});
            from = task - row * m->q;
        }
    }
}

/* The roll: what a task had a step before goes to the one above it. */
static void add_rolls(struct multiplication *m, int t)
{
    int window = m->panels < MODEL_ROLL_AHEAD ? m->panels : MODEL_ROLL_AHEAD;
    for (int task = 0; task < m->q * m->q; task++) {
        int above = (task + m->q * (m->q - 1)) % (m->q * m->q);
        add_hand(m, &(struct hand){task, above, t, window, m->panels, 2 * m->panels, m->b});
    }
}

/* ---- The whole ------------------------------------------------------------------------------- */

static int *make_list(const struct multiplication *m)
{
    size_t count = (size_t)(m->q * m->q) * (size_t)m->length;
    int *list = calloc(count, sizeof *list);
    for (size_t i = 0; list != NULL && i < count; i++)
        list[i] = PLAY_NONE;
    return list;
}

static int play_out(struct multiplication *m, const struct model_machine *machine,
                    struct model_time *time)
{
    m->play = play_create(machine, m->host_of, m->q * m->q);
    m->products = make_list(m);
    m->a = make_list(m);
    m->b = make_list(m);
    int result = -1;
    if (m->play != NULL && m->products != NULL && m->a != NULL && m->b != NULL &&
        add_products(m, machine)) {
        for (int t = 0; t < m->length; t++) {
            for (int row = 0; m->q > 1 && row < m->q; row++)
                add_pipe(m, row, t);
            if (t + m->panels < m->length)
                add_rolls(m, t);
        }
        result = play_run(m->play, time);
    }
    play_destroy(m->play);
    free(m->products);
    free(m->a);
    free(m->b);
    return result;
}

int model_matmul(const struct model_machine *machine, int64_t n, int q, struct model_time *time)
{
    double rows = (double)n / q;
    int panels = (int)ceil(rows / MODEL_PANEL);
    int *host_of = calloc((size_t)q * (size_t)q, sizeof *host_of);
    if (host_of == NULL)
        return -1;
    model_grid_place(q, machine->host_count, host_of);
    struct multiplication m = {.q = q,
                               .panels = panels,
                               .length = q * panels,
                               .rows = rows,
                               .width = rows / panels,
                               .host_of = host_of};
    int result = play_out(&m, machine, time);
    free(host_of);
    return result;
}
