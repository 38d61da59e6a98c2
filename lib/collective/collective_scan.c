/*
 * collective_scan.c - to every member the result of those up to it, or of those before it.
 *
 *   recursive-doubling  in round k each adds what the one 2^k before it has (Hillis and Steele)
 *   chain               from one to the next: as many bytes in all as there are results
 */
#include "lib/collective/collective.h"
#include "lib/collective/collective_algorithm.h"
#include "lib/collective/collective_choice.h"
#include "lib/collective/collective_step.h"
#include "lib/collective/shared.h"

#include <assert.h>

static struct range whole(const struct reduction *r)
{
    return (struct range){0, r->count};
}

static void scan_chain(struct collective *c, const struct circle *on, const struct reduction *r)
{
    if (on->rank > 0) {
        reduction_receive(c, r, circle_rank(on, on->rank - 1), whole(r));
        reduction_fold(c, r, whole(r), true);
    }
    if (on->rank + 1 < on->size)
        reduction_send(c, r, circle_rank(on, on->rank + 1), whole(r));
}

/* Everybody's result to the next one. */
static void scan_shift(struct collective *c, const struct circle *on, const struct reduction *r,
                       void *result)
{
    collective_fence(c);
    if (on->rank + 1 < on->size)
        reduction_send(c, r, circle_rank(on, on->rank + 1), whole(r));
    if (on->rank > 0)
        collective_receive(c, circle_rank(on, on->rank - 1), r->type, result, r->count);
}

struct scan {
    const char *name;
    bool exclusive;
    void *result;
};

static void scan_build(struct collective *c, const struct scan *s, struct reduction *r)
{
    const struct covey_team *team = collective_team(c);
    const struct circle all = circle_all(team);
    size_t bytes = r->count * covey_type_size(r->type);
    r->temp = collective_memory(c, bytes);
    r->acc = s->exclusive ? collective_memory(c, bytes) : s->result;
    if (r->temp == NULL || (r->acc == NULL && s->exclusive))
        return;
    collective_copy(c, r->acc, r->own, bytes);
    collective_fence(c);
    enum algorithm algorithm = team_choose_messages(team, OPERATION_SCAN, bytes);
    assert(algorithm == SCAN_CHAIN || algorithm == SCAN_RECURSIVE_DOUBLING);
    if (algorithm == SCAN_CHAIN)
        scan_chain(c, &all, r);
    else {
        const struct circle *on = &all;
        for (int distance = 1; distance < on->size; distance *= 2) {
            if (on->rank + distance < on->size)
                reduction_send(c, r, circle_rank(on, on->rank + distance), whole(r));
            if (on->rank < distance) {
                collective_fence(c);
                continue;
            }
            reduction_receive(c, r, circle_rank(on, on->rank - distance), whole(r));
            reduction_fold(c, r, whole(r), true);
        }
    }
    if (s->exclusive)
        scan_shift(c, &all, r, s->result);
}

static int scan_check(const covey_team_t *team, const struct scan *s, const struct reduction *r)
{
    const struct array own = {r->type, (void *)r->own, r->count};
    const struct array result = {r->type, s->result, r->count};
    int error = collective_check(team, s->name, 0, &own);
    if (error == COVEY_OK)
        error = collective_check(team, s->name, 0, &result);
    return error != COVEY_OK ? error : op_check(team->vm, s->name, r->op, r->type, r->count);
}

static int scan_start(covey_team_t *team, const struct scan *s, struct reduction *r,
                      covey_req_t **req)
{
    struct collective *c = NULL;
    const struct shared_call job = {.kind = s->exclusive ? SHARED_EXSCAN : SHARED_SCAN,
                                    .name = s->name,
                                    .op = r->op,
                                    .type = r->type,
                                    .count = r->count,
                                    .send = r->own,
                                    .recv = s->result};
    int error = scan_check(team, s, r);
    if (error == COVEY_OK && shared_chosen(team, &job))
        return shared_start(team, &job, req);
    if (error == COVEY_OK)
        error = collective_create(team, s->name, &c);
    if (error == COVEY_OK)
        scan_build(c, s, r);
    return collective_start(error, c, req);
}

int covey_scan(covey_team_t *team, int op, int type, const void *send, void *recv, size_t count)
{
    return covey_iscan(team, op, type, send, recv, count, COLLECTIVE_WAITS);
}

/* NOLINTNEXTLINE(readability-function-size): the interface of covey.h */
int covey_iscan(covey_team_t *team, int op, int type, const void *send, void *recv, size_t count,
                covey_req_t **req)
{
    const struct scan s = {.name = "scan", .result = recv};
    struct reduction r = {.op = op, .type = type, .count = count, .own = send};
    return scan_start(team, &s, &r, req);
}

int covey_exscan(covey_team_t *team, int op, int type, const void *send, void *recv, size_t count)
{
    return covey_iexscan(team, op, type, send, recv, count, COLLECTIVE_WAITS);
}

/* NOLINTNEXTLINE(readability-function-size): the interface of covey.h */
int covey_iexscan(covey_team_t *team, int op, int type, const void *send, void *recv, size_t count,
                  covey_req_t **req)
{
    const struct scan s = {.name = "exscan", .exclusive = true, .result = recv};
    struct reduction r = {.op = op, .type = type, .count = count, .own = send};
    return scan_start(team, &s, &r, req);
}
