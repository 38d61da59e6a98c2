/*
 * trace.c - the command trace: which events a tracer is told of tasks that the console spawns, and
 * how. Whom they are told says the option PvmTraceTid, or there is a tracer of the virtual machine.
 */
#include "lib/pvm3/console/console.h"

#include "lib/pvm3/include/pvm3.h"
#include "lib/pvm3/include/pvmtev.h"

#include <stdlib.h>
#include <string.h>

#define COLUMNS 4
#define EVENTS (TEV_MAX + 1)

/* ---- events ---------------------------------------------------------------------------------- */

/* A tracer is told of these whatever it asked for. */
static bool is_always_told(int event)
{
    return event == TEV_NEWTASK || event == TEV_SPNTASK || event == TEV_ENDTASK ||
           event == TEV_TIMING || event == TEV_PROFILING;
}

static int by_name(const void *a, const void *b)
{
    const int *left = a, *right = b;
    return strcmp(pvmtevinfo[*left].name, pvmtevinfo[*right].name);
}

/* Those that can be chosen, by their names. Returns how many. */
static int events_sort(int events[EVENTS])
{
    int count = 0;
    for (int event = 0; event < EVENTS; event++) {
        if (pvmtevinfo[event].name != NULL && !is_always_told(event))
            events[count++] = event;
    }
    qsort(events, (size_t)count, sizeof events[0], by_name);
    return count;
}

static int event_named(const char *name)
{
    if (strncmp(name, "pvm_", 4) == 0)
        name += 4;
    for (int event = 0; event < EVENTS; event++) {
        if (pvmtevinfo[event].name != NULL && !is_always_told(event) &&
            strcmp(pvmtevinfo[event].name, name) == 0)
            return event;
    }
    return -1;
}

/* ---- the mask -------------------------------------------------------------------------------- */

static void mask_print(void)
{
    Pvmtmask mask;
    int events[EVENTS], count = events_sort(events), rows = (count + COLUMNS - 1) / COLUMNS;
    pvm_gettmask(PvmTaskChild, mask);
    for (int row = 0; row < rows; row++) {
        for (int i = row; i < count; i += rows)
            printf("%s %c %-15s", i == row ? "" : " ", TEV_MASK_CHECK(mask, events[i]) ? '*' : ' ',
                   pvmtevinfo[events[i]].name);
        putchar('\n');
    }
}

static void mask_change(Pvmtmask mask, int event, bool on)
{
    if (on)
        TEV_MASK_SET(mask, event);
    else
        TEV_MASK_UNSET(mask, event);
}

static void mask_change_all(Pvmtmask mask, bool on)
{
    int events[EVENTS], count = events_sort(events);
    for (int i = 0; i < count; i++)
        mask_change(mask, events[i], on);
}

/* What PVM's display of messages, XPVM, wants to know. */
static void mask_for_display(Pvmtmask mask)
{
    static const int shown[] = {
        TEV_ADDMHF, TEV_BARRIER,    TEV_BCAST, TEV_DELMHF,  TEV_EXIT,     TEV_JOINGROUP,
        TEV_KILL,   TEV_LVGROUP,    TEV_MCAST, TEV_MYTID,   TEV_NRECV,    TEV_PARENT,
        TEV_PRECV,  TEV_PROBE,      TEV_PSEND, TEV_RECV,    TEV_RECVF,    TEV_SEND,
        TEV_SPAWN,  TEV_MHF_INVOKE, TEV_TRECV, TEV_SENDSIG, TEV_SIBLINGS, TEV_USER_DEFINED};
    TEV_MASK_INIT(mask);
    for (size_t i = 0; i < sizeof shown / sizeof shown[0]; i++)
        TEV_MASK_SET(mask, shown[i]);
}

void trace_begin(void)
{
    Pvmtmask mask;
    mask_for_display(mask);
    pvm_settmask(PvmTaskChild, mask);
}

/* The words behind + or -. */
static void mask_edit(bool on, int count, char **names)
{
    Pvmtmask mask;
    pvm_gettmask(PvmTaskChild, mask);
    for (int i = 0; i < count; i++) {
        int event = event_named(names[i]);
        if (strcmp(names[i], "*") == 0)
            mask_change_all(mask, on);
        else if (event >= 0)
            mask_change(mask, event, on);
        else
            printf("no such event \"%s\"\n", names[i]);
    }
    pvm_settmask(PvmTaskChild, mask);
}

/* ---- how they are told ----------------------------------------------------------------------- */

static void buffer(int count, char **words)
{
    int bytes;
    if (count == 0)
        printf("\nTrace Buffering set to %d bytes\n\n", pvm_getopt(PvmTraceBuffer));
    else if (words_number(words[0], &bytes) && bytes >= 0)
        pvm_setopt(PvmTraceBuffer, bytes);
    else
        printf("trace: %s: not a number of bytes\n", words[0]);
}

static void options(int count, char **words)
{
    static const char *const names[] = {
        [PvmTraceFull] = "full", [PvmTraceTime] = "time", [PvmTraceCount] = "count"};
    int now = pvm_getopt(PvmTraceOptions);
    if (count == 0) {
        bool known = now >= PvmTraceFull && now <= PvmTraceCount;
        printf("\nTrace Options set to \"%s\"\n\n", known ? names[now] : "");
        return;
    }
    for (int option = PvmTraceFull; option <= PvmTraceCount; option++) {
        if (strcmp(words[0], names[option]) == 0) {
            pvm_setopt(PvmTraceOptions, option);
            return;
        }
    }
    printf("\nError:  Unknown Trace Option \"%s\"\n\n", words[0]);
}

static void trace(struct console *c, int argc, char **argv)
{
    (void)c;
    if (argc == 1)
        mask_print();
    else if (strcmp(argv[1], "buf") == 0)
        buffer(argc - 2, argv + 2);
    else if (strcmp(argv[1], "opt") == 0)
        options(argc - 2, argv + 2);
    else if (strcmp(argv[1], "xpvm") == 0)
        trace_begin();
    else if (strcmp(argv[1], "+") == 0 || strcmp(argv[1], "-") == 0)
        mask_edit(argv[1][0] == '+', argc - 2, argv + 2);
    else
        mask_edit(true, argc - 1, argv + 1);
}

const struct command trace_commands[] = {
    {"trace", trace, 0, -1, "Show or set which events of spawned tasks are traced",
     "trace [[+|-] EVENT ...]\n"
     "EVENT        a call without pvm_, or * for all\n"
     "trace xpvm   those that XPVM shows\n"
     "trace buf [BYTES]\n"
     "trace opt [full|time|count]"},
    {.name = NULL},
};
