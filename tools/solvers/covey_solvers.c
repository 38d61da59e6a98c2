/*
 * covey_solvers.c - what `covey predict` and `covey calibrate` know of the solvers. The console is
 * not linked to these, for their libraries (FFTW, BLAS) are not on every machine that has a
 * console.
 *
 *   covey-solvers list                              a library a line, and what its sizes look like
 *   covey-solvers calibrate [LIBRARY...]            measures the kernels of this machine
 *   covey-solvers predict LIBRARY SIZE VM ROUTE MEMBERS table|json HOST=DEMAND...
 *                                                   SIZE - is the usual one; DEMAND: of others
 *
 * Errors are one line, which the console passes on as its own.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/domain/covey_domain.h"

#define HOSTS_MAX COVEY_MODEL_HOSTS_MAX

static int fail(const char *text)
{
    fprintf(stderr, "covey: predict: %s\n", text);
    return 1;
}

static int list(void)
{
    for (int i = 0; covey_domain_library(i) != NULL; i++) {
        const char *name = covey_domain_library(i);
        printf("%-10s %s (%s)\n", name, covey_domain_library_sizes(name),
               covey_domain_library_usual(name));
    }
    return 0;
}

static int calibrate(int count, char **names)
{
    const char *name;
    int error = 0;
    for (int i = 0; error == 0; i++) {
        name = count > 0 ? i < count ? names[i] : NULL : covey_domain_library(i);
        if (name == NULL)
            return 0;
        error = covey_domain_calibrate(name);
    }
    return fail(covey_domain_error_text());
}

/* ---- Predicting ------------------------------------------------------------------------------ */

struct request {
    const char *library, *size;
    int route, members, is_json, host_count;
    char *hosts[HOSTS_MAX];
    struct covey_domain_place place;
};

static int find(const struct covey_calibration *calibration, const char *name)
{
    int at = 0;
    while (at < calibration->host_count && strcmp(calibration->hosts[at].name, name) != 0)
        at++;
    return at;
}

/* Which hosts, with the demand of others there. */
static void read_hosts(struct request *r, struct covey_calibration *calibration, int n,
                       char **words)
{
    for (int i = 0; i < n && i < HOSTS_MAX; i++) {
        char *equals = strchr(words[i], '=');
        if (equals != NULL)
            *equals = '\0';
        int at = find(calibration, words[i]);
        if (equals != NULL && at < calibration->host_count)
            calibration->hosts[at].demand = strtod(equals + 1, NULL);
        r->hosts[r->host_count++] = words[i];
    }
}

static void print_table(const struct request *r, const struct covey_domain_prediction *rows, int n)
{
    const struct covey_domain_network *net = &r->place.network;
    printf("%s of %s: %d member%s on %d host%s, alpha %.1f us, beta %.3f ns", r->library, r->size,
           (int)net->members, net->members == 1 ? "" : "s", (int)net->hosts,
           net->hosts == 1 ? "" : "s", net->alpha_s * 1e6, net->beta_s * 1e9);
    printf(r->place.load > 1.05 ? ", load %.2f\n\n" : "\n\n", r->place.load);
    printf("%-12s %12s\n", "algorithm", "seconds");
    for (int i = 0; i < n; i++)
        if (rows[i].refusal[0] != '\0')
            printf("%-12s %12s  %s\n", rows[i].algorithm, "-", rows[i].refusal);
        else
            printf("%-12s %12.6f%s\n", rows[i].algorithm, rows[i].seconds,
                   rows[i].taken ? "  taken" : "");
}

static void print_json(const struct request *r, const struct covey_domain_prediction *rows, int n)
{
    printf(
        "{\"library\": \"%s\", \"size\": \"%s\", \"members\": %d, \"hosts\": %d, \"load\": %.3f, "
        "\"algorithms\": [",
        r->library, r->size, (int)r->place.network.members, (int)r->place.network.hosts,
        r->place.load);
    for (int i = 0; i < n; i++) {
        printf("%s{\"name\": \"%s\", ", i > 0 ? ", " : "", rows[i].algorithm);
        if (rows[i].refusal[0] != '\0')
            printf("\"refusal\": \"%s\"}", rows[i].refusal);
        else
            printf("\"total_s\": %.9g, \"taken\": %s}", rows[i].seconds,
                   rows[i].taken ? "true" : "false");
    }
    printf("]}\n");
}

/* One member alone sends nothing: no route is asked for. */
static int learn_place(struct request *r, const struct covey_calibration *calibration)
{
    if (r->members > 1 || r->host_count > 1)
        return covey_domain_place_of(calibration, r->route, r->members,
                                     (const char *const *)r->hosts, r->host_count, &r->place);
    int at = find(calibration, r->hosts[0]);
    r->place = (struct covey_domain_place){.load = 1, .load_root = 1, .processors = 1};
    r->place.network.members = r->place.network.hosts = 1;
    if (at == calibration->host_count)
        return 0;
    const struct covey_calibration_host *host = &calibration->hosts[at];
    double load = (1 + host->demand) / (host->processors > 0 ? host->processors : 1);
    r->place.load = r->place.load_root = load > 1 ? load : 1;
    return 0;
}

static int predict(int argc, char **argv)
{
    struct covey_domain_prediction rows[COVEY_DOMAIN_PREDICTIONS_MAX];
    struct covey_calibration *calibration = NULL;
    struct request r = {.library = argv[0], .size = argv[1]};
    if (strcmp(r.size, "-") == 0)
        r.size = covey_domain_library_usual(r.library);
    if (r.size == NULL)
        return fail(covey_domain_error_text());
    if (covey_calibration_load(argv[2], &calibration) < 0)
        return fail(covey_error_text());
    r.route = covey_route_parse(argv[3]);
    r.members = atoi(argv[4]);
    r.is_json = strcmp(argv[5], "json") == 0;
    read_hosts(&r, calibration, argc - 6, argv + 6);
    int n = learn_place(&r, calibration);
    if (n == 0)
        n = covey_domain_predict(r.library, r.size, &r.place, rows);
    covey_free(calibration);
    if (n == COVEY_ENOHOST && strstr(covey_domain_error_text(), "was not measured") != NULL) {
        fprintf(stderr, "covey: predict: %s: run covey calibrate\n", covey_domain_error_text());
        return 1;
    }
    if (n < 0)
        return fail(covey_domain_error_text());
    (r.is_json ? print_json : print_table)(&r, rows, n);
    return 0;
}

int main(int argc, char **argv)
{
    if (argc == 2 && strcmp(argv[1], "list") == 0)
        return list();
    if (argc >= 2 && strcmp(argv[1], "calibrate") == 0)
        return calibrate(argc - 2, argv + 2);
    if (argc >= 9 && strcmp(argv[1], "predict") == 0)
        return predict(argc - 2, argv + 2);
    return fail("covey-solvers is a part of covey predict and covey calibrate");
}
