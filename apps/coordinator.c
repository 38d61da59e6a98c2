/*
 * coordinator.c - the life of the process that the user starts: it joins the VM, chooses hosts,
 * measures one task alone where a comparison needs that, leads the parallel run, and prints the
 * report. Every demo goes this way; a program fills in the steps that are its own.
 */
#include "apps/coordinator.h"

#include "apps/choice.h"
#include "apps/hosts.h"

#include <err.h>
#include <errno.h>
#include <stdlib.h>

/* What one process leads. */
struct coordinator {
    covey_t *vm;
    const struct app_options *options;
    const struct coordinator_program *program;
    struct host_list hosts;
    struct covey_calibration *calibration; /* NULL: none that can be read */
    struct covey_problem problem;          /* how many tasks is not told */
    struct choice choice;
    const char **names; /* of the host of each rank */
    int tasks;
    struct coordinator_result result;
};

static int coordinator_join(covey_t **vm, const struct app_options *options)
{
    struct covey_options how = {.route = options->route};
    int error = covey_join(vm, &how);
    if (error == COVEY_EDAEMON) {
        warnx("%s (on this machine alone: covey start --local 4)", covey_error_text());
        return -1;
    }
    return error < 0 ? crew_error("cannot join the virtual machine", error) : 0;
}

/* ---- One run ----------------------------------------------------------------------------- */

static int on_task_done(void *context, int rank, covey_msg_t *msg)
{
    struct measurement *measurement = context;
    uint32_t routes = 0;
    int error = figures_unpack(msg, &measurement->each[rank]);
    if (error >= 0)
        error = covey_unpack_uint32(msg, &routes, 1, 1);
    measurement->routes |= routes;
    return error < 0 ? crew_error("cannot read the figures of a task", error) : 0;
}

static int coordinator_feed(struct crew *crew, const struct coordinator_program *program)
{
    return program->feed != NULL ? program->feed(crew, program->context) : 0;
}

static int carry_out(struct crew *crew, const struct coordinator_program *program,
                     struct measurement *measurement)
{
    double begin = figures_clock();
    if (crew_tell(crew, CREW_GO) < 0)
        return -1;
    bool conducted = program->conduct != NULL && !crew->sequential;
    if (conducted && program->conduct(crew, program->context) < 0)
        return -1;
    double conducted_s = figures_clock() - begin;
    if (crew_gather(crew, CREW_DONE, on_task_done, measurement) < 0)
        return -1;
    /* who does an item of a bag twice may still be at it when all results are there */
    measurement->total_s = conducted && crew->tolerant ? conducted_s : figures_clock() - begin;
    return 0;
}

/* A part of the program in its trace. */
static const char *part_name(bool sequential)
{
    return sequential ? "sequential run" : "run";
}

static int time_run(struct crew *crew, const struct coordinator_program *program,
                    struct measurement *measurement)
{
    covey_trace_begin(crew->vm, part_name(crew->sequential));
    int result = carry_out(crew, program, measurement);
    covey_trace_end(crew->vm, part_name(crew->sequential));
    return result;
}

static int lead_run(struct crew *crew, const struct coordinator_program *program,
                    struct measurement *measurement)
{
    /* A bag is there before the tasks look for it. */
    if ((program->tolerant && coordinator_feed(crew, program) < 0) ||
        crew_send_job(crew, program->pack_job, program->job) < 0 ||
        (!program->tolerant && coordinator_feed(crew, program) < 0) ||
        crew_gather(crew, CREW_READY, NULL, NULL) < 0 || time_run(crew, program, measurement) < 0)
        return -1;
    bool wanted = program->collect != NULL && (!crew->sequential || program->compares);
    if (wanted && program->collect(crew, program->context) < 0)
        return -1;
    return crew_release(crew);
}

static int measure(const struct coordinator *coordinator, const struct crew_plan *plan,
                   struct measurement *measurement)
{
    *measurement = (struct measurement){.tasks = plan->count, .hosts = plan->hosts};
    measurement->each = calloc((size_t)plan->count, sizeof *measurement->each);
    if (measurement->each == NULL) {
        warnx("out of memory");
        return -1;
    }
    struct crew crew;
    int result = crew_spawn(&crew, coordinator->vm, plan);
    if (result == 0)
        result = lead_run(&crew, coordinator->program, measurement);
    if (coordinator->program->end != NULL)
        coordinator->program->end(coordinator->program->context);
    crew_dismiss(&crew);
    if (result < 0)
        measurement_free(measurement);
    return result;
}

/* One task on the first host, when a comparison or the sequential time is wanted. */
static int measure_baseline(struct coordinator *coordinator)
{
    const struct app_options *options = coordinator->options;
    double *sequential_s = &coordinator->result.sequential_s;
    *sequential_s = options->baseline_s > 0 ? options->baseline_s : 0;
    bool measured = options->baseline_s < 0;
    if (!measured && !coordinator->program->compares)
        return 0;
    struct crew_plan plan = {.hosts = coordinator->hosts.names,
                             .count = 1,
                             .route = options->route,
                             .sequential = true,
                             .title = "sequential run"};
    struct measurement measurement;
    if (measure(coordinator, &plan, &measurement) < 0)
        return -1;
    if (measured)
        *sequential_s = measurement.each[0].elapsed_s;
    measurement_free(&measurement);
    return 0;
}

