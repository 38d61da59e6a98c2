/*
 * bag_holder.h - the daemon that holds a bag, and those that keep copies of it, as pure engines.
 *
 * The holder decides; each lasting change is a record of a log that goes to the backups. An
 * attachment hears that its records are applied, gets a result, or learns that the bag is complete,
 * only when every backup has what that rests on: so whatever a backup takes over with, nothing is
 * lost of which anybody was told. Items are given at once: a second copy of an item harms nobody.
 *
 * Which hosts are backups is agreed on by the VM (bag_place.c). A new one first gets a copy of all;
 * when it has that, it is proposed, and from then on it is waited for.
 */
#ifndef COVEY_PROTO_BAG_HOLDER_H
#define COVEY_PROTO_BAG_HOLDER_H

#include "proto/bag/bag.h"

struct bag_holder;

/* What the holder asks its owner to do; none may call back. A whole that is to be sent may be
 * taken: what is left then is an empty one. */
struct bag_holder_owner {
    void *context;
    void (*answer)(void *context, uint32_t task, struct bag_parcel *whole);
    void (*log)(void *context, const uint32_t *hosts, size_t count, struct bag_parcel *whole);
    void (*propose)(void *context, const uint32_t *hosts, size_t count); /* as backups */
    void (*watch)(void *context, uint32_t task);                         /* its end is to be told */
};

/* Takes the bag over, also when it fails (NULL: no memory). `term` is the epoch in which this host
 * became the holder, `backups` those that are agreed then. */
struct bag_holder *bag_holder_create(uint64_t id, uint32_t term, struct bag *bag,
                                     const uint32_t *backups, size_t count,
                                     const struct bag_holder_owner *owner);
void bag_holder_destroy(struct bag_holder *h); /* NULL is fine */

/* How much the bag may grow, in bytes, by what is put and by results, as of now; without limit if
 * it is never said. What is put beyond that is refused (ERESOURCE). A result waits where it was
 * made until there is room, which bag_holder_step() sees. */
void bag_holder_allow(struct bag_holder *h, size_t puts, size_t results);
bool bag_holder_waits(const struct bag_holder *h);    /* some result does */
size_t bag_holder_memory(const struct bag_holder *h); /* bytes that all of it takes, about */

/* A request came. Text if it is refused, for the log. */
const char *bag_holder_request(struct bag_holder *h, uint32_t task, const uint8_t *bytes,
                               size_t size, uint64_t now_us);
void bag_holder_log_ack(struct bag_holder *h, uint32_t host, const struct bag_log *ack);

/* A task, or a host with all its tasks, ended. `died`: not in order, so what it held is suspect. */
void bag_holder_task_gone(struct bag_holder *h, uint32_t task, bool died);
void bag_holder_host_gone(struct bag_holder *h, uint32_t host);

/* The agreed backups are these. */
void bag_holder_agreed(struct bag_holder *h, const uint32_t *hosts, size_t count);
/* Begins a copy at another host. */
void bag_holder_copy_to(struct bag_holder *h, uint32_t host);
size_t bag_holder_backups(const struct bag_holder *h); /* agreed or on the way */
bool bag_holder_has_backup(const struct bag_holder *h, uint32_t host);

/* Says all that is to be said; returns when to call again, UINT64_MAX: when something comes. */
uint64_t bag_holder_step(struct bag_holder *h, uint64_t now_us);

const struct bag *bag_holder_bag(const struct bag_holder *h);
/* The bag is no more: all who are attached are told. */
void bag_holder_dismiss(const struct bag_holder *h);
/* Nobody is attached any more, and it is not to be kept. */
bool bag_holder_is_over(const struct bag_holder *h);

/* ---- a copy ---- */

struct bag_copy {
    struct bag *bag;
    uint32_t holder; /* whose log it follows */
    uint32_t term;
    uint64_t position;
};

/* Takes in a log; *ack is what goes back. False: it is no log. */
bool bag_copy_take(struct bag_copy *copy, uint32_t host, const uint8_t *bytes, size_t size,
                   struct bag_log *ack);
/* The bag, which is the caller's from now on. */
struct bag *bag_copy_give_up(struct bag_copy *copy);

#endif
