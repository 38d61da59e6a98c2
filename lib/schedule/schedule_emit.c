/*
 * schedule_emit.c - a schedule as C: its tables, and below them the code that is always the same.
 */
#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "lib/schedule/schedule_code.h"
#include "lib/schedule/topology.h"

/* Synchronisations that any rank waits for (as sender of `after`) or sends (receiver of `before`).
 */
static uint32_t most_syncs(const struct schedule *p, bool in)
{
    uint32_t *counts = calloc((size_t)p->ranks + 1, sizeof *counts), most = (uint32_t)p->sync_count;

    if (counts == NULL)
        return most + 1;
    for (size_t i = 0; i < p->sync_count; i++)
        counts[in ? p->messages[p->syncs[i].after].from : p->messages[p->syncs[i].before].to]++;
    most = 1; /* it becomes the size of an array */
    for (int i = 0; i < p->ranks; i++)
        most = counts[i] > most ? counts[i] : most;
    free(counts);
    return most;
}

/* Messages that the rank sends in one phase, at most. */
static uint32_t most_sends(const struct schedule *p, int rank)
{
    uint32_t most = 1, run = 0;

    for (size_t i = 0; i < p->message_count; i++) {
        const struct schedule_message *m = &p->messages[i];
        if (i == 0 || m->phase != m[-1].phase)
            run = 0;
        run += m->from == rank;
        most = run > most ? run : most;
    }
    return most;
}

static void print_constant(FILE *out, const char *name, uint64_t value, const char *what)
{
    fprintf(out, "#define %s %" PRIu64 " /* %s */\n", name, value, what);
}

static void print_constants(const struct schedule *p, FILE *out)
{
    uint32_t sends = 1;

    for (int i = 0; i < p->ranks; i++) {
        uint32_t most = most_sends(p, i);
        sends = most > sends ? most : sends;
    }
    print_constant(out, "RANKS", (uint64_t)p->ranks, "tasks");
    print_constant(out, "MESSAGES", p->message_count, "of all ranks");
    print_constant(out, "SYNCS", p->sync_count, "of all ranks");
    print_constant(out, "SENDS", sends, "messages that a rank sends at a time");
    print_constant(out, "SYNCS_IN_MAX", most_syncs(p, true), "that a rank waits for");
    print_constant(out, "SYNCS_OUT_MAX", most_syncs(p, false), "that a rank sends");
}

/* Tables of no elements are no C: an element is there that no constant counts. */
static void print_tables(const struct schedule *p, FILE *out)
{
    fprintf(out, "\n/* The messages, by phase. */\n"
                 "static const struct message {\n    unsigned short from, to;\n} messages[] = {\n");
    for (size_t i = 0; i < p->message_count; i++)
        fprintf(out, "    {%d, %d},\n", p->messages[i].from, p->messages[i].to);
    fprintf(out,
            "    {0, 0}};\n\n/* Message `before` has arrived before message `after` starts. */\n"
            "static const struct sync {\n    int before, after;\n} syncs[] = {\n");
    for (size_t i = 0; i < p->sync_count; i++)
        fprintf(out, "    {%" PRIu32 ", %" PRIu32 "},\n", p->syncs[i].before, p->syncs[i].after);
    fprintf(out, "    {0, 0}};\n\n/* How many messages each rank sends at a time. */\n"
                 "static const unsigned short lanes[RANKS] = {");
    for (int i = 0; i < p->ranks; i++)
        fprintf(out, "%s%" PRIu32, i ? ", " : "", most_sends(p, i));
    fprintf(out, "};\n\n");
}

static void print_ranks(const struct covey_schedule *s, FILE *out)
{
    fprintf(out, " * Ranks:");
    for (int i = 0; i < s->plan.ranks; i++)
        fprintf(out, "%s%d %s", i % 6 ? ", " : i ? ",\n *   " : "\n *   ", i, s->names[i]);
    fprintf(out, "\n */\n");
}

static void print_head(const struct covey_schedule *s, FILE *out, const char *what)
{
    fprintf(out,
            "/*\n * %s, made by covey schedule.\n *\n"
            " * %d tasks, %zu messages in %" PRIu32 " phases (the bottleneck link needs %" PRIu32
            "), %zu synchronisations.\n",
            what, s->plan.ranks, s->plan.message_count, s->plan.phases, s->plan.bound,
            s->plan.sync_count);
    print_ranks(s, out);
}

static void print_template(FILE *out, const char *file)
{
    const char *begin = strstr(file, SCHEDULE_CODE_BEGIN);
    assert(begin != NULL);
    fputs(begin + strlen(SCHEDULE_CODE_BEGIN), out);
}

void schedule_print_covey(const void *schedule, FILE *out)
{
    const struct covey_schedule *s = schedule;

    print_head(s, out, "An all-to-all for one network");
    fprintf(out,
            "#include <covey.h>\n#include <string.h>\n\n"
            "int covey_scheduled_alltoall(covey_t *vm, const covey_tid_t *tids, int me, int tag,\n"
            "                             const void *send, void *recv, size_t bytes);\n\n");
    print_constants(&s->plan, out);
    print_tables(&s->plan, out);
    print_template(out, schedule_code_covey);
}

/* From which size on the schedule was faster than both MPIs as they come, in labs of 24 and 32
 * hosts: where hosts' own links are the bottleneck they use these well enough for long. */
static uint64_t least_block(const struct schedule *p)
{
    return p->phases > (uint32_t)p->ranks - 1 ? 2048 : 65536;
}

void schedule_print_mpi(const void *schedule, FILE *out)
{
    const struct covey_schedule *s = schedule;

    print_head(s, out, "MPI_Alltoall for one network");
    fprintf(out, "#include <mpi.h>\n#include <pthread.h>\n#include <stdio.h>\n#include "
                 "<stdlib.h>\n#include <string.h>\n\n"
                 "/* Build: mpicc -O2 -shared -fPIC -o alltoall.so FILE; use: LD_PRELOAD. */\n\n");
    print_constants(&s->plan, out);
    print_constant(out, "LEAST", least_block(&s->plan), "bytes of a block that is scheduled");
    print_tables(&s->plan, out);
    /* The host of each task: what stands before the colon where it has several. */
    fprintf(out, "/* Their hosts. */\nstatic const char *const hosts[RANKS] = {");
    for (int i = 0; i < s->plan.ranks; i++)
        fprintf(out, "%s\"%.*s\"",
                i % 6 ? ", "
                : i   ? ",\n    "
                      : "\n    ",
                (int)strcspn(s->names[i], ":"), s->names[i]);
    fprintf(out, "};\n\n");
    print_template(out, schedule_code_mpi);
}
