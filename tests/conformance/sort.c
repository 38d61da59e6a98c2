/* links: tests/conformance/story.c libcovey-domain */
/*
 * sort.c - arrays over the members of a team are sorted as qsort() sorts the whole of them.
 *
 *   sort MEMBERS          spawns the others, and tests teams of 1 .. MEMBERS
 *   sort member MEMBERS   is what it spawns
 *
 * Every algorithm on every type, with keys of seven shapes and pieces of eight sorts of sizes. A
 * team of up to three members takes half of the shapes, a larger one every second type and a third
 * of the shapes, others from team to team. All members make the whole from a seed, and sort it for
 * themselves with a comparison of their own.
 */
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/domain/covey_domain.h"
#include "tests/conformance/story.h"

#define MEMBERS_MAX 16
#define RECORD 0 /* in the place of a type: records */
#define TYPES 15 /* places below it that may be types */

static const char *const algorithms[] = {"local", "tree", "sample", "histogram", "hypercube", NULL};
enum shape { RANDOM, SORTED, REVERSED, EQUAL, FEW, ZIPF, STAGGERED, SHAPES };
enum { SIZES = 8 };

struct record {
    int32_t key, rank, index;
};

/* ---- keys ---- */

static uint64_t hash(uint64_t x)
{
    x = (x ^ (x >> 31)) * 0x7fb5d329728ea185u;
    x = (x ^ (x >> 27)) * 0x81dadef4bc2dd44du;
    return x ^ (x >> 33);
}

/* The key at a place of the whole of n, which the rank has. */
static int64_t key_of(enum shape shape, int64_t at, int64_t n, int rank, int size)
{
    uint64_t random = hash((uint64_t)at * 31 + (uint64_t)shape + 7);
    switch (shape) {
    case SORTED:
        return at - n / 2;
    case REVERSED:
        return n / 2 - at;
    case EQUAL:
        return -5;
    case FEW:
        return (int64_t)(random % 4) - 2;
    case ZIPF:
        return (int64_t)exp((double)(random % 1000) / 1000 * log(1000));
    case STAGGERED:
        return (rank * 2 + 1) % size * 1000 + (int64_t)(random % 1000);
    default:
        return (int64_t)random;
    }
}

static double number_of(enum shape shape, int64_t key, int64_t at)
{
    static const double special[] = {NAN, -NAN, INFINITY, -INFINITY, 0.0, -0.0};
    return shape != SORTED && at % 5 == 2 ? special[hash((uint64_t)at) % 6] : (double)key * 0.5;
}

static size_t size_of(int type)
{
    static const size_t sizes[TYPES] = {
        sizeof(struct record), 1, 2, 4, 8, 1, 2, 4, 8, 4, 8, 8, 16, 0, 1};
    return sizes[type];
}

static void put_floats(int type, double real, double imaginary, char *to)
{
    float single[2] = {(float)real, (float)imaginary};
    double two[2] = {real, imaginary};
    int is_single = type == COVEY_FLOAT || type == COVEY_COMPLEX_FLOAT;
    memcpy(to, is_single ? (void *)single : (void *)two, size_of(type));
}

/* The bytes of an integer's lowest end are those of a narrower one. */
static void put_integer(int type, int64_t key, char *to)
{
    int8_t narrow = (int8_t)key;
    int16_t two = (int16_t)key;
    int32_t four = (int32_t)key;
    size_t size = size_of(type);
    memcpy(to,
           size == 1   ? (void *)&narrow
           : size == 2 ? (void *)&two
           : size == 4 ? (void *)&four
                       : (void *)&key,
           size);
}

/* ---- the whole ---- */

struct whole {
    int type;
    size_t size, n;
    size_t counts[MEMBERS_MAX], starts[MEMBERS_MAX + 1];
    char *made, *sorted;
};

