/*
 * covey/bag.h - bags of work: items that any task puts and any task takes.
 */
#ifndef COVEY_BAG_H
#define COVEY_BAG_H

#include "base.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct covey_bag covey_bag_t; /* an attachment to a bag of work */

/* A bag holds items of work (agenda parallelism): any task puts, any task takes, each item has one
 * result, and each result is delivered once. It is known to the VM by a name of 1 .. 63 bytes and
 * survives the death of the daemon that holds it. A task's bytes are safe, whatever happens to one
 * host, when covey_bag_close(), or covey_bag_wait(), or covey_bag_flush() has returned. See
 * covey_bag(3).
 *
 * A taken item is leased: when the worker dies, its host dies, or the lease runs out, the item is
 * given to somebody else. When nothing else is left the last items are given twice, and the first
 * result wins, unless the bag is `single`. An item at which `deaths_max` workers died is set aside
 * and reported as a result.
 *
 * A handle is used by one thread at a time. */

struct covey_bag_options {
    int64_t lease_us; /* an item that is not done by then is given again; 0: no limit */
    int deaths_max;   /* so many workers may die while they hold an item; 0: 3 */
    int in_order;     /* 1: results come in the order in which items were put */
    int keep;         /* 1: it stays when no task is attached, until covey_bag_destroy() */
    int copies;       /* hosts that have one beside the holder, 1 or 2; 0: 2; < 0: none */
    int single;       /* 1: no item is given to a second task while the first one has its lease */
};

/* Makes a bag, empty, and attaches to it. Without `keep` it ends when nobody is attached any more.
 * options may be NULL. Errors: EINVAL, EEXIST (there is one of that name), ERESOURCE, EHOSTFAIL,
 * EDAEMON, ENOMEM. */
int covey_bag_create(covey_t *vm, const char *name, const struct covey_bag_options *options,
                     covey_bag_t **bag);

/* Attaches to the bag of that name. Errors: as covey_bag_create(); ENOENT (there is none). */
int covey_bag_attach(covey_t *vm, const char *name, covey_bag_t **bag);

/* Puts an item: a copy of the bytes. Those of higher priority are given first; of one priority
 * the larger ones, and these to tasks that are fast, or (in_order) those that were put first, as
 * among items of about one size. It waits only while much is under way. Errors: EDENIED (the bag is
 * closed; perhaps of an earlier call), EHOSTFAIL, ENOENT (the bag is no more), ENOMEM, ERESOURCE (a
 * daemon that has it takes no more, see covey_bag(3); also told late), EDAEMON. */
int covey_bag_put(covey_bag_t *bag, int priority, const void *bytes, size_t size);

struct covey_bag_item {
    uint64_t number; /* counts the items of the bag from 0 in the order in which they were put */
    int32_t priority;
    int32_t deaths;    /* of workers that held it */
    const void *bytes; /* belong to the bag until covey_bag_done() or covey_bag_return() */
    size_t size;
};

/* Waits until there is an item, and takes up to `capacity` of those that are here: returns how
 * many. 0: the bag is closed and each item has its result, or nothing more would be done before the
 * time of this host is over (covey_host_drain()). The next items are on their way
 * meanwhile. Errors: ETIMEOUT, and as covey_bag_put(). */
int covey_bag_take(covey_bag_t *bag, int64_t timeout_us, struct covey_bag_item *items,
                   int capacity);

/* The item is done; `result` (a copy is made) goes to whoever collects. It is not an error when
 * another worker's result came first. Errors: EINVAL (no item that this handle took), and as
 * covey_bag_put(). */
int covey_bag_done(covey_bag_t *bag, const struct covey_bag_item *item, const void *result,
                   size_t size);

/* The item is not done: it is given to somebody else, or again to this task. Errors: as
 * covey_bag_done(). */
int covey_bag_return(covey_bag_t *bag, const struct covey_bag_item *item);

