/* links: proto/state/group.c proto/wire/cursor.c */
#include <CUnit/CUnit.h>
#include <stdio.h>
#include <string.h>

#include "proto/state/group.h"
#include "proto/wire/frame.h"
#include "tests/unit/runner.h"

/* What the engine answered, as one line: "tid/request=result ..." */
struct answers {
    char text[512];
};

static void on_answer(void *context, uint32_t tid, uint32_t request, enum group_error result)
{
    struct answers *a = context;
    size_t used = strlen(a->text);
    snprintf(a->text + used, sizeof a->text - used, "%s%u/%u=%d", used > 0 ? " " : "", tid, request,
             (int)result);
}

static void answered(struct answers *a, const char *expected)
{
    CU_ASSERT_STRING_EQUAL(a->text, expected);
    a->text[0] = '\0';
}

static void instances_are_the_lowest_free(void)
{
    struct answers a = {""};
    struct group_table *t = group_table_create(on_answer, &a);
    for (uint32_t tid = 10; tid < 15; tid++)
        CU_ASSERT_EQUAL(group_join(t, "g", tid), (int32_t)(tid - 10));
    CU_ASSERT_EQUAL(group_join(t, "other", 12), 0);
    CU_ASSERT_EQUAL(group_leave(t, "g", 11), GROUP_OK);
    CU_ASSERT_EQUAL(group_leave(t, "g", 13), GROUP_OK);
    CU_ASSERT_EQUAL(group_join(t, "g", 20), 1);
    CU_ASSERT_EQUAL(group_join(t, "g", 21), 3);
    CU_ASSERT_EQUAL(group_join(t, "g", 22), 5);
    struct group_member m[8];
    CU_ASSERT_EQUAL_FATAL(group_members(t, "g", m, 8), 6);
    for (uint32_t i = 0; i < 6; i++)
        CU_ASSERT_EQUAL(m[i].instance, i);
    CU_ASSERT_EQUAL(m[1].tid, 20);
    CU_ASSERT_EQUAL(m[5].tid, 22);
    group_table_destroy(t);
}

static void refusals(void)
{
    struct answers a = {""};
    struct group_table *t = group_table_create(on_answer, &a);
    char name[GROUP_NAME_MAX + 2];
    memset(name, 'n', sizeof name);
    name[GROUP_NAME_MAX + 1] = '\0';
    CU_ASSERT_EQUAL(group_join(t, "", 1), GROUP_EINVAL);
    CU_ASSERT_EQUAL(group_join(t, name, 1), GROUP_EINVAL);
    CU_ASSERT_EQUAL(group_join(t, name + 1, 1), 0);
    CU_ASSERT_EQUAL(group_join(t, name + 1, 1), GROUP_EEXIST);
    CU_ASSERT_EQUAL(group_leave(t, "none", 1), GROUP_ENOGROUP);
    CU_ASSERT_EQUAL(group_leave(t, name + 1, 2), GROUP_ENOGROUP);
    CU_ASSERT_EQUAL(group_barrier(t, "none", 1, 1, 0), GROUP_ENOGROUP);
    CU_ASSERT_EQUAL(group_barrier(t, name + 1, 2, 1, 0), GROUP_ENOGROUP);
    CU_ASSERT_EQUAL(group_members(t, "none", NULL, 0), 0);
    answered(&a, "");
    group_table_destroy(t);
}

static void a_group_without_members_is_no_more(void)
{
    struct answers a = {""};
    struct group_table *t = group_table_create(on_answer, &a);
    group_join(t, "a", 1);
    group_join(t, "b", 1);
    group_join(t, "b", 2);
    CU_ASSERT_EQUAL(group_count(t), 2);
    group_leave(t, "a", 1);
    CU_ASSERT_EQUAL(group_count(t), 1);
    group_task_gone(t, 1);
    group_task_gone(t, 2);
    CU_ASSERT_EQUAL(group_count(t), 0);
    group_table_destroy(t);
}

static struct group_table *group_of_three(struct answers *a)
{
    struct group_table *t = group_table_create(on_answer, a);
    for (uint32_t tid = 1; tid <= 3; tid++)
        group_join(t, "g", tid);
    return t;
}

