/*
 * inside.c - tasks in containers. A host starts the program covey-in, which stands beside its
 * coveyd and knows how; it gets the image, the names of the variables that go in besides its own,
 * and the program with its arguments. The spawner's word COVEY_IN=IMAGE goes before that of this
 * process's environment: so a task in a container starts others in the same image, unless it says
 * `COVEY_IN=`.
 */
#include "lib/spawn/inside.h"

#include <stdlib.h>
#include <string.h>

#define VARIABLE "COVEY_IN="
#define WRAPPER "covey-in"

static size_t count_words(const char *const *list)
{
    size_t count = 0;
    while (list != NULL && list[count] != NULL)
        count++;
    return count;
}

static const char *image_of(const struct covey_spawn *what)
{
    const char *image = getenv("COVEY_IN");
    for (size_t i = 0; i < count_words(what->env); i++) {
        if (strncmp(what->env[i], VARIABLE, sizeof VARIABLE - 1) == 0)
            image = what->env[i] + sizeof VARIABLE - 1;
    }
    return image != NULL && *image != '\0' ? image : NULL;
}

/* Only the names: a value may be a secret, and arguments are seen by all users of a host. */
static size_t names_bytes(const struct covey_spawn *what)
{
    size_t bytes = 0;
    for (size_t i = 0; i < count_words(what->env); i++)
        bytes += strcspn(what->env[i], "=") + 1;
    return bytes;
}

int inside_words(const struct covey_spawn *what, const char ***words)
{
    const char *image = image_of(what);
    size_t argc = count_words(what->argv), envc = count_words(what->env), used = 0;
    *words = NULL;
    if (image == NULL || strcmp(what->argv[0], WRAPPER) == 0)
        return COVEY_OK;
    size_t places = 2 * envc + argc + 4;
    const char **list = calloc(1, places * sizeof *list + names_bytes(what));
    if (list == NULL)
        return COVEY_ENOMEM;
    char *name = (char *)(list + places);
    list[used++] = WRAPPER;
    for (size_t i = 0; i < envc; i++) {
        size_t length = strcspn(what->env[i], "=");
        memcpy(name, what->env[i], length);
        list[used++] = "--env";
        list[used++] = name;
        name += length + 1;
    }
    list[used++] = "--";
    list[used++] = image;
    memcpy(list + used, what->argv, argc * sizeof *list);
    *words = list;
    return COVEY_OK;
}
