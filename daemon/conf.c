/*
 * The configuration: one table names every setting, with how it is read and printed.
 */
#include "daemon/conf.h"

#include <arpa/inet.h>
#include <errno.h>
#include <ini.h>
#include <inttypes.h>
#include <linux/if_ether.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "daemon/log.h"
#include "daemon/sockaddr.h"
#include "lib/covey.h"
#include "proto/ether.h"
#include "proto/frame.h"
#include "proto/topology.h"

#define FAIL_TIMEOUT_US 5000000u
#define JOIN_TIMEOUT_US 20000000u
#define SECONDS_MAX 86400.0
#define TASKS_MAX 10000u
#define TASKS_LIMIT 200000u
#define DATAGRAM_BYTES 8900u
#define DATAGRAM_BYTES_LEAST 1200u
#define DATAGRAM_BYTES_MOST 65000u
#define SPEED 1000u
#define SPEED_LIMIT 1000000u
#define BULK_LIMIT (1u << 30)
#define MONITOR_PERIOD_US 5000000u

void conf_init(struct conf *conf)
{
    *conf = (struct conf){
        .fail_timeout_us = FAIL_TIMEOUT_US,
        .join_timeout_us = JOIN_TIMEOUT_US,
        .log_level = LOG_INFO,
        .tasks_max = TASKS_MAX,
        .datagram_bytes_max = DATAGRAM_BYTES,
        .speed = SPEED,
        .launch = {.launcher = COVEY_LAUNCH_SSH},
        .ether = {.enabled = CONF_AUTO, .type = ETHER_TYPE_DEFAULT},
        .monitor = {.period_us = MONITOR_PERIOD_US, .procfs = "/proc", .metrics_bind = "127.0.0.1"},
    };
    contention_config_init(&conf->contention);
}

/* ---- values ---- */

static int parse_number(const char *text, uint32_t least, uint32_t most, uint32_t *value)
{
    char *end;
    errno = 0;
    unsigned long number = strtoul(text, &end, 10);
    if (errno != 0 || end == text || *end != '\0' || *text == '-' || number < least ||
        number > most)
        return -1;
    *value = (uint32_t)number;
    return 0;
}

static int parse_seconds(const char *text, uint64_t *us)
{
    char *end;
    double seconds = strtod(text, &end);
    if (end == text || *end != '\0' || !(seconds >= 0.1 && seconds <= SECONDS_MAX))
        return -1;
    *us = (uint64_t)llround(seconds * 1e6);
    return 0;
}

static int parse_text(const char *text, char *value, size_t size)
{
    if (strlen(text) >= size)
        return -1;
    memcpy(value, text, strlen(text) + 1);
    return 0;
}

/* "N" or "FIRST-LAST". */
static int parse_ports(const char *text, uint16_t *first, uint16_t *last)
{
    char low[16];
    const char *dash = strchr(text, '-');
    size_t size = dash == NULL ? strlen(text) : (size_t)(dash - text);
    uint32_t from, to;
    if (size >= sizeof low)
        return -1;
    memcpy(low, text, size);
    low[size] = '\0';
    if (parse_number(low, 0, 65535, &from) != 0)
        return -1;
    to = from;
    if (dash != NULL && parse_number(dash + 1, from, 65535, &to) != 0)
        return -1;
    *first = (uint16_t)from;
    *last = (uint16_t)to;
    return 0;
}

/* ---- settings: one line each, with how it is read and printed ---- */

struct setting {
    const char *section;
    const char *name;
    const char *expects;
    int (*parse)(struct conf *conf, const char *text);
    void (*print)(const struct conf *conf, FILE *out);
};

static int parse_fail_timeout(struct conf *conf, const char *text)
{
    return parse_seconds(text, &conf->fail_timeout_us);
}

static void print_fail_timeout(const struct conf *conf, FILE *out)
{
    fprintf(out, "%.6f", (double)conf->fail_timeout_us / 1e6);
}

static int parse_join_timeout(struct conf *conf, const char *text)
{
    return parse_seconds(text, &conf->join_timeout_us);
}

