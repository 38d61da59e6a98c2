/*
 * choice.c - how many tasks run on which hosts. A number that the user gives holds, and so do hosts
 * that they name: all of these are used, unless -n auto says that some may be left out. What is
 * left open is chosen by the predictions of covey_predict_choose(), where all hosts were
 * calibrated; a host that is new should not be left out without a word.
 */
#include "apps/choice.h"

#include <err.h>
#include <stdio.h>
#include <stdlib.h>

/* No choice, for this reason: an error where one was asked for. */
static int refuse(struct choice *choice, const struct app_options *options, const char *reason)
{
    snprintf(choice->reason, sizeof choice->reason, "%s", reason);
    if (options->tasks == APP_TASKS_AUTO)
        warnx("-n auto: %s", reason);
    return options->tasks == APP_TASKS_AUTO ? -1 : 0;
}

/* Why there is nothing to choose; NULL: there is. */
static const char *settled(const struct choice *choice, const struct app_options *options)
{
    if (options->tasks == APP_TASKS_AUTO)
        return NULL;
    if (choice->given > 0)
        return "that number was given";
    return options->host_count > 0 ? "the hosts were named, and -n auto was not given" : NULL;
}

static void narrow(struct host_list *hosts, const struct covey_choice *made, const char **names)
{
    for (int i = 0; i < made->host_count; i++)
        names[i] = hosts->names[made->hosts[i]];
    free(hosts->names);
    hosts->names = names;
    hosts->count = made->host_count;
}

int choice_make(struct choice *choice, const struct app_options *options, struct host_list *hosts)
{
    const char *why = settled(choice, options);
    if (why != NULL)
        return refuse(choice, options, why);
    if (choice->problem == NULL)
        return refuse(choice, options,
                      "there is no model of this program that says how many are worth it");
    if (choice->calibration == NULL)
        return refuse(choice, options, covey_error_text());
    struct covey_choice *made;
    if (covey_predict_choose(choice->calibration, choice->problem, hosts->names, hosts->count,
                             COVEY_CHOICE_TOLERANCE, &made) < 0)
        return refuse(choice, options, covey_error_text());
    const char **names = calloc((size_t)hosts->count + 1, sizeof *names);
    if (names == NULL || (made->left_out > 0 && options->tasks != APP_TASKS_AUTO)) {
        why = names == NULL
                  ? "out of memory"
                  : "not all hosts were calibrated; run covey calibrate, or take -n auto, "
                    "which uses the others";
        free(names);
        covey_free(made);
        return refuse(choice, options, why);
    }
    narrow(hosts, made, names);
    choice->made = made;
    return 0;
}

/* ---- Why ------------------------------------------------------------------------------------- */

static void print_row(const struct covey_choice_row *row, bool chosen)
{
    const struct covey_prediction *p = &row->predicted;
    char slope[32] = "chosen";
    if (!chosen)
        snprintf(slope, sizeof slope, "%.2f", row->slope);
    fprintf(stderr, "%6d %6d %10.3f %12.3f %14.3f %10.3f %8s\n", p->hosts, p->tasks, p->total_s,
            p->computation_s, p->communication_s, p->idle_s, slope);
}

void choice_explain(const struct choice *choice, const char *program, int tasks, int hosts)
{
    const struct covey_choice *made = choice->made;
    if (made == NULL) {
        fprintf(stderr, "%s: %d task%s on %d host%s: %s\n", program, tasks, tasks == 1 ? "" : "s",
                hosts, hosts == 1 ? "" : "s", choice->reason);
        return;
    }
    fprintf(stderr, "%6s %6s %10s %12s %14s %10s %8s\n", "hosts", "tasks", "total s", "computation",
            "communication", "idle", "slope");
    for (int i = 0; i < made->row_count; i++)
        print_row(&made->rows[i], i == made->row);
    fprintf(stderr,
            "slope: the share of the time that is saved between these hosts and the chosen ones, "
            "over the share by which hosts grow; %.2f or more pays\n",
            COVEY_CHOICE_TOLERANCE);
    if (made->left_out > 0)
        fprintf(stderr, "%d host%s not calibrated and left out\n", made->left_out,
                made->left_out == 1 ? " was" : "s were");
    fprintf(stderr, "%s: %s\n", program, made->why);
}

void choice_free(struct choice *choice)
{
    covey_free(choice->made);
    choice->made = NULL;
}
