/*
 * packing.c - times covey_pack() and covey_unpack() of arrays of several sizes, by type and way,
 * and fits alpha + beta N: T_pack of Schmidt & Sunderam, section 2.3.
 *
 * To pack is to make a message, copy one array into it and free it, as a program does that sends
 * it; the library keeps the memory of messages for the next ones. The receiver converts: a message
 * has the byte order of its sender, and the first look into it turns it to that of this host. So a
 * message of the other byte order is made here by naming the other one in a nested message, and is
 * unpacked once; the next time there would be nothing left to convert.
 *
 * Processor time is counted, which does not depend on who else runs or on a limit of the host.
 */
#include "tools/bench/tasks/packing.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/bench/packing_type.h"
#include "tools/bench/tasks/clock.h"

static const size_t sizes[] = {16, 256, 4096, 65536, 1048576};

enum {
    SIZES = sizeof sizes / sizeof *sizes,
    BYTES_MAX = 1048576,
    STRIDE = 2,
    SAMPLES = 5,
    FOREIGN_MAX = 512, /* messages of the other byte order at a time */
    NESTED_HEAD = 8,   /* bytes of a nested message before its items; the first is its order */
    ORDERS = 1 + 2     /* the numbers of both byte orders, added up */
};

#define SAMPLE_S 1e-3

/* One type, way and size. */
struct packing {
    int type; /* enum covey_type */
    int way;
    size_t bytes, count;
    char *array; /* STRIDE * BYTES_MAX bytes, and a NUL */
    covey_msg_t *msg;
    covey_msg_t *foreign[FOREIGN_MAX];
};

