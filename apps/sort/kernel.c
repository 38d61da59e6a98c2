/*
 * kernel.c - times the two operations of sort on this host: to sort keys and to merge sorted runs.
 */
#include "apps/sort/kernel.h"

#include "apps/kernel.h"
#include "apps/sort/keys.h"

#include <err.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define KEYS ((size_t)1 << 19) /* more than most caches next to a processor hold */

struct lists {
    int64_t *made, *keys, *scratch;
};

static void copy_keys(void *context)
{
    struct lists *lists = context;
    memcpy(lists->keys, lists->made, KEYS * sizeof *lists->keys);
}

static void sort(void *context)
{
    struct lists *lists = context;
    keys_sort(lists->keys, KEYS);
}

static void copy_runs(void *context)
{
    struct lists *lists = context;
    copy_keys(lists);
    keys_sort(lists->keys, KEYS / 2);
    keys_sort(lists->keys + KEYS / 2, KEYS / 2);
}

static void merge(void *context)
{
    struct lists *lists = context;
    keys_merge(lists->keys, KEYS / 2, KEYS, lists->scratch);
}

int keys_kernel(void)
{
    struct lists lists = {.made = calloc(KEYS, sizeof(int64_t)),
                          .keys = calloc(KEYS, sizeof(int64_t)),
                          .scratch = calloc(KEYS, sizeof(int64_t))};
    int status = EXIT_FAILURE;
    if (lists.made != NULL && lists.keys != NULL && lists.scratch != NULL) {
        struct kernel kernel;
        keys_make(1, lists.made, KEYS);
        kernel_begin(&kernel);
        kernel_time("sort", 0, (double)KEYS * log2((double)KEYS), copy_keys, sort, &lists);
        kernel_time("merge", 0, (double)KEYS, copy_runs, merge, &lists);
        status = kernel_end(&kernel);
    } else
        warnx("out of memory for the keys");
    free(lists.made);
    free(lists.keys);
    free(lists.scratch);
    return status;
}
