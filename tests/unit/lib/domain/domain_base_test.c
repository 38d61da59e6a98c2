/* links: lib/domain/base/error.c lib/domain/base/options.c lib/domain/base/chooser.c lib/domain/place/network.c lib/domain/place/place.c lib/domain/base/figures.c lib/domain/base/cache.c lib/domain/base/history.c libcovey */
/*
 * What all domain libraries share, without a virtual machine: options, the choice and what earlier
 * runs make of it, figures that are kept, a network and a place out of a calibration.
 */
#include <CUnit/CUnit.h>
#include <limits.h>
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/domain/base/cache.h"
#include "lib/domain/base/chooser.h"
#include "lib/domain/base/error.h"
#include "lib/domain/base/figures.h"
#include "lib/domain/base/history.h"
#include "lib/domain/base/options.h"
#include "lib/domain/place/place.h"
#include "tests/unit/runner.h"

#define VARIABLE "COVEY_DOMAIN_TEST"

#define ROW(word, s)                                                                               \
    {                                                                                              \
        .name = (word), .seconds = (s)                                                             \
    }
#define NEVER                                                                                      \
    {                                                                                              \
        .name = "never", .refusal = "it is too small"                                              \
    }

static const char *const colours[] = {"red", "green", NULL};
static const char *const sizes[] = {"small", "large", NULL};

static struct domain_option options[] = {
    {.key = "colour", .names = colours}, {.key = "size", .names = sizes}, {.key = "grid"}};

static int read_options(const char *text, const char *environment)
{
    if (environment == NULL)
        unsetenv(VARIABLE);
    else
        setenv(VARIABLE, environment, 1);
    return domain_options_read(text, VARIABLE, options, 3);
}

static void options_that_are_right(void)
{
    CU_ASSERT_EQUAL(read_options(NULL, NULL), 0);
    CU_ASSERT_EQUAL(options[0].value, DOMAIN_CHOSEN);
    CU_ASSERT_STRING_EQUAL(options[2].text, "");
    CU_ASSERT_EQUAL(read_options("size=large,colour=green,grid=4x2", NULL), 0);
    CU_ASSERT_EQUAL(options[0].value, 1);
    CU_ASSERT_EQUAL(options[1].value, 1);
    CU_ASSERT_STRING_EQUAL(options[2].text, "4x2");
    CU_ASSERT_EQUAL(read_options("red", ""), 0);
    CU_ASSERT_EQUAL(options[0].value, 0);
    CU_ASSERT_EQUAL(options[1].value, DOMAIN_CHOSEN);
}

static void the_environment_forces(void)
{
    CU_ASSERT_EQUAL(read_options("colour=red,size=small", "green"), 0);
    CU_ASSERT_EQUAL(options[0].value, 1);
    CU_ASSERT_EQUAL(options[1].value, 0);
}

static void refused(const char *text, const char *environment, const char *cause)
{
    CU_ASSERT_EQUAL(read_options(text, environment), COVEY_EINVAL);
    CU_ASSERT_STRING_EQUAL(covey_domain_error_text(), cause);
}

static void options_that_are_wrong(void)
{
    refused("blue", NULL, "colour has no 'blue': allowed are red green");
    refused("size=", NULL, "size has no '': allowed are small large");
    refused("sizes=small", NULL, "there is no option 'sizes': allowed are colour size grid");
    refused("=red", NULL, "there is no option '': allowed are colour size grid");
    refused("red,,", NULL, "colour has no '': allowed are red green");
    refused("red", "size=re", "size has no 're': allowed are small large");
    refused("grid=", NULL, "the value of grid has 0 characters: allowed are 1 to 31");
}

static void the_least_time_is_taken(void)
{
    const struct domain_algorithm rows[] = {ROW("local", 2e-3), NEVER, ROW("tree", 1e-3)};
    CU_ASSERT_EQUAL(domain_choose(rows, 3, DOMAIN_CHOSEN), 2);
    CU_ASSERT_EQUAL(domain_choose(rows, 3, 0), 0);
    CU_ASSERT_EQUAL(domain_choose(rows, 3, 1), COVEY_EINVAL);
    CU_ASSERT_STRING_EQUAL(covey_domain_error_text(), "never cannot be taken: it is too small");
    CU_ASSERT_EQUAL(domain_choose(rows + 1, 1, DOMAIN_CHOSEN), COVEY_EINVAL);
}

