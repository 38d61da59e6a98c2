/*
 * mailbox_state.h - what is in the mailboxes, and the changes of it.
 */
#ifndef COVEY_PVM3_MAILBOX_STATE_H
#define COVEY_PVM3_MAILBOX_STATE_H

#include "lib/pvm3/message/buffer.h"
#include "lib/pvm3/message/journal.h"

/* A message under a name and an index. */
struct entry {
    struct entry *next; /* of its class, by index */
    int index, owner, flags;
    struct buffer *message;
};

/* The messages of one name; there is none without an entry. */
struct class
{
    struct class *next; /* in the order in which they came to be */
    char *name;
    struct entry *entries;
};

extern const struct journal_use mailbox_use;

struct class *mailbox_first(void);
struct class *mailbox_find(const char *name);

/* The entry of an index, or with PvmMboxFirstAvail the first from it on; NULL: there is none. */
struct entry *mailbox_entry(const struct class *class, int index, int flags);

/* Changes: what comes of them is known when they are applied. */
int mailbox_put(const char *name, int flags, int index, const struct buffer *message);
int mailbox_delete(const char *name, int index);
int mailbox_owner_gone(int tid);

void mailbox_reset(void);

#endif
