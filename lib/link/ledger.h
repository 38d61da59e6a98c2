/*
 * ledger.h - one page that the daemon writes for one task of its host, which only reads it: how far
 * the daemon is with the stream between them. So a task knows without a system call whether what it
 * sent through the daemon has been passed on, and whether the daemon has something for it. The
 * memory has no name and cannot be made smaller, nor be written by the task.
 */
#ifndef COVEY_LIB_LEDGER_H
#define COVEY_LIB_LEDGER_H

#include <stdint.h>

struct ledger;

/* The daemon's end. *fd is the caller's to pass on and close. NULL: no memory or no descriptors
 * (errno). */
struct ledger *ledger_create(int *fd);
/* The daemon has queued so many bytes for the task, ever. */
void ledger_set_queued(struct ledger *ledger, uint64_t bytes);
/* It has passed on so many of what the task queued, and has given stamps up to that one. */
void ledger_set_taken(struct ledger *ledger, uint64_t bytes, uint64_t stamp);

/* The task's end; the descriptor stays the caller's. NULL: that is no ledger, or no memory. */
struct ledger *ledger_open(int fd);
uint64_t ledger_queued(const struct ledger *ledger);
uint64_t ledger_taken(const struct ledger *ledger);
uint64_t ledger_stamp(const struct ledger *ledger); /* that goes with ledger_taken() */

void ledger_close(struct ledger *ledger); /* either end; NULL is fine */

#endif
