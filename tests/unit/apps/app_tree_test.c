/* links: apps/sort/tree.c */
#include "apps/sort/tree.h"

#include <CUnit/CUnit.h>
#include <stdlib.h>

#include "tests/unit/runner.h"

static void test_powers_of_two_make_the_broadcast_tree(void)
{
    struct tree_node node;
    tree_place(800, 8, 0, &node);
    CU_ASSERT_EQUAL(node.parent, -1);
    CU_ASSERT_EQUAL(node.child_count, 3);
    CU_ASSERT_EQUAL(node.children[0].rank, 4);
    CU_ASSERT_EQUAL(node.children[1].rank, 2);
    CU_ASSERT_EQUAL(node.children[2].rank, 1);
    CU_ASSERT_EQUAL(node.children[0].count, 400);
    CU_ASSERT_EQUAL(node.own, 100);
    for (int rank = 1; rank < 8; rank++) {
        tree_place(800, 8, rank, &node);
        int differing = rank ^ node.parent;
        CU_ASSERT_EQUAL(differing & (differing - 1), 0);
    }
}

static void test_one_task_keeps_all(void)
{
    struct tree_node node;
    tree_place(7, 1, 0, &node);
    CU_ASSERT_EQUAL(node.parent, -1);
    CU_ASSERT_EQUAL(node.child_count, 0);
    CU_ASSERT_EQUAL(node.own, 7);
}

/* Each child agrees with its parent on how many keys it gets, and parts lie side by side. */
static void expect_node(int64_t keys, int tasks, int rank, const struct tree_node *node)
{
    int64_t end = node->count;
    for (int i = 0; i < node->child_count; i++) {
        const struct tree_child *child = &node->children[i];
        struct tree_node its;
        tree_place(keys, tasks, child->rank, &its);
        CU_ASSERT_EQUAL(its.parent, rank);
        CU_ASSERT_EQUAL(its.count, child->count);
        CU_ASSERT_EQUAL(child->first + child->count, end);
        end = child->first;
    }
    CU_ASSERT_EQUAL(node->own, end);
    CU_ASSERT(llabs(node->own - keys / tasks) <= 20);
}

static void expect_tree(int64_t keys, int tasks)
{
    int64_t sorted = 0;
    int children = 0;
    for (int rank = 0; rank < tasks; rank++) {
        struct tree_node node;
        tree_place(keys, tasks, rank, &node);
        expect_node(keys, tasks, rank, &node);
        sorted += node.own;
        children += node.child_count;
    }
    CU_ASSERT_EQUAL(sorted, keys);
    CU_ASSERT_EQUAL(children, tasks - 1);
}

static void test_any_number_of_tasks(void)
{
    for (int tasks = 1; tasks <= 40; tasks++)
        expect_tree(1000003, tasks);
}

static void test_fewer_keys_than_tasks(void)
{
    expect_tree(0, 5);
    expect_tree(3, 16);
}

static void test_many_keys_do_not_overflow(void)
{
    expect_tree(INT64_C(1) << 60, 37);
}

int main(void)
{
    static const struct test_case cases[] = {
        {"powers of two make the broadcast tree", test_powers_of_two_make_the_broadcast_tree},
        {"one task keeps all", test_one_task_keeps_all},
        {"any number of tasks", test_any_number_of_tasks},
        {"fewer keys than tasks", test_fewer_keys_than_tasks},
        {"many keys do not overflow", test_many_keys_do_not_overflow},
    };
    return covey_test_main("app_tree", cases, sizeof cases / sizeof cases[0]);
}