/* What was never tried has to be clearly better than one member alone; what is known, a little. */
static void one_alone_stays_where_little_is_gained(void)
{
    struct domain_algorithm rows[] = {ROW("local", 1e-3), ROW("tree", 0.93e-3)};
    CU_ASSERT_EQUAL(domain_choose(rows, 2, DOMAIN_CHOSEN), 0);
    rows[1].runs = 2;
    rows[1].seconds = 0.97e-3; /* runs differ by as much */
    CU_ASSERT_EQUAL(domain_choose(rows, 2, DOMAIN_CHOSEN), 0);
    rows[1].seconds = 0.93e-3;
    CU_ASSERT_EQUAL(domain_choose(rows, 2, DOMAIN_CHOSEN), 1);
    rows[1].runs = 0;
    rows[0].runs = 3; /* such a problem comes again and again: a trial is worth it */
    CU_ASSERT_EQUAL(domain_choose(rows, 2, DOMAIN_CHOSEN), 1);
    rows[1].seconds = 0.8e-3;
    rows[0].runs = 0;
    CU_ASSERT_EQUAL(domain_choose(rows, 2, DOMAIN_CHOSEN), 1);
    rows[0].refusal = "no memory";
    rows[1].seconds = 2;
    CU_ASSERT_EQUAL(domain_choose(rows, 2, DOMAIN_CHOSEN), 1);
}

static void the_table_is_whole_or_cut(void)
{
    const struct domain_algorithm rows[] = {
        ROW("local", 2e-3),
        NEVER,
        {.name = "tree", .seconds = 1e-3, .factor = 1.5, .measured_s = 2e-3, .runs = 2}};
    const char *whole =
        "local               2.000 ms\n"
        "never                   -     it is too small\n"
        "tree                1.500 ms  1.000 by the formula, 2.000 in the last of 2 runs  taken\n";
    char text[200], cut[10];
    CU_ASSERT_EQUAL(domain_explain(rows, 3, 2, DOMAIN_CHOSEN, text, sizeof text), strlen(whole));
    CU_ASSERT_STRING_EQUAL(text, whole);
    CU_ASSERT_EQUAL(domain_explain(rows, 3, 2, 2, cut, sizeof cut), strlen(whole) + 1);
    CU_ASSERT_STRING_EQUAL(cut, "local    ");
    CU_ASSERT_EQUAL(domain_explain(rows, 3, 2, 2, NULL, 0), strlen(whole) + 1);
}

static void a_network_out_of_a_calibration(void)
{
    struct covey_calibration *made = calloc(1, sizeof *made);
    struct covey_domain_network network;
    CU_ASSERT_PTR_NOT_NULL_FATAL(made);
    made->routes[COVEY_ROUTE_TCP].known = 1;
    made->routes[COVEY_ROUTE_TCP].line = (struct covey_line){.alpha_s = 3e-5, .beta_s = 8e-8};
    CU_ASSERT_EQUAL(covey_domain_network_of(made, COVEY_ROUTE_TCP, 4, 2, &network), 0);
    CU_ASSERT_EQUAL(network.members, 4);
    CU_ASSERT_EQUAL(network.hosts, 2);
    CU_ASSERT_EQUAL(network.alpha_s, 3e-5);
    CU_ASSERT_EQUAL(network.beta_s, 8e-8);
    CU_ASSERT_EQUAL(network.one_alpha_s, 3e-5); /* calibrations know no other */
    CU_ASSERT_EQUAL(covey_domain_network_of(made, COVEY_ROUTE_TCP, 4, 1, &network), COVEY_ENOHOST);
    CU_ASSERT_EQUAL(covey_domain_network_of(made, COVEY_ROUTE_TCP, 1, 2, &network), COVEY_EINVAL);
    CU_ASSERT_EQUAL(covey_domain_network_of(made, 9, 2, 2, &network), COVEY_EINVAL);
    CU_ASSERT_EQUAL(covey_domain_network_of(NULL, COVEY_ROUTE_TCP, 2, 2, &network), COVEY_EINVAL);
    CU_ASSERT_EQUAL(covey_domain_network(NULL, &network), COVEY_EINVAL);
    free(made);
}

