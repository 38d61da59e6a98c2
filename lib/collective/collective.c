/*
 * collective.c - building a collective: its steps and what they wait for (see collective.h; running
 * it is collective_run.c).
 *
 * Steps and edges are arrays that grow; a step is known by its place. A step that waits for none is
 * put into the queue of those that can run when it is added, so that a function called by a step
 * (collective_call) adds to a running collective by the same calls as an algorithm at its start.
 */
#include "lib/collective/collective.h"
#include "lib/collective/collective_step.h"
#include "lib/collective/paced.h"
#include "lib/member/vm.h"
#include "lib/msg/error.h"
#include "lib/msg/message.h"
#include "lib/msg/spare.h"
#include "proto/wire/grow.h"

#include <stdio.h>
#include <stdlib.h>

int collective_check(const covey_team_t *team, const char *name, int root, const struct array *a)
{
    if (team == NULL || (a->base == NULL && a->count > 0))
        return error_set(COVEY_EINVAL, "%s: NULL", name);
    if (root < 0 || root >= team->size)
        return error_set(COVEY_EINVAL, "%s: the team has no rank %d", name, root);
    if (covey_type_size(a->type) == 0 || a->type == COVEY_STRING || a->type == COVEY_MESSAGE)
        return error_set(COVEY_EINVAL, "%s: no arrays of %s", name, covey_type_name(a->type));
    if (item_bytes(a->type, a->count) == 0)
        return error_set(COVEY_ETOOBIG, "%s: the array is larger than 2^40 bytes", name);
    return COVEY_OK;
}

int vector_check(const covey_team_t *team, const char *name, int root, const struct vector *v)
{
    size_t most = v->each, end = 0;
    if (v->uneven && v->counts == NULL)
        return error_set(COVEY_EINVAL, "%s: NULL", name);
    for (int i = 0; team != NULL && v->uneven && i < team->size; i++) {
        most = v->counts[i] > most ? v->counts[i] : most;
        end += v->counts[i];
    }
    const struct array a = {v->type, v->base, most};
    const struct array all = {v->type, v->base, end};
    int error = collective_check(team, name, root, &a);
    return error != COVEY_OK || !v->uneven ? error : collective_check(team, name, root, &all);
}

bool vector_place(struct collective *c, struct vector *v)
{
    size_t start = 0;
    if (!v->uneven || v->starts != NULL)
        return true;
    size_t *starts = collective_memory(c, (size_t)c->team->size * sizeof *starts);
    for (int i = 0; starts != NULL && i < c->team->size; i++) {
        starts[i] = start;
        start += v->counts[i];
    }
    v->starts = starts;
    return starts != NULL;
}

int collective_create(struct covey_team *team, const char *name, struct collective **c)
{
    struct covey *vm = team->vm;
    struct collective *created = calloc(1, sizeof *created);
    if (created == NULL)
        return error_code(COVEY_ENOMEM);
    pthread_mutex_lock(&vm->lock);
    int error =
        team->broken != 0 ? error_set(team->broken, "%s: %s", name, team->broken_text) : COVEY_OK;
    created->number = error == COVEY_OK ? team->calls++ : 0;
    pthread_mutex_unlock(&vm->lock);
    if (error != COVEY_OK) {
        free(created);
        return error;
    }
    created->req.vm = vm;
    created->req.kind = REQ_COLLECTIVE;
    created->req.owner = &collective_owner;
    created->team = team;
    created->name = name;
    created->program.fence = created->program.run_first = created->program.run_last = -1;
    created->finished_end = &created->finished;
    *c = created;
    return COVEY_OK;
}

void collective_destroy(struct collective *c)
{
    if (c == NULL)
        return;
    for (const struct at_end *end = c->at_end; end != NULL; end = end->next)
        end->fn(end->arg);
    for (struct block *block; (block = c->memory) != NULL; spare_give(block))
        c->memory = block->next;
    free(c->program.steps);
    free(c->program.edges);
    free(c);
}

struct covey_team *collective_team(const struct collective *c)
{
    return c->team;
}

void collective_refuse(struct collective *c, int error, const char *why)
{
    if (c->error != COVEY_OK)
        return;
    c->error = error;
    snprintf(c->text, sizeof c->text, "%s: %s", c->name, why);
}

void *collective_memory(struct collective *c, size_t bytes)
{
    struct block *block = spare_take(sizeof *block + bytes);
    if (block == NULL) {
        collective_refuse(c, COVEY_ENOMEM, "memory is exhausted");
        return NULL;
    }
    block->next = c->memory;
    c->memory = block;
    return block->bytes;
}

bool collective_at_end(struct collective *c, void (*fn)(void *arg), void *arg)
{
    struct at_end *end = collective_memory(c, sizeof *end);
    if (end == NULL)
        return false;
    *end = (struct at_end){.next = c->at_end, .fn = fn, .arg = arg};
    c->at_end = end;
    return true;
}

/* ---- what waits for what --------------------------------------------------------------------- */

static void can_run(struct collective *c, int step)
{
    c->program.steps[step].next = -1;
    if (c->program.run_first < 0)
        c->program.run_first = step;
    else
        c->program.steps[c->program.run_last].next = step;
    c->program.run_last = step;
}

