/*
 * sizes.c - whole numbers with an x between them.
 */
#include "lib/domain/base/sizes.h"

#include "lib/domain/base/error.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#define SIZE_MOST ((int64_t)1 << 40)

static int read_one(const char **at, int64_t *n)
{
    static const char letters[] = "KMG";
    char *end;
    if (!isdigit((unsigned char)**at))
        return 0;
    long long number = strtoll(*at, &end, 10);
    const char *letter = *end == '\0' ? NULL : strchr(letters, *end);
    int shift = letter == NULL ? 0 : 10 * (int)(letter - letters + 1);
    if (number < 1 || number > SIZE_MOST >> shift)
        return 0;
    *at = letter == NULL ? end : end + 1;
    *n = (int64_t)number << shift;
    return 1;
}

int domain_sizes_read(const char *text, const char *sizes, int most, int64_t *n)
{
    const char *at = text;
    int count = 0;
    while (count < most && read_one(&at, &n[count])) {
        count++;
        if (*at == '\0')
            return count;
        if (*at++ != 'x')
            break;
    }
    return domain_fail(COVEY_EINVAL, "a size of '%s': it must be %s", text, sizes);
}