static char file[64]; /* in which figures are kept */

static void use_file(void)
{
    snprintf(file, sizeof file, "/tmp/domain_base_test.%ld/figures", (long)getpid());
    setenv("COVEY_SOLVERS", file, 1);
    domain_cache_forget();
}

static void remove_file(void)
{
    unlink(file);
    *strrchr(file, '/') = '\0';
    rmdir(file);
    unsetenv("COVEY_SOLVERS");
    domain_cache_forget();
}

static void figures_by_name(void)
{
    struct domain_figures figures = {NULL, 0};
    CU_ASSERT_EQUAL(domain_figure(&figures, "b"), 0);
    CU_ASSERT_EQUAL(domain_figure_set(&figures, "b", 2), 0);
    CU_ASSERT_EQUAL(domain_figure_set(&figures, "a", 1), 0);
    CU_ASSERT_EQUAL(domain_figure_set(&figures, "c", 3), 0);
    CU_ASSERT_EQUAL(domain_figure_set(&figures, "b", 4), 0);
    CU_ASSERT_EQUAL(figures.n, 3);
    CU_ASSERT_EQUAL(domain_figure(&figures, "a"), 1);
    CU_ASSERT_EQUAL(domain_figure(&figures, "b"), 4);
    CU_ASSERT_EQUAL(domain_figure(&figures, "c"), 3);
    CU_ASSERT_EQUAL(domain_figure_set(&figures, "", 1), COVEY_EINVAL);
    CU_ASSERT_EQUAL(domain_figure_set(&figures, "a b", 1), COVEY_EINVAL);
    CU_ASSERT_EQUAL(domain_figure_set(&figures, "d", 0), COVEY_EINVAL);
    CU_ASSERT_EQUAL(domain_figure_set(&figures, "d", NAN), COVEY_EINVAL);
    CU_ASSERT_EQUAL(domain_figure_set(&figures, "d", INFINITY), COVEY_EINVAL);
    domain_figures_free(&figures);
}

static void figures_of_several_machines_share_a_file(void)
{
    struct domain_figures one = {NULL, 0}, other = {NULL, 0}, read = {NULL, 0};
    use_file();
    domain_figure_set(&one, "sort", 1.5e-9);
    domain_figure_set(&one, "merge", 2e-9);
    domain_figure_set(&other, "sort", 3e-9);
    CU_ASSERT_EQUAL(domain_figures_write(&one, file, "one"), 0);
    CU_ASSERT_EQUAL(domain_figures_write(&other, file, "other"), 0);
    FILE *broken = fopen(file, "a");
    CU_ASSERT_PTR_NOT_NULL_FATAL(broken);
    fputs("one\none merge\none nothing x\n\n", broken);
    fclose(broken);
    domain_figure_set(&other, "merge", 4e-9);
    CU_ASSERT_EQUAL(domain_figures_write(&other, file, "other"), 0);
    CU_ASSERT_EQUAL(domain_figures_read(&read, file, "one"), 0);
    CU_ASSERT_EQUAL(read.n, 2);
    CU_ASSERT_DOUBLE_EQUAL(domain_figure(&read, "sort"), 1.5e-9, 1e-15);
    CU_ASSERT_DOUBLE_EQUAL(domain_figure(&read, "merge"), 2e-9, 1e-15);
    CU_ASSERT_EQUAL(domain_figures_read(&read, file, "other"), 0);
    CU_ASSERT_DOUBLE_EQUAL(domain_figure(&read, "merge"), 4e-9, 1e-15);
    CU_ASSERT_EQUAL(domain_figures_write(&one, "/proc/no/such", "one"), COVEY_ESYS);
    domain_figures_free(&one);
    domain_figures_free(&other);
    domain_figures_free(&read);
    remove_file();
}

