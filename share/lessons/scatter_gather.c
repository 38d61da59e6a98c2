/* scatter_gather.c - the root's array in equal blocks to all; each works at its own; the root
 * gathers them */
#include "lesson.h"

enum { EACH = 3 };

int main(void)
{
    int *whole = NULL, block[EACH];

    begin();
    if (rank == 0) {
        whole = malloc(sizeof *whole * EACH * (size_t)size);
        for (int i = 0; i < EACH * size; i++)
            whole[i] = i;
    }
    check(covey_scatter(team, 0, COVEY_INT32, whole, block, EACH));
    for (int i = 0; i < EACH; i++)
        block[i] *= block[i];
    check(covey_gather(team, 0, COVEY_INT32, block, whole, EACH));
    if (rank == 0) {
        printf("squares: ");
        print_list(whole, EACH * size);
        printf("\n");
    }
    free(whole);
    return end();
}
