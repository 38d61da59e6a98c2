/*
 * parts.c - the table of parts: one row for each subject (part.h). Who adds a subject adds its row
 * here, and no other file of the library learns of it.
 */
#include "lib/root/parts.h"
#include "lib/agree/group.h"
#include "lib/agree/service.h"
#include "lib/agree/session.h"
#include "lib/bag/bag.h"
#include "lib/calls/cast_inlet.h"
#include "lib/calls/notify.h"
#include "lib/collective/collective.h"
#include "lib/collective/paced.h"
#include "lib/collective/shared.h"
#include "lib/collective/teams.h"
#include "lib/drive/direct.h"
#include "lib/drive/request.h"
#include "lib/drive/route_links.h"
#include "lib/engine/arrival.h"
#include "lib/engine/bulk.h"
#include "lib/engine/loss.h"
#include "lib/engine/match.h"
#include "lib/engine/order.h"
#include "lib/engine/outgo.h"
#include "lib/engine/peer.h"
#include "lib/engine/route.h"
#include "lib/member/home.h"
#include "lib/member/part.h"
#include "lib/member/routes.h"
#include "lib/member/trace.h"
#include "lib/member/vm.h"
#include "lib/onesided/onesided.h"
#include "lib/spawn/place.h"
#include "lib/spawn/printer.h"
#include "lib/spawn/siblings.h"
#include "lib/spawn/tasker.h"

#include <assert.h>
#include <stdlib.h>

/* ---- the engine's own subjects --------------------------------------------------------------- */

static const struct part tasks = {
    .name = "tasks",
    .handlers =
        (const struct part_handler[]){
            {.kind = FRAME_DATA, .on_frame = arrival_on_data, .admits = order_admits_home},
            {.kind = FRAME_CAST_DATA, .on_frame = cast_inlet_on_data},
            {.kind = FRAME_CREDIT, .on_frame = outgo_on_credit_frame},
            {.kind = FRAME_BULK_ANSWER, .on_frame = bulk_on_answer},
            {.kind = FRAME_LINK_LOST, .on_frame = loss_on_frame},
            {.kind = FRAME_GONE, .on_frame = peer_on_gone_frame, .admits = order_admits_notice},
            {0}},
    .host_event = peer_on_host_event,
    .home_lost = peer_home_lost,
    .home_ready = outgo_pump_all};

static const struct part receives = {.name = "receives", .home_lost = match_home_lost};

static const struct part links = {
    .name = "links",
    .handlers =
        (const struct part_handler[]){
            {.kind = FRAME_LINK_OPEN, .on_frame_fds = route_on_link_frame},
            {.kind = FRAME_LINK_KEY, .on_frame_fds = route_on_link_frame},
            {.kind = FRAME_LINK_ACCEPT, .on_frame_fds = route_on_link_frame},
            {.kind = FRAME_LINK_REFUSE, .on_frame_fds = route_on_link_frame},
            {.kind = FRAME_DETOUR, .on_frame = direct_on_detour},
            {0}},
    .check = route_accept_again};

static const struct part hosts = {
    .name = "hosts",
    .handlers = (const struct part_handler[]){
        {.kind = FRAME_HOST_EVENT, .on_frame = home_on_host_event, .admits = order_admits_notice},
        {0}}};

static const struct part requests = {
    .name = "requests",
    .handlers =
        (const struct part_handler[]){{.kind = FRAME_REPLY, .on_frame = request_on_reply}, {0}},
    .host_event = request_on_host_event};

/* ---- what stands above it -------------------------------------------------------------------- */

static const struct part services = {
    .name = "services",
    .handlers = (const struct part_handler[]){
        {.kind = FRAME_NOTICE, .on_frame = service_on_notice, .admits = order_admits_notice}, {0}}};

static const struct part notices = {
    .name = "notices",
    .id = PART_NOTICES,
    .bytes = sizeof(struct notices),
    .destroy = notify_free_all,
    .handlers =
        (const struct part_handler[]){{.kind = FRAME_HOST_ENDS, .on_frame = notify_on_ends}, {0}},
    .task_gone = notify_task_exit,
    .host_event = notify_host};

static const struct part placing = {
    .name = "placing", .id = PART_PLACING, .bytes = sizeof(struct placing), .destroy = place_free};

