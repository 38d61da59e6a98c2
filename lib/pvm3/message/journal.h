/*
 * journal.h - changes of the mailboxes in one order, the same for all tasks.
 */
#ifndef COVEY_PVM3_JOURNAL_H
#define COVEY_PVM3_JOURNAL_H

#include <stdint.h>

#include "lib/pvm3/message/buffer.h"

/* What the changes are applied to. */
struct journal_use {
    void (*reset)(void);                             /* everything is read anew */
    int (*apply)(struct buffer *record, int author); /* a change; what came of it */
    int (*summary)(struct buffer *record);           /* packs a change that stands for all so far */
};

/* Applies what was changed meanwhile. Returns 0 or an error. */
int journal_read(const struct journal_use *use);

/* The same, and waits for at least one change. */
int journal_wait(const struct journal_use *use);

/* Adds a change, and applies it behind those that came before. Returns what came of it, or an
 * error. */
int journal_append(const struct journal_use *use, const struct buffer *record);

/* The number of the change that is applied now, or of the next one. */
int journal_number(void);

/* The membership has ended. */
void journal_clear(void);

#endif
