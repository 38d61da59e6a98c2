/* reduce.c - pi as an integral: each task adds up every size-th strip, a reduction the sums of all
 */
#include "lesson.h"

enum { STRIPS = 1000000 };

int main(void)
{
    double mine = 0, total = 0;

    begin();
    for (int i = rank; i < STRIPS; i += size) {
        double x = (i + 0.5) / STRIPS;
        mine += 4 / (1 + x * x) / STRIPS;
    }
    check(covey_reduce(team, 0, COVEY_OP_SUM, COVEY_DOUBLE, &mine, &total, 1));
    if (rank == 0)
        printf("pi is about %.9f\n", total);
    return end();
}