static void print_join_timeout(const struct conf *conf, FILE *out)
{
    fprintf(out, "%.6f", (double)conf->join_timeout_us / 1e6);
}

static int parse_port(struct conf *conf, const char *text)
{
    return parse_ports(text, &conf->port_first, &conf->port_last);
}

static void print_port(const struct conf *conf, FILE *out)
{
    fprintf(out, "%u-%u", conf->port_first, conf->port_last);
}

static bool is_ip(const char *text)
{
    uint8_t ip[sizeof(struct in6_addr)];
    return inet_pton(AF_INET, text, ip) == 1 || inet_pton(AF_INET6, text, ip) == 1;
}

static int parse_bind(struct conf *conf, const char *text)
{
    if (text[0] != '\0' && !is_ip(text))
        return -1;
    return parse_text(text, conf->bind, sizeof conf->bind);
}

static void print_bind(const struct conf *conf, FILE *out)
{
    fputs(conf->bind, out);
}

/* With or without a port; the daemon that joins reads it whole. */
static bool is_address(const char *text)
{
    struct address unused;
    return text[0] == '\0' || sockaddr_parse(text, 1, &unused);
}

static int parse_address(struct conf *conf, const char *text)
{
    if (!is_address(text))
        return -1;
    return parse_text(text, conf->address, sizeof conf->address);
}

static void print_address(const struct conf *conf, FILE *out)
{
    fputs(conf->address, out);
}

static int parse_interface(struct conf *conf, const char *text)
{
    return parse_text(text, conf->interface, sizeof conf->interface);
}

static void print_interface(const struct conf *conf, FILE *out)
{
    fputs(conf->interface, out);
}

static int parse_log_level(struct conf *conf, const char *text)
{
    int level = log_level_parse(text);
    if (level >= 0)
        conf->log_level = level;
    return level < 0 ? -1 : 0;
}

static void print_log_level(const struct conf *conf, FILE *out)
{
    fputs(log_level_name(conf->log_level), out);
}

static int parse_tasks_max(struct conf *conf, const char *text)
{
    return parse_number(text, 1, TASKS_LIMIT, &conf->tasks_max);
}

static void print_tasks_max(const struct conf *conf, FILE *out)
{
    fprintf(out, "%u", conf->tasks_max);
}

static int parse_datagram_max(struct conf *conf, const char *text)
{
    return parse_number(text, DATAGRAM_BYTES_LEAST, DATAGRAM_BYTES_MOST, &conf->datagram_bytes_max);
}

static void print_datagram_max(const struct conf *conf, FILE *out)
{
    fprintf(out, "%u", conf->datagram_bytes_max);
}

static int parse_encrypt(struct conf *conf, const char *text)
{
    conf->encrypt = strcmp(text, "yes") == 0;
    return conf->encrypt || strcmp(text, "no") == 0 ? 0 : -1;
}

static void print_encrypt(const struct conf *conf, FILE *out)
{
    fputs(conf->encrypt ? "yes" : "no", out);
}

/* Whoever reads the file need not be where whoever wrote covey.conf was. */
static int parse_topology(struct conf *conf, const char *text)
{
    if (text[0] != '\0' && text[0] != '/')
        return -1;
    return parse_text(text, conf->topology, sizeof conf->topology);
}

static void print_topology(const struct conf *conf, FILE *out)
{
    fputs(conf->topology, out);
}

static int parse_speed(struct conf *conf, const char *text)
{
    return parse_number(text, 1, SPEED_LIMIT, &conf->speed);
}

static void print_speed(const struct conf *conf, FILE *out)
{
    fprintf(out, "%u", conf->speed);
}

static int parse_fault(struct conf *conf, const char *text)
{
    return fault_parse(text, &conf->fault);
}

static void print_fault(const struct conf *conf, FILE *out)
{
    char text[FAULT_TEXT_MAX];
    fault_print(&conf->fault, text);
    fputs(text, out);
}

/* ---- [launch] ---- */

