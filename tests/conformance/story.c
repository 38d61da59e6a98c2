#include "tests/conformance/story.h"

#include <stdio.h>

enum { TAG_RESULT = 1 };

int story_lead(covey_t *vm, const struct story *story, const char *const *argv)
{
    covey_tid_t tids[STORY_MEMBERS_MAX];
    int32_t result[2];
    struct covey_spawn what = {.argv = argv, .tether = 1};
    int others = story->members - 1;
    covey_group_t *group;
    /* before the others, to have rank 0: one of them will end */
    if (covey_group_join(vm, story->group, &group) != 0 ||
        covey_spawn(vm, &what, others, tids) != others ||
        story->take_part(group, story->members) != 0)
        return -1;
    /* all but the one that killed itself */
    for (int i = 0; i < others - 1; i++) {
        if (covey_recv_array(vm, COVEY_ANY_TASK, TAG_RESULT, STORY_PATIENCE_US, COVEY_INT32, result,
                             2, NULL, NULL) != 0)
            return -1;
        *story->checked += result[0];
        *story->failed += result[1];
    }
    printf("%s %d members: %d checks, %d failed\n", *story->failed ? "not ok" : "ok",
           story->members, *story->checked, *story->failed);
    return *story->failed;
}

int story_serve(covey_t *vm, const struct story *story)
{
    int32_t result[2] = {0, 1};
    covey_group_t *group;
    if (covey_group_join(vm, story->group, &group) >= 0 &&
        story->take_part(group, story->members) == 0) {
        result[0] = *story->checked;
        result[1] = *story->failed;
    }
    return covey_send_array(vm, covey_parent(vm), TAG_RESULT, COVEY_INT32, result, 2);
}
