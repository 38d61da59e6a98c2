/*
 * covey-probe: this machine as a daemon would find it, for `covey doctor`, which runs this on every
 * host through the host's launcher, or as a task of a VM, and compares. Neither knows of another
 * host where this program is: they run `coveyd --examine`, which becomes this program.
 *
 * Files: covey_probe.c reads the command line, prints what all findings have in common, and the
 * facts; examine_limits.c, examine_network.c, examine_names.c and examine_runtime.c each look at
 * their subject; reach.c and reach_server.c are the two ends of a probe between two hosts.
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
 * It needs no VM and no privilege, changes nothing, and every step has a deadline.
 */
#include "tools/probe/examine.h"

#include <getopt.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "daemon/link/privilege.h"
#include "daemon/process/helper.h"
#include "lib/covey.h"
#include "proto/wire/frame.h"
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

/* ---- the command line ---- */

static const char usage[] =
    "usage: covey-probe [--local] [--name HOST] [--config FILE] [--address A] [--bind A]\n"
    "                   [--interface NAME] [--port P[-P]] [--raw] [OPERAND...]\n"
    "\n"
    "Prints what is wrong with this machine, in lines for a program: covey doctor calls it.\n"
    "\n"
    "  --raw             coveyd, which this is called by, may open raw sockets\n"
    "  --local and the others: as those of coveyd\n"
    "  resolve=NAME      look up a name\n"
    "  serve=SECONDS     then answer probes, until standard input ends or the time is over\n"
    "  reach=NAME,TOKEN,udp=ADDRESS,...,tcp=ADDRESS,...\n"
    "                    only probe another host\n"
    "  --help, --version\n";

static const struct option long_options[] = {
    {"address", required_argument, NULL, 'a'},
    {"bind", required_argument, NULL, 'b'},
    {"interface", required_argument, NULL, 'i'},
    {"port", required_argument, NULL, 'p'},
    {"config", required_argument, NULL, 'c'},
    {"name", required_argument, NULL, 'n'},
    {"local", no_argument, NULL, 'l'},
    {"raw", no_argument, NULL, 'r'},
    {NULL, 0, NULL, 0},
};

struct probe {
    const char *address, *bind, *interface, *port, *config; /* NULL: not given */
    const char *name;
    bool local, raw;
    char **names; /* to look up */
    int name_count;
    struct reach_target *targets;
    int target_count;
    int serve_seconds; /* 0: not asked for */
};

static int probe_take_option(struct probe *p, int letter)
{
    switch (letter) {
    case 'a':
        return p->address = optarg, 0;
    case 'b':
        return p->bind = optarg, 0;
    case 'i':
        return p->interface = optarg, 0;
    case 'p':
        return p->port = optarg, 0;
    case 'c':
        return p->config = optarg, 0;
    case 'n':
        return p->name = optarg, 0;
    case 'l':
        return p->local = true, 0;
    case 'r':
        return p->raw = true, 0;
    default:
        return -1;
    }
}

static int probe_take_operand(struct probe *p, char *operand, struct failure *why)
{
    if (strncmp(operand, "resolve=", 8) == 0) {
        p->names[p->name_count++] = operand + 8;
        return 0;
    }
    if (strncmp(operand, "serve=", 6) == 0) {
        p->serve_seconds = atoi(operand + 6);
        if (p->serve_seconds > 0 && p->serve_seconds <= SERVE_SECONDS_MAX)
            return 0;
    }
    if (strncmp(operand, "reach=", 6) == 0 &&
        reach_target_parse(&p->targets[p->target_count], operand + 6)) {
        p->target_count++;
        return 0;
    }
    return failure_set(why, "'%.100s' makes no sense; covey-probe --help", operand);
}

static int probe_read(struct probe *p, int argc, char **argv, struct failure *why)
{
    int letter;
    *p = (struct probe){.name = "?", .raw = privilege_has_raw()};
    p->targets = calloc((size_t)argc, sizeof *p->targets);
    p->names = calloc((size_t)argc, sizeof *p->names);
    if (p->targets == NULL || p->names == NULL)
        return failure_set(why, "memory is exhausted");
    opterr = 0;
    while ((letter = getopt_long(argc, argv, "+", long_options, NULL)) != -1)
        if (probe_take_option(p, letter) != 0)
            return failure_set(why, "bad option %s; covey-probe --help", argv[optind - 1]);
    for (int i = optind; i < argc; i++)
        if (probe_take_operand(p, argv[i], why) != 0)
            return -1;
    return 0;
}

/* ---- all of it ---- */

/* A covey.conf that cannot be read is one more finding. */
static int probe_run(const struct probe *p, struct failure *why)
{
    struct conf conf;
    struct reach_server *server = NULL;
    bool good = conf_load(&conf, p->config, why) == 0 &&
                conf_set_option(&conf, "address", p->address, why) == 0 &&
                conf_set_option(&conf, "bind", p->bind, why) == 0 &&
                conf_set_option(&conf, "interface", p->interface, why) == 0 &&
                conf_set_option(&conf, "port", p->port, why) == 0;
    if (p->target_count > 0)
        return reach_probe(&conf, p->name, p->targets, p->target_count, why);
    if (!good)
        examine_finding("config", "correct the file; see covey.conf(5)", "%s", why->text);
    bool big = representation_native() == REPRESENTATION_BIG;
    printf("@version\t%s\t%d\n", COVEY_VERSION, WIRE_VERSION);
    printf("@order\t%s\n", big ? "big" : "little");
    examine_limits(&conf);
    examine_network(&conf, p->local, p->raw);
    if (!p->local) /* whose hosts are reached by 127.0.0.1, and by no name */
        examine_names(p->names, p->name_count);
    examine_runtime();
    if (p->serve_seconds > 0)
        server = reach_server_create(&conf, p->local);
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    printf("@clock\t%lld\n", (long long)now.tv_sec * 1000000 + now.tv_nsec / 1000);
    puts("@ready");
    fflush(stdout);
    if (server != NULL)
        reach_server_run(server, p->serve_seconds);
    reach_server_destroy(server);
    return 0;
}

int main(int argc, char **argv)
{
    struct probe probe;
    struct failure why;
    if (helper_answer(argc, argv, usage))
        return fflush(stdout) != 0;
    setvbuf(stdout, NULL, _IOLBF, 0);
    int status = probe_read(&probe, argc, argv, &why);
    if (status == 0)
        status = probe_run(&probe, &why);
    if (status != 0)
        fprintf(stderr, "covey-probe: %s\n", why.text);
    free(probe.targets);
    free(probe.names);
    return status != 0;
}
