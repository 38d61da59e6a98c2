/*
 * part.h - the table of parts: what the library does beyond moving messages is divided by subject,
 * and the engine knows of each subject its row alone (lib/root/parts.c). So nothing in the engine
 * names a room above it: it walks the rows.
 */
#ifndef COVEY_LIB_ENGINE_PART_H
#define COVEY_LIB_ENGINE_PART_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct control_host_event;
struct covey;
struct frame;
struct peer;

/* Those that keep something for a membership: vm->part[] has it. */
enum part_id {
    PART_TEAMS,
    PART_NOTICES,
    PART_OUTPUT,
    PART_SIBLINGS,
    PART_TASKER,
    PART_PLACING,
    PART_GROUPS,
    PART_SESSIONS,
    PART_BAGS,
    PARTS
};

struct part {
    const char *name;
    enum part_id id;
    size_t bytes; /* of its struct, zeroed at first; 0: it keeps nothing */
    void (*create)(struct covey *vm);
    void (*destroy)(struct covey *vm); /* what hangs on its struct */
};

#endif
