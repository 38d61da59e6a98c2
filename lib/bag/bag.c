/*
 * bag.c - bags of work: the calls. What a bag promises is described in proto/bag/bag.h and
 * covey_bag(3); the engine of this side is proto/bag/bag_user.c, and bag_link.c connects the two.
 *
 * A call changes the engine, lets it send what is due, and waits, if it must, for what an answer
 * brings.
 */
#include "lib/bag/bag.h"
#include "lib/agree/service.h"
#include "lib/drive/call.h"
#include "lib/drive/request.h"
#include "lib/member/home.h"
#include "lib/msg/clock.h"
#include "lib/msg/error.h"
#include "proto/bag/bag_parts.h"
#include "proto/wire/command.h"
#include "proto/wire/list.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ATTACH_US 30000000
#define LEAVE_US 10000000
#define RESULTS_AHEAD 256
#define DEATHS_MAX_DEFAULT 3
#define DEATHS_MAX_LARGEST 100
#define AT_ONCE_MAX 1024

/* ---- errors ---- */

static int failed(const struct covey_bag *bag)
{
    switch (bag->user.error) {
    case 0:
        return COVEY_OK;
    case COVEY_ENOENT:
        return error_set(COVEY_ENOENT, "bag %s: there is none of that name%s", bag->name,
                         bag->known ? " any more" : "");
    case COVEY_EDENIED:
        return error_set(COVEY_EDENIED, "bag %s is closed: no more items can be put", bag->name);
    case COVEY_EHOSTFAIL:
        return error_set(COVEY_EHOSTFAIL,
                         "bag %s: the host that held it and those that had copies died", bag->name);
    case COVEY_ENOMEM:
        return error_set(COVEY_ENOMEM, "bag %s: the daemon that holds it has no memory for more",
                         bag->name);
    case COVEY_ERESOURCE:
        return error_set(COVEY_ERESOURCE,
                         "bag %s: the daemon that holds it, or one that has a copy, takes no more: "
                         "memory in its covey.conf says how much",
                         bag->name);
    default:
        return error_set(bag->user.error, "bag %s: %s", bag->name, covey_strerror(bag->user.error));
    }
}

static int no_memory(const struct covey_bag *bag)
{
    return error_set(COVEY_ENOMEM, "bag %s: memory is exhausted", bag->name);
}

/* Waits until done(bag), or until the bag has failed. */
int bag_await(struct covey_bag *bag, bool (*done)(void *), uint64_t deadline_us, const char *what)
{
    bag_step(bag);
    bag->vm->self.awaits.kind = COVEY_WAITS_NAME;
    bag->vm->self.awaits.name = bag->name;
    int error = call_idle(bag->vm, done, bag, deadline_us);
    if (error == COVEY_ETIMEOUT)
        return error_set(error, "bag %s: %s in time", bag->name, what);
    return error == COVEY_OK ? failed(bag) : error;
}

/* The time of this host is over. */
static bool is_over(const struct covey_bag *bag)
{
    return bag->vm->self.ends_us != 0 && clock_us() >= bag->vm->self.ends_us;
}

static int told_over(const struct covey_bag *bag)
{
    return error_set(COVEY_ETIMEOUT,
                     "bag %s: the time of host %s is over, and not all is done: covey bag save "
                     "keeps what is left",
                     bag->name, bag->vm->self.host_name);
}

/* ---- attaching ---- */

static void bag_send(void *context, uint32_t host, const uint8_t *bytes, size_t size)
{
    uint8_t part[BAG_PART_HEAD_BYTES + BAG_PART_BYTES];
    struct covey_bag *bag = context;
    for (size_t at = 0; at < size;) {
        size_t length = bag_part_put(part, bytes, size, &at);
        home_send(bag->vm, FRAME_BAG, host == bag->vm->self.host ? 0 : tid_make(host, 0), part,
                  length);
    }
}

static struct covey_bag *bag_make(struct covey *vm, const char *name)
{
    struct covey_bag *bag = calloc(1, sizeof *bag);
    if (bag == NULL)
        return NULL;
    bag->vm = vm;
    snprintf(bag->name, sizeof bag->name, "%s", name);
    bag->user.context = bag;
    bag->user.send = bag_send;
    return bag;
}

static void bag_unlink(struct covey_bag *bag)
{
    UNLINK(bags_of(bag->vm)->first, bag, next);
    request_forget(bag->vm, &bag->find);
    bag_user_fini(&bag->user);
    free(bag);
}

static bool is_open(void *context)
{
    const struct covey_bag *bag = context;
    return bag->user.tie.state == BAG_OPEN || bag->user.error != 0;
}

