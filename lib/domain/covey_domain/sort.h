/*
 * covey_domain/sort.h - sorting an array that lies at the members of a team.
 */
#ifndef COVEY_DOMAIN_SORT_H
#define COVEY_DOMAIN_SORT_H

#include "base.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct covey_sort covey_sort_t; /* what is sorted, by which team, and how fast that is */

/* Below 0, 0 or above 0 as the left record comes before, beside or behind the right one. Called by
 * the sorting thread alone. */
typedef int covey_sort_compare_fn(const void *left, const void *right, void *context);

/* What is sorted; the same at all members. Numbers come in rising order, complex ones by their real
 * and then their imaginary part, -0 before +0, each NaN behind all other numbers; BYTES are numbers
 * of 8 bits. With a comparison they are records, which are sent as they are between all hosts. */
struct covey_sort_kind {
    int32_t type;        /* of numbers; BYTES for records */
    int32_t stable;      /* 1: records that compare equal stay in the order of ranks and places */
    size_t record_bytes; /* of a record; 0 for numbers */
    covey_sort_compare_fn *compare; /* NULL for numbers */
    void *context;                  /* the caller's, given to each comparison */
};

/* Makes a handle and measures this member's speed of sorting and, when `network` is NULL, the
 * network. `options` is NULL, or text that forces, as "sort=sample"; COVEY_SORT in the environment
 * counts instead. The handle ends with covey_sort_free(), which comes before the end of the team. A
 * collective call.
 * Errors: EINVAL (an argument or an option; covey_domain_error_text() names what is allowed),
 * ENOMEM, and those of all collective calls. */
int covey_sort_create(covey_team_t *team, const struct covey_sort_kind *kind, const char *options,
                      const struct covey_domain_network *network, covey_sort_t **sort);

/* Sorts all members' arrays as one: `count` elements at base, which may differ from member to
 * member and be 0. Afterwards each member has as many as before, those of rank 0 first. On an error
 * the array is as it was. A collective call. Errors: EINVAL (base is NULL, too many elements for a
 * size_t of bytes, an algorithm that was forced cannot be taken here: at all members), ENOMEM, and
 * those of all collective calls, after which the team is broken. */
int covey_sort_run(covey_sort_t *sort, void *base, size_t count);

/* The same, but the result stays where the algorithm leaves it: *sorted (free with covey_free();
 * NULL when there is none) gets *sorted_count elements. The array at base is only read. */
int covey_sort_run_uneven(covey_sort_t *sort, const void *base, size_t count, void **sorted,
                          size_t *sorted_count);

/* Writes a table of what each algorithm is expected to take for so many elements of all members
 * together, each with the same number, and returns its length; it is cut at `size`. Not collective.
 */
size_t covey_sort_explain(const covey_sort_t *sort, uint64_t total, char *text, size_t size);

/* The name of the algorithm that the last run took; "" before the first one. */
const char *covey_sort_taken(const covey_sort_t *sort);

/* Frees the handle and sets *sort to NULL; not collective. NULL is fine. */
void covey_sort_free(covey_sort_t **sort);

#ifdef __cplusplus
}
#endif
#endif
