/*
 * covey-sniff: a line for every datagram and frame of Covey's that passes an interface or lies
 * in a file of captured packets. `covey sniff` runs it; what is understood of packets is told in
 * sniffer.c, where they come from in sniff_capture.c, how a line looks in sniff_text.c and
 * sniff_json.c.
 *
 * Operands:
 *   interface=NAME / file=PATH    where packets come from; the interface "any" unless given
 *   filter=EXPRESSION             which are captured at all, pcap-filter(7)
 *   write=PATH                    those that are shown are written there, for others to read
 *   host=, tid=, kind=, lane=     which are shown, see sniff_filter.h
 *   count=N                       so many lines, then the end
 *   ether-type=N                  in place of what covey.conf says
 *   json                          lines are JSON
 *   known=INDEX,ADDRESS,NAME      a host of a VM, to be called by its name
 *
 * It ends at the end of the file, at SIGINT or SIGTERM, and when nobody reads its lines any more.
 *
 * It is no part of coveyd because it reads whatever passes, by libpcap, and the daemon holds the
 * VM's key. It needs CAP_NET_RAW to listen on an interface, of whoever calls it: see
 * privilege_may_capture(). Once the source is open it has no capability left.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>

#include "daemon/base/conf.h"
#include "daemon/base/sockaddr.h"
#include "daemon/process/helper.h"
#include "proto/wire/ether.h"
#include "proto/wire/host.h"
#include "tools/wire/sniff_capture.h"
#include "tools/wire/sniff_filter.h"
#include "tools/wire/sniff_print.h"
#include "tools/wire/sniffer.h"

enum { SNIFF_USAGE = -2 };

struct sniff {
    struct sniff_source_config source;
    struct sniff_filter filter;
    unsigned long count; /* 0: no end */
    bool json;
    unsigned long lines;
    bool shown; /* of the packet at hand something was */
    struct sniffer *sniffer;
};

/* ---- operands ---- */

static int take_count(struct sniff *s, const char *text, struct failure *why)
{
    char *end;
    s->count = strtoul(text, &end, 10);
    if (end == text || *end != '\0' || s->count == 0 || *text == '-')
        return failure_set(why, "'%.40s' is no number of lines", text);
    return 0;
}

static int take_ether_type(struct sniff *s, const char *text, struct failure *why)
{
    char *end;
    unsigned long type = strtoul(text, &end, 0);
    if (end == text || *end != '\0' || type < ETHER_TYPE_MIN || type > UINT16_MAX)
        return failure_set(why, "'%.40s' is no EtherType: 0x600 to 0xffff", text);
    s->source.ether_type = (uint16_t)type;
    return 0;
}

static int take_setting(struct sniff *s, const char *name, const char *value, struct failure *why)
{
    if (strcmp(name, "interface") == 0)
        s->source.interface = value;
    else if (strcmp(name, "file") == 0)
        s->source.file = value;
    else if (strcmp(name, "filter") == 0)
        s->source.filter = value;
    else if (strcmp(name, "write") == 0)
        s->source.write = value;
    else if (strcmp(name, "json") == 0)
        s->json = true;
    else if (strcmp(name, "count") == 0)
        return take_count(s, value, why);
    else if (strcmp(name, "ether-type") == 0)
        return take_ether_type(s, value, why);
    else if (strcmp(name, "host") == 0)
        return sniff_filter_add_host(&s->filter, value, why);
    else if (strcmp(name, "tid") == 0)
        return sniff_filter_add_tid(&s->filter, value, why);
    else if (strcmp(name, "kind") == 0)
        return sniff_filter_add_kind(&s->filter, value, why);
    else if (strcmp(name, "lane") == 0)
        return sniff_filter_add_lane(&s->filter, value, why);
    else if (strcmp(name, "known") != 0) /* sniff() reads those */
        return failure_set(why, "'%.100s' makes no sense; covey-sniff --help", name);
    return 0;
}

/* ---- lines ---- */

static void on_sighting(void *context, const struct sighting *sighting)
{
    struct sniff *s = context;
    if ((s->count != 0 && s->lines == s->count) || !sniff_filter_passes(&s->filter, sighting))
        return;
    (s->json ? sniff_print_json : sniff_print_text)(stdout, sighting);
    s->lines++;
    s->shown = true;
}

static int show(struct sniff *s, struct sniff_source *source, struct failure *why)
{
    struct sniff_capture capture;
    int status = 0;
    while ((s->count == 0 || s->lines < s->count) &&
           (status = sniff_source_next(source, &capture, why)) > 0) {
        s->shown = false;
        sniffer_packet(s->sniffer, &capture);
        if (s->shown && sniff_source_write(source, why) != 0)
            return -1;
        if (ferror(stdout))
            return failure_set(why, "the lines cannot be written");
    }
    return status < 0 ? -1 : 0;
}

/* ---- hosts that nobody knows ---- */

