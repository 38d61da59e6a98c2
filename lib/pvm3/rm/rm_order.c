/*
 * rm_order.c - SM_EXEC, as a manager packed it.
 */
#include <pvm3.h>
#include <stdlib.h>
#include <string.h>

#include "lib/pvm3/message/pack.h"
#include "lib/pvm3/rm/rm.h"

#define STRINGS_MAX 100000

char *rm_string(struct buffer *b)
{
    char *text = malloc(body_left(&b->body) + 1);
    if (text == NULL || unpack_string(b, text) != PvmOk) {
        free(text);
        return NULL;
    }
    char *fitting = realloc(text, strlen(text) + 1);
    return fitting != NULL ? fitting : text;
}

static void strings_free(char **list)
{
    for (int i = 0; list != NULL && list[i] != NULL; i++)
        free(list[i]);
    free(list);
}

/* Sets *list, which NULL ends, also when it could not be read to its end. */
static int strings_read(struct buffer *b, char ***list)
{
    int count = 0, error = unpack_array(b, PVM_INT, &count, 1, 1);
    if (error != PvmOk || count < 0 || count > STRINGS_MAX ||
        (size_t)count > body_left(&b->body)) /* each takes some bytes */
        return PvmBadMsg;
    *list = calloc((size_t)count + 1, sizeof **list);
    for (int i = 0; i < count && *list != NULL; i++) {
        (*list)[i] = rm_string(b);
        if ((*list)[i] == NULL)
            return PvmBadMsg;
    }
    return *list == NULL ? PvmNoMem : PvmOk;
}

int rm_order_read(struct buffer *b, struct rm_order *o)
{
    int numbers[2];
    int error = unpack_array(b, PVM_INT, &o->parent, 1, 1);
    if (error == PvmOk)
        o->program = rm_string(b);
    if (o->program == NULL || unpack_array(b, PVM_INT, numbers, 2, 1) != PvmOk)
        return PvmBadMsg;
    o->flags = numbers[0];
    o->count = numbers[1];
    if (o->count < 1 || o->count > STRINGS_MAX)
        return PvmBadMsg;
    error = strings_read(b, &o->arguments);
    if (error == PvmOk)
        error = unpack_array(b, PVM_INT, o->targets, 6, 1);
    return error == PvmOk ? strings_read(b, &o->variables) : error;
}

void rm_order_fini(struct rm_order *o)
{
    free(o->program);
    strings_free(o->arguments);
    strings_free(o->variables);
}
