/*
 * split.c - the task of split-sort-merge: it receives its share, passes halves on to the tasks
 * below it in the tree, sorts what it keeps, and merges the children's keys into their old places.
 * Shares leave while the task sorts.
 */
#include "apps/sort/split.h"

#include "apps/agenda.h"
#include "apps/memory.h"
#include "apps/sort/keys.h"
#include "apps/sort/runs.h"
#include "apps/sort/team.h"
#include "apps/sort/tree.h"
#include "apps/worker.h"

#include <stdlib.h>

enum { TAG_SPLIT = SPLIT_TAG_INPUT + 1, TAG_MERGE };

struct split {
    struct split_job job;
    struct tree_node node;
    int64_t *keys;    /* the list: own keys, then those of the children, the smallest first */
    int64_t *scratch; /* for merging: what lies before the largest child's keys */
    covey_req_t *out[TREE_CHILDREN_MAX];
    covey_req_t *in[TREE_CHILDREN_MAX];
    struct team_sort team; /* instead of the tree */
};

int split_pack(covey_msg_t *msg, const void *context)
{
    const struct split_job *job = context;
    int error = covey_pack_int64(msg, &job->keys, 1, 1);
    if (error >= 0)
        error = covey_pack_uint64(msg, &job->seed, 1, 1);
    if (error >= 0)
        error = covey_pack_int32(msg, &job->fed, 1, 1);
    if (error >= 0)
        error = covey_pack_int32(msg, &job->bag, 1, 1);
    if (error >= 0)
        error = covey_pack_int32(msg, &job->wanted, 1, 1);
    return error < 0 ? error : covey_pack_string(msg, job->algorithm);
}

static int split_unpack(covey_msg_t *msg, struct split_job *job)
{
    int error = covey_unpack_int64(msg, &job->keys, 1, 1);
    if (error >= 0)
        error = covey_unpack_uint64(msg, &job->seed, 1, 1);
    if (error >= 0)
        error = covey_unpack_int32(msg, &job->fed, 1, 1);
    if (error >= 0)
        error = covey_unpack_int32(msg, &job->bag, 1, 1);
    if (error >= 0)
        error = covey_unpack_int32(msg, &job->wanted, 1, 1);
    if (error >= 0)
        error = covey_unpack_string(msg, job->algorithm, sizeof job->algorithm);
    if (error < 0)
        return error;
    return job->keys >= 0 && job->keys <= SPLIT_KEYS_MAX ? 0 : COVEY_EPROTO;
}

static size_t chunk_at(size_t done, size_t all)
{
    return all - done < SPLIT_CHUNK ? all - done : SPLIT_CHUNK;
}

static int receive_input(struct split *split, struct worker *worker)
{
    size_t all = (size_t)split->job.keys;
    for (size_t done = 0; done < all;) {
        size_t count = 0;
        int error =
            covey_recv_array(worker->vm, worker->parent, SPLIT_TAG_INPUT, COVEY_FOREVER,
                             COVEY_INT64, split->keys + done, chunk_at(done, all), &count, NULL);
        if (error < 0)
            return error;
        if (count == 0)
            return COVEY_EPROTO;
        done += count;
    }
    return 0;
}

static bool is_by_team(const struct split *split)
{
    return split->job.algorithm[0] != '\0';
}

/* Which keys are this task's. */
static int take_place(struct split *split, struct worker *worker)
{
    if (!is_by_team(split)) {
        tree_place(split->job.keys, worker->count, worker->rank, &split->node);
        return 0;
    }
    split->node = (struct tree_node){.parent = -1};
    split->node.count = worker->rank == 0 ? split->job.keys : 0;
    return team_sort_prepare(&split->team, worker, split->job.algorithm, (size_t)split->job.keys);
}

static int split_prepare(void *state, struct worker *worker, covey_msg_t *msg)
{
    struct split *split = state;
    int error = split_unpack(msg, &split->job);
    if (error < 0 || (split->job.bag && !worker->sequential))
        return error < 0 ? error : agenda_attach(worker); /* all that it needs is in there */
    error = take_place(split, worker);
    if (error < 0)
        return error;
    size_t count = (size_t)split->node.count;
    split->keys = memory_ready(count + 1, sizeof *split->keys);
    size_t before_largest = split->node.child_count > 0 ? (size_t)split->node.children[0].first : 0;
    split->scratch = memory_ready(before_largest + 1, sizeof *split->scratch);
    if (split->keys == NULL || split->scratch == NULL)
        return COVEY_ENOMEM;
    if (worker->rank != 0)
        return 0;
    if (split->job.fed)
        return receive_input(split, worker);
    keys_make(split->job.seed, split->keys, count);
    return 0;
}

/* ---- The timed part ---------------------------------------------------------------------- */

