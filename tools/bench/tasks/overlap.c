/*
 * Overlap: how much of the time that messages take is hidden behind a computation. Two tasks give
 * each other a face: each starts to receive and to send, computes, and then waits for both. A
 * sample is three times of a step: of communication alone, of the computation alone, which is as
 * much as takes about as long, and of both together.
 *
 * The same on MPI is tests/bench/overlap_mpi.c.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/bench/tasks/party.h"
#include "tools/bench/tasks/work.h"

#define FACE_TAG 13
#define COUNT_MAX 1000

enum { TRIALS = 3, SPANS = 3 };

/* ---- what both do ---- */

/* Steps as they are ordered. */
struct steps {
    size_t bytes; /* of a face; 0: nothing is sent */
    int64_t turns;
    int64_t count;
};

static int face_exchange(struct party *party, covey_tid_t other, const struct steps *steps,
                         covey_req_t **in, covey_req_t **out)
{
    int error =
        covey_irecv_array(party->vm, other, FACE_TAG, COVEY_UINT8, party->face, steps->bytes, in);
    if (error == 0)
        error = covey_isend_array(party->vm, other, FACE_TAG, COVEY_UINT8, party->wire.bytes,
                                  steps->bytes, out);
    return error;
}

static int step_once(struct party *party, covey_tid_t other, const struct steps *steps)
{
    covey_req_t *in = NULL, *out = NULL;
    int error = steps->bytes > 0 ? face_exchange(party, other, steps, &in, &out) : 0;
    party->worked += work_do(steps->turns);
    if (error == 0 && in)
        error = covey_wait(in, COVEY_FOREVER);
    if (error == 0 && out)
        error = covey_wait(out, COVEY_FOREVER);
    covey_req_free(&in);
    covey_req_free(&out);
    return error;
}

/* order->text is how many microseconds the computation of a step shall take. */
static int perform(struct party *party, covey_tid_t other, const struct order *order, double *us)
{
    const struct steps steps = {.bytes = (size_t)order->bytes,
                                .turns = (int64_t)(strtod(order->text, NULL) * party->work_speed),
                                .count = order->count};
    int error = 0;
    double start_us = work_now_us();
    for (int64_t i = 0; i < steps.count && error == 0; i++)
        error = step_once(party, other, &steps);
    *us = (work_now_us() - start_us) / (double)steps.count;
    return error ? party_fail_vm(party, "a face", error) : 0;
}

static int prepare_faces(struct party *party)
{
    if (party->face)
        return 0;
    party->face = calloc(1, bench_plan_largest(&party->plan));
    party->work_speed = work_speed(&party->worked);
    return party->face ? 0 : party_fail(party, "measuring", "memory is exhausted");
}

/* The leader's byte tells that it begins. */
int overlap_serve(struct party *party, covey_tid_t lead, const struct order *order)
{
    double unused;
    if (prepare_faces(party) != 0 || party_take_route(party, (enum raw_kind)order->kind) != 0 ||
        party_in(party, RAW_NONE, lead, 1) != 0 || party_out(party, RAW_NONE, lead, 1) != 0)
        return -1;
    return perform(party, lead, order, &unused);
}

/* ---- what the leader does ---- */

/* One row: a route and a size. */
struct race {
    enum raw_kind kind;
    int64_t bytes, count;
    double work_us;
};

static int sample_steps(struct party *party, const struct race *race, int64_t bytes, double work_us,
                        double *us)
{
    covey_tid_t peer = party->plan.peers[0];
    struct order order = {
        .what = ORDER_OVERLAP, .kind = race->kind, .bytes = bytes, .count = race->count};
    snprintf(order.text, sizeof order.text, "%.3f", work_us);
    if (party_tell_all(party, &order) != 0 || party_take_route(party, race->kind) != 0 ||
        party_out(party, RAW_NONE, peer, 1) != 0 || party_in(party, RAW_NONE, peer, 1) != 0)
        return -1;
    return perform(party, peer, &order, us);
}

/* The computation is to take as long as the communication. What a turn takes may have changed. */
static int fit_work(struct party *party, struct race *race)
{
    double wanted_us = race->work_us, us;
    for (int i = 0; i < TRIALS; i++) {
        if (sample_steps(party, race, 0, race->work_us, &us) != 0)
            return -1;
        race->work_us *= us > 0 ? wanted_us / us : 1;
    }
    return 0;
}

/* The first trial opens the route. */
static int calibrate_steps(struct party *party, struct race *race)
{
    race->count = 1;
    for (int i = 0; i < TRIALS; i++) {
        if (sample_steps(party, race, race->bytes, 0, &race->work_us) != 0)
            return -1;
        double wanted = party->plan.batch_us / (race->work_us + 0.01);
        race->count = wanted < 1 ? 1 : wanted > COUNT_MAX ? COUNT_MAX : (int64_t)wanted;
    }
    return fit_work(party, race);
}

static int take_samples(struct party *party, const struct race *race, struct bench_row *row)
{
    for (int i = 0; i < party->plan.rounds; i++) {
        if (sample_steps(party, race, race->bytes, 0, &row->series[0].us[i]) != 0 ||
            sample_steps(party, race, 0, race->work_us, &row->series[1].us[i]) != 0 ||
            sample_steps(party, race, race->bytes, race->work_us, &row->series[2].us[i]) != 0)
            return -1;
    }
    return party_send_row(party, row);
}

static int measure_overlap_row(struct party *party, enum raw_kind kind, int64_t bytes)
{
    static const char *const names[SPANS] = {"communication", "computation", "both"};
    struct race race = {.kind = kind, .bytes = bytes};
    struct bench_row row = {.bytes = bytes};
    int failed = 0;
    for (int i = 0; i < SPANS && !failed; i++)
        failed = !party_add_series(party, &row, names[i]);
    failed = failed || calibrate_steps(party, &race);
    snprintf(row.label, sizeof row.label, "%s",
             covey_route_name(covey_route(party->vm, party->plan.peers[0])));
    failed = failed || take_samples(party, &race, &row);
    bench_row_free(&row);
    return failed;
}

int overlap_measure(struct party *party)
{
    const struct bench_plan *plan = &party->plan;
    int failed = prepare_faces(party);
    for (int k = 0; k <= plan->more_count && !failed; k++) {
        int kind = k == 0 ? RAW_NONE : RAW_MORE + k - 1;
        for (int i = 0; i < plan->size_count && !failed; i++)
            failed = measure_overlap_row(party, (enum raw_kind)kind, plan->sizes[i]);
    }
    return failed ? failed : party_tell_all(party, &(const struct order){.what = ORDER_END});
}