static int parse_launcher(struct conf *conf, const char *text)
{
    if (strcmp(text, "ssh") == 0)
        conf->launch.launcher = COVEY_LAUNCH_SSH;
    else if (strcmp(text, "exec") == 0)
        conf->launch.launcher = COVEY_LAUNCH_EXEC;
    else
        return -1;
    return 0;
}

static void print_launcher(const struct conf *conf, FILE *out)
{
    fputs(conf->launch.launcher == COVEY_LAUNCH_EXEC ? "exec" : "ssh", out);
}

static int parse_template(struct conf *conf, const char *text)
{
    if (text[0] != '\0' && strstr(text, "{command}") == NULL)
        return -1;
    return parse_text(text, conf->launch.template_, sizeof conf->launch.template_);
}

static void print_template(const struct conf *conf, FILE *out)
{
    fputs(conf->launch.template_, out);
}

static int parse_coveyd(struct conf *conf, const char *text)
{
    return parse_text(text, conf->launch.coveyd, sizeof conf->launch.coveyd);
}

static void print_coveyd(const struct conf *conf, FILE *out)
{
    fputs(conf->launch.coveyd, out);
}

static int parse_user(struct conf *conf, const char *text)
{
    return text[0] == '-' ? -1 : parse_text(text, conf->launch.user, sizeof conf->launch.user);
}

static void print_user(const struct conf *conf, FILE *out)
{
    fputs(conf->launch.user, out);
}

static int parse_launch_port(struct conf *conf, const char *text)
{
    return parse_number(text, 0, 65535, &conf->launch.port);
}

static void print_launch_port(const struct conf *conf, FILE *out)
{
    fprintf(out, "%u", conf->launch.port);
}

/* ---- [ether] ---- */

static const char *const choices[] = {[CONF_AUTO] = "auto", [CONF_YES] = "yes", [CONF_NO] = "no"};

static int parse_ether_enabled(struct conf *conf, const char *text)
{
    for (int i = 0; i < (int)(sizeof choices / sizeof choices[0]); i++) {
        if (strcmp(text, choices[i]) != 0)
            continue;
        conf->ether.enabled = (enum conf_choice)i;
        return 0;
    }
    return -1;
}

static void print_ether_enabled(const struct conf *conf, FILE *out)
{
    fputs(choices[conf->ether.enabled], out);
}

static int parse_ether_interface(struct conf *conf, const char *text)
{
    return parse_text(text, conf->ether.interface, sizeof conf->ether.interface);
}

static void print_ether_interface(const struct conf *conf, FILE *out)
{
    fputs(conf->ether.interface, out);
}

/* Any number that is no other protocol's of everyday. */
static int parse_ether_type(struct conf *conf, const char *text)
{
    char *end;
    unsigned long type = strtoul(text, &end, 16);
    if (end == text || *end != '\0' || *text == '-' || type < ETHER_TYPE_MIN || type > 0xffff ||
        type == ETH_P_IP || type == ETH_P_ARP || type == ETH_P_IPV6 || type == ETH_P_8021Q)
        return -1;
    conf->ether.type = (uint16_t)type;
    return 0;
}

static void print_ether_type(const struct conf *conf, FILE *out)
{
    fprintf(out, "0x%04x", conf->ether.type);
}

static int parse_ether_direct(struct conf *conf, const char *text)
{
    conf->ether.direct = strcmp(text, "yes") == 0;
    return conf->ether.direct || strcmp(text, "no") == 0 ? 0 : -1;
}

static void print_ether_direct(const struct conf *conf, FILE *out)
{
    fputs(conf->ether.direct ? "yes" : "no", out);
}

/* ---- [monitor] ---- */

static int parse_period(struct conf *conf, const char *text)
{
    uint64_t period_us;
    if (parse_seconds(text, &period_us) != 0 || period_us < 1000000)
        return -1;
    conf->monitor.period_us = period_us;
    return 0;
}

static void print_period(const struct conf *conf, FILE *out)
{
    fprintf(out, "%.6f", (double)conf->monitor.period_us / 1e6);
}

