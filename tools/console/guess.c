/*
 * Words are near when few letters must be put in, left out, changed or swapped with the next one to
 * make the one of the other (optimal string alignment): one, and of longer words two.
 */
#include "tools/console/guess.h"

#include <stddef.h>
#include <string.h>

#include "tools/console/commands.h"

enum { WORD_MAX = 24, SHORT = 4, NEAR_SHORT = 1, NEAR = 2 };

static int lesser(int a, int b)
{
    return a < b ? a : b;
}

const char *guess_command(const char *word)
{
    size_t length = strlen(word);
    const char *best = NULL;
    int nearest = (length <= SHORT ? NEAR_SHORT : NEAR) + 1;
    for (const struct command *const *row = command_all(); length <= WORD_MAX && *row; row++) {
        /* How many letters differ; of words that are both no longer than WORD_MAX. */
        const char *b = (*row)->name;
        int rows[WORD_MAX + 1][WORD_MAX + 1];
        int n = (int)strlen(word), m = (int)strlen(b);
        for (int i = 0; i <= n; i++)
            rows[i][0] = i;
        for (int k = 0; k <= m; k++)
            rows[0][k] = k;
        for (int i = 1; i <= n; i++) {
            for (int k = 1; k <= m; k++) {
                int changed = rows[i - 1][k - 1] + (word[i - 1] != b[k - 1]);
                rows[i][k] = lesser(changed, lesser(rows[i - 1][k], rows[i][k - 1]) + 1);
                if (i > 1 && k > 1 && word[i - 1] == b[k - 2] && word[i - 2] == b[k - 1])
                    rows[i][k] = lesser(rows[i][k], rows[i - 2][k - 2] + 1);
            }
        }
        int d = rows[n][m];
        if (d < nearest && d < (int)length) {
            nearest = d;
            best = (*row)->name;
        }
    }
    return best;
}
