/*
 * sniff_capture.c - libpcap: an interface with a filter in the kernel that lets through what may be
 * Covey's and what the user asked for, or a file, whose packets are all looked at.
 */
#include "tools/wire/sniff_capture.h"

#include <errno.h>
#include <pcap/pcap.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "daemon/link/privilege.h"
#include "proto/wire/datagram.h"

#define SNAP_BYTES 262144
#define KERNEL_BYTES (32 * 1024 * 1024)
#define LATENCY_MS 20 /* of a block of packets; single ones would need far more memory */
#define FILTER_BYTES 4096
#define SIGNAL_EVERY 64 /* packets, where they come without a pause */

struct sniff_source {
    pcap_t *pcap;
    pcap_dumper_t *dump;
    const struct pcap_pkthdr *head; /* of the packet given last */
    const u_char *bytes;
    bool live;
    int signals; /* a signalfd, -1: none */
    unsigned given;
};

/* ---- opening ---- */

static int refuse_capture(const char *interface, struct failure *why)
{
    return failure_set(why,
                       "capturing on %s needs root, or CAP_NET_RAW in the inheritable set: try "
                       "sudo covey sniff %s",
                       interface, interface);
}

static int open_interface(struct sniff_source *s, const char *interface, struct failure *why)
{
    char text[PCAP_ERRBUF_SIZE];
    if (!privilege_may_capture())
        return refuse_capture(interface, why);
    s->live = true;
    s->pcap = pcap_create(interface, text);
    if (s->pcap == NULL)
        return failure_set(why, "cannot capture on %.64s: %.200s", interface, text);
    pcap_set_snaplen(s->pcap, SNAP_BYTES);
    pcap_set_timeout(s->pcap, LATENCY_MS);
    pcap_set_buffer_size(s->pcap, KERNEL_BYTES);
    pcap_set_promisc(s->pcap, 1);
    int status = pcap_activate(s->pcap);
    if (status == PCAP_ERROR_PERM_DENIED)
        return refuse_capture(interface, why);
    if (status == PCAP_ERROR_NO_SUCH_DEVICE)
        return failure_set(
            why, "there is no interface '%.64s' and no such file; ip link lists interfaces",
            interface);
    if (status < 0 || pcap_setnonblock(s->pcap, 1, text) != 0)
        return failure_set(why, "cannot capture on %.64s: %.200s", interface,
                           status < 0 ? pcap_geterr(s->pcap) : text);
    /* The two signals that end a capture come as bytes of a descriptor. */
    sigset_t signals;
    sigemptyset(&signals);
    sigaddset(&signals, SIGINT);
    sigaddset(&signals, SIGTERM);
    sigprocmask(SIG_BLOCK, &signals, NULL);
    s->signals = signalfd(-1, &signals, SFD_CLOEXEC | SFD_NONBLOCK);
    return s->signals >= 0 ? 0 : failure_set(why, "no signals can be watched: %s", strerror(errno));
}

static int open_file(struct sniff_source *s, const char *file, struct failure *why)
{
    char text[PCAP_ERRBUF_SIZE];
    size_t length = strlen(file);
    s->pcap = pcap_open_offline(file, text);
    if (s->pcap == NULL)
        return failure_set(why, "cannot read a capture from %.200s: %.250s", file,
                           strncmp(text, file, length) == 0 && strncmp(text + length, ": ", 2) == 0
                               ? text + length + 2
                               : text);
    return 0;
}

static int set_filter(struct sniff_source *s, const struct sniff_source_config *config,
                      struct failure *why)
{
    char text[FILTER_BYTES];
    struct bpf_program program;
    if (config->filter != NULL && strlen(config->filter) > FILTER_BYTES - 512)
        return failure_set(why, "the filter is longer than %d bytes", FILTER_BYTES - 512);
    char ours[256] = "";
    if (s->live) {
        /* An interface's packets are filtered in the kernel, where datagrams are told by their
         * magic. */
        size_t size = sizeof ours;
        unsigned lanes = config->lanes;
        int used = snprintf(ours, size, "(less 0");
        if (lanes == 0 || lanes & 1u << SNIFF_UDP)
            used += snprintf(ours + used, size - (size_t)used,
                             " or (udp and (udp[8:2] = 0x%x or udp[8:4] = 0x%x0000))"
                             " or (ip6 and ip6[6] = 17"
                             " and (ip6[48:2] = 0x%x or ip6[48:4] = 0x%x0000))",
                             DATAGRAM_MAGIC, DETOUR_MAGIC, DATAGRAM_MAGIC, DETOUR_MAGIC);
        if (lanes == 0 || lanes & 1u << SNIFF_ETHER)
            used += snprintf(ours + used, size - (size_t)used, " or ether proto 0x%x",
                             config->ether_type);
        snprintf(ours + used, size - (size_t)used, "%s)",
                 lanes == 0 || lanes & 1u << SNIFF_TCP ? " or tcp" : "");
    }
    if (config->filter == NULL)
        snprintf(text, FILTER_BYTES, "%s", ours);
    else
        snprintf(text, FILTER_BYTES, "(%s)%s%s", config->filter, s->live ? " and " : "", ours);
    if (text[0] == '\0')
        return 0;
    if (pcap_compile(s->pcap, &program, text, 1, PCAP_NETMASK_UNKNOWN) != 0)
        return failure_set(why, "the filter '%.200s' is refused: %.200s; see pcap-filter(7)",
                           config->filter == NULL ? text : config->filter, pcap_geterr(s->pcap));
    int status = pcap_setfilter(s->pcap, &program);
    pcap_freecode(&program);
    if (status != 0)
        return failure_set(why, "the filter cannot be set: %.200s", pcap_geterr(s->pcap));
    return 0;
}