static const struct part teams = {
    .name = "teams",
    .id = PART_TEAMS,
    .bytes = sizeof(struct teams),
    .create = team_init,
    .destroy = team_free_all,
    .handlers =
        (const struct part_handler[]){{.kind = FRAME_SYNC, .on_frame = paced_on_sync},
                                      {.kind = FRAME_SEGMENT, .on_frame_fds = shared_on_segment},
                                      {0}},
    .settle = collective_progress,
    .look = shared_look,
    .arm = shared_arm,
    .task_gone = shared_task_gone,
    .task_silent = paced_peer_gone,
    .syncs_lost = paced_sync_lost,
    .leave = team_leave_all};

static const struct part windows = {.name = "windows",
                                    .id = PART_WINDOWS,
                                    .bytes = sizeof(struct windows),
                                    .destroy = window_free_all,
                                    .settle = window_settle,
                                    .look = window_look,
                                    .arm = window_arm,
                                    .task_gone = window_task_gone};

static const struct part groups = {
    .name = "groups", .id = PART_GROUPS, .bytes = sizeof(struct groups), .destroy = group_free_all};

static const struct part sessions = {.name = "sessions",
                                     .id = PART_SESSIONS,
                                     .bytes = sizeof(struct sessions),
                                     .destroy = session_free_all,
                                     .settle = session_settle};

static const struct part bags = {
    .name = "bags",
    .id = PART_BAGS,
    .bytes = sizeof(struct bags),
    .destroy = bag_free_all,
    .handlers =
        (const struct part_handler[]){{.kind = FRAME_BAG_ANSWER, .on_frame = bag_on_answer}, {0}},
    .settle = bag_settle,
    .check = bag_check,
    .host_event = bag_on_host_event,
    .leave = bag_leave_all};

static const struct part siblings = {
    .name = "siblings",
    .id = PART_SIBLINGS,
    .bytes = sizeof(struct family),
    .destroy = siblings_free,
    .handlers =
        (const struct part_handler[]){{.kind = FRAME_FAMILY, .on_frame = siblings_on_family}, {0}}};

static const struct part output = {
    .name = "output",
    .id = PART_OUTPUT,
    .bytes = sizeof(struct output),
    .handlers = (const struct part_handler[]){{.kind = FRAME_OUTPUT, .on_frame = printer_on_output},
                                              {.kind = FRAME_ENDED, .on_frame = printer_on_end},
                                              {0}}};

static const struct part tasker = {.name = "tasker",
                                   .id = PART_TASKER,
                                   .bytes = sizeof(struct tasker),
                                   .handlers = (const struct part_handler[]){
                                       {.kind = FRAME_ORDER, .on_frame = tasker_on_order}, {0}}};

static const struct part trace = {
    .name = "trace",
    .id = PART_TRACE,
    .bytes = sizeof(struct trace),
    .destroy = trace_free,
    .handlers = (const struct part_handler[]){
        {.kind = FRAME_TRACE_RING, .on_frame_fds = trace_on_ring}, {0}}};

/* In the order in which they hear of what happens, and are taken down: the tasks first, for what
 * the others wait for of a task is judged by what came of it. */
static const struct part *const parts[] = {
    &tasks,   &receives, &links,  &requests, &hosts,    &services, &windows, &teams, &bags,
    &notices, &placing,  &groups, &sessions, &siblings, &output,   &tasker,  &trace, NULL};

/* What opens links, by route. */
static const struct route_ops no_ops;

#define ROW(number, functions, ...) [number] = &(functions),
static const struct route_ops *const route_ops[ROUTES] = {ROUTE_TABLE(ROW)};
#undef ROW

bool parts_create(struct covey *vm)
{
    vm->parts = parts;
    vm->links.ops = route_ops;
    for (const struct part *const *p = parts; *p != NULL; p++) {
        const struct part *part = *p;
        for (const struct part_handler *h = part->handlers; h != NULL && h->kind != 0; h++) {
            assert(vm->home.handlers[h->kind] == NULL);
            vm->home.handlers[h->kind] = h;
        }
        if (part->bytes > 0) {
            assert(vm->part[part->id] == NULL);
            vm->part[part->id] = calloc(1, part->bytes);
            if (vm->part[part->id] == NULL)
                return false;
        }
        if (part->create != NULL)
            part->create(vm);
    }
    return true;
}

void parts_destroy(struct covey *vm)
{
    for (const struct part *const *p = parts; *p != NULL; p++) {
        const struct part *part = *p;
        if (part->destroy == NULL && part->bytes == 0)
            continue;
        if (vm->part[part->id] != NULL && part->destroy != NULL)
            part->destroy(vm);
        free(vm->part[part->id]);
        vm->part[part->id] = NULL;
    }
}
