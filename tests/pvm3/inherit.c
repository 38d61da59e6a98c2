/*
 * inherit.c - what children and their children inherit: where output and events go, the mask of
 * events, and the context.
 */
#include "tests/pvm3/say.h"

#include <pvmtev.h>
#include <string.h>

#define TAG_REPORT 1
#define TAG_EVENTS 55

static char *generations[] = {"first", "second", "third", NULL};

/* What a task was left by who has spawned it, in a message to the first of all. */
static void report(int generation, int first)
{
    int values[] = {pvm_getopt(PvmOutputTid) == first,
                    pvm_getopt(PvmSelfOutputTid) == first,
                    pvm_getopt(PvmTraceTid) == first,
                    pvm_getopt(PvmSelfTraceTid) == first,
                    pvm_getopt(PvmTraceCode),
                    pvm_getopt(PvmSelfTraceCode),
                    pvm_getopt(PvmTraceContext),
                    pvm_getopt(PvmTraceBuffer),
                    pvm_getopt(PvmSelfTraceBuffer),
                    pvm_getopt(PvmTraceOptions),
                    pvm_getopt(PvmSelfTraceOptions),
                    pvm_getopt(PvmRoute),
                    pvm_getopt(PvmShowTids),
                    pvm_getopt(PvmResvTids),
                    pvm_getcontext() == pvm_getcontext(),
                    generation};
    Pvmtmask self, child;
    pvm_gettmask(PvmTaskSelf, self);
    pvm_gettmask(PvmTaskChild, child);
    pvm_initsend(PvmDataDefault);
    pvm_pkint(values, 16, 1);
    pvm_pkstr(self);
    pvm_pkstr(child);
    pvm_send(first, TAG_REPORT);
}

static int child(int generation, int first)
{
    char number[16];
    char *arguments[] = {generations[generation + 1], number, NULL};
    int tid;
    snprintf(number, sizeof number, "%d", first);
    printf("the %s generation writes\n", generations[generation]);
    fflush(stdout);
    pvm_mytid();
    report(generation, first);
    if (generation == 1) {
        SAY(pvm_setopt(PvmOutputTid, pvm_parent() + 7777));
        SAY(pvm_spawn(say_program(), arguments, PvmTaskDefault, "", 1, &tid));
    }
    pvm_exit();
    return 0;
}

static void reports(void)
{
    int values[16];
    char self[256], mask[256];
    for (int i = 0; i < 2; i++) {
        pvm_recv(-1, TAG_REPORT);
        pvm_upkint(values, 16, 1);
        pvm_upkstr(self);
        pvm_upkstr(mask);
        for (int j = 0; j < 16; j++)
            printf("%d ", values[j]);
        printf("\n%s\n%s\n", self, mask);
    }
}

static void prepare(void)
{
    Pvmtmask mask;
    TEV_MASK_INIT(mask);
    TEV_MASK_SET(mask, TEV_BARRIER);
    TEV_MASK_SET(mask, TEV_SCATTER);
    SAY(pvm_settmask(PvmTaskChild, mask));
    SAY(pvm_setopt(PvmTraceTid, pvm_mytid()) == pvm_mytid());
    SAY(pvm_setopt(PvmTraceCode, TAG_EVENTS));
    SAY(pvm_setopt(PvmTraceContext, 0));
    SAY(pvm_setopt(PvmTraceBuffer, 5000));
    SAY(pvm_setopt(PvmTraceOptions, PvmTraceFull));
    SAY(pvm_setopt(PvmRoute, PvmDontRoute));
}

static int by_text(const void *a, const void *b)
{
    return strcmp(a, b);
}

/* In the order of their letters: which generation is faster differs. */
static void lines(FILE *file)
{
    char list[64][256];
    size_t n = 0;
    rewind(file);
    while (n < 64 && fgets(list[n], sizeof list[n], file) != NULL)
        n++;
    qsort(list, n, sizeof list[0], by_text);
    for (size_t i = 0; i < n; i++)
        printf("%s", list[i]);
}

static void generate(int show)
{
    char number[16];
    char *arguments[] = {generations[1], number, NULL};
    FILE *file = tmpfile();
    int tid;
    snprintf(number, sizeof number, "%d", pvm_mytid());
    prepare();
    SAY(pvm_setopt(PvmShowTids, show));
    SAY(pvm_catchout(file));
    SAY(pvm_spawn(say_program(), arguments, PvmTaskDefault, "", 1, &tid));
    reports();
    SAY(say_exit());
    lines(file);
    fclose(file);
}

int main(int argc, char **argv)
{
    if (argc > 2)
        return child(strcmp(argv[1], generations[1]) == 0 ? 1 : 2, atoi(argv[2]));
    say_begin();
    generate(1);
    generate(0);
    return 0;
}