/* Where C is all that a machine has, the locale stays: then this says little. */
static void figures_have_a_point_in_any_locale(void)
{
    static const char *const locales[] = {"de_DE.UTF-8", "fr_FR.UTF-8", "de_DE", "fr_FR"};
    struct domain_figures one = {NULL, 0}, read = {NULL, 0};
    char line[80] = "";
    use_file();
    for (int i = 0; i < 4 && setlocale(LC_NUMERIC, locales[i]) == NULL; i++)
        continue;
    domain_figure_set(&one, "sort", 1.5e-9);
    CU_ASSERT_EQUAL(domain_figures_write(&one, file, "one"), 0);
    CU_ASSERT_EQUAL(domain_figures_read(&read, file, "one"), 0);
    CU_ASSERT_DOUBLE_EQUAL(domain_figure(&read, "sort"), 1.5e-9, 1e-15);
    setlocale(LC_NUMERIC, "C");
    FILE *written = fopen(file, "r");
    CU_ASSERT_PTR_NOT_NULL_FATAL(written);
    CU_ASSERT_PTR_NOT_NULL(fgets(line, sizeof line, written));
    CU_ASSERT_STRING_EQUAL(line, "one sort 1.5e-09\n");
    fclose(written);
    domain_figures_free(&one);
    domain_figures_free(&read);
    remove_file();
}

static double expected(const char *problem, int at)
{
    struct domain_algorithm rows[] = {ROW("local", 3), ROW("tree", 1)};
    domain_history_look(problem, rows, 2);
    return domain_expected_s(&rows[at]);
}

static void runs_correct_predictions(void)
{
    use_file();
    CU_ASSERT_EQUAL(expected("test.10", 1), 1);
    domain_history_note("test.10", "tree", 1, 4); /* a first run may have been disturbed */
    CU_ASSERT_DOUBLE_EQUAL(expected("test.10", 1), 2, 1e-5);
    domain_history_note("test.10", "tree", 1, 4);
    CU_ASSERT_DOUBLE_EQUAL(expected("test.10", 1), 4, 1e-5);
    for (int i = 0; i < 2; i++)
        domain_history_note("test.10", "tree", 1, 16); /* was disturbed as well */
    CU_ASSERT_DOUBLE_EQUAL(expected("test.10", 1), 4, 1e-5);
    domain_history_note("test.10", "tree", 1, 4.4); /* steady from here on */
    CU_ASSERT_DOUBLE_EQUAL(expected("test.10", 1), 4.4, 1e-4);
    domain_history_note("test.10", "tree", 1, 4); /* a part of the way */
    CU_ASSERT_DOUBLE_EQUAL(expected("test.10", 1), sqrt(4 * 4.4), 1e-4);
    domain_history_note("test.10", "tree", 1, 16); /* as if it were a quarter */
    CU_ASSERT_DOUBLE_EQUAL(expected("test.10", 1), sqrt(4 * 4.4) * pow(1.25, 1. / 3), 1e-4);
    for (int i = 0; i < 200; i++)
        domain_history_note("test.10", "tree", 1, 0.5);
    CU_ASSERT_DOUBLE_EQUAL(expected("test.10", 1), 0.5, 1e-4);
    CU_ASSERT_EQUAL(expected("test.10", 0), 3);
    CU_ASSERT_EQUAL(expected("test.11", 1), 1);
    CU_ASSERT(domain_history_is_told("test.13", "tree", 0));  /* nothing else is known */
    CU_ASSERT(!domain_history_is_told("test.10", "tree", 0)); /* later runs are known */
    CU_ASSERT(domain_history_is_told("test.10", "tree", 1));
    CU_ASSERT(!domain_history_is_told("test.10", "tree", 5)); /* one of four */
    CU_ASSERT(domain_history_is_told("test.10", "tree", 60));
    CU_ASSERT(!domain_history_is_told("test.10", "tree", 68)); /* one of many */
    CU_ASSERT(domain_history_is_told("test.10", "tree", 96));
    CU_ASSERT_EQUAL(domain_history_count(5), 6);
    CU_ASSERT(!domain_history_is_told("test.10", "tree", domain_history_count(INT_MAX) + 4));
    domain_history_note("test.11", "tree", 1, 1e-9);
    CU_ASSERT_DOUBLE_EQUAL(expected("test.11", 1), 1 / DOMAIN_FACTOR_MOST, 1e-5);
    domain_history_note("test.11", "local", 0, 1); /* nothing was predicted: nothing is learned */
    domain_history_note("test.11", "local", 1, NAN);
    CU_ASSERT_EQUAL(expected("test.11", 0), 3);
    domain_history_note_loaded("test.12", "tree", 3, 1.2, 3); /* who was there had gone */
    CU_ASSERT_DOUBLE_EQUAL(expected("test.12", 1), 1, 1e-5);
    domain_history_note_loaded("test.12", "tree", 3, 0.5, 3); /* faster even so */
    CU_ASSERT_DOUBLE_EQUAL(expected("test.12", 1), 0.5, 1e-5);
    domain_cache_save();
    domain_cache_forget();
    CU_ASSERT_DOUBLE_EQUAL(expected("test.10", 1), 0.5, 1e-4);
    remove_file();
    CU_ASSERT_EQUAL(expected("test.10", 1), 1);
}

