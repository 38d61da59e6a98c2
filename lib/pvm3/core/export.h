/*
 * export.h - environment variables that children get.
 */
#ifndef COVEY_PVM3_EXPORT_H
#define COVEY_PVM3_EXPORT_H

#define EXPORTS_MAX 250

/* "NAME=value" each, ended by NULL. Begins zeroed. */
struct exports {
    int count;
    char *list[EXPORTS_MAX + 1];
};

/* Adds a variable; those that PVM_EXPORT names. Return 0 or an error of PVM. */
int export_add(struct exports *e, const char *name, const char *value);
int export_list(struct exports *e);
void export_fini(struct exports *e);

#endif
