/* links: lib/msg/spare.c */
/*
 * spare_test.c - memory for long arrays that come and go: what is kept, what is not, and many
 * threads.
 */
#include <CUnit/CUnit.h>

#include "lib/msg/spare.h"
#include "tests/unit/runner.h"

#include <pthread.h>
#include <stdint.h>
#include <string.h>

#define THREADS 4
#define ROUNDS 20000

static void sizes_and_contents(void)
{
    static const size_t sizes[] = {
        0, 1, 100, SPARE_BYTES_MIN, 300000, SPARE_BYTES_MAX, 2 * SPARE_BYTES_MAX};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        uint8_t *memory = spare_take(sizes[i]);
        CU_ASSERT_PTR_NOT_NULL_FATAL(memory);
        CU_ASSERT_EQUAL((uintptr_t)memory % 16, 0);
        memset(memory, 7, sizes[i]);
        memory = spare_resize(memory, sizes[i] + 1000);
        CU_ASSERT_PTR_NOT_NULL_FATAL(memory);
        CU_ASSERT(sizes[i] == 0 || (memory[0] == 7 && memory[sizes[i] - 1] == 7));
        memset(memory, 8, sizes[i] + 1000);
        spare_give(memory);
    }
    spare_give(NULL);
    CU_ASSERT_PTR_NULL(spare_take(SIZE_MAX));
    CU_ASSERT_PTR_NULL(spare_resize(NULL, SIZE_MAX - 1));
}

/* Not where a sanitizer looks for the use of what was given back. */
static void a_long_block_comes_back(void)
{
    void *first = spare_take(SPARE_BYTES_MAX);
    spare_give(first);
    void *second = spare_take(SPARE_BYTES_MAX - 5000), *third = spare_take(SPARE_BYTES_MAX);
#if !defined(__SANITIZE_ADDRESS__)
    CU_ASSERT_PTR_EQUAL(first, second);
#endif
    CU_ASSERT_PTR_NOT_EQUAL(second, third);
    spare_give(second);
    void *small = spare_take(SPARE_BYTES_MIN); /* too little for so large a block */
    CU_ASSERT_PTR_NOT_EQUAL(small, second);
    spare_give(small);
    spare_give(third);
}

static void more_than_are_kept_go(void)
{
    void *blocks[3 * SPARE_BLOCKS];
    for (int round = 0; round < 3; round++) {
        for (int i = 0; i < 3 * SPARE_BLOCKS; i++) {
            blocks[i] = spare_take(SPARE_BYTES_MIN + 1000);
            CU_ASSERT_PTR_NOT_NULL_FATAL(blocks[i]);
            memset(blocks[i], i, SPARE_BYTES_MIN + 1000);
        }
        for (int i = 0; i < 3 * SPARE_BLOCKS; i++) {
            CU_ASSERT_EQUAL(((uint8_t *)blocks[i])[SPARE_BYTES_MIN], i);
            spare_give(blocks[i]);
        }
    }
}

/* Each writes its number into what it has, and finds it there. */
static void *thread_main(void *arg)
{
    uintptr_t number = (uintptr_t)arg, wrong = 0;
    for (uintptr_t i = 0; i < ROUNDS; i++) {
        uintptr_t *own = spare_take(SPARE_BYTES_MIN + (i % 3) * 50000);
        if (own == NULL)
            return (void *)(uintptr_t)1;
        own[0] = number * ROUNDS + i;
        own[SPARE_BYTES_MIN / sizeof *own - 1] = number;
        wrong += own[0] != number * ROUNDS + i || own[SPARE_BYTES_MIN / sizeof *own - 1] != number;
        spare_give(own);
    }
    return (void *)wrong;
}

static void many_threads(void)
{
    pthread_t threads[THREADS];
    for (uintptr_t i = 0; i < THREADS; i++)
        CU_ASSERT_FATAL(pthread_create(&threads[i], NULL, thread_main, (void *)i) == 0);
    for (int i = 0; i < THREADS; i++) {
        void *wrong = NULL;
        pthread_join(threads[i], &wrong);
        CU_ASSERT_PTR_NULL(wrong);
    }
}

int main(void)
{
    static const struct test_case cases[] = {
        {"sizes and contents", sizes_and_contents},
        {"a long block comes back", a_long_block_comes_back},
        {"more than are kept go", more_than_are_kept_go},
        {"many threads", many_threads},
    };
    return covey_test_main("spare", cases, sizeof cases / sizeof cases[0]);
}