/* ---- The whole --------------------------------------------------------------------------- */

static int coordinator_place(struct coordinator *coordinator)
{
    const struct coordinator_program *program = coordinator->program;
    const struct covey_choice *made = coordinator->choice.made;
    int hosts = coordinator->hosts.count;
    int asked = made != NULL ? made->tasks : coordinator->choice.given;
    coordinator->tasks = program->tasks != NULL ? program->tasks(program->context, hosts, asked)
                         : asked > 0            ? asked
                                                : hosts;
    if (coordinator->tasks < 1)
        return -1; /* the program has said why */
    int *host_of = calloc((size_t)coordinator->tasks, sizeof *host_of);
    for (int rank = 0; host_of != NULL && rank < coordinator->tasks; rank++)
        host_of[rank] = rank % hosts;
    if (host_of != NULL && program->place != NULL)
        program->place(program->context, hosts, host_of);
    if (host_of != NULL)
        coordinator->names = hosts_by_rank(&coordinator->hosts, host_of, coordinator->tasks);
    free(host_of);
    if (coordinator->names != NULL)
        return 0;
    warnx("out of memory");
    return -1;
}

/* Chooses how many tasks run on which hosts, if that is open. */
static int coordinator_choose(struct coordinator *coordinator)
{
    const struct coordinator_program *program = coordinator->program;
    const struct app_options *options = coordinator->options;
    struct choice *choice = &coordinator->choice;
    bool asked = options->tasks == APP_TASKS_AUTO;
    choice->given = program->tasks_given > 0 ? program->tasks_given : asked ? 0 : options->tasks;
    coordinator->problem = (struct covey_problem){.tasks = choice->given, .route = options->route};
    if (program->describe != NULL) {
        program->describe(program->context, &coordinator->problem);
        int error =
            covey_calibration_load(covey_vm_name(coordinator->vm), &coordinator->calibration);
        if ((error == COVEY_EINVAL || error == COVEY_ESYS) && !asked)
            warnx("nothing is predicted: %s", covey_error_text());
        choice->problem = &coordinator->problem;
        choice->calibration = coordinator->calibration;
    }
    return choice_make(choice, options, &coordinator->hosts);
}

/* Without a calibration, or with one that knows not all hosts, nothing is said. */
static void predict(struct coordinator *coordinator)
{
    struct covey_problem problem = coordinator->problem;
    problem.tasks = coordinator->tasks;
    if (coordinator->calibration != NULL)
        covey_predict(coordinator->calibration, &problem, coordinator->hosts.names,
                      coordinator->hosts.count, &coordinator->result.predicted);
}

static int coordinator_run(struct coordinator *coordinator)
{
    const struct coordinator_program *program = coordinator->program;
    if (coordinator_join(&coordinator->vm, coordinator->options) < 0 ||
        hosts_choose(coordinator->vm, coordinator->options, &coordinator->hosts) < 0 ||
        coordinator_choose(coordinator) < 0 || coordinator_place(coordinator) < 0)
        return EXIT_FAILURE;
    predict(coordinator);
    coordinator->result.choice = coordinator->choice.made;
    if (coordinator->options->explain)
        choice_explain(&coordinator->choice, program_invocation_short_name, coordinator->tasks,
                       coordinator->hosts.count);
    struct crew_plan plan = {.hosts = coordinator->names,
                             .count = coordinator->tasks,
                             .route = coordinator->options->route,
                             .tolerant = program->tolerant,
                             .title = program->title};
    if (coordinator->result.predicted.hosts > 0)
        covey_trace_expect(coordinator->vm, part_name(false),
                           coordinator->result.predicted.total_s);
    if (measure_baseline(coordinator) < 0 ||
        measure(coordinator, &plan, &coordinator->result.run) < 0)
        return EXIT_FAILURE;
    return program->report(program->context, &coordinator->result);
}

int coordinator_main(const struct app_options *options, const struct coordinator_program *program)
{
    struct coordinator coordinator = {.options = options, .program = program};
    int status = coordinator_run(&coordinator);
    measurement_free(&coordinator.result.run);
    free(coordinator.names);
    choice_free(&coordinator.choice);
    covey_free(coordinator.calibration);
    hosts_free(&coordinator.hosts);
    covey_leave(&coordinator.vm);
    return status;
}

int coordinator_report(const struct app_options *options, const struct coordinator_result *result,
                       struct report *report)
{
    report->route = options->route;
    report->checked = options->check;
    report->sequential_s = result->sequential_s;
    report->run = &result->run;
    report->predicted = &result->predicted;
    report->choice = result->choice;
    int printed = options->json ? report_json(report) : report_table(report);
    if (report->checked && !report->passed) {
        warnx("the result differs from that of the sequential run");
        return EXIT_FAILURE;
    }
    return printed < 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}
