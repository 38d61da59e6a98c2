/*
 * voters.h - voters that have a log, as the daemons see them: one leads and takes commands, which
 * are agreed some time later or lost when another leads; each applies what is agreed in its own
 * time, crashes, and comes back with a snapshot. An auditor applies every command as soon as it is
 * agreed and looks whether the promises hold.
 */
#ifndef COVEY_TESTS_SIM_VOTERS_H
#define COVEY_TESTS_SIM_VOTERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define VOTERS 3
#define VOTERS_HOST_MAX 15

enum voters_frame { VOTERS_PROPOSE = 1, VOTERS_RESEND, VOTERS_APPLIED, VOTERS_EVENT };

/* A frame from a voter to the daemon of a host. */
typedef void voters_send(void *context, unsigned voter, uint32_t host, enum voters_frame kind,
                         const uint8_t *bytes, size_t size);

struct voters;

struct voters *voters_create(uint64_t seed, voters_send *send, void *context);
void voters_destroy(struct voters *v);

void voters_take(struct voters *v, unsigned voter, uint32_t host, enum voters_frame kind,
                 const uint8_t *bytes, size_t size);

/* Time goes on: some of what was proposed is agreed, some of what is agreed is applied. */
void voters_tick(struct voters *v);

unsigned voters_leader(const struct voters *v);
void voters_depose(struct voters *v); /* another one leads; what was not agreed may be lost */
void voters_crash(struct voters *v,
                  unsigned voter); /* it loads its last snapshot; not the leader */

/* Whether that host lives; a host that does not is declared gone by whoever leads. */
void voters_host(struct voters *v, uint32_t host, bool lives);

/* The i-th lock (kind 0) or token (1), as the auditor has it; false: there is no such. */
struct voters_row {
    char name[64];
    uint32_t holder;
    uint64_t number;
    uint32_t waiting;
};
bool voters_row(const struct voters *v, int kind, size_t i, struct voters_row *row);

uint64_t voters_agreed(const struct voters *v);     /* commands */
const char *voters_failure(const struct voters *v); /* the first broken promise, NULL: none */

#endif
