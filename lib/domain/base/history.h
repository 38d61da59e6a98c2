/*
 * history.h - what algorithms took beside what was predicted, by which later predictions are
 * corrected.
 *
 * A problem is a short text: the library, and the sizes in classes, such as "sort.8.2^22.4x1": what
 * is learned of one counts for all of that class. The process keeps it, and the file of
 * domain_figures_path() between processes.
 */
#ifndef COVEY_LIB_DOMAIN_BASE_HISTORY_H
#define COVEY_LIB_DOMAIN_BASE_HISTORY_H

#include "lib/domain/base/chooser.h"

/* A correction is between 1 / this and this. */
#define DOMAIN_FACTOR_MOST 16.0

/* Enters a run of this member. Not collective, and cheap. */
void domain_history_note(const char *problem, const char *algorithm, double predicted_s,
                         double measured_s);

/* Whether a run is to be entered, before which its plan had so many: the first ones are, and some
 * of the later ones, for what is known does not change fast. The very first one of a plan opens
 * links and writes memory that later ones find: it counts as long as nothing else is known. */
int domain_history_is_told(const char *problem, const char *algorithm, int runs_before);
/* How many the plan has after another run; never again as few as when it was new. */
int domain_history_count(int runs_before);

/* Of a prediction that is up to `load` times as long for what else seemed to run on the hosts: that
 * may have ended before the run began, and that is no reason to expect other runs to be faster. */
void domain_history_note_loaded(const char *problem, const char *algorithm, double predicted_s,
                                double measured_s, double load);

#define DOMAIN_TOLD_MOST 8

/* domain_choose() with what is known of the problem, at all members alike: in the rows are the
 * seconds of rank 0 then, and factor, runs and measured_s of the slowest member. All that are told
 * numbers get those of rank 0. A collective call. Errors: also those of all collective calls. */
int domain_choose_told(covey_team_t *team, const char *problem, struct domain_algorithm *rows,
                       int n, int forced, double *told, int told_n);

/* The same without numbers. */
int domain_choose_learned(covey_team_t *team, const char *problem, struct domain_algorithm *rows,
                          int n, int forced);

/* What this process knows, without a team: 0 where an algorithm has not run. */
void domain_history_look(const char *problem, struct domain_algorithm *rows, int n);

/* The same, and those that have not run are taken to be faster by as much as those that have, and
 * by a quarter besides where one of these is known: they are tried. */
void domain_history_expect(const char *problem, struct domain_algorithm *rows, int n);

/* Which algorithm is run where `taken` is expected to be the fastest: that one, or another one of
 * which all runs may have been disturbed (see history.c). That is entered to be tried again: its
 * row is that of what has not run, and the next runs count if they are faster than those before.
 * All members call it, of the same rows, and get the same. */
int domain_history_try_again(const char *problem, struct domain_algorithm *rows, int n, int taken);

/* The exponent of the power of 2 next to a size, for the names of problems. */
int domain_size_class(double size);

#endif
