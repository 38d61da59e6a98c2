/*
 * door.c - solves whole problems for one task.
 *
 *   door_options   the text that forces
 *   door_places    where members could be: hosts that are up, processors that are idle
 *   door_choose    how many of them are worth it; 1: the caller alone
 *   door_crew      the workers: started, given orders, ended; door_order the orders, door_limit how
 *                  long they may take
 *   door_serve     the other side of it, in covey-domain-worker
 *   door_ops       the operations, each in a file op_NAME.c: how a team whose rank 0 is the caller
 *                  solves it, and what that takes
 *   door           a call: chooses, runs, and starts again when something was lost
 *
 * What calls keep between them belongs to the handle of the VM, which knows nothing of this
 * library: so it stands in a list, by the address of the handle and the tid that it had. After a
 * covey_leave() another handle may have that address, and no team of the old one may be touched.
 *
 * The caller alone is a team of one, by the same code. Results are copied to where the caller wants
 * them when they are whole: until then a call can start again from the caller's data.
 */
#include "lib/domain/door/door.h"

#include "lib/domain/base/cache.h"
#include "lib/domain/base/clock.h"
#include "lib/domain/base/error.h"
#include "lib/domain/door/door_choose.h"
#include "lib/domain/door/door_crew.h"

#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NEXT_ORDER_US ((int64_t)10 * 1000000) /* for which workers wait inside a call */

struct door {
    struct door *next;
    covey_t *vm;
    covey_tid_t tid;
    pthread_mutex_t lock; /* held while a call is under way */
    covey_team_t *alone;  /* the caller as a team */
    struct door_crew crew;
    struct door_knowledge known;
};

static pthread_mutex_t doors_lock = PTHREAD_MUTEX_INITIALIZER;
static struct door *doors;

/* ---- what belongs to a handle ---- */

static struct door **door_place(covey_t *vm)
{
    struct door **at = &doors;
    while (*at != NULL && ((*at)->vm != vm || (*at)->tid != covey_mytid(vm)))
        at = &(*at)->next;
    return at;
}

static struct door *door_create(covey_t *vm)
{
    struct door *door = calloc(1, sizeof *door);
    if (door == NULL)
        return NULL;
    *door = (struct door){.vm = vm, .tid = covey_mytid(vm), .crew = {.vm = vm}};
    pthread_mutex_init(&door->lock, NULL);
    door_knowledge_init(&door->known, vm);
    return door;
}

/* Sets *door, whose lock the caller then has. */
static int door_take(covey_t *vm, struct door **door)
{
    if (vm == NULL)
        return domain_fail(COVEY_EINVAL, "the handle of the VM is NULL");
    pthread_mutex_lock(&doors_lock);
    struct door **at = door_place(vm);
    if (*at == NULL)
        *at = door_create(vm);
    *door = *at;
    pthread_mutex_unlock(&doors_lock);
    if (*door == NULL)
        return domain_fail(COVEY_ENOMEM, "no memory for what calls keep of a VM");
    pthread_mutex_lock(&(*door)->lock);
    return 0;
}

void covey_door_close(covey_t *vm)
{
    if (vm == NULL)
        return;
    pthread_mutex_lock(&doors_lock);
    struct door **at = door_place(vm), *door = *at;
    if (door != NULL)
        *at = door->next;
    pthread_mutex_unlock(&doors_lock);
    if (door == NULL)
        return;
    door_crew_end(&door->crew, 0);
    covey_team_free(&door->alone);
    domain_cache_save();
    pthread_mutex_destroy(&door->lock);
    free(door);
}

/* ---- one attempt ---- */

struct attempt {
    struct door *door;
    const struct door_options *options;
    const struct door_args *args;
    int op;
    struct door_places places;
    struct covey_door_report *report;
};

static void tell_of(struct attempt *a, const struct door_member *member)
{
    snprintf(a->report->algorithm, sizeof a->report->algorithm, "%s", member->algorithm);
    a->report->residual = member->residual;
}

static int make_alone(struct door *door)
{
    int error = 0;
    if (door->alone == NULL)
        error = covey_team_create(door->vm, &door->tid, 1, COVEY_FOREVER, &door->alone);
    return error < 0 ? domain_fail_of(error, "the caller as a team") : 0;
}

