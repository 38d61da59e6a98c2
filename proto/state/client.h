/*
 * client.h - a daemon's side of the agreed state (state.h) as a pure engine: its commands, numbered
 * and kept until they are applied; and the events for it, taken in order and each once, whatever
 * the network or a change of the leader does to the frames between.
 */
#ifndef COVEY_PROTO_CLIENT_H
#define COVEY_PROTO_CLIENT_H

#include <stdbool.h>

#include "proto/wire/command.h"

struct proposal;

struct client {
    uint32_t host;
    uint64_t session;     /* 0: none was begun */
    uint64_t number;      /* of the last command */
    uint64_t taken, told; /* the last event; and what the last command that was sent said of it */
    struct proposal *first, *last;
    struct proposal *unsent; /* the first that the leader was not sent */
    size_t queued;
};

/* Begins a session, larger than the one before, with OPEN; what is queued is dropped. False: no
 * memory. The struct is zeroed by its owner before the first time. */
bool client_open(struct client *c, uint32_t host, uint64_t session);
void client_fini(struct client *c);

/* Queues a copy of a command: kind, task, request and body are the caller's. False: no memory. */
bool client_put(struct client *c, const struct command *command);

/* The next command to be sent to the leader; NULL: there is none, or too many are under way until
 * some are applied. Its body lives until it is applied. */
const struct command *client_next(struct client *c);

/* Another one leads, or nothing was heard for a while: all that is queued is to be sent again. */
void client_again(struct client *c);

/* The leader says that commands of a session were applied up to that one. */
void client_applied(struct client *c, uint64_t session, uint64_t applied);

enum client_verdict {
    CLIENT_TAKE, /* it is to be delivered now, this once */
    CLIENT_OLD,  /* taken before, or of another session */
    CLIENT_GAP   /* those between `taken` and it are to be asked for */
};
enum client_verdict client_event(struct client *c, const struct event *event);

/* Whether so much was taken since the last command that it is worth one (ACK). */
bool client_wants_ack(const struct client *c);

#endif
