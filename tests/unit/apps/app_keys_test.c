/* links: apps/sort/keys.c apps/sort/keyfile.c */
#include "apps/sort/keys.h"

#include <CUnit/CUnit.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/unit/runner.h"

static int compare(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a;
    int64_t y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

#define N 5000

static void expect_sorts(const int64_t *keys, size_t n)
{
    int64_t ours[N];
    int64_t theirs[N];
    memcpy(ours, keys, n * sizeof *keys);
    memcpy(theirs, keys, n * sizeof *keys);
    keys_sort(ours, n);
    qsort(theirs, n, sizeof *theirs, compare);
    CU_ASSERT_EQUAL(memcmp(ours, theirs, n * sizeof *ours), 0);
}

static void test_random_keys_of_any_number(void)
{
    int64_t keys[N];
    keys_make(3, keys, N);
    for (size_t n = 0; n < 200; n++)
        expect_sorts(keys, n);
    expect_sorts(keys, N);
}

static void test_few_different_keys(void)
{
    int64_t keys[N];
    keys_make(4, keys, N);
    for (int64_t modulus = 1; modulus < 20; modulus++) {
        int64_t few[N];
        for (int i = 0; i < N; i++)
            few[i] = keys[i] % modulus;
        expect_sorts(few, N);
    }
}

static void test_ordered_keys(void)
{
    int64_t up[N];
    int64_t down[N];
    int64_t pipes[N];
    for (int i = 0; i < N; i++) {
        up[i] = i;
        down[i] = -i;
        pipes[i] = i < N / 2 ? i : N - i;
    }
    expect_sorts(up, N);
    expect_sorts(down, N);
    expect_sorts(pipes, N);
}

static void test_extreme_keys(void)
{
    const int64_t keys[] = {INT64_MAX, 0, INT64_MIN, -1, INT64_MAX, INT64_MIN, 1};
    expect_sorts(keys, sizeof keys / sizeof keys[0]);
}

/* Median of nine on keys made against it: without heapsort this is quadratic. */
static void test_sort_stays_fast_on_bad_pivots(void)
{
    enum { MANY = 1 << 20 };
    int64_t *keys = calloc(MANY, sizeof *keys);
    for (int i = 0; i < MANY; i++)
        keys[i] = i % 2 ? i : i / 1024;
    keys_sort(keys, MANY);
    CU_ASSERT(keys_are_sorted(keys, MANY));
    free(keys);
}

static void test_merge_of_any_two_runs(void)
{
    int64_t scratch[100];
    for (size_t left = 0; left <= 100; left += 7) {
        int64_t keys[100];
        int64_t whole[100];
        keys_make(left, keys, 100);
        memcpy(whole, keys, sizeof keys);
        keys_sort(whole, 100);
        keys_sort(keys, left);
        keys_sort(keys + left, 100 - left);
        keys_merge(keys, left, 100, scratch);
        CU_ASSERT_EQUAL(memcmp(keys, whole, sizeof keys), 0);
    }
}

static void test_sum_tells_other_keys(void)
{
    int64_t keys[100];
    struct keys_sum sum = {0};
    struct keys_sum made = {0};
    struct keys_sum changed = {0};
    keys_make(9, keys, 100);
    keys_sort(keys, 100);
    keys_sum_add(&sum, keys, 100);
    keys_sum_made(&made, 9, 100);
    CU_ASSERT_EQUAL(sum.sum, made.sum);
    CU_ASSERT_EQUAL(sum.mixed_sum, made.mixed_sum);
    keys[0]++; /* the plain sum alone would not see these two */
    keys[1]--;
    keys_sum_add(&changed, keys, 100);
    CU_ASSERT_EQUAL(sum.sum, changed.sum);
    CU_ASSERT_NOT_EQUAL(sum.mixed_sum, changed.mixed_sum);
}

/* ---- Files ------------------------------------------------------------------------------- */

struct scratch_file {
    char path[32];
    FILE *stream;
};

static struct scratch_file scratch_open(void)
{
    struct scratch_file file = {.path = "/tmp/keys-test-XXXXXX"};
    int fd = mkstemp(file.path);
    CU_ASSERT_FATAL(fd >= 0);
    file.stream = fdopen(fd, "w");
    CU_ASSERT_PTR_NOT_NULL_FATAL(file.stream);
    return file;
}

static void expect_round_trip(enum keys_format format)
{
    const int64_t keys[] = {5, -7, INT64_MAX, INT64_MIN, 0};
    struct scratch_file file = scratch_open();
    CU_ASSERT_EQUAL(keys_write(file.stream, format, keys, 5), 0);
    fclose(file.stream);
    int64_t *back = NULL;
    size_t n = 0;
    CU_ASSERT_EQUAL(keys_read(file.path, format, &back, &n), 0);
    CU_ASSERT_EQUAL_FATAL(n, 5);
    CU_ASSERT_EQUAL(memcmp(keys, back, sizeof keys), 0);
    free(back);
    unlink(file.path);
}

static void test_files_keep_keys(void)
{
    expect_round_trip(KEYS_TEXT);
    expect_round_trip(KEYS_BINARY);
}

static int read_text(const char *text, int64_t **keys, size_t *n)
{
    struct scratch_file file = scratch_open();
    fputs(text, file.stream);
    fclose(file.stream);
    int result = keys_read(file.path, KEYS_TEXT, keys, n);
    unlink(file.path);
    return result;
}

static void test_white_space_parts_numbers(void)
{
    int64_t *keys = NULL;
    size_t n = 0;
    CU_ASSERT_EQUAL(read_text("  1\t2\r\n\n3", &keys, &n), 0);
    CU_ASSERT_EQUAL_FATAL(n, 3);
    CU_ASSERT_EQUAL(keys[2], 3);
    free(keys);
}

static void test_an_empty_file_has_no_keys(void)
{
    int64_t *keys = NULL;
    size_t n = 1;
    CU_ASSERT_EQUAL(read_text("", &keys, &n), 0);
    CU_ASSERT_EQUAL(n, 0);
    free(keys);
}

static void test_broken_files_are_refused(void)
{
    static const char *const broken[] = {"1 x", "1.5", "9223372036854775808", "--1",
                                         "0000000000000000000000000000000000000001"};
    for (size_t i = 0; i < sizeof broken / sizeof broken[0]; i++) {
        int64_t *keys = NULL;
        size_t n = 0;
        CU_ASSERT_EQUAL(read_text(broken[i], &keys, &n), -1);
        CU_ASSERT_PTR_NULL(keys);
    }
}

int main(void)
{
    static const struct test_case cases[] = {
        {"random keys of any number", test_random_keys_of_any_number},
        {"few different keys", test_few_different_keys},
        {"ordered keys", test_ordered_keys},
        {"extreme keys", test_extreme_keys},
        {"sort stays fast on bad pivots", test_sort_stays_fast_on_bad_pivots},
        {"merge of any two runs", test_merge_of_any_two_runs},
        {"the sum tells other keys", test_sum_tells_other_keys},
        {"files keep keys", test_files_keep_keys},
        {"white space parts numbers", test_white_space_parts_numbers},
        {"an empty file has no keys", test_an_empty_file_has_no_keys},
        {"broken files are refused", test_broken_files_are_refused},
    };
    return covey_test_main("app_keys", cases, sizeof cases / sizeof cases[0]);
}
