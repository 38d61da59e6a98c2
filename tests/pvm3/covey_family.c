/*
 * covey_family.c - pvm_siblings() of tasks that were not started by pvm_spawn(): alone, and, with
 * the name of this program's as `covey run` starts them, told by what each of them finds.
 */
#include "tests/pvm3/say.h"

#include <stdlib.h>

static int by_number(const void *a, const void *b)
{
    return *(const int *)a - *(const int *)b;
}

/* Ends before others ask. */
static int member(void)
{
    int *tids = NULL, own = pvm_mytid(), sum = 0, found = 0;
    int count = pvm_siblings(&tids);
    qsort(tids, count > 0 ? (size_t)count : 0, sizeof *tids, by_number);
    for (int i = 0; i < count; i++) {
        sum += tids[i] - tids[0];
        found += tids[i] == own;
    }
    printf("%d siblings, found itself %d times, apart %d\n", count, found, sum);
    if (tids != NULL && own != tids[0])
        usleep(300000);
    pvm_exit();
    return 0;
}

int main(int argc, char **argv)
{
    (void)argv;
    if (argc > 1)
        return member();
    int *tids = NULL;
    say_begin();
    SAY(pvm_siblings(&tids));
    SAY(tids[0] == pvm_mytid());
    SAY(say_exit());
    return 0;
}
