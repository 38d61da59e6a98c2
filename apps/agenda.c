/*
 * agenda.c - agenda parallelism of the demos: the coordinator puts items into a bag and hears of
 * results, the tasks take items and work on them. All demos with --bag share this file, so that
 * each of them says only what its items are.
 */
#include "apps/agenda.h"

#include <err.h>
#include <stdio.h>

#define LOOK_US                                                                                    \
    200000 /* so often it is seen whether the tasks still live and what was set aside              \
            */
#define NAME_BYTES 32
#define RESULTS_AT_ONCE 64

static void name_of(covey_tid_t coordinator, char name[NAME_BYTES])
{
    snprintf(name, NAME_BYTES, "agenda of t%x", (unsigned)coordinator);
}

int agenda_create(struct crew *crew, covey_bag_t **bag)
{
    char name[NAME_BYTES];
    const struct covey_bag_options options = {.copies = -1};
    name_of(covey_mytid(crew->vm), name);
    int error = covey_bag_create(crew->vm, name, &options, bag);
    return error < 0 ? crew_error("cannot make a bag", error) : 0;
}

int agenda_put(struct crew *crew, covey_bag_t *bag, int priority, const void *bytes, size_t size)
{
    int error = covey_bag_put(bag, priority, bytes, size);
    return error < 0 ? crew_fail(crew, "cannot put an item into the bag", error) : 0;
}

int agenda_close(struct crew *crew, covey_bag_t *bag)
{
    int error = covey_bag_close(bag);
    return error < 0 ? crew_fail(crew, "cannot close the bag", error) : 0;
}

static int set_aside(void)
{
    warnx("an item of the bag killed its workers");
    return -1;
}

/* What a task says: a part of the result, that it ended, how far it is. 1, or 0 when nobody said
 * anything in that time, or -1. */
static int hear_one(struct crew *crew, int64_t timeout_us)
{
    covey_msg_t *msg = NULL;
    struct covey_info info;
    int got = crew_step(crew, timeout_us, &msg, &info);
    if (got > 0 && crew_keep(crew, msg, &info))
        return 1;
    covey_msg_free(msg);
    if (got > 0)
        warnx("unexpected message with tag %d of task %d", info.tag, info.source);
    return got == 0 ? 0 : -1;
}

/* What has been said meanwhile. */
static int hear(struct crew *crew)
{
    struct covey_info info;
    while (covey_probe(crew->vm, COVEY_ANY_TASK, COVEY_ANY_TAG, COVEY_POLL, &info) == COVEY_OK)
        if (hear_one(crew, COVEY_POLL) < 0)
            return -1;
    return 0;
}

int agenda_result(struct crew *crew, covey_bag_t *bag, struct covey_bag_result *result)
{
    int got;
    while ((got = covey_bag_result(bag, LOOK_US, result, 1)) == COVEY_ETIMEOUT)
        if (hear(crew) < 0)
            return -1;
    if (got < 0)
        return crew_fail(crew, "cannot take a result out of the bag", got);
    if (got == 1 && !result->set_aside)
        return 0;
    if (got == 1)
        return set_aside();
    warnx("the bag ended too early");
    return -1;
}

/* Takes the results that are there, where only the items that were set aside are news. */
static int agenda_look(struct crew *crew, covey_bag_t *bag)
{
    struct covey_bag_result results[RESULTS_AT_ONCE];
    int got;
    while ((got = covey_bag_result(bag, COVEY_POLL, results, RESULTS_AT_ONCE)) > 0)
        for (int i = 0; i < got; i++)
            if (results[i].set_aside)
                return set_aside();
    return got == 0 || got == COVEY_ETIMEOUT ? 0 : crew_fail(crew, "cannot look into the bag", got);
}

int agenda_conduct(struct crew *crew, covey_bag_t *bag, const int64_t *done, int64_t all)
{
    while (*done < all) {
        int got = hear_one(crew, LOOK_US);
        if (got < 0 || (got == 0 && agenda_look(crew, bag) < 0))
            return -1;
        if (got == 0)
            progress_show(&crew->progress, (double)*done / (double)all);
    }
    return 0;
}

int agenda_attach(struct worker *worker)
{
    char name[NAME_BYTES];
    name_of(worker->parent, name);
    worker->doing = "finding its bag of work";
    return covey_bag_attach(worker->vm, name, &worker->bag);
}

int agenda_run(struct worker *worker, agenda_work work, void *context)
{
    struct covey_bag_item item;
    int error = 0;
    while (error >= 0) {
        worker->doing = "taking items out of the bag";
        int got = covey_bag_take(worker->bag, COVEY_FOREVER, &item, 1);
        if (got == 0)
            break;
        worker->doing = "working on an item of the bag";
        const void *result = NULL;
        size_t size = 0;
        error = got < 0 ? got : work(context, &item, &result, &size);
        if (error >= 0)
            error = covey_bag_done(worker->bag, &item, result, size);
    }
    covey_bag_free(&worker->bag);
    return error;
}