static int receive_share(struct split *split, struct worker *worker)
{
    if (split->node.parent < 0)
        return 0;
    worker->doing = "receiving its keys";
    size_t count = 0;
    int error =
        covey_recv_array(worker->vm, worker->tids[split->node.parent], TAG_SPLIT, COVEY_FOREVER,
                         COVEY_INT64, split->keys, (size_t)split->node.count, &count, NULL);
    if (error < 0)
        return error;
    return count == (size_t)split->node.count ? 0 : COVEY_EPROTO;
}

/* The shares leave while this task sorts its own. */
static int send_shares(struct split *split, struct worker *worker)
{
    worker->doing = "handing on keys";
    for (int i = 0; i < split->node.child_count; i++) {
        const struct tree_child *child = &split->node.children[i];
        int error =
            covey_isend_array(worker->vm, worker->tids[child->rank], TAG_SPLIT, COVEY_INT64,
                              split->keys + child->first, (size_t)child->count, &split->out[i]);
        if (error < 0)
            return error;
    }
    return 0;
}

/* A child's sorted keys go where they lay before. The smallest share leaves first, and comes back
 * first: it must find its place, or it would wait in other memory. */
static int expect_shares(struct split *split, struct worker *worker)
{
    for (int i = split->node.child_count - 1; i >= 0; i--) {
        const struct tree_child *child = &split->node.children[i];
        int error = covey_wait(split->out[i], COVEY_FOREVER);
        if (error < 0)
            return error;
        covey_req_free(&split->out[i]);
        error = covey_irecv_array(worker->vm, worker->tids[child->rank], TAG_MERGE, COVEY_INT64,
                                  split->keys + child->first, (size_t)child->count, &split->in[i]);
        if (error < 0)
            return error;
    }
    return 0;
}

/* The smallest share comes back first, and lies next to this task's own keys. */
static int merge_shares(struct split *split, struct worker *worker)
{
    worker->doing = "merging keys";
    for (int i = split->node.child_count - 1; i >= 0; i--) {
        const struct tree_child *child = &split->node.children[i];
        size_t count = 0;
        int error = covey_wait(split->in[i], COVEY_FOREVER);
        if (error < 0)
            return error;
        error = covey_req_result(split->in[i], NULL, NULL, &count);
        covey_req_free(&split->in[i]);
        if (error < 0 || count != (size_t)child->count)
            return error < 0 ? error : COVEY_EPROTO;
        double begin = worker_compute_begin();
        keys_merge(split->keys, (size_t)child->first, (size_t)(child->first + child->count),
                   split->scratch);
        worker_compute_end(worker, begin);
    }
    return 0;
}

static void sort_own(struct split *split, struct worker *worker, int64_t count)
{
    double begin = worker_compute_begin();
    keys_sort(split->keys, (size_t)count);
    worker_compute_end(worker, begin);
}

static int split_run(void *state, struct worker *worker)
{
    struct split *split = state;
    if (split->job.bag)
        return sorter_run(worker);
    if (is_by_team(split))
        return team_sort_run(&split->team, worker, split->keys);
    int error = receive_share(split, worker);
    if (error >= 0)
        error = send_shares(split, worker);
    if (error < 0)
        return error;
    sort_own(split, worker, split->node.own);
    if (worker->rank == 0)
        worker_progress(worker, 0.5);
    error = expect_shares(split, worker);
    if (error >= 0)
        error = merge_shares(split, worker);
    if (error < 0 || split->node.parent < 0)
        return error;
    worker->doing = "giving its keys back";
    return covey_send_array(worker->vm, worker->tids[split->node.parent], TAG_MERGE, COVEY_INT64,
                            split->keys, (size_t)split->node.count);
}

static int split_run_alone(void *state, struct worker *worker)
{
    struct split *split = state;
    if (is_by_team(split))
        return team_sort_run(&split->team, worker, split->keys);
    sort_own(split, worker, split->node.count);
    return 0;
}

static int split_send_result(void *state, struct worker *worker)
{
    struct split *split = state;
    size_t all = (size_t)split->node.count;
    if (is_by_team(split) && !worker->sequential) {
        int error = worker->rank == 0 ? team_sort_send(&split->team, worker, all) : 0;
        if (error < 0 || !split->job.wanted)
            return error;
    }
    for (size_t done = 0; done < all; done += chunk_at(done, all)) {
        int error = covey_send_array(worker->vm, worker->parent, CREW_RESULT, COVEY_INT64,
                                     split->keys + done, chunk_at(done, all));
        if (error < 0)
            return error;
    }
    return 0;
}

static void split_finish(void *state)
{
    struct split *split = state;
    for (int i = 0; i < TREE_CHILDREN_MAX; i++) {
        covey_req_free(&split->out[i]);
        covey_req_free(&split->in[i]);
    }
    team_sort_finish(&split->team);
    free(split->keys);
    free(split->scratch);
}

int split_worker(void)
{
    static const struct worker_program program = {.prepare = split_prepare,
                                                  .run = split_run,
                                                  .run_alone = split_run_alone,
                                                  .send_result = split_send_result,
                                                  .finish = split_finish};
    struct split state = {0};
    return worker_run(&program, &state);
}
