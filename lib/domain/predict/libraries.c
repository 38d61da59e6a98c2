/*
 * libraries.c - predictions of all libraries by name. Rooms do not know each other: here alone they
 * stand in one table, weakly, for a room that is left out has no row.
 */
#include "lib/domain/predict/libraries.h"

#include "lib/domain/base/cache.h"
#include "lib/domain/base/error.h"
#include "lib/domain/base/options.h"
#include "lib/domain/covey_domain/predict.h"

#include <stdio.h>
#include <string.h>

#define PLACE(name) &domain_library_##name,
static const struct domain_library *const table[] = {DOMAIN_LIBRARIES(PLACE)};
enum { PLACES = sizeof table / sizeof *table };

const char *covey_domain_library(int i)
{
    for (int at = 0; at < PLACES; at++)
        if (table[at] != NULL && i-- == 0)
            return table[at]->name;
    return NULL;
}

static const struct domain_library *find(const char *name)
{
    char known[256] = "";
    size_t used = 0;
    for (int at = 0; at < PLACES && name != NULL; at++)
        if (table[at] != NULL && strcmp(table[at]->name, name) == 0)
            return table[at];
    for (int i = 0; covey_domain_library(i) != NULL && used < sizeof known; i++)
        used += (size_t)snprintf(known + used, sizeof known - used, " %s", covey_domain_library(i));
    domain_fail(COVEY_EINVAL, "there is no library '%s': there are%s", name != NULL ? name : "",
                known);
    return NULL;
}

const char *covey_domain_library_sizes(const char *library)
{
    const struct domain_library *found = find(library);
    return found != NULL ? found->sizes : NULL;
}

const char *covey_domain_library_usual(const char *library)
{
    const struct domain_library *found = find(library);
    return found != NULL ? found->usual : NULL;
}

static int is_right(const struct covey_domain_place *place)
{
    return place != NULL && place->network.hosts >= 1 &&
           place->network.members >= place->network.hosts && place->network.alpha_s >= 0 &&
           place->network.beta_s >= 0;
}

static void set_row(const struct domain_algorithm *from, struct covey_domain_prediction *to)
{
    *to = (struct covey_domain_prediction){.seconds = domain_expected_s(from)};
    snprintf(to->algorithm, sizeof to->algorithm, "%s", from->name);
    snprintf(to->refusal, sizeof to->refusal, "%s", from->refusal != NULL ? from->refusal : "");
}

int covey_domain_predict(const char *library, const char *size,
                         const struct covey_domain_place *place,
                         struct covey_domain_prediction rows[COVEY_DOMAIN_PREDICTIONS_MAX])
{
    struct domain_algorithm algorithms[DOMAIN_ALGORITHMS_MOST] = {{.name = NULL}};
    struct domain_figures figures;
    const struct domain_library *found = find(library);
    if (found == NULL)
        return COVEY_EINVAL;
    if (!is_right(place) || rows == NULL)
        return domain_fail(COVEY_EINVAL, "the place or the rows are NULL, or make no sense");
    int n = domain_cache_copy(&figures);
    if (n < 0)
        return n;
    n = found->predict(size != NULL ? size : found->usual, place, &figures, algorithms);
    domain_figures_free(&figures);
    int taken = n > 0 ? domain_choose(algorithms, n, DOMAIN_CHOSEN) : n;
    for (int i = 0; i < n; i++) {
        set_row(&algorithms[i], &rows[i]);
        rows[i].taken = i == taken;
    }
    return n;
}

int covey_domain_calibrate(const char *library)
{
    struct domain_figures figures = {NULL, 0};
    const struct domain_library *found = find(library);
    if (found == NULL)
        return COVEY_EINVAL;
    int error = found->measure(&figures);
    for (size_t i = 0; error == 0 && i < figures.n; i++)
        domain_cache_set(figures.list[i].name, figures.list[i].value);
    domain_figures_free(&figures);
    if (error == 0)
        domain_cache_save();
    return error;
}
