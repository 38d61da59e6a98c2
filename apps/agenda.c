#include "apps/agenda.h"

#include <err.h>
#include <stdio.h>

#define LOOK_US 200000 /* so often it is seen whether the tasks still live */
#define NAME_BYTES 32

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

int agenda_result(struct crew *crew, covey_bag_t *bag, struct covey_bag_result *result)
{
    struct covey_info info;
    int got;
    while ((got = covey_bag_result(bag, LOOK_US, result, 1)) == COVEY_ETIMEOUT)
        if (covey_probe(crew->vm, COVEY_ANY_TASK, CREW_EXIT, COVEY_POLL, &info) == COVEY_OK)
            return crew_fail(crew, "cannot go on without a task", COVEY_ENOTASK);
    if (got < 0)
        return crew_fail(crew, "cannot take a result out of the bag", got);
    if (got == 1 && !result->set_aside)
        return 0;
    warnx(got == 0 ? "the bag ended too early" : "an item of the bag killed its workers");
    return -1;
}

static int do_item(covey_bag_t *bag, const struct covey_bag_item *item, agenda_work work,
                   void *context)
{
    const void *result = NULL;
    size_t size = 0;
    int error = work(context, item, &result, &size);
    return error < 0 ? error : covey_bag_done(bag, item, result, size);
}

int agenda_run(struct worker *worker, agenda_work work, void *context)
{
    char name[NAME_BYTES];
    covey_bag_t *bag = NULL;
    struct covey_bag_item item;
    name_of(worker->parent, name);
    worker->doing = "finding its bag of work";
    int error = covey_bag_attach(worker->vm, name, &bag);
    if (error == COVEY_ENOENT)
        return 0; /* the others did all before this one came */
    while (error >= 0) {
        worker->doing = "taking items out of the bag";
        int got = covey_bag_take(bag, COVEY_FOREVER, &item, 1);
        if (got == 0)
            break;
        worker->doing = "working on an item of the bag";
        error = got < 0 ? got : do_item(bag, &item, work, context);
    }
    covey_bag_free(&bag);
    return error;
}
