/*
 * hosts.c - the hosts that a run uses: those that --hosts names, or all that are up. A host that
 * does not answer is usable as long as it is not given up, for it may only be slow.
 */
#include "apps/hosts.h"

#include "apps/crew.h"

#include <err.h>
#include <stdlib.h>
#include <string.h>

/* A suspected host is not yet given up. */
static bool is_usable(const struct covey_host *host)
{
    return host->state == COVEY_HOST_UP || host->state == COVEY_HOST_SUSPECT;
}

static int take_named(struct host_list *list, int known, const char *name)
{
    const struct covey_host *host = NULL;
    for (int i = 0; i < known && host == NULL; i++)
        if (strcmp(list->all[i].name, name) == 0)
            host = &list->all[i];
    if (host == NULL || !is_usable(host)) {
        warnx("host '%s' is %s; see covey hosts", name,
              host == NULL ? "not in the virtual machine" : "not up");
        return -1;
    }
    list->names[list->count++] = host->name;
    return 0;
}

static int host_list_choose(covey_t *vm, const struct app_options *options, struct host_list *list,
                            int known)
{
    if (options->host_count == 0 && options->route == COVEY_ROUTE_SHM)
        return take_named(list, known, covey_myhost(vm));
    if (options->host_count == 0) {
        for (int i = 0; i < known; i++)
            if (is_usable(&list->all[i]))
                list->names[list->count++] = list->all[i].name;
        if (list->count > 0)
            return 0;
        warnx("no host of the virtual machine is up");
        return -1;
    }
    for (int i = 0; i < options->host_count; i++)
        if (take_named(list, known, options->hosts[i]) < 0)
            return -1;
    return 0;
}

int hosts_choose(covey_t *vm, const struct app_options *options, struct host_list *list)
{
    *list = (struct host_list){0};
    int known = covey_hosts(vm, &list->all);
    if (known < 0)
        return crew_error("cannot list the hosts", known);
    list->names = calloc((size_t)known + (size_t)options->host_count + 1, sizeof *list->names);
    if (list->names == NULL) {
        warnx("out of memory");
        hosts_free(list);
        return -1;
    }
    int result = host_list_choose(vm, options, list, known);
    if (result < 0)
        hosts_free(list);
    return result;
}

void hosts_free(struct host_list *list)
{
    free(list->names);
    covey_free(list->all);
    *list = (struct host_list){0};
}

const char **hosts_by_rank(const struct host_list *list, const int *of, int ranks)
{
    const char **names = calloc((size_t)ranks + 1, sizeof *names);
    for (int i = 0; names != NULL && i < ranks; i++)
        names[i] = list->names[of[i]];
    return names;
}