static void a_barrier_opens_for_all_or_for_a_count(void)
{
    struct answers a = {""};
    struct group_table *t = group_of_three(&a);
    CU_ASSERT_EQUAL(group_barrier(t, "g", 1, 11, 0), GROUP_OK);
    CU_ASSERT_EQUAL(group_barrier(t, "g", 2, 12, 0), GROUP_OK);
    answered(&a, "");
    CU_ASSERT_EQUAL(group_barrier(t, "g", 3, 13, 0), GROUP_OK);
    answered(&a, "1/11=0 2/12=0 3/13=0");
    CU_ASSERT_EQUAL(group_barrier(t, "g", 3, 14, 2), GROUP_OK);
    CU_ASSERT_EQUAL(group_barrier(t, "g", 3, 15, 2), GROUP_EEXIST);
    CU_ASSERT_EQUAL(group_barrier(t, "g", 1, 16, 3), GROUP_EINVAL);
    CU_ASSERT_EQUAL(group_barrier(t, "g", 1, 17, 2), GROUP_OK);
    answered(&a, "1/17=0 3/14=0");
    CU_ASSERT_EQUAL(group_barrier(t, "g", 2, 18, 1), GROUP_OK);
    answered(&a, "2/18=0");
    group_table_destroy(t);
}

static void a_barrier_may_wait_for_members_yet_to_join(void)
{
    struct answers a = {""};
    struct group_table *t = group_of_three(&a);
    for (uint32_t tid = 1; tid <= 3; tid++)
        group_barrier(t, "g", tid, tid, 4);
    answered(&a, "");
    group_join(t, "g", 4);
    group_barrier(t, "g", 4, 4, 4);
    answered(&a, "1/1=0 2/2=0 3/3=0 4/4=0");
    group_table_destroy(t);
}

static void a_member_that_ends_fails_or_opens_a_barrier(void)
{
    struct answers a = {""};
    struct group_table *t = group_of_three(&a);
    group_barrier(t, "g", 1, 11, 3);
    group_barrier(t, "g", 2, 12, 3);
    group_task_gone(t, 3);
    answered(&a, "1/11=-5 2/12=-5");
    group_join(t, "g", 3);
    group_barrier(t, "g", 1, 13, 0); /* all that are there: those that remain */
    group_barrier(t, "g", 2, 14, 0);
    group_task_gone(t, 3);
    answered(&a, "1/13=0 2/14=0");
    group_barrier(t, "g", 1, 15, 0);
    group_task_gone(t, 1); /* nobody answers a task that has ended */
    answered(&a, "");
    group_barrier(t, "g", 2, 16, 0);
    answered(&a, "2/16=0");
    group_table_destroy(t);
}

static void giving_up(void)
{
    struct answers a = {""};
    struct group_table *t = group_of_three(&a);
    group_barrier(t, "g", 1, 11, 0);
    group_cancel(t, 1, 99);
    group_cancel(t, 2, 11);
    answered(&a, "");
    group_cancel(t, 1, 11);
    answered(&a, "1/11=-6");
    group_barrier(t, "g", 2, 12, 0);
    group_barrier(t, "g", 3, 13, 0);
    group_leave(t, "g", 1);
    answered(&a, "2/12=0 3/13=0");
    group_barrier(t, "g", 2, 14, 0);
    group_leave(t, "g", 2);
    answered(&a, "2/14=-6");
    group_table_destroy(t);
}

static void a_host_takes_its_tasks_along(void)
{
    struct answers a = {""};
    struct group_table *t = group_table_create(on_answer, &a);
    group_join(t, "g", tid_make(1, 1));
    group_join(t, "g", tid_make(2, 1));
    group_join(t, "g", tid_make(2, 2));
    group_join(t, "g", tid_make(3, 1));
    group_join(t, "h", tid_make(2, 1));
    group_barrier(t, "g", tid_make(1, 1), 1, 0);
    group_barrier(t, "g", tid_make(2, 1), 2, 0);
    group_barrier(t, "g", tid_make(3, 1), 3, 0);
    group_host_gone(t, 2);
    char expected[64];
    snprintf(expected, sizeof expected, "%u/1=0 %u/3=0", tid_make(1, 1), tid_make(3, 1));
    answered(&a, expected);
    CU_ASSERT_EQUAL(group_count(t), 1);
    CU_ASSERT_EQUAL(group_members(t, "g", NULL, 0), 2);
    group_barrier(t, "g", tid_make(1, 1), 4, 2);
    group_host_gone(t, 3);
    snprintf(expected, sizeof expected, "%u/4=-5", tid_make(1, 1));
    answered(&a, expected);
    group_table_destroy(t);
}

int main(void)
{
    static const struct test_case cases[] = {
        {"instances are the lowest free", instances_are_the_lowest_free},
        {"refusals", refusals},
        {"a group without members is no more", a_group_without_members_is_no_more},
        {"a barrier opens for all or for a count", a_barrier_opens_for_all_or_for_a_count},
        {"a barrier may wait for members yet to join", a_barrier_may_wait_for_members_yet_to_join},
        {"a member that ends fails or opens a barrier",
         a_member_that_ends_fails_or_opens_a_barrier},
        {"giving up", giving_up},
        {"a host takes its tasks along", a_host_takes_its_tasks_along},
    };
    return covey_test_main("group", cases, sizeof cases / sizeof cases[0]);
}