/* `id` 0: it is looked for. */
static int attach(covey_t *vm, const char *name, uint64_t id, uint32_t holder, covey_bag_t **out)
{
    struct covey_bag *bag = bag_make(vm, name);
    if (bag == NULL)
        return error_code(COVEY_ENOMEM);
    struct call call = call_begin_as(vm, "bag_open");
    bag->user.handle = ++bags_of(bag->vm)->handles;
    bag->next = bags_of(bag->vm)->first;
    bags_of(bag->vm)->first = bag;
    bag->known = id != 0;
    if (id != 0)
        bag_user_found(&bag->user, id, holder, clock_us());
    int error = bag_await(bag, is_open, clock_deadline(ATTACH_US), "its holder did not answer");
    if (error == COVEY_OK)
        *out = bag;
    else
        bag_unlink(bag);
    return call_end(vm, &call, error);
}

int covey_bag_attach(covey_t *vm, const char *name, covey_bag_t **bag)
{
    if (service_name_check(vm, "bag", name) != COVEY_OK || bag == NULL)
        return COVEY_EINVAL;
    return attach(vm, name, 0, 0, bag);
}

static int params_make(struct bag_params *params, const char *name,
                       const struct covey_bag_options *options)
{
    static const struct covey_bag_options none = {0};
    const struct covey_bag_options *o = options != NULL ? options : &none;
    if (o->copies > BAG_BACKUPS_MAX)
        return error_set(COVEY_EINVAL, "bag %s: %d copies, at most %d can be had", name, o->copies,
                         BAG_BACKUPS_MAX);
    if (o->lease_us < 0 || o->deaths_max < 0 || o->deaths_max > DEATHS_MAX_LARGEST)
        return error_set(COVEY_EINVAL, "bag %s: a negative lease, or deaths_max not of 0 .. %d",
                         name, DEATHS_MAX_LARGEST);
    *params = (struct bag_params){.lease_us = (uint64_t)o->lease_us,
                                  .deaths_max = o->deaths_max > 0 ? (uint32_t)o->deaths_max
                                                                  : DEATHS_MAX_DEFAULT,
                                  .in_order = o->in_order != 0,
                                  .keep = o->keep != 0,
                                  .copies = o->copies == 0  ? BAG_BACKUPS_MAX
                                            : o->copies < 0 ? 0
                                                            : (uint8_t)o->copies,
                                  .single = o->single != 0};
    memcpy(params->name, name, strlen(name) + 1);
    return COVEY_OK;
}

static int bag_create_ask(covey_t *vm, const struct bag_params *params, uint64_t *id,
                          uint32_t *holder)
{
    struct service s;
    service_begin(&s, vm, COMMAND_BAG_CREATE, "bag", NULL);
    s.name = params->name;
    bag_params_put(&s.body, params);
    int error = service_call(&s, COVEY_POLL);
    if (error != COVEY_OK)
        return error;
    *id = cursor_get_u64(&s.answer);
    *holder = cursor_get_u32(&s.answer);
    return service_done(&s);
}

int covey_bag_create(covey_t *vm, const char *name, const struct covey_bag_options *options,
                     covey_bag_t **bag)
{
    struct bag_params params;
    uint64_t id = 0;
    uint32_t holder = 0;
    if (service_name_check(vm, "bag", name) != COVEY_OK || bag == NULL)
        return COVEY_EINVAL;
    int error = params_make(&params, name, options);
    if (error == COVEY_OK)
        error = bag_create_ask(vm, &params, &id, &holder);
    return error == COVEY_OK ? attach(vm, name, id, holder, bag) : error;
}

/* ---- putting ---- */

static bool bag_has_room(void *context)
{
    const struct covey_bag *bag = context;
    return bag->user.queue.queued_bytes < BAG_USER_QUEUE_BYTES || bag->user.error != 0;
}

static bool is_settled(void *context)
{
    const struct covey_bag *bag = context;
    return bag_user_settled(&bag->user) || bag->user.error != 0;
}

int bag_make_room(struct covey_bag *bag)
{
    if (bag_has_room(bag))
        return failed(bag);
    return bag_await(bag, bag_has_room, UINT64_MAX, "no room");
}

static int bag_put(struct covey_bag *bag, int priority, const void *bytes, size_t size)
{
    int error = bag_make_room(bag);
    if (error != COVEY_OK)
        return error;
    if (!bag_user_put(&bag->user, priority, bytes, size))
        return no_memory(bag);
    bag_step(bag);
    return COVEY_OK;
}

