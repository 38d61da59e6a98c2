/*
 * library.c - sorting as `covey predict` sees it: numbers of 64 bits, equally divided, and the
 * result as they came.
 */
#include "lib/domain/base/library.h"

#include "lib/domain/base/error.h"
#include "lib/domain/base/sizes.h"
#include "lib/domain/sort/algorithms.h"
#include "lib/domain/sort/speed.h"

#define SIZES "a number of keys, such as 100000 or 8M"

static int predict(const char *size, const struct covey_domain_place *place,
                   const struct domain_figures *figures, struct domain_algorithm *rows)
{
    struct sort_cost cost = {.bytes = 8, .keeps_counts = 1, .place = *place};
    int64_t total;
    int error = domain_sizes_read(size, SIZES, 1, &total);
    if (error < 0)
        return error;
    if (!speed_of_figures(figures, speed_together(place), &cost.speeds))
        return domain_fail(COVEY_ENOHOST, "how fast this machine sorts was not measured");
    cost.total = (double)total;
    cost.kept = 8 * cost.total * 5; /* what a program takes that sorts again and again */
    sort_predict(&cost, 0, rows);
    return SORT_ALGORITHMS;
}

extern const struct domain_library domain_library_sort;
const struct domain_library domain_library_sort = {.name = "sort",
                                                   .sizes = SIZES,
                                                   .usual = "8M",
                                                   .predict = predict,
                                                   .measure = speed_measure_figures};
