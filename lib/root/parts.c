/*
 * parts.c - the table of parts: one row for each subject above the engine (part.h). Who adds a
 * subject adds its row here, and no other file of the library learns of it.
 */
#include "lib/root/parts.h"

#include "lib/agree/group.h"
#include "lib/bag/bag.h"
#include "lib/calls/notify.h"
#include "lib/calls/session.h"
#include "lib/collective/collective.h"
#include "lib/engine/vm.h"
#include "lib/spawn/place.h"
#include "lib/spawn/printer.h"
#include "lib/spawn/siblings.h"
#include "lib/spawn/tasker.h"

#include <assert.h>
#include <stdlib.h>

static const struct part notices = {.name = "notices",
                                    .id = PART_NOTICES,
                                    .bytes = sizeof(struct notices),
                                    .destroy = notify_free_all};
static const struct part placing = {.name = "placing",
                                    .id = PART_PLACING,
                                    .bytes = sizeof(struct placing),
                                    .destroy = place_free};
static const struct part teams = {.name = "teams",
                                  .id = PART_TEAMS,
                                  .bytes = sizeof(struct teams),
                                  .create = team_init,
                                  .destroy = team_free_all};
static const struct part groups = {.name = "groups",
                                   .id = PART_GROUPS,
                                   .bytes = sizeof(struct groups),
                                   .destroy = group_free_all};
static const struct part sessions = {.name = "sessions",
                                     .id = PART_SESSIONS,
                                     .bytes = sizeof(struct sessions),
                                     .destroy = session_free_all};
static const struct part bags = {
    .name = "bags", .id = PART_BAGS, .bytes = sizeof(struct bags), .destroy = bag_free_all};
static const struct part siblings = {.name = "siblings",
                                     .id = PART_SIBLINGS,
                                     .bytes = sizeof(struct family),
                                     .destroy = siblings_free};
static const struct part output = {
    .name = "output", .id = PART_OUTPUT, .bytes = sizeof(struct output)};
static const struct part tasker = {
    .name = "tasker", .id = PART_TASKER, .bytes = sizeof(struct tasker)};

/* In the order in which they are taken down. */
static const struct part *const parts[] = {&notices, &placing,  &teams,  &groups, &sessions,
                                           &bags,    &siblings, &output, &tasker, NULL};

bool parts_create(struct covey *vm)
{
    vm->parts = parts;
    for (const struct part *const *p = parts; *p != NULL; p++) {
        assert(vm->part[(*p)->id] == NULL);
        vm->part[(*p)->id] = calloc(1, (*p)->bytes);
        if (vm->part[(*p)->id] == NULL)
            return false;
        if ((*p)->create != NULL)
            (*p)->create(vm);
    }
    return true;
}

void parts_destroy(struct covey *vm)
{
    for (const struct part *const *p = parts; *p != NULL; p++) {
        if (vm->part[(*p)->id] == NULL)
            continue;
        if ((*p)->destroy != NULL)
            (*p)->destroy(vm);
        free(vm->part[(*p)->id]);
        vm->part[(*p)->id] = NULL;
    }
}
