/*
 * part.c - the loops over the table of parts. The table itself belongs to the root, which gives it
 * to struct daemon: so a lower room reaches the upper ones through it, and no name of theirs is
 * needed here.
 */
#include "daemon/base/part.h"

#include <assert.h>
#include <stdlib.h>

#include "daemon/base/daemon.h"

#define EACH_PART(d, function, ...)                                                                \
    for (size_t i = 0; i < PARTS; i++)                                                             \
        if ((d)->parts[i]->function != NULL)                                                       \
    (d)->parts[i]->function(__VA_ARGS__)

int parts_create(struct daemon *d, struct failure *why)
{
    parts_want(d);
    for (size_t i = 0; i < PARTS; i++) {
        const struct part *part = d->parts[i];
        if (part->state_bytes > 0) {
            assert(i < DAEMON_STATES);
            d->states[i] = calloc(1, part->state_bytes);
            if (d->states[i] == NULL)
                return failure_memory(why);
        }
        if (part->create != NULL && part->create(d, why) != 0)
            return -1;
    }
    return 0;
}

void parts_destroy(struct daemon *d)
{
    for (size_t i = PARTS; i-- > 0;) {
        const struct part *part = d->parts[i];
        bool missing = part->state_bytes > 0 && d->states[i] == NULL;
        if (part->destroy != NULL && !missing)
            part->destroy(d);
        if (part->state_bytes > 0) {
            assert(i < DAEMON_STATES);
            free(d->states[i]);
            d->states[i] = NULL;
        }
    }
}

void parts_want(struct daemon *d)
{
    for (size_t i = 0; i < PARTS; i++)
        part_want(d, (enum part_number)i);
}

uint64_t parts_settle(struct daemon *d)
{
    uint64_t now_us = loop_now_us(), next_us = UINT64_MAX;
    for (size_t i = 0; i < PARTS; i++) {
        struct part_due *due = &d->due[i];
        if (d->parts[i]->settle == NULL)
            continue;
        if (due->wanted || now_us >= due->at_us) {
            due->wanted = false; /* what it is given from now on is for the next round */
            due->at_us =
                d->parts[i]->settle(d, loop_now_us()); /* one before may have taken its time */
        }
        next_us = due->at_us < next_us ? due->at_us : next_us;
    }
    return next_us;
}

void parts_task_enrolled(struct daemon *d, struct task *task)
{
    EACH_PART(d, task_enrolled, task);
}

void parts_round_end(struct daemon *d)
{
    EACH_PART(d, round_end, d);
}

void parts_joined(struct daemon *d)
{
    parts_want(d);
    EACH_PART(d, joined, d);
}

void parts_host_event(struct daemon *d, const struct host *host, int event)
{
    parts_want(d);
    EACH_PART(d, host_event, d, host, event);
}

void parts_task_gone(struct daemon *d, const struct control_gone *gone, const struct task *own)
{
    for (size_t i = 0; i < PARTS; i++) {
        if (d->parts[i]->task_gone == NULL)
            continue;
        part_want(d, (enum part_number)i);
        d->parts[i]->task_gone(d, gone, own);
    }
}

void parts_task_closed(struct daemon *d, struct task *task)
{
    for (size_t i = 0; i < PARTS; i++)
        if (d->parts[i]->task_closed != NULL && d->parts[i]->task_closed(task))
            return;
}

void parts_task_free(struct daemon *d, struct task *task)
{
    EACH_PART(d, task_free, task);
}

void parts_ending(struct daemon *d, enum part_ending event, const char *text)
{
    EACH_PART(d, ending, d, event, text);
}

bool parts_full(const struct daemon *d)
{
    for (size_t i = 0; i < PARTS; i++)
        if (d->parts[i]->full != NULL && d->parts[i]->full(d))
            return true;
    return false;
}

bool parts_passed(const struct daemon *d)
{
    for (size_t i = 0; i < PARTS; i++)
        if (d->parts[i]->passed != NULL && !d->parts[i]->passed(d))
            return false;
    return true;
}
