/*
 * cache.c - one set of figures for all handles of a process, behind a lock.
 */
#include "lib/domain/base/cache.h"

#include <limits.h>
#include <pthread.h>
#include <sys/utsname.h>

static struct {
    pthread_mutex_t lock;
    int is_read, is_changed;
    char path[PATH_MAX];
    struct utsname machine;
    struct domain_figures figures;
} cache = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* What cannot be read is measured. */
static void lock_and_read(void)
{
    pthread_mutex_lock(&cache.lock);
    if (cache.is_read)
        return;
    cache.is_read = 1;
    uname(&cache.machine);
    domain_figures_path(cache.path, sizeof cache.path);
    if (cache.path[0] != '\0')
        domain_figures_read(&cache.figures, cache.path, cache.machine.nodename);
}

double domain_cache_figure(const char *name)
{
    lock_and_read();
    double value = domain_figure(&cache.figures, name);
    pthread_mutex_unlock(&cache.lock);
    return value;
}

void domain_cache_set(const char *name, double value)
{
    lock_and_read();
    if (domain_figure_set(&cache.figures, name, value) == 0)
        cache.is_changed = 1;
    pthread_mutex_unlock(&cache.lock);
}

void domain_cache_save(void)
{
    lock_and_read();
    if (cache.is_changed && cache.path[0] != '\0' && cache.machine.nodename[0] != '\0' &&
        domain_figures_write(&cache.figures, cache.path, cache.machine.nodename) == 0)
        cache.is_changed = 0;
    pthread_mutex_unlock(&cache.lock);
}

void domain_cache_forget(void)
{
    pthread_mutex_lock(&cache.lock);
    domain_figures_free(&cache.figures);
    cache.is_read = cache.is_changed = 0;
    pthread_mutex_unlock(&cache.lock);
}

int domain_cache_copy(struct domain_figures *copy)
{
    int error = 0;
    *copy = (struct domain_figures){NULL, 0};
    lock_and_read();
    for (size_t i = 0; error == 0 && i < cache.figures.n; i++)
        error = domain_figure_set(copy, cache.figures.list[i].name, cache.figures.list[i].value);
    pthread_mutex_unlock(&cache.lock);
    if (error < 0)
        domain_figures_free(copy);
    return error;
}
