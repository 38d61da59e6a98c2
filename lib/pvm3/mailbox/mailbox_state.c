/*
 * mailbox_state.c - what is in the mailboxes: each task has all of it, and changes it as the
 * journal says.
 *
 *   change = PUT tid flags index name message · DELETE tid index name · GONE tid
 *          / SUMMARY number count *(index owner flags name message)
 */
#include "lib/pvm3/mailbox/mailbox_state.h"

#include <limits.h>
#include <pvm3.h>
#include <stdlib.h>
#include <string.h>

#include "lib/pvm3/core/abi.h"
#include "lib/pvm3/message/nested.h"
#include "lib/pvm3/message/pack.h"

#define NAME_MAX_BYTES 1024

enum change { PUT = 1, DELETE = 2, GONE = 3, SUMMARY = 4 };

static struct class *classes;

/* ---- classes and entries --------------------------------------------------------------------- */

struct class *mailbox_first(void)
{
    return classes;
}

struct class *mailbox_find(const char *name)
{
    struct class *c = classes;
    while (c != NULL && strcmp(c->name, name) != 0)
        c = c->next;
    return c;
}

struct entry *mailbox_entry(const struct class *class, int index, int flags)
{
    struct entry *e = class == NULL ? NULL : class->entries;
    while (e != NULL && e->index < index)
        e = e->next;
    return e != NULL && (e->index == index || flags & PvmMboxFirstAvail) ? e : NULL;
}

static struct class *class_add(const char *name)
{
    struct class **at = &classes;
    struct class *c = calloc(1, sizeof *c);
    char *copy = strdup(name);
    if (c == NULL || copy == NULL) {
        free(c);
        free(copy);
        return NULL;
    }
    while (*at != NULL)
        at = &(*at)->next;
    c->name = copy;
    *at = c;
    return c;
}

static void class_remove(struct class *class)
{
    struct class **at = &classes;
    while (*at != class)
        at = &(*at)->next;
    *at = class->next;
    free(class->name);
    free(class);
}

static void entry_free(struct entry *e)
{
    buffer_destroy(e->message);
    free(e);
}

/* The class goes with its last entry. */
static void entry_remove(struct class *class, struct entry *entry)
{
    struct entry **at = &class->entries;
    while (*at != entry)
        at = &(*at)->next;
    *at = entry->next;
    entry_free(entry);
    if (class->entries == NULL)
        class_remove(class);
}

/* Takes the message; in place of one that has the index. */
static int entry_set(struct class *class, const struct entry *what)
{
    struct entry **at = &class->entries;
    while (*at != NULL && (*at)->index < what->index)
        at = &(*at)->next;
    struct entry *e = *at != NULL && (*at)->index == what->index ? *at : NULL;
    struct entry *kept = e != NULL ? e : calloc(1, sizeof *kept);
    if (kept == NULL)
        return PvmNoMem;
    if (e != NULL)
        buffer_destroy(e->message);
    struct entry *after = e != NULL ? e->next : *at;
    *kept = *what;
    kept->next = after;
    *at = kept;
    return kept->index;
}

void mailbox_reset(void)
{
    while (classes != NULL) {
        struct class *c = classes;
        for (struct entry *e = c->entries, *after; e != NULL; e = after) {
            after = e->next;
            entry_free(e);
        }
        c->entries = NULL;
        class_remove(c);
    }
}

/* ---- applying -------------------------------------------------------------------------------- */

static int may_change(const struct entry *e, int tid)
{
    return e->owner == tid || e->flags & PvmMboxOverWritable;
}

/* The first index from `least` on that no entry has, or an error. */
static int free_index(const struct class *class, int least)
{
    for (const struct entry *e = class->entries; e != NULL; e = e->next) {
        if (e->index == least && least == INT_MAX)
            return PvmOutOfRes;
        least += e->index == least;
    }
    return least;
}

static int entry_put(const char *name, struct entry *what)
{
    struct class *class = mailbox_find(name);
    struct entry *there = mailbox_entry(class, what->index, 0);
    if (what->flags & PvmMboxMultiInstance && class != NULL)
        what->index = free_index(class, what->index);
    else if (there != NULL && !may_change(there, what->owner))
        return PvmDenied;
    if (what->index < 0)
        return what->index;
    if (class == NULL)
        class = class_add(name);
    if (class == NULL)
        return PvmNoMem;
    int index = entry_set(class, what);
    if (index >= 0)
        what->message = NULL;
    return index;
}

/* A name is not longer than its reader's array. */
static int unpack_name(struct buffer *b, char *name)
{
    int length;
    int error = unpack_array(b, PVM_INT, &length, 1, 1);
    if (error != PvmOk || length < 1 || length > NAME_MAX_BYTES)
        return PvmBadMsg;
    error = unpack_array(b, PVM_BYTE, name, length, 1);
    name[length - 1] = '\0';
    return error;
}

/* Three numbers, a name and a message, which the caller frees; an error: there is none. */
static int unpack_entry(struct buffer *b, int *const numbers[3], char *name,
                        struct buffer **message)
{
    int error = PvmOk;
    for (int i = 0; i < 3 && error == PvmOk; i++)
        error = unpack_array(b, PVM_INT, numbers[i], 1, 1);
    if (error == PvmOk)
        error = unpack_name(b, name);
    return error == PvmOk ? nested_unpack(b, message) : error;
}

static int apply_put(struct buffer *b, int author)
{
    char name[NAME_MAX_BYTES];
    struct entry what = {0};
    int *const numbers[3] = {&what.owner, &what.flags, &what.index};
    int error = unpack_entry(b, numbers, name, &what.message);
    if (error != PvmOk)
        return error;
    int index = what.index < 0 || what.owner != author ? PvmBadMsg : entry_put(name, &what);
    buffer_destroy(what.message);
    return index;
}

