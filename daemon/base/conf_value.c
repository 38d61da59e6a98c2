/*
 * The types of covey.conf's values. Each takes a text whole or not at all.
 */
#include "daemon/base/conf_value.h"

#include <arpa/inet.h>
#include <errno.h>
#include <inttypes.h>
#include <linux/if_ether.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/base/conf.h"
#include "daemon/base/log.h"
#include "daemon/base/sockaddr.h"
#include "lib/covey.h"
#include "proto/network/topology.h"

/* ---- numbers ---- */

/* Digits in the base, with what follows them left in *end. */
static int parse_digits(const char *text, int base, char **end, unsigned long *number)
{
    errno = 0;
    *number = strtoul(text, end, base);
    return errno != 0 || *end == text || *text == '-' ? -1 : 0;
}

static int parse_number(void *member, const char *text, const struct conf_range *range)
{
    uint32_t *value = member;
    unsigned long number;
    char *end;
    if (parse_digits(text, 10, &end, &number) != 0 || *end != '\0' || number < range->least ||
        number > range->most)
        return -1;
    *value = (uint32_t)number;
    return 0;
}

static void print_number(const void *member, FILE *out)
{
    fprintf(out, "%" PRIu32, *(const uint32_t *)member);
}

const struct conf_type conf_number = {parse_number, print_number};

/* With K or M after it: times 1024 or 1024^2. */
static int parse_bytes(void *member, const char *text, const struct conf_range *range)
{
    uint32_t *value = member;
    unsigned long number;
    char *end;
    if (parse_digits(text, 10, &end, &number) != 0)
        return -1;
    unsigned long unit = *end == 'K' ? 1024 : *end == 'M' ? 1024 * 1024 : 1;
    end += unit > 1;
    if (*end != '\0' || number > range->most / unit || number * unit < range->least)
        return -1;
    *value = (uint32_t)(number * unit);
    return 0;
}

static void print_bytes(const void *member, FILE *out)
{
    uint32_t value = *(const uint32_t *)member;
    bool whole = value % 1024 == 0;
    fprintf(out, "%" PRIu32 "%s", whole ? value / 1024 : value, whole ? "K" : "");
}

const struct conf_type conf_bytes = {parse_bytes, print_bytes};

/* With K, M or G after it. */
static int parse_size(void *member, const char *text, const struct conf_range *range)
{
    static const char units[] = "KMG";
    uint64_t *value = member;
    unsigned shift = 0;
    char *end;
    errno = 0;
    unsigned long long number = strtoull(text, &end, 10);
    const char *unit = *end != '\0' ? strchr(units, *end) : NULL;
    if (errno != 0 || end == text || *text == '-' || (*end != '\0' && unit == NULL))
        return -1;
    if (unit != NULL)
        shift = 10 * (unsigned)(unit - units + 1);
    if ((unit != NULL && end[1] != '\0') || number > range->most >> shift ||
        number << shift < range->least)
        return -1;
    *value = (uint64_t)number << shift;
    return 0;
}

static void print_size(const void *member, FILE *out)
{
    static const char *const units[] = {"", "K", "M", "G"};
    uint64_t value = *(const uint64_t *)member;
    unsigned unit = 0;
    while (unit < 3 && value > 0 && value % 1024 == 0) {
        value /= 1024;
        unit++;
    }
    fprintf(out, "%" PRIu64 "%s", value, units[unit]);
}

const struct conf_type conf_size = {parse_size, print_size};

static int parse_seconds(void *member, const char *text, const struct conf_range *range)
{
    uint64_t *us = member;
    char *end;
    double value = strtod(text, &end) * 1e6;
    if (end == text || *end != '\0' ||
        !(value >= (double)range->least && value <= (double)range->most))
        return -1;
    *us = (uint64_t)llround(value);
    return 0;
}

static void print_seconds(const void *member, FILE *out)
{
    fprintf(out, "%.6f", (double)*(const uint64_t *)member / 1e6);
}

const struct conf_type conf_seconds = {parse_seconds, print_seconds};