struct covey_bag_result {
    uint64_t number;    /* of the item */
    covey_tid_t worker; /* 0: it was set aside */
    int32_t set_aside;  /* 1: too many workers died at it; the bytes are those of the item */
    const void *bytes;  /* belong to the bag until the next covey_bag_result() */
    size_t size;
};

/* Waits until there is a result, and takes up to `capacity` of those that are here: returns how
 * many. 0: the bag is closed and all results were taken. ETIMEOUT also when the time of this host
 * is over. What a call gave counts as delivered when
 * the next one is made, or covey_bag_free(); if the task dies before, others get it. Errors: as
 * covey_bag_take(). */
int covey_bag_result(covey_bag_t *bag, int64_t timeout_us, struct covey_bag_result *results,
                     int capacity);

/* Waits until all that this handle put and did is safe. Errors: ETIMEOUT, and as covey_bag_put().
 */
int covey_bag_flush(covey_bag_t *bag, int64_t timeout_us);

/* No more items come, from any task: flushes. Errors: as covey_bag_put(). */
int covey_bag_close(covey_bag_t *bag);

/* Waits until the bag is closed and each item is done or set aside. Errors: ETIMEOUT, and as
 * covey_bag_put(). */
int covey_bag_wait(covey_bag_t *bag, int64_t timeout_us);

struct covey_bag_info;

/* Takes what is left of the bag of that name out of the VM, into a file, which is replaced when all
 * is there: items that are not done, and results that nobody has taken. Then the bag ends, as by
 * covey_bag_destroy(). *info says what is in the file: `ready`, `results`, `put`, `done`,
 * `delivered`, `set_aside`, `closed`; NULL is fine. Errors: as covey_bag_attach(); ESYS (the file
 * cannot be written: the bag goes on). */
int covey_bag_save(covey_t *vm, const char *name, const char *path, struct covey_bag_info *info);

/* Makes a bag of such a file, under its name there, or `name` unless that is NULL. Nobody has to
 * attach to it soon: it has the option `keep`. Items and results have the numbers that they had;
 * those of results `worker` 0. *info as above. The file is marked: it is not loaded once more.
 * Errors: as covey_bag_create(); EEXIST also of such a file, and of one that was written while its
 * bag was not seen to end; ENOENT, ESYS (the file cannot be read or written), EINVAL (no bag). */
int covey_bag_load(covey_t *vm, const char *path, const char *name, struct covey_bag_info *info);

/* Takes that mark away: the file may be loaded, though results of it may come twice. Errors:
 * ENOENT, ESYS, EINVAL, ENOMEM. */
int covey_bag_again(const char *path);

/* How it stands with a bag. */
struct covey_bag_info {
    char name[64];
    int32_t holder;  /* index of the host whose daemon holds it; 0: it is lost */
    int32_t backups; /* hosts that have a copy */
    int32_t tasks;   /* attached */
    int32_t closed;
    uint64_t ready, leased;                   /* items that nobody has, and that workers have */
    uint64_t results;                         /* that nobody was given yet */
    uint64_t put, done, delivered, set_aside; /* items since the beginning; results taken */
    uint64_t leases, retried, duplicated, expired; /* items given; again; twice; too late */
    uint64_t bytes;
};

/* Of this bag. Errors: as covey_bag_put(); ETIMEOUT. */
int covey_bag_info(covey_bag_t *bag, struct covey_bag_info *info);

/* Of all bags of the VM: sets *list (free with covey_free()) and returns their number. */
int covey_bags(covey_t *vm, struct covey_bag_info **list);

/* Detaches and sets *bag to NULL: what it put and did is made safe (at most 10 s), items that it
 * holds go to others. NULL is fine. covey_leave() and the end of the task do the same, without
 * waiting. */
void covey_bag_free(covey_bag_t **bag);

/* Ends the bag for all: those that use it get ENOENT. Frees the handle as covey_bag_free() does. */
int covey_bag_destroy(covey_bag_t **bag);

#ifdef __cplusplus
}
#endif
#endif