/* The first name or index of --host that no host is known to have, or NULL. Any address may be. */
static const char *unknown_host(const struct sniff *s)
{
    struct address address = {0};
    for (int i = 0; i < s->filter.host_count; i++)
        if (!sockaddr_parse(s->filter.hosts[i], 0, &address) &&
            strchr(s->filter.hosts[i], ':') == NULL &&
            !sniffer_knows(s->sniffer, s->filter.hosts[i]))
            return s->filter.hosts[i];
    return NULL;
}

static int judge_file(const struct sniff *s, struct failure *why)
{
    const char *host =
        s->source.file == NULL || (s->count != 0 && s->lines == s->count) ? NULL : unknown_host(s);
    if (host == NULL)
        return 0;
    return failure_set(why,
                       "no host %.63s is known, by what was captured or of the VM here: give its "
                       "name, index or address",
                       host);
}

/* ---- all of it ---- */

static int capture_and_show(struct sniff *s, struct failure *why)
{
    struct sniff_source *source = sniff_source_open(&s->source, why);
    if (source == NULL)
        return -1;
    /* A name may still pass by, when its host joins some VM. */
    const char *host = s->source.file == NULL ? unknown_host(s) : NULL;
    if (host != NULL)
        fprintf(
            stderr,
            "covey-sniff: no host %.63s is known: it is shown once its name has passed by; covey "
            "hosts lists those of the VM here\n",
            host);
    int status = show(s, source, why);
    if (status == 0)
        status = judge_file(s, why);
    unsigned dropped = sniff_source_dropped(source);
    if (dropped > 0)
        fprintf(stderr, "covey-sniff: the kernel dropped %u packets that were not taken in time\n",
                dropped);
    sniff_source_close(source);
    if (status == 0 && fflush(stdout) != 0)
        status = failure_set(why, "the lines cannot be written: %s", strerror(errno));
    return status;
}

/* Returns 0, or with *why SNIFF_USAGE when the operands are wrong and -1 when something failed. */
static int sniff(char **operands, const struct conf *conf, struct failure *why)
{
    struct sniff s = {.source = {.interface = "any", .ether_type = conf->ether.type}};
    prctl(PR_SET_PDEATHSIG, SIGTERM); /* a console that dies leaves no eyes behind */
    for (char **at = operands; *at != NULL; at++) {
        char *name = *at, *equals = strchr(name, '=');
        if (equals != NULL)
            *equals = '\0';
        if (take_setting(&s, name, equals == NULL ? "" : equals + 1, why) != 0)
            return SNIFF_USAGE;
        if (equals != NULL)
            *equals = '=';
    }
    setvbuf(stdout, NULL, s.source.file == NULL ? _IOLBF : _IOFBF, BUFSIZ);
    s.sniffer = sniffer_create(s.source.ether_type, on_sighting, &s);
    if (s.sniffer == NULL)
        return failure_set(why, "memory is exhausted");
    for (char **at = operands; *at != NULL; at++)
        if (strncmp(*at, "known=", 6) == 0) {
            /* "2,10.0.0.1:7000,node2": one that cannot be read is no loss but of a name. */
            char address_of[SOCKADDR_TEXT_MAX], name[HOST_NAME_MAX_BYTES + 1];
            struct address address = {0};
            unsigned index;
            if (sscanf(*at + 6, "%u,%63[^,],%63s", &index, address_of, name) == 3 &&
                sockaddr_parse(address_of, 0, &address))
                sniffer_know(s.sniffer, &address, index, name);
        }
    s.source.lanes = s.filter.lanes;
    int status = capture_and_show(&s, why);
    sniffer_destroy(s.sniffer);
    return status;
}

static const char usage[] =
    "usage: covey-sniff [OPERAND...]\n"
    "\n"
    "Shows what Covey says on the wire; covey sniff calls it, see covey-sniff(1).\n"
    "\n"
    "  interface=NAME, file=PATH  where packets come from (default: all interfaces)\n"
    "  filter=EXPRESSION          which are captured, as in pcap-filter(7)\n"
    "  host=HOST, tid=TID, kind=KIND, lane=LANE\n"
    "                             which are shown\n"
    "  count=N                    end after N lines\n"
    "  ether-type=N               of the frames, in place of what covey.conf says\n"
    "  json                       a JSON object a line\n"
    "  write=PATH                 write the packets shown to a capture file\n"
    "  known=INDEX,ADDRESS,NAME   a host, to be called by its name\n"
    "  --help, --version\n";

int main(int argc, char **argv)
{
    struct conf conf;
    struct failure why;
    if (helper_answer(argc, argv, usage))
        return fflush(stdout) != 0;
    int status = conf_load(&conf, NULL, &why);
    if (status == 0)
        status = sniff(argv + 1, &conf, &why);
    if (status != 0)
        fprintf(stderr, "covey-sniff: %s\n", why.text);
    return status == SNIFF_USAGE ? 2 : status != 0;
}
