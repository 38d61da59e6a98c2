/*
 * handler.c - pvm_addmhf(), pvm_delmhf(), and the call of a handler.
 *
 * PVM's own first numbers belong to messages of its library, and programs print the table: so the
 * first handler that a program adds has number OWN.
 */
#include "lib/pvm3/message/handler.h"

#include <pvm3.h>
#include <pvmproto.h>
#include <stdio.h>
#include <stdlib.h>

#include "lib/pvm3/core/abi.h"
#include "lib/pvm3/core/calls.h"
#include "lib/pvm3/core/error.h"
#include "lib/pvm3/core/grow.h"
#include "lib/pvm3/core/part.h"

#define OWN 9

static const int own_tags[OWN] = {TC_CONREQ,    TC_CONACK,    TC_TASKEXIT, TC_NOOP,    TC_SETTRACE,
                                  TC_SETTRCBUF, TC_SETTRCOPT, TC_SETTMASK, TC_SIBLINGS};

struct handler {
    int tid, tag, context;
    int (*call)(int id); /* NULL: it was deleted */
};

static struct handler *handlers; /* those of the program, from number OWN on */
static int count, capacity;

static bool filters_overlap(int a, int b)
{
    return a == -1 || b == -1 || a == b;
}

static bool exists(const struct handler *wanted)
{
    for (int i = 0; i < count; i++) {
        const struct handler *h = &handlers[i];
        if (h->call != NULL && filters_overlap(h->tid, wanted->tid) &&
            filters_overlap(h->tag, wanted->tag) && h->context == wanted->context)
            return true;
    }
    return false;
}

/* The position of a free entry, or PvmNoMem. */
static int entry_find(void)
{
    for (int i = 0; i < count; i++) {
        if (handlers[i].call == NULL)
            return i;
    }
    return GROW(handlers, capacity, count + 1, 8) ? count++ : PvmNoMem;
}

int call_addmhf(int tid, int tag, int context, int (*call)(int id))
{
    struct handler wanted = {tid, tag, context, call};
    if (call == NULL || exists(&wanted))
        return lpvmerr("pvm_addmhf", call == NULL ? PvmBadParam : PvmExists);
    int at = entry_find();
    if (at < 0)
        return lpvmerr("pvm_addmhf", at);
    handlers[at] = wanted;
    return OWN + at;
}

int call_delmhf(int number)
{
    int at = number - OWN;
    if (number < 0)
        return lpvmerr("pvm_delmhf", PvmBadParam);
    if (at < 0)
        return PvmOk; /* nothing depends on those of the library */
    if (at >= count || handlers[at].call == NULL)
        return lpvmerr("pvm_delmhf", PvmNotFound);
    handlers[at].call = NULL;
    return PvmOk;
}

/* The buffers and the context of the program are put aside meanwhile. */
static void call_with(int (*call)(int id), struct buffer *b)
{
    int id = b->id, context = pvmmyctx;
    int sending = call_setsbuf(0), receiving = call_setrbuf(id);
    int depth = 0;
    part_each(part, enter_program) depth = part->enter_program();
    pvmmyctx = b->info.ctx;
    call(id);
    pvmmyctx = context;
    part_each(part, leave_program) part->leave_program(depth);
    if (call_getrbuf() == id)
        buffer_destroy(b);
    call_setsbuf(sending);
    call_setrbuf(receiving);
}

bool handler_take(struct buffer *b)
{
    for (int i = 0; i < count; i++) {
        const struct handler *h = &handlers[i];
        if (h->call != NULL && filters_overlap(h->tid, b->info.src) &&
            filters_overlap(h->tag, b->info.tag) && h->context == b->info.ctx) {
            call_with(h->call, b);
            return true;
        }
    }
    return false;
}

static void display(const char *who, int tid, int number, const struct handler *h)
{
    fprintf(stderr,
            "%s t%x: dhandles[%2d].mhid = %2d  .handle = %2d     handles[%2d].mhid = %2d  "
            ".header.src = t%x  .header.ctx = %8d  .header.tag= %d\n",
            who, (unsigned)tid, number, number, number, number, number, (unsigned)h->tid,
            h->context, h->tag);
}

void pvmdisplaymhfinfo(char *who, char *text, int tid)
{
    fprintf(stderr,
            "\n%s t%x: Display Message Handler Information: ndhandles = %d\tnhandles = %d\t"
            "fl_dhandles = -1\n%s t%x: %s\n",
            who, (unsigned)tid, OWN + count, OWN + count, who, (unsigned)tid, text);
    for (int i = 0; i < OWN; i++) {
        struct handler own = {-1, own_tags[i], SYSCTX_TC, NULL};
        display(who, tid, i, &own);
    }
    for (int i = 0; i < count; i++) {
        if (handlers[i].call != NULL)
            display(who, tid, OWN + i, &handlers[i]);
    }
    fputc('\n', stderr);
}
