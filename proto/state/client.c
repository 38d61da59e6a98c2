/*
 * client.c - go-back-N towards the leader: commands are sent in order, and again from the first
 * that is not known to be applied.
 */
#include "proto/state/client.h"
#include "proto/wire/list.h"

#include <stdlib.h>
#include <string.h>

#define ACK_EVERY 64
#define WINDOW 128 /* commands that may be under way: what is sent again, too, is no more */

struct proposal {
    struct proposal *next;
    struct command command; /* its body lies behind this struct */
};

static void drop_first(struct client *c)
{
    struct proposal *p = c->first;
    if (c->unsent == p)
        c->unsent = p->next;
    c->first = p->next;
    if (c->first == NULL)
        c->last = NULL;
    c->queued--;
    free(p);
}

void client_fini(struct client *c)
{
    while (c->first != NULL)
        drop_first(c);
}

bool client_open(struct client *c, uint32_t host, uint64_t session)
{
    client_fini(c);
    *c = (struct client){.host = host, .session = session};
    return client_put(c, &(struct command){.kind = COMMAND_OPEN});
}

bool client_put(struct client *c, const struct command *command)
{
    struct proposal *p = malloc(sizeof *p + command->size);
    if (p == NULL)
        return false;
    *p = (struct proposal){.command = *command};
    p->command.host = c->host;
    p->command.session = c->session;
    p->command.number = ++c->number;
    p->command.body = (const uint8_t *)(p + 1);
    if (command->size > 0)
        memcpy(p + 1, command->body, command->size);
    LINK_LAST(c->first, c->last, p, next);
    c->queued++;
    if (c->unsent == NULL)
        c->unsent = p;
    return true;
}

const struct command *client_next(struct client *c)
{
    struct proposal *p = c->unsent;
    if (p == NULL || p->command.number >= c->first->command.number + WINDOW)
        return NULL;
    c->unsent = p->next;
    p->command.taken = c->told = c->taken;
    return &p->command;
}

void client_again(struct client *c)
{
    c->unsent = c->first;
}

void client_applied(struct client *c, uint64_t session, uint64_t applied)
{
    while (session == c->session && c->first != NULL && c->first->command.number <= applied)
        drop_first(c);
}

enum client_verdict client_event(struct client *c, const struct event *event)
{
    if (event->session != c->session)
        return CLIENT_OLD;
    client_applied(c, event->session, event->applied);
    if (event->sequence > c->taken + 1)
        return CLIENT_GAP;
    if (event->sequence <= c->taken)
        return CLIENT_OLD;
    c->taken++;
    return CLIENT_TAKE;
}

bool client_wants_ack(const struct client *c)
{
    return c->first == NULL && c->taken - c->told >= ACK_EVERY;
}
