/*
 * list.c - calls that give one entry of a list a call, and begin again behind the last. The list is
 * asked for at its first entry, and also when the program gives -1 for its length.
 */
#include "lib/pvm3/fortran/fortran.h"

#include <pvm3.h>
#include <string.h>

#include "lib/pvm3/fortran/text.h"

#define ENTRY 1 /* an entry was given */

void pvmfconfig_(int *hosts, int *formats, int *tid, char *name, char *arch, int *speed, int *info,
                 size_t name_length, size_t arch_length)
{
    static struct pvmhostinfo *list;
    static int count, kinds, at;
    int asked = *hosts;
    *info = PvmOk;
    if (asked == -1 || at >= count) {
        at = count = 0;
        *info = pvm_config(&count, &kinds, &list);
    }
    if (asked == -1 || *info < 0 || count == 0)
        return;
    *hosts = count;
    *formats = kinds;
    *tid = list[at].hi_tid;
    text_give(name, name_length, list[at].hi_name);
    text_give(arch, arch_length, list[at].hi_arch);
    *speed = list[at].hi_speed;
    *info = ENTRY;
    at++;
}

void pvmftasks_(const int *where, int *count, int *tid, int *parent, int *host, int *flag,
                char *program, int *info, size_t program_length)
{
    static struct pvmtaskinfo *list;
    static int tasks, at;
    int asked = *count;
    *info = PvmOk;
    if (asked == -1 || at >= tasks) {
        at = tasks = 0;
        *info = pvm_tasks(*where, &tasks, &list);
    }
    if (asked == -1 || *info < 0)
        return;
    *count = tasks;
    if (tasks == 0)
        return;
    *tid = list[at].ti_tid;
    *parent = list[at].ti_ptid;
    *host = list[at].ti_host;
    *flag = list[at].ti_flag;
    text_give(program, program_length, list[at].ti_a_out);
    *info = ENTRY;
    at++;
}

/* An index of -1 asks for the number alone. */
void pvmfsiblings_(int *count, const int *index, int *tid)
{
    int *tids = NULL;
    *count = pvm_siblings(&tids);
    if (*index >= 0 && *index < *count)
        *tid = tids[*index];
}

/* Entries of one class after the other; PvmNotFound behind the last. */
void pvmfgetmboxinfo_(const char *pattern, char *name, int *classes, int *entries, int *index,
                      int *owner, int *flags, int *info, size_t pattern_length, size_t name_length)
{
    static struct pvmmboxinfo *boxes;
    static int count, box, entry, begun;
    char copy[TEXT_MAX];
    int again = !begun || *info == -1;
    *info = PvmOk;
    if (again) {
        box = entry = count = 0;
        *info = pvm_getmboxinfo(text_take(copy, pattern, pattern_length), &count, &boxes);
        begun = *info >= 0;
    }
    while (box < count && entry >= boxes[box].mi_nentries) {
        box++;
        entry = 0;
    }
    *classes = count;
    if (*info < 0 || box >= count) {
        begun = 0;
        *info = *info < 0 ? *info : PvmNotFound;
        return;
    }
    text_give(name, name_length, boxes[box].mi_name);
    *entries = boxes[box].mi_nentries;
    *index = boxes[box].mi_indices[entry];
    *owner = boxes[box].mi_owners[entry];
    *flags = boxes[box].mi_flags[entry++];
}