static int parse_procfs(struct conf *conf, const char *text)
{
    return text[0] == '/' ? parse_text(text, conf->monitor.procfs, sizeof conf->monitor.procfs)
                          : -1;
}

static void print_procfs(const struct conf *conf, FILE *out)
{
    fputs(conf->monitor.procfs, out);
}

static int parse_metrics(struct conf *conf, const char *text)
{
    struct conf_monitor *m = &conf->monitor;
    uint16_t first, last;
    if (strcmp(text, "off") == 0)
        m->metrics = CONF_METRICS_OFF;
    else if (strcmp(text, "socket") == 0)
        m->metrics = CONF_METRICS_SOCKET;
    else if (parse_ports(text, &first, &last) != 0 || first == 0)
        return -1;
    else {
        m->metrics = CONF_METRICS_PORT;
        m->metrics_first = first;
        m->metrics_last = last;
    }
    return 0;
}

static void print_metrics(const struct conf *conf, FILE *out)
{
    const struct conf_monitor *m = &conf->monitor;
    if (m->metrics == CONF_METRICS_PORT)
        fprintf(out, "%u-%u", m->metrics_first, m->metrics_last);
    else
        fputs(m->metrics == CONF_METRICS_SOCKET ? "socket" : "off", out);
}

static int parse_metrics_bind(struct conf *conf, const char *text)
{
    return is_ip(text)
               ? parse_text(text, conf->monitor.metrics_bind, sizeof conf->monitor.metrics_bind)
               : -1;
}

static void print_metrics_bind(const struct conf *conf, FILE *out)
{
    fputs(conf->monitor.metrics_bind, out);
}

/* ---- [contention] ---- */

static int parse_contention_mode(struct conf *conf, const char *text)
{
    int mode = contention_mode_parse(text, strlen(text));
    if (mode >= 0)
        conf->contention.mode = (uint8_t)mode;
    return mode < 0 ? -1 : 0;
}

static void print_contention_mode(const struct conf *conf, FILE *out)
{
    fputs(contention_mode_name(conf->contention.mode), out);
}

/* A number with K or M after it: times 1024 or 1024^2. */
static int parse_bytes(const char *text, uint32_t most, uint32_t *value)
{
    char *end;
    errno = 0;
    unsigned long number = strtoul(text, &end, 10);
    unsigned long unit = *end == 'K' ? 1024 : *end == 'M' ? 1024 * 1024 : 1;
    end += unit > 1;
    if (errno != 0 || end == text || *end != '\0' || *text == '-' || number == 0 ||
        number > most / unit)
        return -1;
    *value = (uint32_t)(number * unit);
    return 0;
}

static void print_bytes(uint32_t value, FILE *out)
{
    fprintf(out, "%u%s", value % 1024 == 0 ? value / 1024 : value, value % 1024 == 0 ? "K" : "");
}

static int parse_contention_threshold(struct conf *conf, const char *text)
{
    return parse_bytes(text, BULK_LIMIT, &conf->contention.threshold_bytes);
}

static void print_contention_threshold(const struct conf *conf, FILE *out)
{
    print_bytes(conf->contention.threshold_bytes, out);
}

static int parse_contention_quantum(struct conf *conf, const char *text)
{
    uint32_t bytes;
    if (parse_bytes(text, BULK_LIMIT, &bytes) != 0 || bytes < FRAME_PAYLOAD_MAX)
        return -1;
    conf->contention.quantum_bytes = bytes;
    return 0;
}

static void print_contention_quantum(const struct conf *conf, FILE *out)
{
    print_bytes(conf->contention.quantum_bytes, out);
}

static int parse_contention_rate(struct conf *conf, const char *text)
{
    uint64_t rate = topology_rate_parse(text, strlen(text));
    if (rate > 0)
        conf->contention.rate = rate;
    return rate > 0 ? 0 : -1;
}

static void print_contention_rate(const struct conf *conf, FILE *out)
{
    fprintf(out, "%" PRIu64, conf->contention.rate);
}

static int parse_contention_turns(struct conf *conf, const char *text)
{
    conf->contention.turns = strcmp(text, "yes") == 0;
    return conf->contention.turns || strcmp(text, "no") == 0 ? 0 : -1;
}