static int apply_delete(struct buffer *b, int author)
{
    char name[NAME_MAX_BYTES];
    int fields[2];
    if (unpack_array(b, PVM_INT, fields, 2, 1) != PvmOk || unpack_name(b, name) != PvmOk)
        return PvmBadMsg;
    struct class *class = mailbox_find(name);
    struct entry *e = mailbox_entry(class, fields[1], 0);
    if (e == NULL)
        return PvmNotFound;
    if (fields[0] != author || !may_change(e, author))
        return PvmDenied;
    int index = e->index;
    entry_remove(class, e);
    return index;
}

static void owner_gone(struct class *class, int tid)
{
    for (struct entry *e = class->entries, *after; e != NULL; e = after) {
        after = e->next;
        if (e->owner != tid)
            continue;
        e->owner = 0;
        if (!(e->flags & PvmMboxPersistent))
            entry_remove(class, e);
    }
}

static int apply_gone(struct buffer *b)
{
    int tid;
    if (unpack_array(b, PVM_INT, &tid, 1, 1) != PvmOk)
        return PvmBadMsg;
    for (struct class *c = classes, *after; c != NULL; c = after) {
        after = c->next;
        owner_gone(c, tid);
    }
    return PvmOk;
}

static int summary_put(const char *name, const struct entry *what)
{
    if (what->index < 0)
        return PvmBadMsg;
    struct class *class = mailbox_find(name);
    class = class != NULL ? class : class_add(name);
    return class == NULL ? PvmNoMem : entry_set(class, what);
}

static int summary_entry(struct buffer *b)
{
    char name[NAME_MAX_BYTES];
    struct entry what = {0};
    int *const numbers[3] = {&what.index, &what.owner, &what.flags};
    int error = unpack_entry(b, numbers, name, &what.message);
    if (error != PvmOk)
        return error;
    error = summary_put(name, &what);
    if (error < 0)
        buffer_destroy(what.message);
    return error < 0 ? error : PvmOk;
}

/* One that others were faster than does not count. */
static int apply_summary(struct buffer *b)
{
    int fields[2];
    int error = unpack_array(b, PVM_INT, fields, 2, 1);
    if (error != PvmOk || fields[0] != journal_number())
        return PvmNotFound;
    mailbox_reset();
    for (int i = 0; i < fields[1] && error == PvmOk; i++)
        error = summary_entry(b);
    return error;
}

static int apply(struct buffer *b, int author)
{
    int what;
    if (unpack_array(b, PVM_INT, &what, 1, 1) != PvmOk)
        return PvmBadMsg;
    switch (what) {
    case PUT:
        return apply_put(b, author);
    case DELETE:
        return apply_delete(b, author);
    case GONE:
        return apply_gone(b);
    case SUMMARY:
        return apply_summary(b);
    default:
        return PvmBadMsg;
    }
}

/* ---- changes --------------------------------------------------------------------------------- */

static int pack_numbers(struct buffer *b, const int *numbers, int count)
{
    return pack_array(b, PVM_INT, numbers, count, 1);
}

static int mailbox_append(struct buffer *b, int error)
{
    int result = error == PvmOk ? journal_append(&mailbox_use, b) : error;
    buffer_destroy(b);
    return result;
}

int mailbox_put(const char *name, int flags, int index, const struct buffer *message)
{
    struct buffer *b = buffer_create(ENC_DEFAULT);
    const int numbers[4] = {PUT, pvmmytid, flags, index};
    int error = b == NULL ? PvmNoMem : pack_numbers(b, numbers, 4);
    if (strlen(name) >= NAME_MAX_BYTES)
        error = PvmBadParam;
    if (error == PvmOk)
        error = pack_string(b, name);
    if (error == PvmOk)
        error = nested_pack(b, message);
    return mailbox_append(b, error);
}

int mailbox_delete(const char *name, int index)
{
    struct buffer *b = buffer_create(ENC_DEFAULT);
    const int numbers[3] = {DELETE, pvmmytid, index};
    int error = b == NULL ? PvmNoMem : pack_numbers(b, numbers, 3);
    if (error == PvmOk)
        error = pack_string(b, name);
    return mailbox_append(b, error);
}

int mailbox_owner_gone(int tid)
{
    struct buffer *b = buffer_create(ENC_DEFAULT);
    const int numbers[2] = {GONE, tid};
    return mailbox_append(b, b == NULL ? PvmNoMem : pack_numbers(b, numbers, 2));
}

static int entries_count(void)
{
    int count = 0;
    for (struct class *c = classes; c != NULL; c = c->next)
        for (struct entry *e = c->entries; e != NULL; e = e->next)
            count++;
    return count;
}

static int summary_class(struct buffer *b, const struct class *c)
{
    int error = PvmOk;
    for (const struct entry *e = c->entries; e != NULL && error == PvmOk; e = e->next) {
        const int numbers[3] = {e->index, e->owner, e->flags};
        error = pack_numbers(b, numbers, 3);
        if (error == PvmOk)
            error = pack_string(b, c->name);
        if (error == PvmOk)
            error = nested_pack(b, e->message);
    }
    return error;
}

static int summary(struct buffer *b)
{
    const int numbers[3] = {SUMMARY, journal_number(), entries_count()};
    int error = pack_numbers(b, numbers, 3);
    for (struct class *c = classes; c != NULL && error == PvmOk; c = c->next)
        error = summary_class(b, c);
    return error;
}

const struct journal_use mailbox_use = {mailbox_reset, apply, summary};