static int run_alone(struct attempt *a)
{
    struct door *door = a->door;
    struct door_member member = {
        .options = a->options->rest, .network = {.members = 1, .hosts = 1}, .residual = -1};
    member.team = door->alone;
    int error = door_ops[a->op]->run(&member, a->args);
    if (error < 0 && error != COVEY_EINVAL) /* the team may be broken */
        covey_team_free(&door->alone);
    tell_of(a, &member);
    return error;
}

/* Whether the first ranks of the crew that there is are where these are. */
static int crew_fits(const struct door_crew *crew, const struct door_places *places, int tasks)
{
    if (crew->count + 1 < tasks)
        return 0;
    for (int i = 1; i < tasks; i++)
        if (crew->hosts[i] != places->hosts[places->at[i]].index)
            return 0;
    return 1;
}

/* A worker counts as a processor that is idle, which is where the next places come from: without
 * this the crew of one call would be too small, or in another order, for the next. */
static void prefer_crew(struct attempt *a)
{
    struct door_places *places = &a->places;
    const struct door_crew *crew = &a->door->crew;
    if (crew->count == 0 || a->options->tasks > 0 || a->options->hosts >= 0)
        return;
    for (int i = 1; i <= crew->count; i++) {
        int h = 0;
        while (h < places->host_count && places->hosts[h].index != crew->hosts[i])
            h++;
        if (h == places->host_count)
            return;
    }
    places->rank_count = crew->count + 1;
    for (int h = 0; h < places->host_count; h++)
        places->hosts[h].ranks = h == 0;
    for (int i = 1; i <= crew->count; i++)
        for (int h = 0; h < places->host_count; h++)
            if (places->hosts[h].index == crew->hosts[i]) {
                places->at[i] = h;
                places->hosts[h].ranks++;
            }
    for (int h = 0; h < places->host_count; h++)
        if (places->hosts[h].idle + (h == 0) < places->hosts[h].ranks)
            places->hosts[h].idle = places->hosts[h].ranks - (h == 0);
}

static int start_crew(struct attempt *a, int tasks, int *missing)
{
    struct door *door = a->door;
    const struct door_places *places = &a->places;
    int32_t *hosts = calloc((size_t)tasks + 1, sizeof *hosts);
    const char **names = calloc((size_t)tasks + 1, sizeof *names);
    int error = 0;
    double begin = domain_now_s();
    door_crew_end(&door->crew, 0);
    for (int i = 0; hosts != NULL && names != NULL && i < tasks; i++) {
        hosts[i] = places->hosts[places->at[i]].index;
        names[i] = places->hosts[places->at[i]].name;
    }
    if (hosts == NULL || names == NULL)
        error = domain_fail(COVEY_ENOMEM, "no memory for a list of workers");
    else
        error = door_crew_start(&door->crew, hosts, names, tasks - 1, missing);
    free(hosts);
    free(names);
    if (error < 0)
        return error;
    door->known.start_s = domain_now_s() - begin;
    door->known.missed_s = 0;
    a->report->started += error;
    return 0;
}

static int64_t keep_us(const struct attempt *a)
{
    return (int64_t)(1e6 * a->options->keep_s);
}

/* Once for a crew on one machine, and once for one on several. */
static int measure_network(struct attempt *a, int tasks)
{
    struct door_line *line = door_line_of(&a->door->known, &a->places, tasks);
    struct door_member member = {.options = ""};
    if (line->source == DOOR_MEASURED || door_ops[a->op]->cost == NULL)
        return 0;
    int64_t until_us = keep_us(a) > NEXT_ORDER_US ? keep_us(a) : NEXT_ORDER_US;
    int error = door_crew_run(&a->door->crew, tasks, DOOR_NETWORK, a->args, &member, until_us);
    if (error < 0)
        return error;
    *line = (struct door_line){.source = DOOR_MEASURED,
                               .alpha_s = member.network.alpha_s,
                               .beta_s = member.network.beta_s,
                               .one_alpha_s = member.network.one_alpha_s,
                               .one_beta_s = member.network.one_beta_s};
    return 0;
}

static int run_by_crew(struct attempt *a, int tasks)
{
    const struct door_line *line = door_line_of(&a->door->known, &a->places, tasks);
    struct door_member member = {.options = a->options->rest, .residual = -1};
    member.network = door_network_of(line, tasks, a->report->hosts);
    int error = door_crew_run(&a->door->crew, tasks, a->op, a->args, &member, keep_us(a));
    tell_of(a, &member);
    if (a->options->keep_s <= 0)
        door_crew_end(&a->door->crew, 0);
    return error;
}