static double expected_of_new(const char *problem)
{
    struct domain_algorithm rows[] = {ROW("local", 1), ROW("tree", 1)};
    domain_history_expect(problem, rows, 2);
    return domain_expected_s(&rows[1]);
}

static void what_has_not_run_is_tried(void)
{
    use_file();
    CU_ASSERT_EQUAL(expected_of_new("test.20"), 1); /* nothing is known */
    domain_history_note("test.20", "local", 1, 0.8);
    CU_ASSERT_DOUBLE_EQUAL(expected_of_new("test.20"), 0.8, 1e-5); /* nor is one run much */
    domain_history_note("test.20", "local", 1, 0.8);
    CU_ASSERT_DOUBLE_EQUAL(expected_of_new("test.20"), 0.75 * 0.8, 1e-5);
    for (int i = 0; i < 2; i++)
        domain_history_note("test.21", "local", 1, 4); /* that others are slow says nothing */
    CU_ASSERT_DOUBLE_EQUAL(expected_of_new("test.21"), 0.75, 1e-5);
    domain_history_note("test.21", "tree", 1, 0.9);
    CU_ASSERT_DOUBLE_EQUAL(expected_of_new("test.21"), 0.9, 1e-5); /* it is known now */
    domain_cache_forget();
    remove_file();
}

static int choose_again(const char *problem)
{
    struct domain_algorithm rows[] = {ROW("local", 3), ROW("tree", 1)};
    domain_history_expect(problem, rows, 2);
    return domain_history_try_again(problem, rows, 2, domain_choose(rows, 2, DOMAIN_CHOSEN));
}

static void note_runs(const char *problem, const char *algorithm, double predicted_s,
                      double measured_s, int runs)
{
    for (int i = 0; i < runs; i++)
        domain_history_note(problem, algorithm, predicted_s, measured_s);
}

static void what_was_disturbed_is_tried_again(void)
{
    use_file();
    note_runs("test.30", "tree", 1e-3, 9e-3, 8); /* all disturbed */
    note_runs("test.30", "local", 3e-3, 3e-3, 1);
    CU_ASSERT_EQUAL(choose_again("test.30"), 0); /* local is not known yet: it is run */
    note_runs("test.30", "local", 3e-3, 3e-3, 1);
    CU_ASSERT_EQUAL(choose_again("test.30"), 1);
    domain_history_note("test.30", "tree", 1e-3, 8e-3); /* disturbed once more */
    CU_ASSERT_EQUAL(choose_again("test.30"), 1);
    domain_history_note("test.30", "tree", 1e-3, 1e-3); /* now the fastest run counts, */
    CU_ASSERT_DOUBLE_EQUAL(expected("test.30", 1), 1, 1e-5);
    note_runs("test.30", "tree", 1e-3, 4e-3, 2); /* for as long as in the beginning */
    CU_ASSERT_DOUBLE_EQUAL(expected("test.30", 1), 1, 1e-5);
    domain_history_note("test.30", "tree", 1e-3, 1.1e-3);
    CU_ASSERT_DOUBLE_EQUAL(expected("test.30", 1), 1.1, 1e-4);
    note_runs("test.31", "tree", 1e-3, 9e-3, 8);
    note_runs("test.31", "local", 3e-3, 3e-3, 2);
    for (int i = 0; i < 2; i++)
        CU_ASSERT_EQUAL(choose_again("test.31"), 1);
    CU_ASSERT_EQUAL(choose_again("test.31"), 0); /* that is how slow it is */
    note_runs("test.32", "tree", 1, 9, 8);
    note_runs("test.32", "local", 3, 3, 2);
    CU_ASSERT_EQUAL(choose_again("test.32"), 0); /* nothing disturbs what takes seconds */
    note_runs("test.33", "tree", 1e-3, 1e-4, 8);
    note_runs("test.33", "local", 3e-3, 9e-3, 2); /* would not be the fastest even so */
    CU_ASSERT_EQUAL(choose_again("test.33"), 1);
    CU_ASSERT_EQUAL(choose_again("test.33"), 1);
    CU_ASSERT_DOUBLE_EQUAL(expected("test.33", 1), 0.1, 1e-5);
    domain_cache_forget();
    remove_file();
}