int covey_bag_put(covey_bag_t *bag, int priority, const void *bytes, size_t size)
{
    if (bag == NULL || (bytes == NULL && size > 0))
        return error_set(COVEY_EINVAL, "bag: NULL");
    struct call call = call_begin(bag->vm);
    return call_end(bag->vm, &call, bag_put(bag, priority, bytes, size));
}

static int flush(struct covey_bag *bag, uint64_t deadline_us)
{
    bag->user.urgent |= !bag_user_settled(&bag->user);
    return bag_await(bag, is_settled, deadline_us, "not safe");
}

int covey_bag_flush(covey_bag_t *bag, int64_t timeout_us)
{
    if (bag == NULL)
        return error_set(COVEY_EINVAL, "bag: NULL");
    struct call call = call_begin(bag->vm);
    return call_end(bag->vm, &call, flush(bag, clock_deadline(timeout_us)));
}

int covey_bag_close(covey_bag_t *bag)
{
    if (bag == NULL)
        return error_set(COVEY_EINVAL, "bag: NULL");
    struct call call = call_begin(bag->vm);
    int error = failed(bag);
    if (error == COVEY_OK && !bag_user_say(&bag->user, BAG_CLOSE))
        error = no_memory(bag);
    if (error == COVEY_OK)
        error = flush(bag, UINT64_MAX);
    return call_end(bag->vm, &call, error);
}

static bool is_complete(void *context)
{
    const struct covey_bag *bag = context;
    return (bag->user.flags & BAG_COMPLETE) != 0 || bag->user.error != 0;
}

static bool is_complete_or_over(void *context)
{
    return is_complete(context) || is_over(context);
}

int covey_bag_wait(covey_bag_t *bag, int64_t timeout_us)
{
    if (bag == NULL)
        return error_set(COVEY_EINVAL, "bag: NULL");
    struct call call = call_begin(bag->vm);
    int error = bag_await(bag, is_complete_or_over, clock_deadline(timeout_us), "not all is done");
    if (error == COVEY_OK && !is_complete(bag))
        error = told_over(bag);
    return call_end(bag->vm, &call, error);
}

/* ---- taking ---- */

static bool has_item(void *context)
{
    const struct covey_bag *bag = context;
    return bag->user.fresh.first != NULL || is_complete_or_over(context);
}

static void item_show(const struct bag_thing *thing, struct covey_bag_item *item)
{
    *item = (struct covey_bag_item){.number = thing->number,
                                    .priority = thing->priority,
                                    .deaths = thing->flag,
                                    .bytes = thing->bytes,
                                    .size = thing->size};
}

static int items_take(struct covey_bag *bag, int64_t timeout_us, struct covey_bag_item *items,
                      int capacity)
{
    if (!bag->weighed)
        bag->user.weight = bag_weigh(bag->vm);
    bag->weighed = true;
    bag_user_hunger(&bag->user, (uint32_t)capacity);
    int error = bag_await(bag, has_item, clock_deadline(timeout_us), "no item to be had");
    if (error == COVEY_OK) {
        uint64_t now_us = clock_us();
        int count = 0;
        for (struct bag_thing *thing;
             count < capacity && (thing = bag_user_begin(&bag->user, now_us)) != NULL; count++)
            item_show(thing, &items[count]);
        if (count == 0 && !is_complete(bag)) { /* its host's time is over */
            bag_user_hunger(&bag->user, 0);
            bag_step(bag);
        }
        return count;
    }
    if (error == COVEY_ETIMEOUT && timeout_us != COVEY_POLL) {
        bag_user_hunger(&bag->user, 0);
        bag_step(bag);
    }
    return error;
}

int covey_bag_take(covey_bag_t *bag, int64_t timeout_us, struct covey_bag_item *items, int capacity)
{
    if (bag == NULL || items == NULL || capacity < 1)
        return error_set(COVEY_EINVAL, "bag: NULL, or no room for an item");
    struct call call = call_begin(bag->vm);
    int result =
        items_take(bag, timeout_us, items, capacity < AT_ONCE_MAX ? capacity : AT_ONCE_MAX);
    return call_end(bag->vm, &call, result);
}

/* NULL and *error. */
static struct bag_thing *item_find(struct covey_bag *bag, const struct covey_bag_item *item,
                                   int *error)
{
    struct bag_thing *thing = bag_user_begun(&bag->user, item->bytes);
    *error = bag_make_room(bag);
    if (*error == COVEY_OK && thing == NULL)
        *error = error_set(COVEY_EINVAL, "bag %s: item %llu was not taken by this handle",
                           bag->name, (unsigned long long)item->number);
    return *error == COVEY_OK ? thing : NULL;
}

