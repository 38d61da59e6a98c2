/*
 * text.c - strings of Fortran.
 */
#include "lib/pvm3/fortran/text.h"

#include <string.h>

char *text_take(char to[TEXT_MAX], const char *from, size_t length)
{
    if (length >= TEXT_MAX)
        length = TEXT_MAX - 1;
    while (length > 0 && from[length - 1] == ' ')
        length--;
    memcpy(to, from, length);
    to[length] = '\0';
    return to;
}

void text_give(char *to, size_t length, const char *from)
{
    size_t size = strlen(from);
    size = size < length ? size : length;
    memcpy(to, from, size);
    memset(to + size, ' ', length - size);
}
