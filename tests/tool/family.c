/* links: libcovey */
/*
 * family.c - a task that starts another, which inherits its output, and ends at once.
 *
 *   family [-o] PROG [ARG...]     -o: on another host
 */
#include <covey.h>

#include <stdio.h>
#include <string.h>

int main(int argc, char **argv)
{
    covey_t *vm;
    covey_tid_t tid;
    int away = argc > 1 && strcmp(argv[1], "-o") == 0;
    struct covey_spawn what = {.argv = (const char *const *)argv + 1 + away,
                               .where = away ? COVEY_WHERE_OTHERS : COVEY_WHERE_ANY};
    if (covey_join(&vm, NULL) < 0 || covey_spawn(vm, &what, 1, &tid) != 1) {
        fprintf(stderr, "family: %s\n", covey_error_text());
        return 1;
    }
    printf("started\n");
    covey_leave(&vm);
    return 0;
}
