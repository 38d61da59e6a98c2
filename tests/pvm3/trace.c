/*
 * trace.c - events of the calls of a child, in PVM's format: they are decoded by what they say of
 * themselves, and printed but for times, addresses, tids and buffers.
 */
#include "tests/pvm3/say.h"

#include <pvmtev.h>
#include <stdarg.h>
#include <string.h>

#define TAG_EVENTS 77
#define TAG_WORK 1
#define CONTEXT 0 /* of the events */
#define TYPES_MAX 16

/* What the first event of a kind said of its data. */
struct kind {
    char name[32];
    int seen, count, dids[TYPES_MAX], types[TYPES_MAX];
};

static struct kind kinds[0x10000];
static int named;         /* the names of data came */
static char tasks[65536]; /* events of tasks as such */

/* ---- decoding -------------------------------------------------------------------------------- */

static char line[8192]; /* an event */

static void say(const char *format, ...)
{
    size_t used = strlen(line);
    va_list values;
    va_start(values, format);
    vsnprintf(line + used, sizeof line - used, format, values);
    va_end(values);
}

static void scalar(int type, int shown)
{
    char text[1024];
    long address;
    if (type == TEV_DATA_STRING) {
        pvm_upkstr(text);
        say(shown ? "'%s'" : "-", text);
    } else if (type == TEV_DATA_LONG) {
        pvm_upklong(&address, 1, 1);
        say("-");
    } else {
        int value = upk();
        say(shown ? "%d" : value < 0 ? "<0" : "-", value);
    }
}

/* Data that are not the same wherever the program runs. */
static int is_hidden(int did)
{
    static const int hidden[] = {
        TEV_DID_TS,  TEV_DID_TU,  TEV_DID_TID, TEV_DID_PDA, TEV_DID_MB,  TEV_DID_MSB, TEV_DID_MRB,
        TEV_DID_STL, TEV_DID_SIB, TEV_DID_DST, TEV_DID_SRC, TEV_DID_MT,  TEV_DID_PT,  TEV_DID_TT,
        TEV_DID_RST, TEV_DID_MDL, TEV_DID_IST, TEV_DID_NTL, TEV_DID_CD,  TEV_DID_CR,  TEV_DID_SE,
        TEV_DID_TN,  TEV_DID_CXN, TEV_DID_CXF, TEV_DID_MHI, TEV_DID_TGS, TEV_DID_TGU, TEV_DID_TUS,
        TEV_DID_TUU, TEV_DID_TSS, TEV_DID_TSU, TEV_DID_FDS};
    for (size_t i = 0; i < sizeof hidden / sizeof *hidden; i++) {
        if (hidden[i] == did)
            return 1;
    }
    return 0;
}

static void datum(int did, int type)
{
    int count = type & TEV_DATA_ARRAY ? upk() : 1;
    say(" %s=", pvmtevdidlist[did].did);
    if (type & TEV_DATA_ARRAY)
        say("[%d]", count);
    for (int i = 0; i < count; i++) {
        say(i > 0 ? "," : "");
        scalar(type & ~TEV_DATA_ARRAY, !is_hidden(did));
    }
}

/* The first of its kind names it and its data. */
static void event(int first)
{
    int number = upk(), did;
    struct kind *k = &kinds[number & 0xffff];
    if (first)
        pvm_upkstr(k->name);
    say("%s%s:", k->name, number & TEV_EVENT_EXIT ? " ends" : "");
    for (k->count = first ? 0 : k->count; first && (did = upk()) >= 0; k->count++) {
        k->dids[k->count] = did;
        k->types[k->count] = upk();
        datum(did, k->types[k->count]);
    }
    for (int i = 0; !first && i < k->count; i++)
        datum(k->dids[i], k->types[i]);
    if (!first && upk() != TEV_MARK_EVENT_RECORD_END)
        say(" has no end");
    k->seen++;
}

/* That tasks begin and end is told by others than the task, at another time. */
static int is_of_task(const char *text)
{
    return strncmp(text, "newtask:", 8) == 0 || strncmp(text, "spntask:", 8) == 0 ||
           strncmp(text, "endtask:", 8) == 0;
}

