/*
 * part.h - what the subjects above membership and messages are told of: one row of function
 * pointers for each, in a table (lib/pvm3/root/parts.c). So the rooms below call none of those
 * above by name.
 */
#ifndef COVEY_LIB_PVM3_PART_H
#define COVEY_LIB_PVM3_PART_H

#include <stdbool.h>

#include "lib/covey.h"

struct buffer;

/* What a subject does not need to know of is NULL. */
struct part {
    const char *name;

    /* The task became a member; spawned: by pvm_spawn(). It is about to leave; it has left. */
    void (*start)(bool spawned);
    void (*leave)(void);
    void (*clear)(void);

    /* A message of PVM came. Whether the subject takes it, which then is no longer in the inbox. */
    void (*on_message)(struct buffer *b);
    bool (*take)(struct buffer *b);

    /* A message of Covey with a tag of the subject's own came. */
    int covey_tag;
    void (*on_covey_message)(covey_msg_t *msg);

    /* A task that is watched ended: by that status; a host is gone. */
    void (*on_end)(int tid, int status);
    void (*on_host_gone)(int tid);

    /* Whether a message that the program sends to a daemon is the subject's to answer, and doing
     * so: 0 or an error. */
    bool (*serves)(int tag);
    int (*serve)(struct buffer *b, int daemon, int tag);

    /* The task that decides for the daemons, or 0, and telling it: 0 or an error. */
    int (*manager)(void);
    int (*tell_manager)(int tag, struct buffer **request);

    /* A handler of the program is called: its calls are its own until the other is given the
     * result. */
    int (*enter_program)(void);
    void (*leave_program)(int before);
};

extern const struct part *parts; /* ended by one without a name */

/* Each part that has that member. */
#define part_each(part, member)                                                                    \
    for (const struct part *part = parts; part->name != NULL; part++)                              \
        if (part->member != 0)

#endif
