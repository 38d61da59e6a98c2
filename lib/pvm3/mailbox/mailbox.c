/*
 * mailbox.c - pvm_putinfo(), pvm_recvinfo(), pvm_delinfo(), pvm_getmboxinfo(), and what they are
 * called for single numbers: pvm_insert(), pvm_lookup(), pvm_delete().
 *
 * The mailboxes belong to the VM, not to a daemon or a task. That an owner has ended is found out
 * by whoever looks.
 */
#include "lib/pvm3/mailbox/mailbox.h"

#include <pvm3.h>
#include <regex.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "lib/pvm3/core/abi.h"
#include "lib/pvm3/core/calls.h"
#include "lib/pvm3/core/error.h"
#include "lib/pvm3/core/vm.h"
#include "lib/pvm3/mailbox/mailbox_state.h"
#include "lib/pvm3/message/pack.h"
#include "lib/pvm3/message/wire.h"

static bool used; /* since the membership began */

/* ---- owners that have ended ------------------------------------------------------------------ */

static bool is_alive(const struct covey_task *tasks, int count, int tid)
{
    for (int i = 0; i < count; i++) {
        if (tasks[i].tid == tid)
            return true;
    }
    return false;
}

/* An owner that has ended, or 0. */
static int dead_owner(const struct covey_task *tasks, int count)
{
    for (struct class *c = mailbox_first(); c != NULL; c = c->next) {
        for (struct entry *e = c->entries; e != NULL; e = e->next) {
            if (e->owner != 0 && e->owner != pvmmytid && !is_alive(tasks, count, e->owner))
                return e->owner;
        }
    }
    return 0;
}

/* Whether somebody else owns anything. */
static bool foreign(void)
{
    for (struct class *c = mailbox_first(); c != NULL; c = c->next) {
        for (struct entry *e = c->entries; e != NULL; e = e->next) {
            if (e->owner != 0 && e->owner != pvmmytid)
                return true;
        }
    }
    return false;
}

/* Sets *tid to an owner that has ended, or to 0. */
static int find_dead(int *tid)
{
    struct covey_task *tasks = NULL;
    int count = foreign() ? covey_tasks(vm_handle(), 0, &tasks) : 0;
    *tid = count > 0 ? dead_owner(tasks, count) : 0;
    covey_free(tasks);
    return count < 0 ? error_of(count) : PvmOk;
}

/* A change brings those of others, too: of tasks that were not there when it was asked before. */
static int sweep(void)
{
    int tid;
    int error = find_dead(&tid);
    while (error == PvmOk && tid != 0) {
        error = mailbox_owner_gone(tid);
        if (error == PvmOk)
            error = find_dead(&tid);
    }
    return error;
}

/* All that was changed by now is known. */
static int refresh(void)
{
    if (vm_enter() == NULL)
        return PvmSysErr;
    used = true;
    int error = journal_read(&mailbox_use);
    return error == PvmOk ? sweep() : error;
}

static bool owns(int tid)
{
    for (struct class *c = mailbox_first(); c != NULL; c = c->next) {
        for (struct entry *e = c->entries; e != NULL; e = e->next) {
            if (e->owner == tid)
                return true;
        }
    }
    return false;
}

void mailbox_leave(void)
{
    if (!used)
        return;
    if (journal_read(&mailbox_use) == PvmOk && owns(pvmmytid))
        mailbox_owner_gone(pvmmytid);
    mailbox_reset();
    journal_clear();
    used = false;
}

/* ---- messages -------------------------------------------------------------------------------- */

static int name_ok(const char *name)
{
    return name != NULL && name[0] != '\0';
}

int call_putinfo(char *name, int id, int flags)
{
    struct buffer *b = buffer_find(id);
    if (!name_ok(name) || id <= 0)
        return lpvmerr("pvm_putinfo", PvmBadParam);
    if (b == NULL)
        return lpvmerr("pvm_putinfo", PvmNoSuchBuf);
    int index = refresh();
    if (index == PvmOk)
        index = mailbox_put(name, flags, (int)PvmMboxDirectIndexOf((unsigned)flags), b);
    return index == PvmOk || index > 0 || index == PvmDenied ? index
                                                             : lpvmerr("pvm_putinfo", index);
}

static bool may_delete(const struct entry *e)
{
    return e->owner == pvmmytid || e->flags & PvmMboxOverWritable;
}