static void print_contention_turns(const struct conf *conf, FILE *out)
{
    fputs(conf->contention.turns ? "yes" : "no", out);
}

#define DAEMON "daemon"
#define LAUNCH "launch"
#define ETHER "ether"
#define CONTENTION "contention"
#define RATE_EXPECTS "bits per second, 8K to 400G"
#define MONITOR "monitor"
#define ETHER_TYPE_EXPECTS "0x600 to 0xffff and not IPv4's, ARP's, IPv6's or a VLAN's"

static const struct setting settings[] = {
    {DAEMON, "fail_timeout", "seconds, 0.1 to 86400", parse_fail_timeout, print_fail_timeout},
    {DAEMON, "join_timeout", "seconds, 0.1 to 86400", parse_join_timeout, print_join_timeout},
    {DAEMON, "port", "a port or FIRST-LAST", parse_port, print_port},
    {DAEMON, "bind", "an IP address without a port", parse_bind, print_bind},
    {DAEMON, "address", "an IP address", parse_address, print_address},
    {DAEMON, "interface", "an interface's name", parse_interface, print_interface},
    {DAEMON, "log_level", "error, info or debug", parse_log_level, print_log_level},
    {DAEMON, "tasks_max", "1 to 200000", parse_tasks_max, print_tasks_max},
    {DAEMON, "datagram_max", "1200 to 65000", parse_datagram_max, print_datagram_max},
    {DAEMON, "encrypt", "yes or no", parse_encrypt, print_encrypt},
    {DAEMON, "topology", "the path of a file, from / on", parse_topology, print_topology},
    {DAEMON, "speed", "1 to 1000000", parse_speed, print_speed},
    {DAEMON, "fault", CONF_FAULT_EXPECTS, parse_fault, print_fault},
    {LAUNCH, "launcher", "ssh or exec", parse_launcher, print_launcher},
    {LAUNCH, "template", "a command with {command} in it", parse_template, print_template},
    {LAUNCH, "coveyd", "a path", parse_coveyd, print_coveyd},
    {LAUNCH, "user", "a user's name", parse_user, print_user},
    {LAUNCH, "port", "0 to 65535", parse_launch_port, print_launch_port},
    {ETHER, "enabled", "auto, yes or no", parse_ether_enabled, print_ether_enabled},
    {ETHER, "interface", "an interface's name", parse_ether_interface, print_ether_interface},
    {ETHER, "ethertype", ETHER_TYPE_EXPECTS, parse_ether_type, print_ether_type},
    {ETHER, "direct", "yes or no", parse_ether_direct, print_ether_direct},
    {MONITOR, "period", "seconds, 1 to 86400", parse_period, print_period},
    {MONITOR, "procfs", "an absolute path", parse_procfs, print_procfs},
    {MONITOR, "metrics", "off, socket, a port or FIRST-LAST", parse_metrics, print_metrics},
    {MONITOR, "metrics_bind", "an IP address without a port", parse_metrics_bind,
     print_metrics_bind},
    {CONTENTION, "mode", "off, stagger, token or topology", parse_contention_mode,
     print_contention_mode},
    {CONTENTION, "threshold", "1 to 1024M bytes", parse_contention_threshold,
     print_contention_threshold},
    {CONTENTION, "quantum", "64K to 1024M bytes", parse_contention_quantum,
     print_contention_quantum},
    {CONTENTION, "rate", RATE_EXPECTS, parse_contention_rate, print_contention_rate},
    {CONTENTION, "turns", "yes or no", parse_contention_turns, print_contention_turns},
};
#define SETTINGS (sizeof settings / sizeof settings[0])

/* ---- files ---- */

#define SYSTEM_FILE "/etc/covey.conf"

struct reading {
    struct conf *conf;
    struct failure *why;
    bool refused;
};

static int refuse(struct reading *reading, const char *format, const char *a, const char *b)
{
    if (!reading->refused) {
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
        failure_set(reading->why, format, a, b);
#pragma GCC diagnostic pop
    }
    reading->refused = true;
    return 0;
}

