/*
 * request.h - a question to a daemon that waits for its reply.
 */
#ifndef COVEY_LIB_DRIVE_REQUEST_H
#define COVEY_LIB_DRIVE_REQUEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct covey;
struct control_host_event;
struct frame;

struct request {
    struct request *next;
    uint32_t number;
    uint32_t host; /* index of the daemon asked */
    bool done;
    bool service; /* of the state that the daemons agree on: see service.c */
    unsigned due; /* part_bit() of the part that is settled when it is done */
    int status;
    uint8_t *content; /* grows frame by frame */
    size_t size;
};

/* Asks the daemon of `host` (index; 0: the own) and waits for the reply. body holds the content
 * after the request number. On success *content (malloc'ed, freed by the caller) and its size. */
int request_call(struct covey *vm, uint8_t kind, uint32_t host, const void *body, size_t size,
                 uint64_t deadline_us, uint8_t **content, size_t *content_size);
/* The same in two steps, to ask several daemons at once: request_end() frees *r. */
struct request *request_begin(struct covey *vm, uint8_t kind, uint32_t host, const void *body,
                              size_t size);
/* With a descriptor, which stays the caller's, unless it is negative. */
struct request *request_begin_fd(struct covey *vm, uint8_t kind, uint32_t host, const void *body,
                                 size_t size, int fd);
/* Why request_begin() gave none: the own daemon is lost, or memory is exhausted. */
int request_refused(const struct covey *vm);
int request_end(struct covey *vm, struct request **r, uint64_t deadline_us, uint8_t **content,
                size_t *content_size);
/* The same, for as long as no such time passes in which nothing more of the answer comes. */
int request_end_idle(struct covey *vm, struct request **r, uint64_t idle_us, uint8_t **content,
                     size_t *content_size);
int request_status(const struct request *r); /* of one that is done: as request_end() returns */
/* One whose answer nobody waits for any more; NULL is fine. */
void request_forget(struct covey *vm, struct request **r);
/* Whoever should have answered is gone; nothing for one that is done. wait_changed() is the
 * caller's. */
void request_host_failed(struct covey *vm, struct request *r);
void request_on_reply(struct covey *vm, const struct frame *frame, const uint8_t *payload);
void request_on_host_event(struct covey *vm, const struct control_host_event *event);

#endif