static size_t count_of(int sizes, int rank, int size)
{
    size_t r = (size_t)rank;
    switch (sizes) {
    case 0:
        return 0;
    case 1:
        return rank == size - 1;
    case 2:
        return rank < size - 1;
    case 3:
        return rank % 2 ? 0 : 13;
    case 4:
        return 50 + 7 * r;
    case 5:
        return rank == size / 2 ? 301 : 0;
    case 6:
        return 211;
    default:
        return 1500 + r;
    }
}

static void whole_fill(struct whole *w, enum shape shape, int rank, int size)
{
    for (size_t i = 0; i < w->counts[rank]; i++) {
        size_t at = w->starts[rank] + i;
        int64_t place = (int64_t)at, key = key_of(shape, place, (int64_t)w->n, rank, size);
        char *to = w->made + at * w->size;
        if (w->type == RECORD) {
            struct record record = {(int32_t)(key % 1000000), rank, (int32_t)i};
            memcpy(to, &record, sizeof record);
        } else if (w->type >= COVEY_FLOAT && w->type <= COVEY_COMPLEX_DOUBLE) {
            double real = w->type >= COVEY_COMPLEX_FLOAT ? number_of(shape, key % 3, place)
                                                         : number_of(shape, key, place);
            put_floats(w->type, real, number_of(shape, key, place + 1), to);
        } else
            put_integer(w->type, key, to);
    }
}

/* ---- the order, as the manual has it ---- */

static int by_float(double a, double b)
{
    if (isnan(a) || isnan(b))
        return isnan(a) && isnan(b) ? !!signbit(a) - !!signbit(b) : isnan(a) ? 1 : -1;
    if (a != b)
        return a < b ? -1 : 1;
    return !!signbit(b) - !!signbit(a);
}

static double float_at(int type, const void *base, int i)
{
    float single;
    double two;
    if (type == COVEY_FLOAT || type == COVEY_COMPLEX_FLOAT)
        return memcpy(&single, (const char *)base + (size_t)i * sizeof single, sizeof single),
               (double)single;
    memcpy(&two, (const char *)base + (size_t)i * sizeof two, sizeof two);
    return two;
}

static int by_integer(int type, const void *a, const void *b)
{
    uint64_t left = 0, right = 0;
    size_t size = size_of(type), bits = 64 - 8 * size;
    unsigned char end_test[2] = {1, 0};
    uint16_t one;
    memcpy(&one, end_test, sizeof one);
    size_t skip = one == 1 ? 0 : 8 - size;
    memcpy((char *)&left + skip, a, size);
    memcpy((char *)&right + skip, b, size);
    left <<= bits;
    right <<= bits;
    if (type <= COVEY_INT64) /* signed */
        return (int64_t)left < (int64_t)right ? -1 : left != right;
    return left < right ? -1 : left > right;
}

static int by_key(const void *a, const void *b, void *calls)
{
    const struct record *left = a, *right = b;
    if (calls != NULL)
        ++*(long *)calls;
    return left->key < right->key ? -1 : left->key > right->key;
}

static int by_order(const void *a, const void *b, void *type_at)
{
    int type = *(const int *)type_at;
    if (type == RECORD) {
        const struct record *left = a, *right = b;
        int sign = by_key(a, b, NULL);
        if (sign == 0)
            sign = left->rank < right->rank ? -1 : left->rank > right->rank;
        return sign != 0 ? sign : left->index < right->index ? -1 : left->index > right->index;
    }
    if (type < COVEY_FLOAT || type > COVEY_COMPLEX_DOUBLE)
        return by_integer(type, a, b);
    int sign = by_float(float_at(type, a, 0), float_at(type, b, 0));
    if (sign == 0 && type >= COVEY_COMPLEX_FLOAT)
        sign = by_float(float_at(type, a, 1), float_at(type, b, 1));
    return sign;
}

static void whole_make(struct whole *w, int type, enum shape shape, int sizes, int members)
{
    *w = (struct whole){.type = type, .size = size_of(type)};
    for (int i = 0; i < members; i++) {
        w->counts[i] = count_of(sizes, i, members);
        w->starts[i + 1] = w->starts[i] + w->counts[i];
    }
    w->n = w->starts[members];
    w->made = calloc(w->n + 1, w->size);
    w->sorted = calloc(w->n + 1, w->size);
    for (int i = 0; i < members; i++)
        whole_fill(w, shape, i, members);
    memcpy(w->sorted, w->made, w->n * w->size);
    qsort_r(w->sorted, w->n, w->size, by_order, &type);
}

