/*
 * door_crew.c - starts workers, has them solve, and learns why it failed where it did.
 *
 * Each order to run is answered twice by each worker: it is there, and it is through. So one that
 * has just left is known before anything is sent to it, and after an answer it waits for the next
 * order. When something is lost all workers are ended, wherever they are in their work: a new start
 * has nothing of the old one.
 */
#include "lib/domain/door/door_crew.h"

#include "lib/domain/base/clock.h"
#include "lib/domain/base/error.h"
#include "lib/domain/door/door_limit.h"
#include "lib/domain/door/door_order.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WORKER "covey-domain-worker"
#define VARIABLE "COVEY_DOMAIN_WORKER"
#define CAUSE_BYTES 400

int door_error_is_loss(int error)
{
    return error == COVEY_ENOTASK || error == COVEY_EHOSTFAIL || error == COVEY_ECANCELED ||
           error == COVEY_ETIMEOUT || error == COVEY_EROUTE || error == COVEY_ENOHOST;
}

/* ---- the start ---- */

/* Keeps the workers that were started; returns how many, and says why others were not. */
static int keep_started(struct door_crew *crew, const int32_t *hosts, const char *const *names,
                        int wanted, int *missing)
{
    int kept = 0;
    for (int i = 1; i <= wanted; i++) {
        covey_tid_t tid = crew->tids[i];
        if (tid < 0) {
            domain_fail(tid, "%s cannot be started on %s: %s", WORKER, names[i],
                        covey_strerror(tid));
            *missing = *missing < 0 ? *missing : tid;
            continue;
        }
        crew->tids[++kept] = tid;
        crew->hosts[kept] = hosts[i];
    }
    return kept;
}

/* Sends an order to the members 1 to count of the crew. */
static int order_send(struct door_crew *crew, struct door_message *order, int count)
{
    covey_msg_t *msg = NULL;
    order->number = crew->number;
    int error = door_order_pack(order, &msg);
    if (error < 0)
        return error;
    error = covey_mcast(crew->vm, crew->tids + 1, (size_t)count, DOOR_TAG_ORDER, msg);
    covey_msg_free(msg);
    return error < 0 ? domain_fail_of(error, "an order to the workers") : 0;
}

/* Until the others have come to a team. */
static int64_t form_us(const struct door_crew *crew)
{
    return crew->limit_us > 0 && crew->limit_us < DOOR_FORM_US ? crew->limit_us : DOOR_FORM_US;
}

static int form(struct door_crew *crew)
{
    struct door_message order = {.kind = DOOR_FORM,
                                 .keep_us = DOOR_FORM_US,
                                 .tids = crew->tids,
                                 .tid_count = (size_t)crew->count + 1};
    int error = order_send(crew, &order, crew->count);
    if (error < 0)
        return error;
    error = covey_team_create(crew->vm, crew->tids, crew->count + 1, form_us(crew), &crew->talk);
    return error < 0 ? domain_fail_of(error, "the team of the workers") : 0;
}

static int spawn(struct door_crew *crew, const int32_t *hosts, const char *const *names, int wanted,
                 int *missing)
{
    const char *program = getenv(VARIABLE);
    const char *const argv[] = {program != NULL && *program != '\0' ? program : WORKER, NULL};
    const struct covey_spawn what = {.argv = argv,
                                     .cwd = "/",
                                     .hosts = names + 1,
                                     .where = COVEY_WHERE_HOSTS,
                                     .output = COVEY_OUTPUT_DISCARD,
                                     .tether = 1};
    int started = covey_spawn(crew->vm, &what, wanted, crew->tids + 1);
    if (started < 0)
        return domain_fail_of(started, "the start of workers");
    return keep_started(crew, hosts, names, wanted, missing);
}

int door_crew_start(struct door_crew *crew, const int32_t *hosts, const char *const *names,
                    int count, int *missing)
{
    *missing = 0;
    crew->tids = calloc((size_t)count + 1, sizeof *crew->tids);
    crew->hosts = calloc((size_t)count + 1, sizeof *crew->hosts);
    if (crew->tids == NULL || crew->hosts == NULL) {
        door_crew_end(crew, 1);
        return domain_fail(COVEY_ENOMEM, "no memory for a list of workers");
    }
    crew->tids[0] = covey_mytid(crew->vm);
    crew->hosts[0] = hosts[0];
    int error = spawn(crew, hosts, names, count, missing);
    if (error > 0) {
        crew->count = error;
        error = form(crew);
    }
    if (error < 0 || crew->count == 0)
        door_crew_end(crew, 1);
    return error < 0 ? error : crew->count;
}

/* ---- the end ---- */

