/*
 * export.c - pvm_export() and pvm_unexport(): PVM_EXPORT, the names of variables that children
 * inherit, with colons between them.
 */
#include "lib/pvm3/core/export.h"

#include <pvm3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/pvm3/core/error.h"

#define LIST "PVM_EXPORT"

/* Where the name stands in the list, or NULL. */
static const char *list_find(const char *list, const char *name)
{
    size_t length = strlen(name);
    for (const char *at = list; at != NULL && *at != '\0';) {
        size_t part = strcspn(at, ":");
        if (part == length && memcmp(at, name, length) == 0)
            return at;
        at += part + (at[part] == ':');
    }
    return NULL;
}

static const char *list_now(void)
{
    const char *list = getenv(LIST);
    return list == NULL ? "" : list;
}

static int list_set(char *list)
{
    int failed = list == NULL || setenv(LIST, list, 1) != 0;
    free(list);
    return failed ? PvmNoMem : PvmOk;
}

int pvm_export(char *name)
{
    if (name == NULL || name[0] == '\0')
        return lpvmerr("pvm_export", PvmBadParam);
    const char *list = list_now();
    char *longer = NULL;
    if (list_find(list, name) != NULL)
        return PvmOk;
    if (asprintf(&longer, "%s%s%s", list, list[0] == '\0' ? "" : ":", name) < 0)
        return PvmNoMem;
    return list_set(longer);
}

int pvm_unexport(char *name)
{
    if (name == NULL || name[0] == '\0')
        return lpvmerr("pvm_unexport", PvmBadParam);
    const char *list = list_now();
    const char *at = list_find(list, name);
    char *shorter = NULL;
    if (at == NULL)
        return PvmOk;
    const char *rest = at + strlen(name);
    rest += *rest == ':';
    if (asprintf(&shorter, "%.*s%s", (int)(at - list), list, rest) < 0)
        return PvmNoMem;
    size_t length = strlen(shorter);
    if (length > 0 && shorter[length - 1] == ':')
        shorter[length - 1] = '\0';
    return list_set(shorter);
}

/* ---- the environment of children ------------------------------------------------------------- */

int export_add(struct exports *e, const char *name, const char *value)
{
    if (e->count == EXPORTS_MAX)
        return PvmOutOfRes;
    if (asprintf(&e->list[e->count], "%s=%s", name, value) < 0)
        return PvmNoMem;
    e->list[++e->count] = NULL;
    return PvmOk;
}

static int add_variable(struct exports *e, const char *name, size_t length)
{
    char copy[256];
    if (length == 0 || length >= sizeof copy)
        return PvmOk;
    snprintf(copy, sizeof copy, "%.*s", (int)length, name);
    const char *value = getenv(copy);
    return value == NULL ? PvmOk : export_add(e, copy, value);
}

int export_list(struct exports *e)
{
    const char *list = list_now();
    int error = list[0] == '\0' ? PvmOk : export_add(e, LIST, list);
    for (const char *at = list; *at != '\0' && error == PvmOk;) {
        size_t part = strcspn(at, ":");
        error = add_variable(e, at, part);
        at += part + (at[part] == ':');
    }
    return error;
}

void export_fini(struct exports *e)
{
    for (int i = 0; i < e->count; i++)
        free(e->list[i]);
    e->count = 0;
}