static void whole_free(struct whole *w)
{
    free(w->made);
    free(w->sorted);
}

/* ---- what a member got ---- */

/* Each record is there once, though equal ones may have changed places. */
static int same_records(covey_team_t *team, const struct whole *w, const char *got, size_t start,
                        size_t n)
{
    uint64_t mine = 0, sum = 0, wanted = 0;
    int good = 1;
    for (size_t i = 0; i < n; i++) {
        struct record r, s;
        memcpy(&r, got + i * w->size, sizeof r);
        memcpy(&s, w->sorted + (start + i) * w->size, sizeof s);
        good = good && r.key == s.key;
        mine += hash((uint64_t)r.rank << 32 | (uint32_t)r.index);
    }
    for (size_t i = 0; i < w->n; i++) {
        struct record s;
        memcpy(&s, w->sorted + i * w->size, sizeof s);
        wanted += hash((uint64_t)s.rank << 32 | (uint32_t)s.index);
    }
    return covey_allreduce(team, COVEY_OP_SUM, COVEY_UINT64, &mine, &sum, 1) == 0 && good &&
           sum == wanted;
}

static int same_part(covey_team_t *team, const struct whole *w, const char *got, size_t start,
                     size_t n, int is_stable)
{
    if (start + n > w->n)
        return 0;
    if (w->type == RECORD && !is_stable)
        return same_records(team, w, got, start, n);
    return n == 0 || memcmp(got, w->sorted + start * w->size, n * w->size) == 0;
}

/* Where this member's part begins, when all of them have the whole. */
static int place_of(covey_team_t *team, const struct whole *w, size_t n, size_t *start)
{
    uint64_t mine = n, counts[MEMBERS_MAX], sum = 0;
    if (covey_allgather(team, COVEY_UINT64, &mine, counts, 1) != 0)
        return 0;
    for (int i = 0; i < covey_team_size(team); i++) {
        if (i == covey_team_rank(team))
            *start = (size_t)sum;
        sum += counts[i];
    }
    return sum == w->n;
}

static int is_kept(covey_team_t *team, covey_sort_t *sort, const struct whole *w, int is_stable)
{
    int rank = covey_team_rank(team);
    size_t n = w->counts[rank];
    char *base = malloc(n * w->size + 1);
    memcpy(base, w->made + w->starts[rank] * w->size, n * w->size);
    int good = covey_sort_run(sort, base, n) == 0 &&
               same_part(team, w, base, w->starts[rank], n, is_stable);
    free(base);
    return good;
}

static int is_left(covey_team_t *team, covey_sort_t *sort, const struct whole *w, int is_stable)
{
    int rank = covey_team_rank(team);
    void *got = NULL;
    size_t n = 0, start = 0;
    int good = covey_sort_run_uneven(sort, w->made + w->starts[rank] * w->size, w->counts[rank],
                                     &got, &n) == 0;
    good = good && place_of(team, w, n, &start) && same_part(team, w, got, start, n, is_stable);
    covey_free(got);
    return good;
}

/* ---- all of them ---- */

static long comparisons;

static struct covey_sort_kind kind_of(int type, int is_stable)
{
    if (type != RECORD)
        return (struct covey_sort_kind){.type = type};
    return (struct covey_sort_kind){.type = COVEY_BYTES,
                                    .stable = is_stable,
                                    .record_bytes = sizeof(struct record),
                                    .compare = by_key,
                                    .context = &comparisons};
}

