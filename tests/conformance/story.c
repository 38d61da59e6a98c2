#include "tests/conformance/story.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TAG_RESULT = 1 };

static int checked, failed;

void check(const char *name, int good)
{
    checked++;
    failed += !good;
    if (!good)
        fprintf(stderr, "not ok %s: %s\n", name, covey_error_text());
}

int story_failed(void)
{
    return failed;
}

static int take_part(covey_group_t *group, int members, const struct story *story)
{
    covey_team_t *team;
    if (covey_team_of_group(group, members, STORY_PATIENCE_US, &team) != 0) {
        fprintf(stderr, "not ok a team: %s\n", covey_error_text());
        return -1;
    }
    story->tell(team);
    covey_team_free(&team);
    covey_group_leave(&group);
    return 0;
}

/* Returns how many checks failed, -1: it broke off. */
static int lead(covey_t *vm, const struct story *story, int members, const char *const *argv)
{
    covey_tid_t tids[STORY_MEMBERS_MAX];
    int32_t result[2];
    struct covey_spawn what = {.argv = argv, .tether = 1};
    int others = members - 1;
    covey_group_t *group;
    /* before the others, to have rank 0: one of them will end */
    if (covey_group_join(vm, story->group, &group) != 0 ||
        covey_spawn(vm, &what, others, tids) != others || take_part(group, members, story) != 0)
        return -1;
    /* all but the one that killed itself */
    for (int i = 0; i < others - 1; i++) {
        if (covey_recv_array(vm, COVEY_ANY_TASK, TAG_RESULT, STORY_PATIENCE_US, COVEY_INT32, result,
                             2, NULL, NULL) != 0)
            return -1;
        checked += result[0];
        failed += result[1];
    }
    printf("%s %d members: %d checks, %d failed\n", failed ? "not ok" : "ok", members, checked,
           failed);
    return failed;
}

/* Another member tells the first one its counts. Returns 0, or an error of the library. */
static int serve(covey_t *vm, const struct story *story, int members)
{
    int32_t result[2] = {0, 1};
    covey_group_t *group;
    if (covey_group_join(vm, story->group, &group) >= 0 && take_part(group, members, story) == 0) {
        result[0] = checked;
        result[1] = failed;
    }
    return covey_send_array(vm, covey_parent(vm), TAG_RESULT, COVEY_INT32, result, 2);
}

int story_main(int argc, char **argv, const struct story *story)
{
    covey_t *vm;
    int member = argc > 2 && strcmp(argv[1], "member") == 0;
    int members = argc > 1 ? atoi(argv[1 + member]) : 0;
    if (members < 3 || members > story->members_max || covey_join(&vm, NULL) < 0) {
        printf("not ok %s: %s\n", story->group, covey_error_text());
        return 2;
    }
    const char *const others[] = {argv[0], "member", argv[1], argc > 2 ? argv[2] : NULL, NULL};
    int status = member ? serve(vm, story, members) : lead(vm, story, members, others);
    covey_leave(&vm);
    if (status != 0)
        printf("not ok ended: %s\n", covey_error_text());
    return status != 0;
}

void story_parts(covey_team_t *all, covey_team_t **part, void (*tell)(void))
{
    int rank = covey_team_rank(all), members = covey_team_size(all);
    for (int size = 1; size < members; size++) {
        check("a team", covey_team_split(all, rank < size ? 0 : -1, rank, part) == 0);
        if (*part != NULL)
            tell();
        covey_team_free(part);
        check("a barrier", covey_barrier(all) == 0);
    }
}
