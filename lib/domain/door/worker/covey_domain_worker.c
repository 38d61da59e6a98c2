/*
 * covey-domain-worker: a task that covey_solve() and its kin start. None is run by hand.
 */
#include <covey_domain.h>

#include <stdio.h>
#include <string.h>

int main(int argc, char **argv)
{
    covey_t *vm = NULL;
    if (argc > 1 && strcmp(argv[1], "--version") == 0)
        return printf("covey-domain-worker %s\n", covey_version()) < 0;
    if (argc > 1 && strcmp(argv[1], "--help") == 0)
        return puts("usage: covey-domain-worker\n"
                    "Is started by the calls of covey_door(3), and not by hand.") < 0;
    if (covey_join(&vm, NULL) < 0) {
        fprintf(stderr, "covey-domain-worker: %s\n", covey_error_text());
        return 1;
    }
    int error = covey_door_serve(vm);
    if (error < 0)
        fprintf(stderr, "covey-domain-worker: %s\n", covey_domain_error_text());
    covey_leave(&vm);
    return error < 0;
}