static int run_by(struct attempt *a, int tasks)
{
    double begin = domain_now_s();
    int error = tasks > 1 ? run_by_crew(a, tasks) : run_alone(a);
    if (error == 0)
        door_choose_note(&a->door->known, tasks, domain_now_s() - begin);
    return error;
}

static struct door_question question_of(const struct attempt *a, int there)
{
    return (struct door_question){.op = door_ops[a->op],
                                  .args = a->args,
                                  .options = a->options,
                                  .places = &a->places,
                                  .alone = a->door->alone,
                                  .there = there};
}

static int choose(struct attempt *a, int there)
{
    const struct door_question question = question_of(a, there);
    return door_choose_tasks(&a->door->known, &question, a->report);
}

/* Workers that could not be started are done without, unless so many are forced: then it says where
 * that was. Returns how many tasks there are, or the error. */
static int start_new_crew(struct attempt *a, int tasks, int is_rest)
{
    int missing = 0, is_forced = a->options->tasks > 0 || a->options->hosts > 0;
    int error = start_crew(a, tasks, &missing);
    if (error < 0)
        return error;
    if (missing < 0 && is_forced && !is_rest)
        return missing;
    tasks = a->door->crew.count + 1;
    error = tasks > 1 ? measure_network(a, tasks) : 0;
    if (error < 0)
        return error;
    if (missing < 0) { /* the places are not those any more */
        a->report->tasks = tasks;
        return tasks;
    }
    a->places.rank_count = tasks;
    return choose(a, tasks); /* by a network that is known now */
}

static int try_with_crew(struct attempt *a, int tasks, int is_rest)
{
    if (!crew_fits(&a->door->crew, &a->places, tasks))
        tasks = start_new_crew(a, tasks, is_rest);
    return tasks < 0 ? tasks : run_by(a, tasks);
}

static int try_places(struct attempt *a, int is_rest)
{
    int error = door_places_find(a->door->vm, a->options, is_rest, &a->places);
    if (error < 0)
        return error;
    prefer_crew(a);
    int there = a->door->crew.count > 0 ? a->door->crew.count + 1 : 0;
    int tasks = choose(a, there);
    if (!a->options->explain)
        error = tasks > 1 ? try_with_crew(a, tasks, is_rest) : run_by(a, 1);
    door_places_free(&a->places);
    return error;
}

static int try_once(struct attempt *a, int is_rest)
{
    int error = make_alone(a->door);
    if (error < 0)
        return error;
    const struct door_question question = question_of(a, 0);
    return door_choose_short(&question, a->report) ? run_alone(a) : try_places(a, is_rest);
}

/* ---- a call ---- */

/* Workers that had left before anything began cost no attempt: that is no fault. */
static int try_until(struct attempt *a)
{
    for (;;) {
        a->door->crew.is_stale = 0;
        int had_crew = a->door->crew.count > 0;
        int error = try_once(a, a->report->attempts > 0);
        if (had_crew && a->door->crew.is_stale)
            continue;
        a->report->attempts++;
        if (error >= 0 || !door_error_is_loss(error) || a->report->attempts > a->options->retry)
            return error;
    }
}

static int fail_call(int op, int error)
{
    char cause[400];
    snprintf(cause, sizeof cause, "%s", covey_domain_error_text());
    return domain_fail(error, "%s: %s", door_ops[op]->name, cause);
}

int door_call(covey_t *vm, int op, const struct door_args *args, const char *options,
              struct covey_door_report *report)
{
    struct covey_door_report unread;
    struct door_options read;
    struct door *door = NULL;
    double begin = domain_now_s();
    int error = door_options_read(options, &read);
    if (error == 0)
        error = door_take(vm, &door);
    if (error < 0)
        return fail_call(op, error);
    struct attempt attempt = {.door = door,
                              .options = &read,
                              .args = args,
                              .op = op,
                              .report = report != NULL ? report : &unread};
    *attempt.report = (struct covey_door_report){.residual = -1};
    door->crew.limit_us = (int64_t)ceil(1e6 * read.limit_s);
    error = try_until(&attempt);
    attempt.report->seconds = domain_now_s() - begin;
    pthread_mutex_unlock(&door->lock);
    return error < 0 ? fail_call(op, error) : error;
}
