/*
 * history.c - the ratios of measured to predicted seconds, as figures of the cache:
 * "factor.PROBLEM.ALGORITHM", beside "took." for the seconds and "runs." for how often.
 *
 * One run may have been disturbed, or have opened links that later ones find open: of what a first
 * run took too long only the root counts, and the second one replaces it. Of the next ones the
 * fastest counts: where tasks were just started, or have waited, several runs after one another may
 * have been disturbed. Later runs move the factor a part of the way: else the algorithm with the
 * luckiest run would be taken, not the fastest. The part is all of it for the first of these, and
 * one of so many as there were, but a tenth at least: with three tenths factors go up and down by
 * half of what single runs do, and one that was left while it was high stays so, behind what is
 * slower. None of them counts for more than FAR_OFF from what is known: one of a dozen short runs
 * takes half as much again, and a mean of few would be of that.
 *
 * An algorithm that has not run is taken to be no slower than predicted, to be faster by as much as
 * those that have, and where one of these is known by a quarter besides, for a prediction may be
 * off by that: it is tried once if that makes it the fastest, and then it is known.
 *
 * A short run is over before what disturbs it is: where two members have begun on one processor,
 * which takes the kernel 10 to 20 ms to see, or some other program wakes up, many runs of a trial
 * may have been disturbed. So not the first ones of a plan alone are told. And what takes little
 * time and turned out slower than others, though it would be tried if it had not run, is tried
 * again, "again." times; since "since." runs the fastest counts once more.
 */
#include "lib/domain/base/history.h"

#include "lib/domain/base/cache.h"
#include "lib/domain/base/error.h"

#include <assert.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#define PART 0.1      /* of the way, in the logarithm, at least */
#define FAR_OFF 1.25  /* up or down */
#define STEADY_RUNS 4 /* from which on one of them moves the factor its part of the way */
#define TRIAL 0.75    /* of what is expected, for what has not run */
#define EARLY_RUNS 64 /* of a plan: the first ones of these are told, then one of a few, */
#define EARLY_EACH 4
#define LATE_RUNS 32 /* and of the later ones one of many */
#define SHORT_S 0.05 /* what takes less is tried again, */
#define AGAIN_MOST 2 /* so often, */

enum { FACTOR, TOOK, RUNS, AGAINS, SINCE, KINDS };

static double look_up(int kind, const char *problem, const char *algorithm, double set)
{
    static const char *const kinds[KINDS] = {"factor", "took", "runs", "again", "since"};
    char name[DOMAIN_FIGURE_NAME];
    int length = snprintf(name, sizeof name, "%s.%s.%s", kinds[kind], problem, algorithm);
    if (length < 0 || (size_t)length >= sizeof name)
        return 0;
    if (set > 0)
        domain_cache_set(name, set);
    return domain_cache_figure(name);
}

static double bounded(double ratio, double most)
{
    return fmin(fmax(ratio, 1 / most), most);
}

void domain_history_note(const char *problem, const char *algorithm, double predicted_s,
                         double measured_s)
{
    if (!(predicted_s > 0) || !(measured_s > 0))
        return;
    double runs = look_up(RUNS, problem, algorithm, 0);
    double ratio = bounded(measured_s / predicted_s, DOMAIN_FACTOR_MOST), factor = ratio;
    double before = look_up(FACTOR, problem, algorithm, 0);
    double runs_since = runs - look_up(SINCE, problem, algorithm, 0);
    if (before <= 0 || runs < 1)
        factor = ratio > 1 ? sqrt(ratio) : ratio;
    else if (runs > 1 && runs_since < STEADY_RUNS)
        factor = fmin(before, ratio);
    else if (runs > 1)
        factor = before * pow(bounded(ratio / before, FAR_OFF),
                              fmax(1 / (runs_since - STEADY_RUNS + 1), PART));
    look_up(FACTOR, problem, algorithm, factor);
    look_up(TOOK, problem, algorithm, measured_s);
    look_up(RUNS, problem, algorithm, runs + 1);
}

int domain_history_is_told(const char *problem, const char *algorithm, int runs_before)
{
    if (runs_before == 0)
        return look_up(RUNS, problem, algorithm, 0) < DOMAIN_KNOWN_RUNS;
    int each = runs_before < EARLY_EACH ? 1 : runs_before < EARLY_RUNS ? EARLY_EACH : LATE_RUNS;
    return runs_before % each == 0;
}

int domain_history_count(int runs_before)
{
    return runs_before < INT_MAX ? runs_before + 1 : EARLY_RUNS;
}

void domain_history_note_loaded(const char *problem, const char *algorithm, double predicted_s,
                                double measured_s, double load)
{
    double at_rest_s = measured_s * fmax(load, 1);
    domain_history_note(problem, algorithm, predicted_s,
                        measured_s < predicted_s ? fmin(at_rest_s, predicted_s) : measured_s);
}

void domain_history_look(const char *problem, struct domain_algorithm *rows, int n)
{
    for (int i = 0; i < n; i++) {
        rows[i].factor = look_up(FACTOR, problem, rows[i].name, 0);
        rows[i].measured_s = look_up(TOOK, problem, rows[i].name, 0);
        rows[i].runs = look_up(RUNS, problem, rows[i].name, 0);
        rows[i].again = look_up(AGAINS, problem, rows[i].name, 0);
    }
}