void door_crew_end(struct door_crew *crew, int is_lost)
{
    struct door_message end = {.kind = DOOR_END};
    if (crew->count > 0 && (is_lost || order_send(crew, &end, crew->count) < 0))
        for (int i = 1; i <= crew->count; i++)
            covey_kill(crew->vm, crew->tids[i]);
    covey_team_free(&crew->team);
    covey_team_free(&crew->talk);
    free(crew->tids);
    free(crew->hosts);
    *crew = (struct door_crew){.vm = crew->vm, .number = crew->number, .limit_us = crew->limit_us};
}

/* ---- a run ---- */

/* The answer of a worker to the last order; what it says of its error is the text. */
static int answer_of(struct door_crew *crew, int rank, int64_t timeout_us, int *error,
                     char text[CAUSE_BYTES])
{
    covey_msg_t *msg = NULL;
    int32_t head[2];
    int failed = covey_team_recv(crew->talk, rank, DOOR_TAG_ANSWER, timeout_us, &msg);
    if (failed < 0)
        return domain_fail_of(failed, "a worker");
    failed = covey_unpack_int32(msg, head, 2, 1);
    if (failed == 0)
        failed = covey_unpack_string(msg, text, CAUSE_BYTES);
    covey_msg_free(msg);
    if (failed == COVEY_ETRUNC)
        snprintf(text, CAUSE_BYTES, "%s", covey_strerror(head[1]));
    else if (failed < 0 || head[0] != crew->number)
        return domain_fail(COVEY_EPROTO, "a worker answered something else");
    *error = head[1];
    return 0;
}

static int all_are_there(struct door_crew *crew)
{
    char text[CAUSE_BYTES];
    int error = 0, said = 0;
    for (int i = 1; i < crew->used && error == 0; i++)
        error = answer_of(crew, i, DOOR_FORM_US, &said, text);
    return error;
}

/* How much an error says of the cause: that a call was given up by others says the least. */
static int weight_of(int error)
{
    return error >= 0 ? 0 : error == COVEY_ECANCELED ? 1 : door_error_is_loss(error) ? 2 : 3;
}

/* Hears all workers out. Returns the error that says most, whose text is set; *silent counts those
 * that did not answer in time, or are no more. */
static int hear_out(struct door_crew *crew, int error, int *silent)
{
    char text[CAUSE_BYTES], cause[CAUSE_BYTES], name[COVEY_TID_NAME_BYTES];
    double until = domain_now_s() + 1e-6 * DOOR_DRAIN_US;
    snprintf(cause, sizeof cause, "%s", error < 0 ? covey_domain_error_text() : "");
    *silent = 0;
    for (int i = 1; i < crew->used; i++) {
        double left = until - domain_now_s();
        int said = 0;
        if (answer_of(crew, i, left > 0 ? (int64_t)(1e6 * left) : COVEY_POLL, &said, text) < 0) {
            ++*silent;
            continue;
        }
        if (error >= 0 || weight_of(said) <= weight_of(error))
            continue;
        covey_tid_name(crew->vm, crew->tids[i], name, sizeof name);
        snprintf(cause, sizeof cause, "worker %s: %.250s", name, text);
        error = said;
    }
    return error < 0 ? domain_fail(error, "%s", cause) : error;
}

static int make_team(struct door_crew *crew, int tasks)
{
    covey_team_free(&crew->team);
    crew->used = tasks;
    int error = covey_team_create(crew->vm, crew->tids, tasks, form_us(crew), &crew->team);
    return error < 0 ? domain_fail_of(error, "the team of the workers") : 0;
}

/* All of an order that all workers have. */
static int carry_out(struct door_crew *crew, int is_new, const struct door_message *order,
                     struct door_member *member, int *silent)
{
    int error = is_new ? make_team(crew, crew->used) : 0;
    member->team = crew->team;
    if (error == 0)
        error = door_ops[order->op]->run(member, &order->args);
    return hear_out(crew, error, silent);
}

int door_crew_run(struct door_crew *crew, int tasks, int op, const struct door_args *args,
                  struct door_member *member, int64_t keep_us)
{
    int is_new = crew->team == NULL || crew->used != tasks, silent = 0;
    struct door_message order = {.kind = DOOR_RUN,
                                 .keep_us = keep_us,
                                 .tids = crew->tids,
                                 .tid_count = is_new ? (size_t)tasks : 0,
                                 .op = op,
                                 .args = *args,
                                 .network = member->network};
    struct door_limit limit;
    snprintf(order.options, sizeof order.options, "%s", member->options);
    crew->number++;
    crew->used = tasks;
    int error = door_limit_begin(&limit, crew, tasks);
    if (error < 0)
        return error;
    error = order_send(crew, &order, tasks - 1);
    if (error == 0)
        error = all_are_there(crew);
    int is_stale = error < 0;
    if (!is_stale)
        error = carry_out(crew, is_new, &order, member, &silent);
    error = door_limit_end(&limit, error);
    if (silent > 0 || (error < 0 && error != COVEY_EINVAL) || is_stale)
        door_crew_end(crew, 1);
    crew->is_stale |= is_stale;
    return error;
}
