/*
 * list.h - linked lists whose first element a pointer names, and some the last; `next` and
 * `previous` are the fields by which elements of that list name their neighbours.
 *
 *   UNLINK()       takes an element out of a singly linked list, in which it must be
 *   LINK_LAST()    adds one at the end of a singly linked list that knows its last
 *   LINK_AFTER()   adds one to a doubly linked list, which knows its last, behind `before`, or as
 *                  the first where that is NULL
 *   UNLINK_BOTH()  takes one out of such a list
 */
#ifndef COVEY_PROTO_LIST_H
#define COVEY_PROTO_LIST_H

#include <assert.h>
#include <stddef.h>

#define UNLINK(first, element, next)                                                               \
    do {                                                                                           \
        __typeof__(first) *unlink_at = &(first);                                                   \
        while (*unlink_at != (element)) {                                                          \
            assert(*unlink_at != NULL);                                                            \
            unlink_at = &(*unlink_at)->next;                                                       \
        }                                                                                          \
        *unlink_at = (*unlink_at)->next;                                                           \
    } while (0)

#define LINK_LAST(first, last, element, next)                                                      \
    do {                                                                                           \
        (element)->next = NULL;                                                                    \
        *((first) != NULL ? &(last)->next : &(first)) = (element);                                 \
        (last) = (element);                                                                        \
    } while (0)

#define LINK_AFTER(before, first, last, element, next, previous)                                   \
    do {                                                                                           \
        __typeof__(first) link_before = (before);                                                  \
        (element)->previous = link_before;                                                         \
        (element)->next = link_before != NULL ? link_before->next : (first);                       \
        *((element)->next != NULL ? &(element)->next->previous : &(last)) = (element);             \
        *(link_before != NULL ? &link_before->next : &(first)) = (element);                        \
    } while (0)

#define UNLINK_BOTH(first, last, element, next, previous)                                          \
    do {                                                                                           \
        *((element)->previous != NULL ? &(element)->previous->next : &(first)) = (element)->next;  \
        *((element)->next != NULL ? &(element)->next->previous : &(last)) = (element)->previous;   \
    } while (0)

#endif
