/*
 * list.h - singly linked lists whose first element a pointer names: UNLINK() takes an element out
 * of one, if it is in it; `next` is the field by which elements of that list name the next one.
 */
#ifndef COVEY_PROTO_LIST_H
#define COVEY_PROTO_LIST_H

#include <stddef.h>

#define UNLINK(first, element, next)                                                               \
    do {                                                                                           \
        __typeof__(first) *unlink_at = &(first);                                                   \
        while (*unlink_at != NULL && *unlink_at != (element))                                      \
            unlink_at = &(*unlink_at)->next;                                                       \
        if (*unlink_at != NULL)                                                                    \
            *unlink_at = (*unlink_at)->next;                                                       \
    } while (0)

#endif
