/*
 * chooser.c - compares the predictions of algorithms and tells of them.
 */
#include "lib/domain/base/chooser.h"

#include "lib/domain/base/error.h"
#include "lib/domain/base/options.h"

#include <assert.h>
#include <stdio.h>

#define CLEARLY 0.9  /* of one alone's time: less is what predictions are off by */
#define SURELY 0.95  /* the same of what has run */
#define ALONE_RUNS 3 /* of one alone: another trial costs little beside them */

static int refuse(const struct domain_algorithm *algorithm)
{
    return domain_fail(COVEY_EINVAL, "%s cannot be taken: %s", algorithm->name, algorithm->refusal);
}

double domain_expected_s(const struct domain_algorithm *algorithm)
{
    return algorithm->seconds * (algorithm->factor > 0 ? algorithm->factor : 1);
}

/* Where members do it together, it must promise more than what is expected is off by. */
static int is_worth_it(const struct domain_algorithm *alone, const struct domain_algorithm *best)
{
    int is_known = best->runs >= DOMAIN_KNOWN_RUNS || alone->runs >= ALONE_RUNS;
    return alone->refusal != NULL ||
           domain_expected_s(best) < (is_known ? SURELY : CLEARLY) * domain_expected_s(alone);
}

int domain_choose(const struct domain_algorithm *algorithms, int n, int forced)
{
    int best = DOMAIN_CHOSEN;
    assert(n > 0 && forced < n);
    if (forced >= 0)
        return algorithms[forced].refusal == NULL ? forced : refuse(&algorithms[forced]);
    for (int i = 0; i < n; i++) {
        if (algorithms[i].refusal != NULL)
            continue;
        if (best == DOMAIN_CHOSEN ||
            domain_expected_s(&algorithms[i]) < domain_expected_s(&algorithms[best]))
            best = i;
    }
    if (best == DOMAIN_CHOSEN)
        return refuse(&algorithms[0]);
    return is_worth_it(&algorithms[0], &algorithms[best]) ? best : 0;
}

/* What follows the expected time: where that comes from, and the mark. */
static int explain_rest(const struct domain_algorithm *a, const char *mark, char *text, size_t size)
{
    if (a->runs < 1)
        return snprintf(text, size, "%s\n", mark);
    return snprintf(text, size, "  %.3f by the formula, %.3f in the last of %.0f run%s%s\n",
                    a->seconds * 1e3, a->measured_s * 1e3, a->runs, a->runs < 2 ? "" : "s", mark);
}

size_t domain_explain(const struct domain_algorithm *algorithms, int n, int taken, int forced,
                      char *text, size_t size)
{
    size_t length = 0;
    for (int i = 0; i < n; i++) {
        const struct domain_algorithm *a = &algorithms[i];
        const char *mark = i != taken ? "" : forced >= 0 ? "  forced" : "  taken";
        char rest[160] = "";
        char *at = length < size ? text + length : NULL;
        size_t room = length < size ? size - length : 0;
        explain_rest(a, mark, rest, sizeof rest);
        int line = a->refusal != NULL
                       ? snprintf(at, room, "%-12s %12s     %s\n", a->name, "-", a->refusal)
                       : snprintf(at, room, "%-12s %12.3f ms%s", a->name,
                                  domain_expected_s(a) * 1e3, rest);
        length += line > 0 ? (size_t)line : 0;
    }
    return length;
}
