/*
 * exchange_colour.c - an exchange in exactly as many phases as its density.
 *
 * Messages are the edges of a bipartite graph of senders and receivers, phases are colours, and a
 * bipartite graph needs no more colours than its largest degree (Koenig). Each message takes a
 * colour that is free at both ends. When there is none, the colours a, free at its sender, and b,
 * free at its receiver, are exchanged along the path of messages that begins at the receiver with a
 * and alternates; it never reaches the sender, so that a becomes free at both.
 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "proto/exchange/exchange_part.h"

#define NONE UINT32_MAX

struct colouring {
    struct exchange *x;
    uint32_t colours;
    uint32_t *at[2]; /* of senders and receivers, by rank and colour: the message, or NONE */
};

static uint32_t *colour_place(const struct colouring *c, int side, int rank, uint32_t colour)
{
    return &c->at[side][(size_t)rank * c->colours + colour];
}

static uint32_t free_colour(const struct colouring *c, int side, int rank)
{
    uint32_t colour = 0;
    while (*colour_place(c, side, rank, colour) != NONE)
        colour++;
    return colour;
}

static void set_colour(struct colouring *c, uint32_t message, uint32_t colour)
{
    const struct exchange_message *m = &c->x->messages[message];

    assert(colour < c->colours);
    c->x->messages[message].phase = colour;
    *colour_place(c, 0, m->from, colour) = message;
    *colour_place(c, 1, m->to, colour) = message;
}

/* Exchanges colours a and b along the path from the receiver, whose first message has colour a.
 * Each step gives a message the other colour, and goes on with the one that had it at its far end.
 */
static void flip_path(struct colouring *c, int receiver, uint32_t a, uint32_t b)
{
    uint32_t message = *colour_place(c, 1, receiver, a), from = a, to = b;
    int side = 0; /* of the far end */

    *colour_place(c, 1, receiver, a) = NONE;
    while (message != NONE) {
        const struct exchange_message *m = &c->x->messages[message];
        int far = side ? m->to : m->from;
        uint32_t next = *colour_place(c, side, far, to), held;
        /* the far end had the message under `from`, which the next message will take */
        *colour_place(c, side, far, from) = NONE;
        set_colour(c, message, to);
        message = next;
        side = !side;
        held = from;
        from = to;
        to = held;
    }
}

static void colour_message(struct colouring *c, uint32_t message)
{
    const struct exchange_message *m = &c->x->messages[message];
    uint32_t a = free_colour(c, 0, m->from), b = free_colour(c, 1, m->to);

    if (*colour_place(c, 1, m->to, a) != NONE)
        flip_path(c, m->to, a, b);
    assert(*colour_place(c, 0, m->from, a) == NONE && *colour_place(c, 1, m->to, a) == NONE);
    set_colour(c, message, a);
}

int exchange_colour_fill(struct exchange *x)
{
    struct colouring c = {.x = x, .colours = exchange_density(x)};
    size_t bytes = sizeof(uint32_t) * ((size_t)x->ranks * c.colours + 1);
    int failed = -1;

    if (c.colours == 0 && x->count > 0)
        return -1; /* there was no memory to count in */
    c.at[0] = malloc(bytes);
    c.at[1] = malloc(bytes);
    if (c.at[0] != NULL && c.at[1] != NULL) {
        memset(c.at[0], 0xff, bytes);
        memset(c.at[1], 0xff, bytes);
        for (uint32_t i = 0; i < x->count; i++)
            colour_message(&c, i);
        x->phases = c.colours;
        failed = 0;
    }
    free(c.at[0]);
    free(c.at[1]);
    return failed;
}
