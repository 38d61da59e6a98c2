/*
 * model_hierarchical.c - pipe-multiply-roll in two levels, as matmul --hierarchical of apps/ does
 * it (section 4.3 of Schmidt & Sunderam): p x p groups of r x r tasks, p r = q. A task sends one
 * block after the other and multiplies when it has them: nothing goes on meanwhile. With groups of
 * one task it is what matmul --phases does.
 */
#include <stdlib.h>

#include "proto/model/model_play.h"

#define ELEMENT 8.0 /* bytes of a double */

struct levels {
    struct play *play;
    int q, p, r;
    double bytes; /* of a block */
    int *chain;   /* by task: what it does last so far */
    int *comes;   /* by task: the message that it waits for, or PLAY_NONE */
};

static int tasks(const struct levels *l)
{
    return l->q * l->q;
}

/* What comes last before the task goes on. */
static void levels_go_on(struct levels *l, int task, int after)
{
    int next = play_compute(l->play, task, 0);
    play_after(l->play, next, l->chain[task]);
    play_after(l->play, next, after);
    l->chain[task] = next;
}

static void levels_send(struct levels *l, int from, int to)
{
    int sent = play_send(l->play, from, to, l->bytes);
    play_after(l->play, sent, l->chain[from]);
    l->comes[to] = play_receive(l->play, sent, MODEL_PACKING_DOUBLE, l->bytes);
    levels_go_on(l, from, sent);
}

static void receive_all(struct levels *l)
{
    for (int task = 0; task < tasks(l); task++) {
        if (l->comes[task] != PLAY_NONE)
            levels_go_on(l, task, l->comes[task]);
        l->comes[task] = PLAY_NONE;
    }
}

/* Rows and columns go round: within a group of `size` that begins at a multiple of it. */
static int beside(int at, int by, int size)
{
    return at / size * size + (at % size + by) % size;
}

/* A goes along the rows: of groups (stride r, p of them), or within a group (stride 1, r). Those
 * whose column is `step` after their row send. */
static void pipe(struct levels *l, int step, bool outer)
{
    int stride = outer ? l->r : 1, size = outer ? l->p : l->r;
    for (int task = 0; task < tasks(l); task++) {
        int row = task / l->q, column = task % l->q;
        int place = outer ? column / l->r : column % l->r;
        int owner = ((outer ? row / l->r : row % l->r) + step) % size;
        for (int i = 1; place == owner && i < size; i++)
            levels_send(l, task, row * l->q + beside(column, i * stride, size * stride));
    }
    receive_all(l);
}

/* B goes up the columns. */
static void roll(struct levels *l, bool outer)
{
    int stride = outer ? l->r : 1, size = outer ? l->p : l->r;
    for (int task = 0; task < tasks(l) && size > 1; task++) {
        int row = task / l->q, column = task % l->q;
        levels_send(l, task, beside(row, (size - 1) * stride, size * stride) * l->q + column);
    }
    receive_all(l);
}

static bool levels_multiply(struct levels *l, const struct model_machine *machine,
                            const int *host_of, double side)
{
    bool known = true;
    for (int task = 0; task < tasks(l); task++) {
        double madd_s = model_madd(&machine->hosts[host_of[task]], side);
        int product = play_compute(l->play, task, side * side * side * madd_s);
        play_after(l->play, product, l->chain[task]);
        l->chain[task] = product;
        known = known && madd_s > 0;
    }
    return known;
}

static bool add_all(struct levels *l, const struct model_machine *machine, const int *host_of,
                    double side)
{
    bool known = true;
    for (int k = 0; k < l->p; k++) {
        pipe(l, k, true);
        for (int inner = 0; inner < l->r; inner++) {
            pipe(l, inner, false);
            known = levels_multiply(l, machine, host_of, side) && known;
            roll(l, false);
        }
        roll(l, true);
    }
    return known;
}

int model_groups(int q)
{
    int p = 2;
    while (p < q && q % p != 0)
        p++;
    return p;
}

int model_matmul_hierarchical(const struct model_machine *machine, int64_t n, int q, int p,
                              struct model_time *time)
{
    size_t count = (size_t)q * (size_t)q;
    int *lists = calloc(3 * count, sizeof *lists), result = -1;
    double side = (double)n / q;
    if (lists == NULL)
        return -1;
    struct levels l = {.q = q, .p = p, .bytes = ELEMENT * side * side};
    int *host_of = lists;
    l.r = q / l.p;
    l.chain = lists + count;
    l.comes = lists + 2 * count;
    for (size_t i = 0; i < count; i++)
        l.chain[i] = l.comes[i] = PLAY_NONE;
    model_grid_place(q, machine->host_count, host_of);
    l.play = play_create(machine, host_of, q * q);
    if (l.play != NULL && add_all(&l, machine, host_of, side))
        result = play_run(l.play, time);
    play_destroy(l.play);
    free(lists);
    return result;
}
