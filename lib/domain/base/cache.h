/*
 * cache.h - the figures that this process knows: measured by itself, or by an earlier one on this
 * machine and kept in the file of domain_figures_path(), which is read when one is asked for first.
 * Any thread may call these.
 */
#ifndef COVEY_LIB_DOMAIN_BASE_CACHE_H
#define COVEY_LIB_DOMAIN_BASE_CACHE_H

#include "lib/domain/base/figures.h"

/* 0: it is not known. */
double domain_cache_figure(const char *name);

/* What cannot be entered, as memory is exhausted, is measured again another time. */
void domain_cache_set(const char *name, double value);

/* Writes the file, if something was set since. It is a cache: that it cannot be written is no
 * error. One member of a team does it. */
void domain_cache_save(void);

/* Forgets all without writing, and reads the file again when next asked. */
void domain_cache_forget(void);

/* A copy of them all, which the caller frees. Errors: ENOMEM. */
int domain_cache_copy(struct domain_figures *copy);

#endif