/* A copy of the message that others may delete meanwhile. */
static int entry_take(const char *name, const struct entry *e, int flags, struct buffer **copy)
{
    if (flags & PvmMboxReadAndDelete && !may_delete(e))
        return PvmDenied;
    *copy = wire_copy(e->message);
    if (*copy == NULL)
        return PvmNoMem;
    (*copy)->info.src = e->message->info.src;
    (*copy)->info.dst = 0;
    int index = flags & PvmMboxReadAndDelete ? mailbox_delete(name, e->index) : e->index;
    if (index >= 0)
        return PvmOk;
    buffer_destroy(*copy);
    *copy = NULL;
    return index;
}

/* Another may be faster to delete the entry: then the next one is taken, if any fits. */
static int find_and_take(const char *name, int index, int flags, struct buffer **copy)
{
    int result = refresh();
    while (result == PvmOk && *copy == NULL) {
        struct entry *e = mailbox_entry(mailbox_find(name), index, flags);
        if (e != NULL)
            result = entry_take(name, e, flags, copy);
        else
            result = flags & PvmMboxWaitForInfo ? journal_wait(&mailbox_use) : PvmNotFound;
        if (e != NULL && result == PvmNotFound)
            result = PvmOk;
    }
    return result;
}

int call_recvinfo(char *name, int index, int flags)
{
    struct buffer *b = NULL;
    if (!name_ok(name) || index < 0)
        return lpvmerr("pvm_recvinfo", PvmBadParam);
    int error = find_and_take(name, index, flags, &b);
    if (error != PvmOk)
        return error == PvmNotFound ? PvmNotFound : lpvmerr("pvm_recvinfo", error);
    buffer_receive(b);
    return b->id;
}

int call_delinfo(char *name, int index, int flags)
{
    (void)flags;
    if (!name_ok(name) || index < 0)
        return lpvmerr("pvm_delinfo", PvmBadParam);
    int result = refresh();
    if (result == PvmOk)
        result = mailbox_delete(name, index);
    return result >= 0 || result == PvmNotFound || result == PvmDenied
               ? result
               : lpvmerr("pvm_delinfo", result);
}

/* ---- what there is --------------------------------------------------------------------------- */

static struct pvmmboxinfo *boxes; /* the program's until the next call */
static int box_count;

static int entries_count(const struct class *class)
{
    int count = 0;
    for (const struct entry *e = class->entries; e != NULL; e = e->next)
        count++;
    return count;
}

/* Three arrays in one piece of memory. */
static int box_describe(struct pvmmboxinfo *box, const struct class *class)
{
    size_t count = (size_t)entries_count(class);
    int *numbers = calloc(3 * count, sizeof *numbers);
    *box = (struct pvmmboxinfo){.mi_name = strdup(class->name),
                                .mi_nentries = (int)count,
                                .mi_indices = numbers,
                                .mi_owners = numbers + count,
                                .mi_flags = numbers + 2 * count};
    if (box->mi_name == NULL || numbers == NULL) {
        free(box->mi_name);
        free(numbers);
        return PvmNoMem;
    }
    size_t i = 0;
    for (const struct entry *e = class->entries; e != NULL; e = e->next, i++) {
        box->mi_indices[i] = e->index;
        box->mi_owners[i] = e->owner;
        box->mi_flags[i] = e->flags;
    }
    return PvmOk;
}

static int boxes_add(const struct class *class)
{
    struct pvmmboxinfo *grown = realloc(boxes, ((size_t)box_count + 1) * sizeof *grown);
    if (grown == NULL)
        return PvmNoMem;
    boxes = grown;
    int error = box_describe(&boxes[box_count], class);
    box_count += error == PvmOk;
    return error;
}

static int boxes_collect(const char *pattern)
{
    regex_t expression;
    bool all = pattern == NULL || pattern[0] == '\0' || strcmp(pattern, "*") == 0;
    if (!all && regcomp(&expression, pattern, REG_NOSUB) != 0)
        return PvmOk; /* nothing matches what is not an expression */
    int error = PvmOk;
    for (struct class *c = mailbox_first(); c != NULL && error == PvmOk; c = c->next) {
        if (all || regexec(&expression, c->name, 0, NULL, 0) == 0)
            error = boxes_add(c);
    }
    if (!all)
        regfree(&expression);
    return error;
}