static int open_dump(struct sniff_source *s, const char *file, struct failure *why)
{
    if (file == NULL)
        return 0;
    s->dump = pcap_dump_open(s->pcap, file);
    return s->dump != NULL ? 0 : failure_set(why, "%.400s", pcap_geterr(s->pcap));
}

/* What reads hostile bytes from here on has nothing left to give. */
static int give_up_rights(struct failure *why)
{
    int error = privilege_drop_all();
    return error == 0 ? 0 : failure_set(why, "capabilities stay: %s", strerror(-error));
}

static int open_source(struct sniff_source *s, const struct sniff_source_config *config,
                       struct failure *why)
{
    const char *name = config->file != NULL ? config->file : config->interface;
    if ((config->file != NULL ? open_file : open_interface)(s, name, why) != 0 ||
        set_filter(s, config, why) != 0 || open_dump(s, config->write, why) != 0 ||
        give_up_rights(why) != 0)
        return -1;
    if (!sniff_packet_can(pcap_datalink(s->pcap)))
        return failure_set(why, "%.200s: packets of link type %s are not understood", name,
                           pcap_datalink_val_to_name(pcap_datalink(s->pcap)));
    return 0;
}

struct sniff_source *sniff_source_open(const struct sniff_source_config *config,
                                       struct failure *why)
{
    struct sniff_source *s = calloc(1, sizeof *s);
    if (s == NULL) {
        failure_set(why, "memory is exhausted");
        return NULL;
    }
    s->signals = -1;
    if (open_source(s, config, why) == 0)
        return s;
    sniff_source_close(s);
    return NULL;
}

void sniff_source_close(struct sniff_source *source)
{
    if (source == NULL)
        return;
    if (source->dump != NULL)
        pcap_dump_close(source->dump);
    if (source->pcap != NULL)
        pcap_close(source->pcap);
    if (source->signals >= 0)
        close(source->signals);
    free(source);
}

/* ---- packets ---- */

/* Whether a signal came; with `wait`, once it did or there are packets. */
static bool is_ended(struct sniff_source *s, bool wait)
{
    struct pollfd wanted[2] = {{.fd = s->signals, .events = POLLIN},
                               {.fd = pcap_get_selectable_fd(s->pcap), .events = POLLIN}};
    return poll(wanted, wait ? 2 : 1, wait ? -1 : 0) > 0 && wanted[0].revents != 0;
}

int sniff_source_next(struct sniff_source *source, struct sniff_capture *capture,
                      struct failure *why)
{
    struct pcap_pkthdr *head;
    int status;
    if (source->live && ++source->given % SIGNAL_EVERY == 0 && is_ended(source, false))
        return 0;
    while ((status = pcap_next_ex(source->pcap, &head, &source->bytes)) == 0)
        if (is_ended(source, true))
            return 0;
    if (status == PCAP_ERROR_BREAK) /* the end of a file */
        return 0;
    if (status < 0)
        return failure_set(why, "reading packets: %.300s", pcap_geterr(source->pcap));
    source->head = head;
    capture->time_us = (uint64_t)head->ts.tv_sec * 1000000 + (uint64_t)head->ts.tv_usec;
    capture->link = pcap_datalink(source->pcap);
    capture->bytes = source->bytes;
    capture->captured = head->caplen;
    capture->size = head->len < head->caplen ? head->caplen : head->len;
    return 1;
}

int sniff_source_write(struct sniff_source *source, struct failure *why)
{
    if (source->dump == NULL)
        return 0;
    pcap_dump((u_char *)source->dump, source->head, source->bytes);
    if (pcap_dump_flush(source->dump) != 0)
        return failure_set(why, "writing packets: %s", strerror(errno));
    return 0;
}

unsigned sniff_source_dropped(struct sniff_source *source)
{
    struct pcap_stat stat;
    return source->live && pcap_stats(source->pcap, &stat) == 0 ? stat.ps_drop : 0;
}