/* Of all data that there are. */
static void names(void)
{
    char text[256];
    int n = 0;
    for (; upk() >= 0; n++) {
        pvm_upkstr(text);
        pvm_upkstr(text);
    }
    named = n == TEV_DID_MAX + 1;
}

static void events(void)
{
    int marker;
    pvm_setopt(PvmAutoErr, 0);
    while (pvm_upkint(&marker, 1, 1) == PvmOk) {
        line[0] = '\0';
        if (marker == TEV_MARK_EVENT_DESC || marker == TEV_MARK_EVENT_RECORD)
            event(marker == TEV_MARK_EVENT_DESC);
        else if (marker == TEV_MARK_DATA_ID)
            names();
        else
            say("marker %d", marker);
        if (!is_of_task(line) && line[0] != '\0')
            puts(line);
        else if (strlen(tasks) + strlen(line) + 2 < sizeof tasks)
            strcat(strcat(tasks, line), "\n");
    }
    pvm_setopt(PvmAutoErr, 1);
}

/* ---- the child ------------------------------------------------------------------------------- */

static int handler(int bufid)
{
    return bufid;
}

static void pack_all(void)
{
    char c = 'c', text[16] = "text";
    short s = 1;
    unsigned short us = 2;
    int i = 3;
    unsigned u = 4;
    long l = 5;
    unsigned long ul = 6;
    float f[2] = {7, 8};
    double d[2] = {9, 10};
    pvm_initsend(PvmDataRaw);
    pvm_pkbyte(&c, 1, 1);
    pvm_pkshort(&s, 1, 1);
    pvm_pkushort(&us, 1, 1);
    pvm_pkint(&i, 1, 1);
    pvm_pkuint(&u, 1, 1);
    pvm_pklong(&l, 1, 1);
    pvm_pkulong(&ul, 1, 1);
    pvm_pkfloat(f, 2, 1);
    pvm_pkcplx(f, 1, 1);
    pvm_pkdouble(d, 2, 1);
    pvm_pkdcplx(d, 1, 1);
    pvm_pkstr(text);
    pvm_packf("%d", 12);
    pvm_send(pvm_mytid(), 5);
    pvm_recv(-1, 5);
    pvm_upkbyte(&c, 1, 1);
    pvm_upkshort(&s, 1, 1);
    pvm_upkushort(&us, 1, 1);
    pvm_upkint(&i, 1, 1);
    pvm_upkuint(&u, 1, 1);
    pvm_upklong(&l, 1, 1);
    pvm_upkulong(&ul, 1, 1);
    pvm_upkfloat(f, 2, 1);
    pvm_upkcplx(f, 1, 1);
    pvm_upkdouble(d, 2, 1);
    pvm_upkdcplx(d, 1, 1);
    pvm_upkstr(text);
    pvm_unpackf("%d", &i);
}

static void buffers(void)
{
    struct pvmminfo info;
    int id = pvm_mkbuf(PvmDataDefault), before = pvm_setsbuf(id), bytes;
    pvm_getsbuf();
    pvm_bufinfo(id, &bytes, NULL, NULL);
    pvm_getminfo(id, &info);
    pvm_setminfo(id, &info);
    pvm_setsbuf(before);
    pvm_freebuf(id);
    pvm_setrbuf(pvm_getrbuf());
}

static void messages(int parent)
{
    struct timeval soon = {0, 1000};
    int x = 5, me = pvm_mytid();
    pvm_psend(me, 6, &x, 1, PVM_INT);
    pvm_precv(-1, 6, &x, 1, PVM_INT, NULL, NULL, NULL);
    pvm_probe(-1, 99);
    pvm_nrecv(-1, 99);
    pvm_trecv(-1, 99, &soon);
    pvm_recvf(pvm_recvf(NULL));
    pvm_initsend(PvmDataDefault);
    pvm_mcast(&parent, 1, TAG_WORK);
    pvm_delmhf(pvm_addmhf(-1, 98, 0, handler));
    pvm_setcontext(pvm_getcontext());
    pvm_freecontext(pvm_newcontext());
}