int call_getmboxinfo(char *pattern, int *count, struct pvmmboxinfo **list)
{
    if (count == NULL || list == NULL)
        return lpvmerr("pvm_getmboxinfo", PvmBadParam);
    int error = refresh();
    for (int i = 0; i < box_count; i++) {
        free(boxes[i].mi_name);
        free(boxes[i].mi_indices);
    }
    free(boxes);
    boxes = NULL;
    box_count = 0;
    if (error == PvmOk)
        error = boxes_collect(pattern);
    if (error != PvmOk)
        return lpvmerr("pvm_getmboxinfo", error);
    *count = box_count;
    *list = boxes;
    return PvmOk;
}

/* ---- single numbers, as in PVM 3.3
 * ---------------------------------------------------------------- */

#define NUMBER_FLAGS (PvmMboxPersistent | PvmMboxMultiInstance)

static int number_put(const char *name, int index, int value)
{
    struct buffer *b = buffer_create(ENC_DEFAULT);
    int result = b == NULL ? PvmNoMem : pack_array(b, PVM_INT, &value, 1, 1);
    if (result == PvmOk)
        result = refresh();
    if (result == PvmOk && mailbox_entry(mailbox_find(name), index, 0) != NULL)
        result = PvmDupEntry;
    if (result == PvmOk)
        result = mailbox_put(name, NUMBER_FLAGS, index < 0 ? 0 : index, b);
    buffer_destroy(b);
    return result;
}

int call_insert(char *name, int index, int value)
{
    if (!name_ok(name) || index < -1)
        return lpvmerr("pvm_insert", PvmBadParam);
    int result = number_put(name, index, value);
    return result >= 0 || result == PvmDupEntry ? result : lpvmerr("pvm_insert", result);
}

static int number_get(const struct entry *e, int *value)
{
    body_rewind(&e->message->body);
    int error = unpack_array(e->message, PVM_INT, value, 1, 1);
    body_rewind(&e->message->body);
    return error;
}

int call_lookup(char *name, int index, int *value)
{
    if (!name_ok(name) || index < -1)
        return lpvmerr("pvm_lookup", PvmBadParam);
    int result = refresh();
    if (result != PvmOk)
        return lpvmerr("pvm_lookup", result);
    struct entry *e =
        mailbox_entry(mailbox_find(name), index < 0 ? 0 : index, index < 0 ? PvmMboxFirstAvail : 0);
    if (e == NULL)
        return PvmNotFound;
    result = value == NULL ? PvmOk : number_get(e, value);
    return result == PvmOk ? e->index : lpvmerr("pvm_lookup", result);
}

int call_delete(char *name, int index)
{
    if (!name_ok(name) || index < 0)
        return lpvmerr("pvm_delete", PvmBadParam);
    int result = refresh();
    if (result == PvmOk)
        result = mailbox_delete(name, index);
    return result >= 0 || result == PvmNotFound ? result : lpvmerr("pvm_delete", result);
}

/* ---- tasks that a reset of the console spares
 * ------------------------------------------------------ */

int pvm_getnoresets(int **tids, int *count)
{
    static int *list; /* the program's until the next call */
    if (tids == NULL || count == NULL)
        return lpvmerr("pvm_getnoresets", PvmBadParam);
    int error = refresh();
    if (error != PvmOk)
        return lpvmerr("pvm_getnoresets", error);
    struct class *class = mailbox_find(PVMNORESETCLASS);
    int n = class == NULL ? 0 : entries_count(class);
    int *grown = realloc(list, ((size_t)n + 1) * sizeof *grown);
    if (grown == NULL)
        return lpvmerr("pvm_getnoresets", PvmNoMem);
    list = grown;
    struct entry *e = class == NULL ? NULL : class->entries;
    for (int i = 0; i < n; i++, e = e->next)
        list[i] = e->owner;
    *tids = list;
    *count = n;
    return PvmOk;
}

static int noreset_set(void)
{
    struct buffer *b = buffer_create(ENC_DEFAULT);
    int index = b == NULL ? PvmNoMem : mailbox_put(PVMNORESETCLASS, PvmMboxMultiInstance, 0, b);
    buffer_destroy(b);
    return index < 0 ? index : PvmOk;
}

static int noreset_clear(void)
{
    struct class *class = mailbox_find(PVMNORESETCLASS);
    struct entry *e = class == NULL ? NULL : class->entries;
    while (e != NULL && e->owner != pvmmytid)
        e = e->next;
    int index = e == NULL ? PvmOk : mailbox_delete(PVMNORESETCLASS, e->index);
    return index < 0 ? index : PvmOk;
}

int mailbox_noreset(int on)
{
    int error = refresh();
    if (error != PvmOk)
        return error;
    return on ? noreset_set() : noreset_clear();
}