/* The mean factor of those that have run so often, but for `but`; 0: there are none. All members
 * compute the same: no library's functions, whose last bits differ. */
static double mean_factor(const struct domain_algorithm *rows, int n, int but, double runs)
{
    double sum = 0;
    int known = 0;
    for (int i = 0; i < n; i++)
        if (i != but && rows[i].runs >= runs) {
            sum += rows[i].factor;
            known++;
        }
    return known > 0 ? sum / known : 0;
}

/* Those that have not run. */
static void set_others(struct domain_algorithm *rows, int n)
{
    double mean = mean_factor(rows, n, -1, 1);
    double trial = mean_factor(rows, n, -1, DOMAIN_KNOWN_RUNS) > 0 ? TRIAL : 1;
    for (int i = 0; i < n; i++)
        if (rows[i].factor <= 0)
            rows[i].factor = mean > 0 ? trial * fmin(1, mean) : 1;
}

void domain_history_expect(const char *problem, struct domain_algorithm *rows, int n)
{
    domain_history_look(problem, rows, n);
    set_others(rows, n);
}

int domain_history_try_again(const char *problem, struct domain_algorithm *rows, int n, int taken)
{
    int suspect = taken;
    double least_s = domain_expected_s(&rows[taken]), suspect_factor = 0;
    for (int i = 0; i < n; i++) {
        const struct domain_algorithm *a = &rows[i];
        if (i == taken || a->refusal != NULL || a->runs < DOMAIN_KNOWN_RUNS ||
            a->again >= AGAIN_MOST || a->measured_s > SHORT_S)
            continue;
        double mean = mean_factor(rows, n, i, DOMAIN_KNOWN_RUNS), factor = TRIAL * fmin(1, mean);
        if (factor > 0 && factor < a->factor && a->seconds * factor < least_s) {
            least_s = a->seconds * factor;
            suspect_factor = factor;
            suspect = i;
        }
    }
    if (suspect != taken) {
        rows[suspect].factor = suspect_factor;
        rows[suspect].runs = 0;
        look_up(AGAINS, problem, rows[suspect].name, rows[suspect].again + 1);
        look_up(SINCE, problem, rows[suspect].name,
                look_up(RUNS, problem, rows[suspect].name, 0) - 1);
    }
    return suspect;
}

/* What all take from the greatest of all members: of rank 0 alone nobody else says anything. */
enum { FACTORS, MEASURED, RUN_COUNTS, AGAIN_COUNTS, SECONDS, ROW_WORDS };

static void pack(const struct domain_algorithm *rows, int n, int is_root, double *words)
{
    for (int i = 0; i < n; i++) {
        words[ROW_WORDS * i + FACTORS] = rows[i].factor;
        words[ROW_WORDS * i + MEASURED] = rows[i].measured_s;
        words[ROW_WORDS * i + RUN_COUNTS] = rows[i].runs;
        words[ROW_WORDS * i + AGAIN_COUNTS] = rows[i].again;
        words[ROW_WORDS * i + SECONDS] = is_root ? rows[i].seconds : -INFINITY;
    }
}

static void unpack(const double *words, struct domain_algorithm *rows, int n)
{
    for (int i = 0; i < n; i++) {
        rows[i].factor = words[ROW_WORDS * i + FACTORS];
        rows[i].measured_s = words[ROW_WORDS * i + MEASURED];
        rows[i].runs = words[ROW_WORDS * i + RUN_COUNTS];
        rows[i].again = words[ROW_WORDS * i + AGAIN_COUNTS];
        rows[i].seconds = words[ROW_WORDS * i + SECONDS];
    }
}

int domain_choose_told(covey_team_t *team, const char *problem, struct domain_algorithm *rows,
                       int n, int forced, double *told, int told_n)
{
    double mine[ROW_WORDS * DOMAIN_ALGORITHMS_MOST + DOMAIN_TOLD_MOST],
        all[sizeof mine / sizeof *mine];
    int is_root = covey_team_rank(team) == 0, words = ROW_WORDS * n;
    assert(n <= DOMAIN_ALGORITHMS_MOST && told_n <= DOMAIN_TOLD_MOST);
    domain_history_look(problem, rows, n);
    pack(rows, n, is_root, mine);
    for (int i = 0; i < told_n; i++)
        mine[words + i] = is_root ? told[i] : -INFINITY;
    int error = covey_allreduce(team, COVEY_OP_MAX, COVEY_DOUBLE, mine, all,
                                (size_t)words + (size_t)told_n);
    if (error < 0)
        return domain_fail_of(error, "choice of an algorithm");
    unpack(all, rows, n);
    if (told_n > 0)
        memcpy(told, all + words, (size_t)told_n * sizeof *told);
    set_others(rows, n);
    int taken = domain_choose(rows, n, forced);
    return taken < 0 || forced >= 0 ? taken : domain_history_try_again(problem, rows, n, taken);
}

int domain_choose_learned(covey_team_t *team, const char *problem, struct domain_algorithm *rows,
                          int n, int forced)
{
    return domain_choose_told(team, problem, rows, n, forced, NULL, 0);
}

int domain_size_class(double size)
{
    return size > 1 ? (int)lround(log2(size)) : 0;
}
