/*
 * covey/service.h - locks, tokens and meetings of the whole VM.
 */
#ifndef COVEY_SERVICE_H
#define COVEY_SERVICE_H

#include "base.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Locks, tokens and meetings belong to the VM and are known by names of 1 .. 63 bytes, each kind by
 * its own. The daemons keep them, and a task's end gives back what it held. Numbers grow with every
 * grant in the VM: whoever guards something with a lock or a token can have the number sent along,
 * and refuse one that is smaller than the largest seen.
 *
 * Every call ends: when its time runs out, or with EDAEMON or EHOSTFAIL when the VM cannot answer
 * any more. A timeout that ran out leaves nothing behind: what was granted meanwhile is given back.
 */

/* Mutual exclusion. Waits, first come first served, until the caller holds the lock, and sets
 * *fence (may be NULL) to the number of the grant. covey_trylock() does not wait for other tasks.
 * Errors: EINVAL, EEXIST (the caller holds it or waits for it already), ETIMEOUT (another holds
 * it), ERESOURCE, EHOSTFAIL, EDAEMON. */
int covey_lock(covey_t *vm, const char *name, int64_t timeout_us, uint64_t *fence);
int covey_trylock(covey_t *vm, const char *name, uint64_t *fence);

/* Lets go of the lock, if the caller holds it under that number. Errors: EINVAL, EDENIED (it does
 * not), EHOSTFAIL, EDAEMON. */
int covey_unlock(covey_t *vm, const char *name, uint64_t fence);

/* Who holds the lock, 0 for nobody, and under which number (fence may be NULL). */
covey_tid_t covey_lock_owner(covey_t *vm, const char *name, uint64_t *fence);

/* A token is a right that one task at a time has, and that goes from task to task. Its maker holds
 * it first, and it stays until it is destroyed. When its holder ends, it goes to the next in line
 * under a new number. Errors: EINVAL, EEXIST (there is one of that name), ERESOURCE, EHOSTFAIL,
 * EDAEMON. */
int covey_token_create(covey_t *vm, const char *name, uint64_t *number);

/* Waits in line until the caller holds the token; *number (may be NULL) is what it is valid with.
 * Errors: ENOENT (no such token, or it was destroyed), EINVAL, EEXIST (the caller has it or waits
 * for it already), ETIMEOUT, EHOSTFAIL, EDAEMON. */
int covey_token_request(covey_t *vm, const char *name, int64_t timeout_us, uint64_t *number);

/* Passes the token to the next task in line (COVEY_ANY_TASK; if there is none, it rests until one
 * asks), or to the task `to`: when that one does not wait for it, its next covey_token_request()
 * gets it at once. Errors: EDENIED (the caller does not hold it under that number), ENOENT, EINVAL,
 * ENOTASK (the host of `to` is gone; the caller keeps the token), EHOSTFAIL, EDAEMON. */
int covey_token_pass(covey_t *vm, const char *name, uint64_t number, covey_tid_t to);

/* Ends the token; those who wait for it get ENOENT. While it rests, any task may, with any number.
 * Errors: EDENIED, ENOENT, EINVAL, EHOSTFAIL, EDAEMON. */
int covey_token_destroy(covey_t *vm, const char *name, uint64_t number);

/* Who holds the token, 0 while it rests, and its last number (may be NULL). Errors: ENOENT, EINVAL,
 * EHOSTFAIL, EDAEMON. */
covey_tid_t covey_token_holder(covey_t *vm, const char *name, uint64_t *number);

#define COVEY_RENDEZVOUS_MAX 256      /* tasks that meet */
#define COVEY_RENDEZVOUS_VALUE_MAX 64 /* bytes that each brings */

struct covey_party {
    covey_tid_t tid;
    int32_t bytes;
    uint8_t value[COVEY_RENDEZVOUS_VALUE_MAX];
};

/* Meets: waits until `count` tasks came under that name, each with a small value. Fills `parties`
 * (count entries, or NULL) with all of them in the order in which they came, the same for each, and
 * returns the place of the caller among them. Errors: EINVAL (others want another count), EEXIST,
 * ETIMEOUT, ENOTASK (one of those who waited has ended: all who wait get this), ERESOURCE,
 * EHOSTFAIL, EDAEMON. */
int covey_rendezvous(covey_t *vm, const char *name, int count, const void *value, size_t bytes,
                     int64_t timeout_us, struct covey_party *parties);

enum covey_held_kind { COVEY_HELD_LOCK = 1, COVEY_HELD_TOKEN = 2, COVEY_HELD_RENDEZVOUS = 3 };

struct covey_held {
    int32_t kind; /* enum covey_held_kind */
    char name[64];
    covey_tid_t holder; /* 0: nobody */
    uint64_t number;    /* of the last grant; of a rendezvous: how many are to meet */
    int32_t waiting;    /* tasks */
};

/* All locks, tokens and meetings of the VM; sets *list (free with covey_free(); NULL when there is
 * none) and returns their number. Errors: EINVAL, ENOMEM, EDAEMON. */
int covey_held(covey_t *vm, struct covey_held **list);

#ifdef __cplusplus
}
#endif
#endif
