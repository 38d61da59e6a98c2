/*
 * part.h - the table of parts: what the library does beyond moving messages is divided by subject,
 * and the engine knows of each subject its row alone (lib/root/parts.c). So nothing in the engine
 * names a room above it: it walks the rows.
 */
#ifndef COVEY_LIB_MEMBER_PART_H
#define COVEY_LIB_MEMBER_PART_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct control_host_event;
struct covey;
struct frame;
struct peer;

/* Those that have a struct for each membership (vm->part[]) or work of their own (part_due()). */
enum part_id {
    PART_ENGINE, /* subjects of the engine: what they keep stands in struct covey */
    PART_TEAMS,
    PART_NOTICES,
    PART_OUTPUT,
    PART_SIBLINGS,
    PART_TASKER,
    PART_PLACING,
    PART_GROUPS,
    PART_SESSIONS,
    PART_BAGS,
    PART_WINDOWS,
    PART_TRACE,
    PARTS
};

/* What it does with frames of a kind that come by the stream of the daemon. */
struct part_handler {
    uint8_t kind; /* enum frame_kind; 0: the end of the list */
    void (*on_frame)(struct covey *vm, const struct frame *frame, const uint8_t *payload);
    /* In its place where descriptors may come with the frame: those that are taken become -1. */
    void (*on_frame_fds)(struct covey *vm, const struct frame *frame, const uint8_t *payload,
                         int *fds, int nfds);
    /* Whether it may be looked at now; else the stream is not read on. NULL: always. */
    bool (*admits)(struct covey *vm, const struct frame *frame, const uint8_t *payload);
};

/* Whatever a row has no use for is NULL. */
struct part {
    const char *name;
    enum part_id id;
    size_t bytes; /* of its struct, zeroed at first; 0: it keeps nothing */
    void (*create)(struct covey *vm);
    void (*destroy)(struct covey *vm); /* what hangs on its struct */
    const struct part_handler *handlers;

    /* Does what became due by part_due(), from the poll loop, where nothing else is half done. The
     * lock may be let go meanwhile. */
    void (*settle)(struct covey *vm);
    /* Looks at what is waited for in memory that other tasks write; true: something came, perhaps
     * what a call waits for. Called while vm->wait.looked is not 0. arm(): likewise, before
     * sleeping: from then on whoever writes there rings a doorbell. */
    bool (*look)(struct covey *vm);
    bool (*arm)(struct covey *vm);
    /* Deadlines are looked at: does what is due, and asks for the next look by wait_check_at(). */
    void (*check)(struct covey *vm, uint64_t now_us);

    void (*task_silent)(struct covey *vm, const struct peer *peer); /* nothing more comes of it */
    void (*task_gone)(struct covey *vm, struct peer *peer);         /* it has ended */
    void (*syncs_lost)(struct covey *vm, const struct peer *peer);  /* a hand-over of it is lost */
    void (*host_event)(struct covey *vm, const struct control_host_event *event);

    void (*home_lost)(struct covey *vm, int error, const char *why); /* the daemon is gone */
    void (*home_ready)(struct covey *vm); /* the stream to the daemon took or gave something */
    void (*leave)(struct covey *vm);      /* the task is about to leave */
};

/* Calls of the rows that have the function, in the order of the table. */
void parts_settle(struct covey *vm); /* as long as anything is due */
bool parts_look(struct covey *vm);
bool parts_arm(struct covey *vm);
void parts_check(struct covey *vm, uint64_t now_us);
void parts_task_silent(struct covey *vm, const struct peer *peer);
void parts_task_gone(struct covey *vm, struct peer *peer);
void parts_syncs_lost(struct covey *vm, const struct peer *peer);
void parts_host_event(struct covey *vm, const struct control_host_event *event);
void parts_home_lost(struct covey *vm, int error, const char *why);
void parts_home_ready(struct covey *vm);
void parts_leave(struct covey *vm);

/* Who takes frames of that kind; NULL: nobody, it is one that no task gets: a newer daemon's. */
const struct part_handler *parts_handler(const struct covey *vm, uint8_t kind);

#endif
