/*
 * bag_link.c - the way to the daemon that holds a bag: the VM is asked which one it is, requests go
 * there, answers come back; and when that host is gone, or holds it no more, the VM is asked again.
 * All of it goes on in the background.
 *
 * A bag that the VM does not know may be one of which it has forgotten, with all it had agreed on:
 * then whoever has it says so soon. It is missed for a while before it is given up.
 */
#include "lib/agree/service.h"
#include "lib/bag/bag.h"
#include "lib/drive/request.h"
#include "lib/member/part.h"
#include "lib/member/vm.h"
#include "lib/member/watch.h"
#include "lib/msg/clock.h"
#include "proto/bag/bag_parts.h"
#include "proto/wire/command.h"

#include <stdlib.h>

#define FIND_US 2000000u
#define MISSING_US 8000000u

/* ---- where it is ---- */

static void missing(struct covey_bag *bag, int error, uint64_t now_us)
{
    if (bag->missing_us == 0)
        bag->missing_us = now_us;
    if (!bag->known || now_us - bag->missing_us >= MISSING_US)
        bag->user.error = error;
    bag_user_found(&bag->user, 0, 0, now_us);
}

static void found(struct covey_bag *bag, const struct request *r, uint64_t now_us)
{
    struct cursor c = cursor_reader(r->content, r->size);
    uint64_t id = cursor_get_u64(&c);
    uint32_t host = cursor_get_u32(&c);
    if (!cursor_done(&c)) {
        bag->user.error = COVEY_EPROTO;
    } else if (bag->user.bag != 0 && bag->user.bag != id) {
        bag->user.error = COVEY_ENOENT; /* another one of that name */
    } else if (host == 0) {
        missing(bag, COVEY_EHOSTFAIL, now_us);
    } else {
        bag->missing_us = 0;
        bag->known = true;
        bag_user_found(&bag->user, id, host, now_us);
    }
}

static void find_take(struct covey_bag *bag)
{
    struct request *r = bag->find;
    uint64_t now_us = clock_us();
    if (r->status == COVEY_OK)
        found(bag, r, now_us);
    else if (r->status == COVEY_ENOENT)
        missing(bag, COVEY_ENOENT, now_us);
    else
        bag_user_found(&bag->user, 0, 0, now_us);
    request_forget(bag->vm, &bag->find);
    wait_changed(bag->vm);
}

static void find_begin(struct covey_bag *bag, uint64_t now_us)
{
    struct service find;
    service_begin(&find, bag->vm, COMMAND_BAG_FIND, "bag", bag->name);
    bag->find = service_request(&find);
    bag->find_us = now_us;
    if (bag->find == NULL)
        return;
    bag->find->due = part_bit(PART_BAGS);
}

void bag_step(struct covey_bag *bag)
{
    uint64_t now_us = clock_us();
    if (bag->vm->home.lost != 0)
        return;
    if (bag->user.pace.end_us != bag->vm->self.ends_us)
        bag_user_ends(&bag->user, bag->vm->self.ends_us);
    if (bag->find != NULL && bag->find->done)
        find_take(bag);
    if (bag->find != NULL && now_us >= bag->find_us + FIND_US)
        request_forget(bag->vm, &bag->find);
    if (bag->find == NULL && bag_user_seeks(&bag->user, now_us))
        find_begin(bag, now_us);
    uint64_t find_us = bag->find != NULL ? bag->find_us + FIND_US : UINT64_MAX;
    uint64_t due_us = bag_user_step(&bag->user, now_us);
    if (find_us != UINT64_MAX)
        due_us = find_us; /* nothing else goes on until it is found */
    if (bag->user.pace.end_us > now_us && bag->user.pace.end_us < due_us)
        due_us = bag->user.pace.end_us; /* who waits is told that it is over */
    if (due_us != UINT64_MAX)
        wait_check_at(bag->vm, due_us);
}

void bag_settle(struct covey *vm)
{
    for (struct covey_bag *bag = bags_of(vm)->first; bag != NULL; bag = bag->next)
        bag_step(bag);
}

void bag_check(struct covey *vm, uint64_t now_us)
{
    bag_settle(vm);
    if (vm->self.ends_us != 0 && now_us >= vm->self.ends_us && bags_of(vm)->first != NULL)
        wait_changed(vm);
}

void bag_on_host_event(struct covey *vm, const struct control_host_event *event)
{
    uint32_t host = event->host.index;
    if (event->event != NODE_HOST_GONE)
        return;
    for (struct covey_bag *bag = bags_of(vm)->first; bag != NULL; bag = bag->next) {
        if (bag->user.tie.holder == host)
            bag_user_lost(&bag->user, clock_us());
        bag_step(bag);
    }
}

/* ---- answers ---- */

static struct covey_bag *bag_of(const struct covey *vm, const struct bag_answer *answer)
{
    struct covey_bag *bag = bags_of(vm)->first;
    while (bag != NULL && bag->user.handle != answer->handle)
        bag = bag->next;
    return bag;
}

void bag_on_answer(struct covey *vm, const struct frame *frame, const uint8_t *payload)
{
    struct cursor part = cursor_reader(payload, frame->length);
    const char *refused;
    const struct bag_parcel *whole =
        bag_incoming_take(&bags_of(vm)->incoming, frame->source, &part, &refused);
    if (whole == NULL)
        return;
    struct bag_answer answer;
    struct cursor c = cursor_reader(whole->bytes, whole->used);
    bag_answer_get(&c, &answer);
    struct covey_bag *bag = cursor_ok(&c) ? bag_of(vm, &answer) : NULL;
    if (bag == NULL)
        return;
    bag_user_answer(&bag->user, tid_host(frame->source), whole->bytes, whole->used, clock_us());
    bag_step(bag);
    wait_changed(vm);
}
