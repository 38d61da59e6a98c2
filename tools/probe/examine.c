/*
 * coveyd --examine: this machine as a daemon would find it, for `covey doctor`, which runs this on
 * every host through the host's launcher, or as a task of a VM, and compares.
 *
 * Files: examine.c prints what all findings have in common and the facts; examine_limits.c,
 * cgroup.c, examine_network.c, examine_names.c and examine_runtime.c each look at their subject;
 * reach.c is the two ends of a probe between two hosts.
 *
 * What is printed, fields apart by a tabulator (a doctor passes over all other lines, such as the
 * greetings of a login shell):
 *
 *   line    = "@version" COVEY_VERSION WIRE_VERSION / "@order" ("little" / "big")
 *           / "@clock" microseconds          ; of CLOCK_REALTIME, when this line was printed
 *           / "@machine" boot namespace      ; the network that its addresses belong to
 *           / "@address" interface address   ; of every interface that is up
 *           / "@finding" code text remedy
 *           / "@udp" token address / "@tcp" token address   ; serve: where probes are answered
 *           / "@heard" name                                 ; serve: a probe of this host came
 *           / "@reached" name route ("ok" / reason) [address]
 *                                    ; udp: "no answer", or "no port" of covey.conf was free for it
 *           / "@ready"                       ; all is said; with serve: probes are answered now
 *
 * Operands: resolve=NAME ... looks up a name. serve=SECONDS answers probes until then, or until
 * standard input ends. reach=NAME,TOKEN,udp=ADDRESS,...,tcp=ADDRESS,... probes another host.
 *
 * It needs no VM, changes nothing, and every step has a deadline.
 */
#include "tools/probe/examine.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "lib/covey.h"
#include "proto/node/node.h"
#include "tools/probe/reach.h"

#define TEXT_BYTES 512
#define SERVE_SECONDS_MAX 600

/* A field that ends neither itself nor the line. */
static void print_field(const char *text)
{
    putchar('\t');
    for (; *text != '\0'; text++)
        putchar((unsigned char)*text < ' ' ? ' ' : *text);
}

void examine_finding(const char *code, const char *remedy, const char *format, ...)
{
    char text[TEXT_BYTES];
    va_list list;
    va_start(list, format);
    vsnprintf(text, sizeof text, format, list);
    va_end(list);
    fputs("@finding", stdout);
    print_field(code);
    print_field(text);
    print_field(remedy);
    putchar('\n');
}

static void print_clock(void)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    printf("@clock\t%lld\n", (long long)now.tv_sec * 1000000 + now.tv_nsec / 1000);
}

static void print_facts(void)
{
    bool big = representation_native() == REPRESENTATION_BIG;
    printf("@version\t%s\t%d\n", COVEY_VERSION, WIRE_VERSION);
    printf("@order\t%s\n", big ? "big" : "little");
}

/* ---- operands ---- */

struct work {
    char **names;
    int name_count;
    struct reach_target *targets;
    int target_count;
    int serve_seconds; /* 0: not asked for */
};

static int work_take(struct work *w, char *operand, struct failure *why)
{
    if (strncmp(operand, "resolve=", 8) == 0) {
        w->names[w->name_count++] = operand + 8;
        return 0;
    }
    if (strncmp(operand, "serve=", 6) == 0) {
        w->serve_seconds = atoi(operand + 6);
        if (w->serve_seconds > 0 && w->serve_seconds <= SERVE_SECONDS_MAX)
            return 0;
    }
    if (strncmp(operand, "reach=", 6) == 0 &&
        reach_target_parse(&w->targets[w->target_count], operand + 6)) {
        w->target_count++;
        return 0;
    }
    return failure_set(why, "--examine: '%.100s' makes no sense", operand);
}

static int work_read(struct work *w, const struct options *options, struct failure *why)
{
    w->targets = calloc((size_t)options->operand_count + 1, sizeof *w->targets);
    w->names = calloc((size_t)options->operand_count + 1, sizeof *w->names);
    if (w->targets == NULL || w->names == NULL)
        return failure_set(why, "memory is exhausted");
    for (int i = 0; i < options->operand_count; i++)
        if (work_take(w, options->operands[i], why) != 0)
            return -1;
    return 0;
}

/* ---- all of it ---- */

static void examine_machine(const struct conf *conf, const struct failure *bad_conf,
                            const struct work *work, bool local)
{
    if (bad_conf != NULL)
        examine_finding("config", "correct the file; see covey.conf(5)", "%s", bad_conf->text);
    print_facts();
    examine_limits(conf);
    examine_network(conf, local);
    if (!local) /* whose hosts are reached by 127.0.0.1, and by no name */
        examine_names(work->names, work->name_count);
    examine_runtime();
}

static int examine_with(const struct options *options, const struct conf *conf,
                        const struct failure *bad_conf, const struct work *work,
                        struct failure *why)
{
    const char *name = options->host != NULL ? options->host : "?";
    if (work->target_count > 0)
        return reach_probe(conf, name, work->targets, work->target_count, why);
    examine_machine(conf, bad_conf, work, options->local);
    struct reach_server *server = NULL;
    if (work->serve_seconds > 0)
        server = reach_server_create(conf, options->local);
    print_clock();
    puts("@ready");
    fflush(stdout);
    if (server != NULL)
        reach_server_run(server, work->serve_seconds);
    reach_server_destroy(server);
    return 0;
}

int examine(const struct options *options, const struct conf *conf, const struct failure *bad_conf,
            struct failure *why)
{
    struct work work = {.name_count = 0};
    setvbuf(stdout, NULL, _IOLBF, 0);
    int result = work_read(&work, options, why);
    if (result == 0)
        result = examine_with(options, conf, bad_conf, &work, why);
    free(work.targets);
    free(work.names);
    return result;
}
