/* hello.c - one program, many tasks: each does the part of the work that its rank says */
#include "lesson.h"

enum { ITEMS = 12 };

int main(void)
{
    int mine[ITEMS], count = 0;

    begin();
    for (int item = rank; item < ITEMS; item += size)
        mine[count++] = item;
    printf("hello from task %d of %d on %s: my items are ", rank, size, covey_myhost(vm));
    print_list(mine, count);
    printf("\n");
    return end();
}