/* Any number that is no other protocol's of everyday. */
static int parse_ethertype(void *member, const char *text, const struct conf_range *range)
{
    uint16_t *value = member;
    unsigned long type;
    char *end;
    if (parse_digits(text, 16, &end, &type) != 0 || *end != '\0' || type < range->least ||
        type > range->most || type == ETH_P_IP || type == ETH_P_ARP || type == ETH_P_IPV6 ||
        type == ETH_P_8021Q)
        return -1;
    *value = (uint16_t)type;
    return 0;
}

static void print_ethertype(const void *member, FILE *out)
{
    fprintf(out, "0x%04x", *(const uint16_t *)member);
}

const struct conf_type conf_ethertype = {parse_ethertype, print_ethertype};

static int parse_rate(void *member, const char *text, const struct conf_range *range)
{
    (void)range;
    uint64_t *value = member;
    uint64_t rate = topology_rate_parse(text, strlen(text));
    if (rate == 0)
        return -1;
    *value = rate;
    return 0;
}

static void print_rate(const void *member, FILE *out)
{
    fprintf(out, "%" PRIu64, *(const uint64_t *)member);
}

const struct conf_type conf_rate = {parse_rate, print_rate};

/* ---- ports ---- */

static int parse_ports(void *member, const char *text, const struct conf_range *range)
{
    struct conf_ports *ports = member;
    unsigned long first, last;
    char *end;
    if (parse_digits(text, 10, &end, &first) != 0)
        return -1;
    last = first;
    if (*end == '-' && parse_digits(end + 1, 10, &end, &last) != 0)
        return -1;
    if (*end != '\0' || first < range->least || last < first || last > range->most)
        return -1;
    *ports = (struct conf_ports){(uint16_t)first, (uint16_t)last};
    return 0;
}

static void print_ports(const void *member, FILE *out)
{
    const struct conf_ports *ports = member;
    fprintf(out, "%u-%u", ports->first, ports->last);
}

const struct conf_type conf_ports = {parse_ports, print_ports};

static int parse_metrics(void *member, const char *text, const struct conf_range *range)
{
    struct conf_metrics *metrics = member;
    if (strcmp(text, "off") == 0)
        metrics->where = CONF_METRICS_OFF;
    else if (strcmp(text, "socket") == 0)
        metrics->where = CONF_METRICS_SOCKET;
    else if (parse_ports(&metrics->ports, text, range) == 0)
        metrics->where = CONF_METRICS_PORT;
    else
        return -1;
    return 0;
}

static void print_metrics(const void *member, FILE *out)
{
    const struct conf_metrics *metrics = member;
    if (metrics->where == CONF_METRICS_PORT)
        print_ports(&metrics->ports, out);
    else
        fputs(metrics->where == CONF_METRICS_SOCKET ? "socket" : "off", out);
}

const struct conf_type conf_metrics = {parse_metrics, print_metrics};

/* ---- texts ---- */

static int parse_text(void *member, const char *text, const struct conf_range *range)
{
    size_t length = strlen(text);
    if (length < range->least || length > range->most)
        return -1;
    memcpy(member, text, length + 1);
    return 0;
}

static void print_text(const void *member, FILE *out)
{
    fputs(member, out);
}

const struct conf_type conf_text = {parse_text, print_text};

/* Whoever reads the file need not be where whoever wrote covey.conf was. */
static int parse_path(void *member, const char *text, const struct conf_range *range)
{
    return text[0] == '\0' || text[0] == '/' ? parse_text(member, text, range) : -1;
}

const struct conf_type conf_path = {parse_path, print_text};

static bool is_ip(const char *text)
{
    uint8_t ip[sizeof(struct in6_addr)];
    return inet_pton(AF_INET, text, ip) == 1 || inet_pton(AF_INET6, text, ip) == 1;
}

static int parse_ip(void *member, const char *text, const struct conf_range *range)
{
    return text[0] == '\0' || is_ip(text) ? parse_text(member, text, range) : -1;
}

const struct conf_type conf_ip = {parse_ip, print_text};

/* The daemon that joins reads it whole. */
static int parse_address(void *member, const char *text, const struct conf_range *range)
{
    struct address unused;
    bool valid = text[0] == '\0' || sockaddr_parse(text, 1, &unused);
    return valid ? parse_text(member, text, range) : -1;
}

const struct conf_type conf_address = {parse_address, print_text};

