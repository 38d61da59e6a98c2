/*
 * agree.c - one reduction: the least error, and of each number the least and, as that of the
 * number with all bits turned over, the greatest.
 */
#include "lib/domain/base/agree.h"

#include "lib/domain/base/error.h"

#include <assert.h>

int domain_agree(covey_team_t *team, int error, const char *what)
{
    return domain_agree_same(team, error, NULL, 0, what);
}

int domain_agree_same(covey_team_t *team, int error, const int64_t *numbers, int count,
                      const char *what)
{
    int64_t mine[2 * DOMAIN_SAME_MAX + 1], least[2 * DOMAIN_SAME_MAX + 1];
    assert(count <= DOMAIN_SAME_MAX);
    mine[0] = error < 0 ? error : 0;
    for (int i = 0; i < count; i++) {
        mine[1 + 2 * i] = numbers[i];
        mine[2 + 2 * i] = ~numbers[i];
    }
    int failed =
        covey_allreduce(team, COVEY_OP_MIN, COVEY_INT64, mine, least, 1 + 2 * (size_t)count);
    if (failed < 0)
        return domain_fail_of(failed, what);
    int are_same = 1;
    for (int i = 0; i < count; i++)
        are_same &= least[1 + 2 * i] == ~least[2 + 2 * i];
    return domain_agreed(error, (int)least[0], are_same, what);
}

int domain_agreed(int error, int least, int are_same, const char *what)
{
    if (error < 0)
        return error;
    if (least < 0)
        return domain_fail(least, "%s: another member failed: %s", what, covey_strerror(least));
    return are_same ? 0
                    : domain_fail(COVEY_EINVAL, "%s: the members gave different arguments", what);
}