static int on_setting(void *context, const char *section, const char *name, const char *value)
{
    struct reading *reading = context;
    bool known = false;  /* the section */
    if (value[0] == ';') /* with a blank before it, it would begin a comment */
        return refuse(reading, "%s: a value cannot begin with a semicolon%s", name, "");
    for (size_t i = 0; i < SETTINGS; i++) {
        if (strcmp(settings[i].section, section) != 0)
            continue;
        known = true;
        if (strcmp(settings[i].name, name) != 0)
            continue;
        if (settings[i].parse(reading->conf, value) == 0)
            return 1;
        return refuse(reading, "%s must be %s", name, settings[i].expects);
    }
    if (known)
        return refuse(reading, "unknown setting '%s' in [%s]", name, section);
    return refuse(reading, "unknown section [%s]%s", section, "");
}

/* With a capability that root gave the program any user could ask for raw sockets otherwise. That
 * a file is root's is not enough: he may have written it to be read, not to be obeyed here. */
static bool may_give_sockets(FILE *file)
{
    struct stat st, system;
    if (geteuid() == 0)
        return true;
    return fstat(fileno(file), &st) == 0 && stat(SYSTEM_FILE, &system) == 0 &&
           st.st_dev == system.st_dev && st.st_ino == system.st_ino && st.st_uid == 0 &&
           (st.st_mode & (S_IWGRP | S_IWOTH)) == 0;
}

static int read_file(struct conf *conf, const char *path, FILE *file, struct failure *why)
{
    struct failure cause = {"syntax error"};
    struct reading reading = {.conf = conf, .why = &cause};
    int line = ini_parse_file(file, on_setting, &reading);
    if (line > 0)
        return failure_set(why, "%.200s:%d: %.250s", path, line, cause.text);
    if (line == 0 && conf->ether.direct && !may_give_sockets(file))
        return failure_set(why,
                           "%.200s: direct = yes counts only in " SYSTEM_FILE ", where root owns "
                           "it and nobody else can write it",
                           path);
    return line == 0 ? 0 : failure_set(why, "cannot read %s: memory is exhausted", path);
}

int conf_read(struct conf *conf, const char *path, struct failure *why)
{
    FILE *file = fopen(path, "re");
    if (file == NULL)
        return failure_set(why, "cannot read %s: %s", path, strerror(errno));
    int status = read_file(conf, path, file, why);
    fclose(file);
    return status;
}

int conf_set(struct conf *conf, const char *name, const char *value, struct failure *why)
{
    for (size_t i = 0; i < SETTINGS; i++)
        if (strcmp(settings[i].section, DAEMON) == 0 && strcmp(settings[i].name, name) == 0 &&
            settings[i].parse(conf, value) == 0)
            return 0;
        else if (strcmp(settings[i].section, DAEMON) == 0 && strcmp(settings[i].name, name) == 0)
            return failure_set(why, "%s must be %s, not '%s'", name, settings[i].expects, value);
    return failure_set(why, "unknown setting '%s'", name);
}

int conf_find(char *path, size_t size)
{
    const char *xdg = getenv("XDG_CONFIG_HOME"), *home = getenv("HOME");
    if (xdg != NULL && xdg[0] == '/') {
        snprintf(path, size, "%s/covey/covey.conf", xdg);
        if (access(path, F_OK) == 0)
            return 0;
    }
    if (home != NULL) {
        snprintf(path, size, "%s/.config/covey/covey.conf", home);
        if (access(path, F_OK) == 0)
            return 0;
    }
    snprintf(path, size, SYSTEM_FILE);
    return access(path, F_OK);
}

void conf_print(const struct conf *conf, FILE *out)
{
    const char *section = "";
    for (size_t i = 0; i < SETTINGS; i++) {
        if (strcmp(settings[i].section, section) != 0)
            fprintf(out, "[%s]\n", settings[i].section);
        section = settings[i].section;
        fprintf(out, "%s = ", settings[i].name);
        settings[i].print(conf, out);
        fputc('\n', out);
    }
}