static void shapes_of(covey_team_t *team, covey_sort_t *sort, int type, int algorithm)
{
    int members = covey_team_size(team),
        is_stable = strcmp(algorithms[algorithm], "hypercube") != 0;
    char name[120];
    for (int shape = 0; shape < SHAPES; shape++) {
        struct whole w;
        if ((shape + type + algorithm + members) % (members > 3 ? 3 : 2) != 0)
            continue;
        int sizes = (shape + type + members) % SIZES, others = (sizes + 3 + algorithm) % SIZES;
        snprintf(name, sizeof name, "%s: type %d, shape %d, sizes %d and %d, %d members",
                 algorithms[algorithm], type, shape, sizes, others, members);
        whole_make(&w, type, (enum shape)shape, sizes, members);
        check(name, is_kept(team, sort, &w, is_stable));
        whole_free(&w);
        whole_make(&w, type, (enum shape)shape, others, members);
        check(name, is_left(team, sort, &w, is_stable));
        whole_free(&w);
        check("the forced one is taken",
              strcmp(covey_sort_taken(sort), algorithms[algorithm]) == 0);
    }
}

static void algorithms_of(covey_team_t *team, const struct covey_domain_network *network)
{
    int members = covey_team_size(team);
    for (int type = RECORD; type < TYPES; type++) {
        if (members > 3 && (type + members) % 2 != 0)
            continue;
        for (int i = 0; size_of(type) > 0 && algorithms[i] != NULL; i++) {
            struct covey_sort_kind kind = kind_of(type, 0);
            covey_sort_t *sort = NULL;
            check("a sort is made",
                  covey_sort_create(team, &kind, algorithms[i], network, &sort) == 0);
            if (sort != NULL)
                shapes_of(team, sort, type, i);
            covey_sort_free(&sort);
        }
    }
}

/* The choice is any; a stable one is no hypercube. */
static void chosen(covey_team_t *team)
{
    struct covey_sort_kind kind = kind_of(RECORD, 1);
    covey_sort_t *sort = NULL;
    struct whole w;
    char table[600];
    check("a sort is made without a network",
          covey_sort_create(team, &kind, NULL, NULL, &sort) == 0);
    if (sort == NULL)
        return;
    for (int sizes = 0; sizes < SIZES; sizes++) {
        whole_make(&w, RECORD, FEW, sizes, covey_team_size(team));
        check("what is chosen sorts, and is stable", is_kept(team, sort, &w, 1));
        whole_free(&w);
    }
    check("its name is known", covey_sort_taken(sort)[0] != '\0');
    size_t length = covey_sort_explain(sort, 100000, table, sizeof table);
    check("the table is there", length == strlen(table) && strstr(table, "taken") != NULL);
    check("hypercube is refused in it", strstr(table, "it is not stable") != NULL);
    covey_sort_free(&sort);
    if (covey_team_rank(team) == 0 && covey_team_size(team) == 4)
        fputs(table, stdout);
}

static void is_wrong(covey_team_t *team, const struct covey_sort_kind *kind, const char *options,
                     const char *says)
{
    covey_sort_t *sort = NULL;
    int error = covey_sort_create(team, kind, options, NULL, &sort);
    check(says, error == COVEY_EINVAL && sort == NULL);
    check(says, strstr(covey_domain_error_text(), says) != NULL);
}

static void wrong_ones(covey_team_t *team)
{
    struct covey_sort_kind number = {.type = COVEY_INT32}, record = kind_of(RECORD, 1), kind;
    int rank = covey_team_rank(team);
    is_wrong(team, &number, "quick", "sort has no 'quick': allowed are local tree sample");
    is_wrong(team, &number, "order=up", "there is no option 'order': allowed are sort");
    is_wrong(team, &number, rank == 1 ? "slow" : NULL, "sort has no 'slow'");
    is_wrong(team, rank == 0 ? NULL : &number, NULL, rank == 0 ? "NULL" : "another member");
    kind = (struct covey_sort_kind){.type = COVEY_STRING};
    is_wrong(team, &kind, NULL, "type 13 is none of numbers");
    kind = (struct covey_sort_kind){.type = COVEY_BYTES, .record_bytes = 8};
    is_wrong(team, &kind, NULL, "records need a comparison");
    kind = record;
    kind.record_bytes = 0;
    is_wrong(team, &kind, NULL, "a record has 0 bytes");
    kind = record;
    kind.type = COVEY_INT32;
    is_wrong(team, &kind, NULL, "whose type is BYTES");
    check("no handle", covey_sort_run(NULL, NULL, 0) == COVEY_EINVAL);
}

