/* bag.c - work lies in a bag of the VM: whoever is free takes an item */
#include "lesson.h"

enum { ITEMS = 20 };

static void lead(const char *name)
{
    covey_bag_t *bag;
    struct covey_bag_result result;
    int last = 0;

    check(covey_bag_create(vm, name, NULL, &bag));
    for (int number = 0; number < ITEMS; number++)
        check(covey_bag_put(bag, 0, &number, sizeof number));
    check(covey_bag_close(bag));
    check(covey_barrier(team)); /* now it is there */
    for (int i = 0; i < ITEMS; i++) {
        check(covey_bag_result(bag, COVEY_FOREVER, &result, 1));
        int square = *(const int *)result.bytes;
        if (square > last)
            last = square;
    }
    printf("%d results, the last is %d\n", ITEMS, last);
    check(covey_barrier(team));
    covey_bag_free(&bag);
}

static void work(const char *name)
{
    covey_bag_t *bag;
    struct covey_bag_item item;

    check(covey_barrier(team));
    check(covey_bag_attach(vm, name, &bag));
    while (check(covey_bag_take(bag, COVEY_FOREVER, &item, 1)) == 1) {
        int number = *(const int *)item.bytes, square = number * number;
        check(covey_bag_done(bag, &item, &square, sizeof square));
    }
    check(covey_barrier(team));
    covey_bag_free(&bag);
}

int main(void)
{
    char name[64];

    begin();
    snprintf(name, sizeof name, "lesson.%x", (unsigned)covey_team_tid(team, 0)); /* its own */
    if (rank == 0)
        lead(name);
    else
        work(name);
    return end();
}