int covey_bag_done(covey_bag_t *bag, const struct covey_bag_item *item, const void *result,
                   size_t size)
{
    int error;
    if (bag == NULL || item == NULL || (result == NULL && size > 0))
        return error_set(COVEY_EINVAL, "bag: NULL");
    struct call call = call_begin(bag->vm);
    struct bag_thing *thing = item_find(bag, item, &error);
    if (thing != NULL && !bag_user_done(&bag->user, thing, result, size, clock_us()))
        error = no_memory(bag);
    bag_step(bag);
    return call_end(bag->vm, &call, error);
}

int covey_bag_return(covey_bag_t *bag, const struct covey_bag_item *item)
{
    int error;
    if (bag == NULL || item == NULL)
        return error_set(COVEY_EINVAL, "bag: NULL");
    struct call call = call_begin(bag->vm);
    struct bag_thing *thing = item_find(bag, item, &error);
    if (thing != NULL && !bag_user_return(&bag->user, thing))
        error = no_memory(bag);
    bag_step(bag);
    return call_end(bag->vm, &call, error);
}

/* ---- results ---- */

static bool has_result(void *context)
{
    const struct covey_bag *bag = context;
    return bag->user.results.first != NULL || (bag->user.flags & BAG_DRAINED) != 0 ||
           bag->user.error != 0 || is_over(bag);
}

static int results_show(struct covey_bag *bag, struct covey_bag_result *results, int capacity)
{
    int count = 0;
    for (const struct bag_thing *thing;
         count < capacity && (thing = bag_user_result(&bag->user)) != NULL; count++)
        results[count] = (struct covey_bag_result){.number = thing->number,
                                                   .worker = (covey_tid_t)thing->task,
                                                   .set_aside = thing->flag == BAG_SET_ASIDE,
                                                   .bytes = thing->bytes,
                                                   .size = thing->size};
    return count;
}

static int result(struct covey_bag *bag, int64_t timeout_us, struct covey_bag_result *results,
                  int capacity)
{
    bag_user_confirm(&bag->user);
    bag_user_collect(&bag->user, RESULTS_AHEAD);
    int error = bag_await(bag, has_result, clock_deadline(timeout_us), "no result to be had");
    if (error != COVEY_OK)
        return error;
    int count = results_show(bag, results, capacity);
    return count == 0 && (bag->user.flags & BAG_DRAINED) == 0 ? told_over(bag) : count;
}

int covey_bag_result(covey_bag_t *bag, int64_t timeout_us, struct covey_bag_result *results,
                     int capacity)
{
    if (bag == NULL || results == NULL || capacity < 1)
        return error_set(COVEY_EINVAL, "bag: NULL, or no room for a result");
    struct call call = call_begin(bag->vm);
    return call_end(bag->vm, &call, result(bag, timeout_us, results, capacity));
}

/* ---- ends ---- */

static void leave(covey_bag_t **bag, uint8_t kind)
{
    struct covey_bag *b = *bag;
    struct covey *vm = b->vm;
    *bag = NULL;
    struct call call = call_begin(vm);
    bag_user_confirm(&b->user);
    if (b->user.error == COVEY_EDENIED)
        b->user.error = COVEY_OK; /* that was told */
    if (b->user.error == 0)
        flush(b, clock_deadline(LEAVE_US));
    if (b->user.error == 0 && bag_user_say(&b->user, kind))
        bag_step(b);
    bag_unlink(b);
    call_end(vm, &call, COVEY_OK);
}

void covey_bag_free(covey_bag_t **bag)
{
    if (bag != NULL && *bag != NULL)
        leave(bag, BAG_BYE);
}

int covey_bag_destroy(covey_bag_t **bag)
{
    if (bag == NULL || *bag == NULL)
        return error_set(COVEY_EINVAL, "bag: NULL");
    int error = failed(*bag);
    leave(bag, BAG_END);
    return error;
}

void bag_leave_all(struct covey *vm)
{
    for (struct covey_bag *bag = bags_of(vm)->first; bag != NULL; bag = bag->next) {
        bag_user_confirm(&bag->user);
        if (bag->user.error == 0 && bag_user_say(&bag->user, BAG_BYE))
            bag_step(bag);
    }
}

void bag_free_all(struct covey *vm)
{
    while (bags_of(vm)->first != NULL)
        bag_unlink(bags_of(vm)->first);
    bag_incoming_fini(&bags_of(vm)->incoming);
}