static int parse_user(void *member, const char *text, const struct conf_range *range)
{
    return text[0] == '-' ? -1 : parse_text(member, text, range);
}

const struct conf_type conf_user = {parse_user, print_text};

static int parse_template(void *member, const char *text, const struct conf_range *range)
{
    bool valid = text[0] == '\0' || strstr(text, "{command}") != NULL;
    return valid ? parse_text(member, text, range) : -1;
}

const struct conf_type conf_template = {parse_template, print_text};

/* ---- one of several words ---- */

/* The index of the text among them, or -1. */
static int word_find(const char *const *words, int n, const char *text)
{
    while (--n >= 0 && strcmp(words[n], text) != 0)
        ;
    return n;
}

static const char *const no_yes[] = {"no", "yes"};

static int parse_yes_no(void *member, const char *text, const struct conf_range *range)
{
    (void)range;
    bool *value = member;
    int word = word_find(no_yes, 2, text);
    if (word >= 0)
        *value = word == 1;
    return word < 0 ? -1 : 0;
}

static void print_yes_no(const void *member, FILE *out)
{
    fputs(no_yes[*(const bool *)member], out);
}

const struct conf_type conf_yes_no = {parse_yes_no, print_yes_no};

static const char *const autos[] = {[CONF_AUTO] = "auto", [CONF_YES] = "yes", [CONF_NO] = "no"};

static int parse_auto(void *member, const char *text, const struct conf_range *range)
{
    (void)range;
    enum conf_auto *value = member;
    int word = word_find(autos, (int)(sizeof autos / sizeof autos[0]), text);
    if (word >= 0)
        *value = (enum conf_auto)word;
    return word < 0 ? -1 : 0;
}

static void print_auto(const void *member, FILE *out)
{
    fputs(autos[*(const enum conf_auto *)member], out);
}

const struct conf_type conf_auto = {parse_auto, print_auto};

static int parse_log_level(void *member, const char *text, const struct conf_range *range)
{
    (void)range;
    int *value = member;
    int level = log_level_parse(text);
    if (level >= 0)
        *value = level;
    return level < 0 ? -1 : 0;
}

static void print_log_level(const void *member, FILE *out)
{
    fputs(log_level_name(*(const int *)member), out);
}

const struct conf_type conf_log_level = {parse_log_level, print_log_level};

static const char *const launchers[] = {"ssh", "exec"}; /* COVEY_LAUNCH_SSH and the next */

static int parse_launcher(void *member, const char *text, const struct conf_range *range)
{
    (void)range;
    int *value = member;
    int word = word_find(launchers, 2, text);
    if (word >= 0)
        *value = COVEY_LAUNCH_SSH + word;
    return word < 0 ? -1 : 0;
}

static void print_launcher(const void *member, FILE *out)
{
    fputs(launchers[*(const int *)member - COVEY_LAUNCH_SSH], out);
}

const struct conf_type conf_launcher = {parse_launcher, print_launcher};

static int parse_mode(void *member, const char *text, const struct conf_range *range)
{
    (void)range;
    uint8_t *value = member;
    int mode = contention_mode_parse(text, strlen(text));
    if (mode >= 0)
        *value = (uint8_t)mode;
    return mode < 0 ? -1 : 0;
}

static void print_mode(const void *member, FILE *out)
{
    fputs(contention_mode_name(*(const uint8_t *)member), out);
}

const struct conf_type conf_mode = {parse_mode, print_mode};

/* ---- faults ---- */

static int parse_fault(void *member, const char *text, const struct conf_range *range)
{
    (void)range;
    return fault_parse(text, member);
}

static void print_fault(const void *member, FILE *out)
{
    char text[FAULT_TEXT_MAX];
    fault_print(member, text);
    fputs(text, out);
}

const struct conf_type conf_fault = {parse_fault, print_fault};

/* ---- a slow network ---- */

static int parse_slow(void *member, const char *text, const struct conf_range *range)
{
    (void)range;
    return slow_parse(text, member);
}

static void print_slow(const void *member, FILE *out)
{
    char text[SLOW_TEXT_MAX];
    slow_print(member, text);
    fputs(text, out);
}

const struct conf_type conf_slow = {parse_slow, print_slow};