static void edge_add(struct collective *c, int later, int earlier)
{
    size_t wanted = (size_t)c->program.edge_count + 1;
    if (!GROW(c->program.edges, c->program.edge_capacity, wanted, 16)) {
        collective_refuse(c, COVEY_ENOMEM, "memory is exhausted");
        return;
    }
    c->program.edges[c->program.edge_count] =
        (struct edge){.to = later, .next = c->program.steps[earlier].edge};
    c->program.steps[earlier].edge = c->program.edge_count++;
    c->program.steps[later].waits++;
}

void collective_after(struct collective *c, int later, int earlier)
{
    if (later < 0 || earlier < 0 || c->program.steps[earlier].done)
        return;
    if (c->program.steps[later].waits == 0) {
        /* Takes a step out of the queue again, which it joined when it was added. */
        int before = -1;
        for (int at = c->program.run_first; at != later; at = c->program.steps[at].next)
            before = at;
        if (before < 0)
            c->program.run_first = c->program.steps[later].next;
        else
            c->program.steps[before].next = c->program.steps[later].next;
        if (c->program.run_last == later)
            c->program.run_last = before;
    }
    edge_add(c, later, earlier);
}

/* Edges are kept newest first; those that become free together run in the order of their making. */
void collective_step_done(struct collective *c, int step)
{
    int first = -1;
    c->program.steps[step].done = true;
    c->program.undone--;
    for (int e = c->program.steps[step].edge, next; e >= 0; e = next) {
        next = c->program.edges[e].next;
        c->program.edges[e].next = first;
        first = e;
    }
    c->program.steps[step].edge = -1;
    for (int e = first; e >= 0; e = c->program.edges[e].next) {
        if (--c->program.steps[c->program.edges[e].to].waits == 0)
            can_run(c, c->program.edges[e].to);
    }
}

static int step_add(struct collective *c, const struct step *step)
{
    if (!GROW(c->program.steps, c->program.capacity, (size_t)c->program.count + 1, 16)) {
        collective_refuse(c, COVEY_ENOMEM, "memory is exhausted");
        return -1;
    }
    int added = c->program.count++;
    c->program.steps[added] = *step;
    c->program.steps[added].edge = -1;
    c->program.undone++;
    if (c->program.fence >= 0 && !c->program.steps[c->program.fence].done)
        edge_add(c, added, c->program.fence);
    else
        can_run(c, added);
    return added;
}

void collective_fence(struct collective *c)
{
    const struct step fence = {.kind = STEP_FENCE};
    int added = step_add(c, &fence);
    for (int i = c->program.since_fence; i < added; i++)
        collective_after(c, added, i);
    if (added >= 0)
        c->program.fence = added;
    c->program.since_fence = added + 1;
}

/* ---- steps ----------------------------------------------------------------------------------- */

int collective_send_lane(struct collective *c, int lane, int rank, int type, const void *base,
                         size_t count)
{
    const struct step step = {.kind = STEP_SEND,
                              .lane = (uint8_t)lane,
                              .rank = rank,
                              .type = type,
                              .left = base,
                              .count = count};
    return step_add(c, &step);
}

int collective_receive_lane(struct collective *c, int lane, int rank, int type, void *base,
                            size_t count)
{
    const struct step step = {.kind = STEP_RECEIVE,
                              .lane = (uint8_t)lane,
                              .rank = rank,
                              .type = type,
                              .result = base,
                              .count = count};
    return step_add(c, &step);
}

int collective_send(struct collective *c, int rank, int type, const void *base, size_t count)
{
    return collective_send_lane(c, 0, rank, type, base, count);
}

int collective_receive(struct collective *c, int rank, int type, void *base, size_t count)
{
    return collective_receive_lane(c, 0, rank, type, base, count);
}

/* NOLINTNEXTLINE(readability-function-size): what a receive is given and gives */
int collective_receive_any(struct collective *c, int lane, int rank, int type, void *base,
                           size_t count, int *from, size_t *got)
{
    const struct step step = {.kind = STEP_RECEIVE,
                              .lane = (uint8_t)lane,
                              .any_count = true,
                              .rank = rank,
                              .type = type,
                              .result = base,
                              .count = count,
                              .from = from,
                              .got = got};
    return step_add(c, &step);
}

int collective_cast(struct collective *c, const int *ranks, int n, int type, const void *base,
                    size_t count)
{
    const struct step step = {
        .kind = STEP_CAST, .ranks = ranks, .rank = n, .type = type, .left = base, .count = count};
    return step_add(c, &step);
}

int collective_copy(struct collective *c, void *to, const void *from, size_t bytes)
{
    const struct step step = {.kind = STEP_COPY, .left = from, .result = to, .count = bytes};
    return step_add(c, &step);
}

int collective_reduce(struct collective *c, int op, int type, const struct operands *on)
{
    const struct step step = {.kind = STEP_REDUCE,
                              .op = op,
                              .type = type,
                              .left = on->left,
                              .right = on->right,
                              .result = on->result,
                              .count = on->count};
    return step_add(c, &step);
}

int collective_paced(struct collective *c, const struct paced_job *job)
{
    const struct step step = {.kind = STEP_PACED, .job = job};
    return step_add(c, &step);
}

int collective_add_shared(struct collective *c, struct shared_job *job)
{
    const struct step step = {.kind = STEP_SHARED, .shared = job};
    return step_add(c, &step);
}

int collective_call(struct collective *c, collective_fn *fn, void *arg)
{
    const struct step step = {.kind = STEP_CALL, .fn = fn, .result = arg};
    return step_add(c, &step);
}