static void wrong_runs(covey_team_t *team, const struct covey_domain_network *network)
{
    struct covey_sort_kind record = kind_of(RECORD, 1), number = {.type = COVEY_DOUBLE};
    struct record one = {1, 2, 3};
    double two[2] = {2, 1};
    int rank = covey_team_rank(team), size = covey_team_size(team);
    covey_sort_t *sort = NULL;
    check("made", covey_sort_create(team, &record, "hypercube", network, &sort) == 0);
    check("hypercube cannot be stable", covey_sort_run(sort, &one, 1) == COVEY_EINVAL);
    check("why",
          strstr(covey_domain_error_text(), "hypercube cannot be taken: it is not stable") != NULL);
    covey_sort_free(&sort);
    check("made", covey_sort_create(team, &number, "sort=sample", network, &sort) == 0);
    check("no array", covey_sort_run(sort, rank == size - 1 ? NULL : two, 2) == COVEY_EINVAL);
    check("whose", strstr(covey_domain_error_text(), "is NULL, or larger") != NULL);
    check("too much", covey_sort_run(sort, two, rank == 0 ? SIZE_MAX / 8 : 0) == COVEY_EINVAL);
    check("all together", covey_sort_run(sort, two, PTRDIFF_MAX / 8) == COVEY_EINVAL || size == 1);
    check("it goes on", covey_sort_run(sort, two, 2) == 0);
    check("and sorts", rank > 0 || (two[0] == 1 && (size > 1 || two[1] == 2)));
    covey_sort_free(&sort);
    setenv("COVEY_SORT", "tree", 1);
    check("made", covey_sort_create(team, &number, "sample", network, &sort) == 0);
    check("by the environment", covey_sort_run(sort, two, 1) == 0);
    check("the environment forces", strcmp(covey_sort_taken(sort), "tree") == 0);
    covey_sort_free(&sort);
    unsetenv("COVEY_SORT");
    covey_sort_free(NULL);
}

/* It is the last that the last member does: the others' sorts end. */
static void a_member_dies(covey_team_t *team, const char *algorithm, int dies,
                          const struct covey_domain_network *network)
{
    struct covey_sort_kind number = {.type = COVEY_INT32};
    covey_sort_t *sort = NULL;
    int32_t *base = calloc(100000, sizeof *base);
    covey_team_set_timeout(team, STORY_PATIENCE_US);
    check("made before death", covey_sort_create(team, &number, algorithm, network, &sort) == 0);
    int error = covey_barrier(team);
    if (dies)
        raise(SIGKILL);
    for (int i = 0; i < 3 && error == 0; i++)
        error = covey_sort_run(sort, base, 100000);
    check("a dead member is an error", error == COVEY_ENOTASK || error == COVEY_ECANCELED);
    covey_sort_free(&sort);
    free(base);
}

static void all_stories(covey_team_t *all)
{
    int size = covey_team_size(all), rank = covey_team_rank(all);
    const struct covey_domain_network network = {
        .members = size, .hosts = 1, .alpha_s = 2e-5, .beta_s = 1e-9};
    for (int n = 1; n <= size; n++) {
        covey_team_t *part = NULL;
        check("a part of the team", covey_team_split(all, rank < n ? 0 : -1, rank, &part) == 0);
        if (part == NULL)
            continue;
        algorithms_of(part, &network);
        chosen(part);
        covey_team_free(&part);
    }
    wrong_ones(all);
    wrong_runs(all, &network);
    a_member_dies(all, "histogram", rank == size - 1, &network);
}

int main(int argc, char **argv)
{
    const struct story story = {"sort-test", MEMBERS_MAX, all_stories};
    return story_main(argc, argv, &story);
}
