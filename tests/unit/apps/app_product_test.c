/* links: apps/matmul/product.c apps/matmul/matrix.c apps/block.c */
#include "apps/matmul/product.h"

#include <CUnit/CUnit.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/runner.h"

#define N 11
#define SEED 5

static double product[N * N];

static void multiply(void)
{
    struct matrix a = {SEED, N, MATRIX_A};
    struct matrix b = {SEED, N, MATRIX_B};
    memset(product, 0, sizeof product);
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++)
            for (int k = 0; k < N; k++)
                product[i * N + j] += (double)matrix_element(&a, i, k) * matrix_element(&b, k, j);
}

/* The product in two blocks of different width. */
static const struct matrix_part parts[] = {{0, 0, N, 6}, {0, 6, N, N - 6}};

static void cut(const struct matrix_part *part, double *block)
{
    for (int64_t i = 0; i < part->rows; i++)
        for (int64_t j = 0; j < part->columns; j++)
            *block++ = product[(part->row + i) * N + part->column + j];
}

static bool freivalds_of(double error)
{
    struct freivalds check;
    CU_ASSERT_EQUAL_FATAL(freivalds_init(&check, SEED, N), 0);
    for (int i = 0; i < 2; i++) {
        double block[N * N];
        cut(&parts[i], block);
        block[7] += i == 1 ? error : 0;
        freivalds_add(&check, &parts[i], block);
    }
    bool passed = freivalds_passed(&check);
    freivalds_free(&check);
    return passed;
}

static void test_freivalds_passes_the_product(void)
{
    multiply();
    CU_ASSERT(freivalds_of(0));
}

static void test_freivalds_finds_one_wrong_element(void)
{
    multiply();
    CU_ASSERT_FALSE(freivalds_of(1));
    CU_ASSERT_FALSE(freivalds_of(-64));
}

static void test_blocks_equal_the_product(void)
{
    double block[N * N];
    multiply();
    cut(&parts[1], block);
    CU_ASSERT(product_equals(product, N, &parts[1], block));
    block[3]++;
    CU_ASSERT_FALSE(product_equals(product, N, &parts[1], block));
}

static void test_blocks_find_their_place_in_the_file(void)
{
    char *bytes = NULL;
    size_t size = 0;
    FILE *stream = open_memstream(&bytes, &size);
    multiply();
    for (int i = 0; i < 2; i++) {
        double block[N * N];
        cut(&parts[i], block);
        CU_ASSERT_EQUAL(product_write(stream, N, &parts[i], block), 0);
    }
    fclose(stream);
    CU_ASSERT_EQUAL_FATAL(size, sizeof product);
    CU_ASSERT(product_equals((const double *)(void *)bytes, N, &(struct matrix_part){0, 0, N, N},
                             product));
    free(bytes);
}

static void test_parts_of_a_matrix_agree(void)
{
    struct matrix matrix = {SEED, N, MATRIX_B};
    double part[6];
    matrix_fill(&matrix, &(struct matrix_part){4, 5, 2, 3}, part);
    CU_ASSERT_EQUAL(part[0], matrix_element(&matrix, 4, 5));
    CU_ASSERT_EQUAL(part[5], matrix_element(&matrix, 5, 7));
}

int main(void)
{
    static const struct test_case cases[] = {
        {"Freivalds passes the product", test_freivalds_passes_the_product},
        {"Freivalds finds one wrong element", test_freivalds_finds_one_wrong_element},
        {"blocks equal the product", test_blocks_equal_the_product},
        {"blocks find their place in the file", test_blocks_find_their_place_in_the_file},
        {"parts of a matrix agree", test_parts_of_a_matrix_agree},
    };
    return covey_test_main("app_product", cases, sizeof cases / sizeof cases[0]);
}