static double processor_s(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static bool is_strided(const struct packing *p)
{
    return p->way == COVEY_PACKING_PACK_STRIDED || p->way == COVEY_PACKING_UNPACK_STRIDED;
}

static int pack_array(const struct packing *p, covey_msg_t *msg)
{
    if (p->type == COVEY_STRING)
        return covey_pack_string(msg, p->array);
    return covey_pack(msg, p->type, p->array, p->count, is_strided(p) ? STRIDE : 1);
}

static int unpack_array(const struct packing *p, covey_msg_t *msg)
{
    if (p->type == COVEY_STRING)
        return covey_unpack_string(msg, p->array, p->bytes + 1);
    return covey_unpack(msg, p->type, p->array, p->count, is_strided(p) ? STRIDE : 1);
}

/* ---- Messages of the other byte order -------------------------------------------------------- */

/* What makes p->msg a nested message of a host of the other byte order, in `*nest`. */
static int nest_foreign(const struct packing *p, covey_msg_t **nest)
{
    covey_msg_t *own = covey_msg_new();
    const void *view = NULL;
    size_t bytes = 0;
    *nest = covey_msg_new();
    int error = own && *nest ? covey_pack_msg(own, p->msg) : COVEY_ENOMEM;
    if (error == 0)
        error = covey_unpack_view(own, COVEY_MESSAGE, &view, &bytes);
    char *copy = error == 0 && bytes > NESTED_HEAD ? malloc(bytes) : NULL;
    if (copy) {
        memcpy(copy, view, bytes);
        copy[0] = (char)(ORDERS - copy[0]);
        error = covey_pack(*nest, COVEY_MESSAGE, copy, bytes, 1);
    } else if (error == 0) {
        error = COVEY_ENOMEM;
    }
    free(copy);
    covey_msg_free(own);
    return error;
}

/* Fills `foreign` with so many messages. */
static int make_foreign(struct packing *p, covey_msg_t *nest, long count)
{
    int error = 0;
    for (long i = 0; i < count && error == 0; i++) {
        covey_msg_rewind(nest);
        error = covey_unpack_msg(nest, &p->foreign[i]);
    }
    return error;
}

static void free_foreign(struct packing *p)
{
    for (int i = 0; i < FOREIGN_MAX; i++) {
        covey_msg_free(p->foreign[i]);
        p->foreign[i] = NULL;
    }
}

/* ---- Timing ---------------------------------------------------------------------------------- */

/* Seconds of so many; below 0: an error. */
static double time_of(struct packing *p, long times)
{
    int error = 0;
    double begin_s = processor_s();
    for (long i = 0; i < times && error == 0; i++) {
        if (p->way == COVEY_PACKING_PACK || p->way == COVEY_PACKING_PACK_STRIDED) {
            covey_msg_t *msg = covey_msg_new();
            error = msg ? pack_array(p, msg) : COVEY_ENOMEM;
            covey_msg_free(msg);
        } else if (p->way == COVEY_PACKING_CONVERT) {
            error = unpack_array(p, p->foreign[i]);
        } else {
            covey_msg_rewind(p->msg);
            error = unpack_array(p, p->msg);
        }
    }
    double seconds = processor_s() - begin_s;
    return error ? -1 : seconds;
}

/* As many as take SAMPLE_S, or as there are messages to convert; the first ones warm up. */
static double sample(struct packing *p, covey_msg_t *nest, long *times)
{
    long most = BYTES_MAX / (long)p->bytes < FOREIGN_MAX ? BYTES_MAX / (long)p->bytes : FOREIGN_MAX;
    if (p->way == COVEY_PACKING_CONVERT) {
        *times = most;
        double seconds = make_foreign(p, nest, most) == 0 ? time_of(p, most) : -1;
        free_foreign(p);
        return seconds;
    }
    double seconds = time_of(p, *times);
    while (seconds >= 0 && seconds < SAMPLE_S / 2) {
        *times *= 2;
        seconds = time_of(p, *times);
    }
    return seconds;
}

static int compare_s(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* The median; below 0: an error. */
static double measure(struct packing *p)
{
    double each_s[SAMPLES] = {0};
    covey_msg_t *nest = NULL;
    long times = 1;
    p->msg = covey_msg_new();
    int error = p->msg ? pack_array(p, p->msg) : COVEY_ENOMEM;
    if (error == 0 && p->way == COVEY_PACKING_CONVERT)
        error = nest_foreign(p, &nest);
    for (int i = -1; i < SAMPLES && error == 0; i++) {
        double seconds = sample(p, nest, &times);
        if (seconds < 0)
            error = COVEY_EPROTO;
        else if (i >= 0)
            each_s[i] = seconds / (double)times;
    }
    covey_msg_free(nest);
    covey_msg_free(p->msg);
    p->msg = NULL;
    qsort(each_s, SAMPLES, sizeof *each_s, compare_s);
    return error ? -1 : each_s[SAMPLES / 2];
}

/* ---- All ------------------------------------------------------------------------------------- */

static int measure_line(struct packing *p, int place)
{
    double bytes[SIZES], seconds[SIZES];
    struct covey_line line;
    for (int i = 0; i < SIZES; i++) {
        p->bytes = sizes[i];
        p->count = p->bytes / covey_type_size(p->type);
        p->array[p->bytes] = p->type == COVEY_STRING ? '\0' : 'x';
        bytes[i] = (double)p->bytes;
        seconds[i] = measure(p);
        p->array[p->bytes] = 'x';
        if (seconds[i] < 0)
            return -1;
    }
    if (covey_line_fit(bytes, seconds, SIZES, &line) != 0)
        return -1;
    printf("packing %d %d %.6g %.6g %.6g %.4g\n", place, p->way, line.alpha_s, line.beta_s, line.r2,
           line.worst);
    return 0;
}

int packing_measure(void)
{
    struct packing p = {.array = malloc(STRIDE * BYTES_MAX + 1)};
    double begin_s = processor_s(), elapsed_s = (double)clock_ns() / 1e9;
    int failed = p.array == NULL;
    if (p.array)
        memset(p.array, 'x', STRIDE * BYTES_MAX + 1);
    for (int place = 0; place < COVEY_PACKING_TYPES && !failed; place++) {
        p.type = packing_type(place);
        for (p.way = 0; p.way < COVEY_PACKING_WAYS && !failed; p.way++) {
            bool whole = p.type == COVEY_STRING || p.type == COVEY_BYTES; /* not by elements */
            if (!whole || !is_strided(&p))
                failed = measure_line(&p, place) != 0;
        }
    }
    free(p.array);
    if (failed)
        fprintf(stderr, "covey-bench: packing cannot be measured: %s\n", covey_error_text());
    double share = (processor_s() - begin_s) / ((double)clock_ns() / 1e9 - elapsed_s);
    printf("share %.4f\n", share < 1 ? share : 1);
    return failed || fflush(stdout) != 0 ? 1 : 0;
}
