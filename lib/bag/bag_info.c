/*
 * bag_info.c - how it stands with bags: the VM knows which there are and who holds them, and their
 * holders the rest.
 */
#include "lib/agree/service.h"
#include "lib/bag/bag.h"
#include "lib/drive/call.h"
#include "lib/drive/request.h"
#include "lib/member/vm.h"
#include "lib/msg/clock.h"
#include "lib/msg/error.h"
#include "proto/wire/command.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LOOK_US 5000000u

static void look_get(struct cursor *c, struct covey_bag_info *info)
{
    info->ready = cursor_get_u64(c);
    info->leased = cursor_get_u64(c);
    info->results = cursor_get_u64(c);
    info->put = cursor_get_u64(c);
    info->done = cursor_get_u64(c);
    info->delivered = cursor_get_u64(c);
    info->set_aside = cursor_get_u64(c);
    info->leases = cursor_get_u64(c);
    info->retried = cursor_get_u64(c);
    info->duplicated = cursor_get_u64(c);
    info->expired = cursor_get_u64(c);
    info->tasks = (int32_t)cursor_get_u64(c);
    info->bytes = cursor_get_u64(c);
    info->closed = (int32_t)cursor_get_u64(c);
}

/* Asks a daemon how it stands with a bag; fills *info but for its name. */
static int bag_look(struct covey *vm, uint64_t id, uint32_t holder, struct covey_bag_info *info)
{
    uint8_t body[8], *content = NULL;
    size_t size = 0;
    struct cursor c = cursor_writer(body, sizeof body);
    cursor_put_u64(&c, id);
    int error = request_call(vm, FRAME_BAG_LOOK, holder, body, sizeof body, clock_us() + LOOK_US,
                             &content, &size);
    if (error != COVEY_OK)
        return error;
    struct covey_bag_info read = *info;
    c = cursor_reader(content, size);
    look_get(&c, &read);
    free(content);
    if (!cursor_done(&c))
        return error_set(COVEY_EPROTO, "the daemon's answer makes no sense");
    *info = read;
    return COVEY_OK;
}

static void where_get(struct cursor *c, struct covey_bag_info *info, uint64_t *id)
{
    cursor_get_text(c, info->name, sizeof info->name);
    *id = cursor_get_u64(c);
    cursor_get_u32(c);
    info->holder = (int32_t)cursor_get_u32(c);
    info->backups = cursor_get_u8(c);
    cursor_get_view(c, 4 * (size_t)info->backups);
}

/* Rows as the VM lists them, each filled by its holder; of one that does not answer only that. */
static int rows_read(struct covey *vm, struct cursor *c, struct covey_bag_info *rows)
{
    int count = 0;
    for (uint64_t id; cursor_left(c) > 0; count++) {
        struct covey_bag_info *info = &rows[count];
        *info = (struct covey_bag_info){.holder = 0};
        where_get(c, info, &id);
        if (!cursor_ok(c))
            return error_set(COVEY_EPROTO, "the daemon's answer makes no sense");
        if (info->holder != 0)
            bag_look(vm, id, (uint32_t)info->holder, info);
    }
    return count;
}

static int list_ask(struct covey *vm, struct service *s)
{
    service_begin(s, vm, COMMAND_BAG_LIST, "bags", NULL);
    return service_ask(s);
}

#define ROW_BYTES_LEAST (3 + 17) /* a name of one byte */

int covey_bags(covey_t *vm, struct covey_bag_info **list)
{
    struct service s;
    if (vm == NULL || list == NULL)
        return error_set(COVEY_EINVAL, "bags: NULL");
    int error = list_ask(vm, &s);
    if (error != COVEY_OK)
        return error;
    struct covey_bag_info *rows =
        calloc(cursor_left(&s.answer) / ROW_BYTES_LEAST + 1, sizeof *rows);
    struct call call = call_begin(vm);
    int count = rows == NULL ? error_code(COVEY_ENOMEM) : rows_read(vm, &s.answer, rows);
    service_drop(&s);
    if (count >= 0)
        *list = rows;
    else
        free(rows);
    return call_end(vm, &call, count);
}

/* Backups are the VM's to know. */
static int backups_fill(covey_t *vm, struct covey_bag_info *info)
{
    struct service s;
    int error = list_ask(vm, &s);
    if (error != COVEY_OK)
        return error;
    while (cursor_left(&s.answer) > 0) {
        struct covey_bag_info row = {.holder = 0};
        uint64_t id;
        where_get(&s.answer, &row, &id);
        if (cursor_ok(&s.answer) && strcmp(row.name, info->name) == 0)
            info->backups = row.backups;
    }
    service_drop(&s);
    return COVEY_OK;
}

int covey_bag_info(covey_bag_t *bag, struct covey_bag_info *info)
{
    struct covey_bag_info filled = {.holder = 0};
    if (bag == NULL || info == NULL)
        return error_set(COVEY_EINVAL, "bag: NULL");
    snprintf(filled.name, sizeof filled.name, "%s", bag->name);
    struct call call = call_begin(bag->vm);
    filled.holder = (int32_t)bag->user.tie.holder;
    int error = bag_look(bag->vm, bag->user.bag, bag->user.tie.holder, &filled);
    error = call_end(bag->vm, &call, error);
    if (error == COVEY_OK)
        error = backups_fill(bag->vm, &filled);
    if (error == COVEY_OK)
        *info = filled;
    return error;
}