static void questions(int parent)
{
    struct pvmtaskinfo *list_of_tasks;
    struct pvmhostinfo *hosts;
    struct pvmmboxinfo *boxes;
    char name[] = "traced", arch[] = "NONE", host[] = "no-such-host";
    int n, formats, *list;
    pvm_siblings(&list);
    pvm_tasks(pvm_tidtohost(parent), &n, &list_of_tasks);
    pvm_config(&n, &formats, &hosts);
    pvm_pstat(parent);
    pvm_mstat(host);
    pvm_getopt(PvmRoute);
    pvm_setopt(PvmAutoErr, 0);
    pvm_archcode(arch);
    pvm_setopt(PvmAutoErr, 1);
    pvm_notify(PvmTaskExit, 97, 1, &parent);
    pvm_sendsig(parent, 0);
    pvm_insert(name, 3, 7);
    pvm_lookup(name, 3, &n);
    pvm_delete(name, 3);
    pvm_putinfo(name, pvm_getsbuf(), PvmMboxDefault);
    pvm_recvinfo(name, 0, PvmMboxDefault);
    pvm_getmboxinfo(name, &n, &boxes);
    pvm_delinfo(name, 0, PvmMboxDefault);
}

/* The siblings' message is one of the library: PVM traces what it does with it. */
static int child(const char *what)
{
    int parent = pvm_parent(), *list;
    Pvmtmask mask;
    pvm_siblings(&list);
    TEV_MASK_INIT(mask);
    for (int i = TEV_FIRST; i <= TEV_MAX; i++)
        TEV_MASK_SET(mask, i);
    TEV_MASK_UNSET(mask, TEV_TASKS); /* how many there are */
    if (strcmp(what, "all") == 0)
        pvm_settmask(PvmTaskSelf, mask);
    pack_all();
    buffers();
    messages(parent);
    questions(parent);
    pvm_exit();
    return 0;
}

/* ---- the parent ------------------------------------------------------------------------------ */

static void ask_for(int options, int bytes, int first, int last)
{
    Pvmtmask mask;
    TEV_MASK_INIT(mask);
    for (int i = first; i <= last; i++)
        TEV_MASK_SET(mask, i);
    pvm_settmask(PvmTaskChild, mask);
    pvm_setopt(PvmTraceTid, pvm_mytid());
    pvm_setopt(PvmTraceContext, CONTEXT);
    pvm_setopt(PvmTraceCode, TAG_EVENTS);
    pvm_setopt(PvmTraceBuffer, bytes);
    pvm_setopt(PvmTraceOptions, options);
}

/* Until it has ended, and what is said of that. */
static void watch(const char *what, char *how)
{
    char *arguments[] = {how, NULL};
    int tid;
    printf("---- %s\n", what);
    kinds[TEV_NEWTASK].seen = kinds[TEV_ENDTASK].seen = 0;
    tasks[0] = '\0';
    SAY(pvm_spawn(say_program(), arguments, PvmTaskDefault, "", 1, &tid));
    while (kinds[TEV_ENDTASK].seen == 0 || kinds[TEV_NEWTASK].seen == 0) {
        pvm_recv(-1, TAG_EVENTS);
        events();
    }
    SAY(strstr(tasks, "newtask:") != NULL);
    SAY(strstr(tasks, "endtask:") != NULL);
    SAY(named);
}

int main(int argc, char **argv)
{
    if (argc > 1)
        return child(argv[1]);
    say_begin();
    ask_for(PvmTraceFull, 0, TEV_MAX, TEV_MAX);
    watch("every event by itself", "all");
    ask_for(PvmTraceFull, 100000, TEV_SEND, TEV_SEND);
    watch("all in one message", "these");
    ask_for(PvmTraceCount, 0, TEV_PKBYTE, TEV_PKSTR);
    watch("how often", "these");
    pvm_exit();
    return 0;
}