static void a_place_out_of_a_calibration(void)
{
    struct covey_calibration *made = calloc(1, sizeof *made);
    const char *const hosts[] = {"b", "a"}, *const others[] = {"a", "c"};
    struct covey_domain_place place;
    CU_ASSERT_PTR_NOT_NULL_FATAL(made);
    made->routes[COVEY_ROUTE_TCP].known = 1;
    made->routes[COVEY_ROUTE_TCP].line = (struct covey_line){.alpha_s = 3e-5, .beta_s = 8e-8};
    made->host_count = 2;
    made->hosts[0] = (struct covey_calibration_host){.name = "a", .processors = 2, .touch_s = 7e-9};
    made->hosts[1] = (struct covey_calibration_host){.name = "b", .processors = 4};
    made->hosts[0].demand = 2;
    CU_ASSERT_EQUAL(covey_domain_place_of(made, COVEY_ROUTE_TCP, 8, hosts, 2, &place), 0);
    CU_ASSERT_EQUAL(place.network.members, 8);
    CU_ASSERT_EQUAL(place.processors, 2);
    CU_ASSERT_EQUAL(place.touch_s, 7e-9);
    CU_ASSERT_EQUAL(place.load, 1.5); /* 6 share what 4 did */
    CU_ASSERT_EQUAL(place.load_root, 1);
    CU_ASSERT_EQUAL(domain_slower(&place), 3);
    CU_ASSERT_EQUAL(domain_slower_root(&place), 1);
    place.load = 1.1; /* which may be none */
    CU_ASSERT_EQUAL(domain_wait_s(&place), 0);
    place.load = 2;
    CU_ASSERT_DOUBLE_EQUAL(domain_wait_s(&place), 3e-3, 1e-9);
    CU_ASSERT_EQUAL(covey_domain_place_of(made, COVEY_ROUTE_TCP, 2, others, 2, &place),
                    COVEY_ENOHOST);
    CU_ASSERT_STRING_EQUAL(covey_domain_error_text(), "host c was not calibrated");
    CU_ASSERT_EQUAL(covey_domain_place_of(made, COVEY_ROUTE_TCP, 1, hosts, 2, &place),
                    COVEY_EINVAL);
    CU_ASSERT_EQUAL(covey_domain_place_of(NULL, COVEY_ROUTE_TCP, 2, hosts, 2, &place),
                    COVEY_EINVAL);
    free(made);
}

int main(void)
{
    static const struct test_case cases[] = {
        {"options that are right", options_that_are_right},
        {"the environment forces", the_environment_forces},
        {"options that are wrong", options_that_are_wrong},
        {"the least time is taken", the_least_time_is_taken},
        {"one alone stays where little is gained", one_alone_stays_where_little_is_gained},
        {"the table is whole or cut", the_table_is_whole_or_cut},
        {"a network out of a calibration", a_network_out_of_a_calibration},
        {"a place out of a calibration", a_place_out_of_a_calibration},
        {"figures by name", figures_by_name},
        {"figures of several machines share a file", figures_of_several_machines_share_a_file},
        {"figures have a point in any locale", figures_have_a_point_in_any_locale},
        {"runs correct predictions", runs_correct_predictions},
        {"what has not run is tried", what_has_not_run_is_tried},
        {"what was disturbed is tried again", what_was_disturbed_is_tried_again},
    };
    return covey_test_main("domain", cases, sizeof cases / sizeof cases[0]);
}
