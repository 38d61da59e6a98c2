/*
 * The configuration: one table names every setting, its type and where it stands in struct conf.
 * What types there are: conf_value.h. A new setting is a member of struct conf, its default in
 * conf_init(), a line of the table, and its place in covey.conf(5) and conf/.
 */
#include "daemon/base/conf.h"

#include <errno.h>
#include <ini.h>
#include <limits.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "daemon/base/conf_value.h"
#include "daemon/base/log.h"
#include "lib/covey.h"
#include "proto/wire/ether.h"

#define FAIL_TIMEOUT_US 5000000u
#define JOIN_TIMEOUT_US 20000000u
#define DAY_US 86400000000u
#define TASKS_MAX 10000u
#define MEMORY_BYTES ((uint64_t)1 << 30)
#define MEMORY_LEAST ((uint64_t)1 << 20)
#define MEMORY_MOST ((uint64_t)1 << 40)
#define DATAGRAM_BYTES 8900u
#define SPEED 1000u
#define BULK_LIMIT (1u << 30)
#define QUANTUM_LEAST (64u << 10)
#define MONITOR_PERIOD_US 5000000u

void conf_init(struct conf *conf)
{
    *conf = (struct conf){
        .fail_timeout_us = FAIL_TIMEOUT_US,
        .join_timeout_us = JOIN_TIMEOUT_US,
        .log_level = LOG_INFO,
        .tasks_max = TASKS_MAX,
        .memory_bytes = MEMORY_BYTES,
        .datagram_bytes_max = DATAGRAM_BYTES,
        .speed = SPEED,
        .launch = {.launcher = COVEY_LAUNCH_SSH},
        .ether = {.enabled = CONF_AUTO, .type = ETHER_TYPE_DEFAULT, .services = true},
        .monitor = {.period_us = MONITOR_PERIOD_US, .procfs = "/proc", .metrics_bind = "127.0.0.1"},
    };
    contention_config_init(&conf->contention);
}

/* ---- settings ---- */

struct setting {
    const char *section;
    const char *name;
    const char *expects;
    const struct conf_type *type;
    size_t offset; /* of the member of struct conf */
    struct conf_range range;
};

#define MEMBER(member) offsetof(struct conf, member)
#define EXPECTS_ETHERTYPE "0x600 to 0xffff and not IPv4's, ARP's, IPv6's or a VLAN's"
#define EXPECTS_TIMEOUT "seconds, 0.1 to 86400"
/* clang-format off */
#define FROM_TO(least, most) {least, most}
#define TEXT(member, least) MEMBER(member), {least, sizeof((struct conf *)0)->member - 1}
/* clang-format on */
#define ANY FROM_TO(0, 0)

#define DAEMON "daemon"
#define LAUNCH "launch"
#define ETHER "ether"
#define MONITOR "monitor"
#define CONTENTION "contention"

static const struct setting settings[] = {
    {DAEMON, "fail_timeout", EXPECTS_TIMEOUT, &conf_seconds, MEMBER(fail_timeout_us),
     FROM_TO(100000, DAY_US)},
    {DAEMON, "join_timeout", EXPECTS_TIMEOUT, &conf_seconds, MEMBER(join_timeout_us),
     FROM_TO(100000, DAY_US)},
    {DAEMON, "port", "a port or FIRST-LAST", &conf_ports, MEMBER(port), FROM_TO(0, UINT16_MAX)},
    {DAEMON, "bind", "an IP address without a port", &conf_ip, TEXT(bind, 0)},
    {DAEMON, "address", "an IP address", &conf_address, TEXT(address, 0)},
    {DAEMON, "interface", "an interface's name", &conf_text, TEXT(interface, 0)},
    {DAEMON, "log_level", "error, info or debug", &conf_log_level, MEMBER(log_level), ANY},
    {DAEMON, "tasks_max", "1 to 200000", &conf_number, MEMBER(tasks_max), FROM_TO(1, 200000)},
    {DAEMON, "memory", "1M to 1024G bytes", &conf_size, MEMBER(memory_bytes),
     FROM_TO(MEMORY_LEAST, MEMORY_MOST)},
    {DAEMON, "datagram_max", "1200 to 65000", &conf_number, MEMBER(datagram_bytes_max),
     FROM_TO(1200, 65000)},
    {DAEMON, "encrypt", "yes or no", &conf_yes_no, MEMBER(encrypt), ANY},
    {DAEMON, "topology", "the path of a file, from / on", &conf_path, TEXT(topology, 0)},
    {DAEMON, "speed", "1 to 1000000", &conf_number, MEMBER(speed), FROM_TO(1, 1000000)},
    {DAEMON, "withhold", "yes or no", &conf_yes_no, MEMBER(withhold), ANY},
    {DAEMON, "fault", CONF_FAULT_EXPECTS, &conf_fault, MEMBER(fault), ANY},
    {DAEMON, "slow", SLOW_EXPECTS, &conf_slow, MEMBER(slow), ANY},
    {LAUNCH, "launcher", "ssh or exec", &conf_launcher, MEMBER(launch.launcher), ANY},
    {LAUNCH, "template", "a command with {command} in it", &conf_template,
     TEXT(launch.template_, 0)},
    {LAUNCH, "coveyd", "a path", &conf_text, TEXT(launch.coveyd, 0)},
    {LAUNCH, "user", "a user's name", &conf_user, TEXT(launch.user, 0)},
    {LAUNCH, "port", "0 to 65535", &conf_number, MEMBER(launch.port), FROM_TO(0, UINT16_MAX)},
    {ETHER, "enabled", "auto, yes or no", &conf_auto, MEMBER(ether.enabled), ANY},
    {ETHER, "interface", "an interface's name", &conf_text, TEXT(ether.interface, 0)},
    {ETHER, "ethertype", EXPECTS_ETHERTYPE, &conf_ethertype, MEMBER(ether.type),
     FROM_TO(ETHER_TYPE_MIN, 0xffff)},
    {ETHER, "direct", "yes or no", &conf_yes_no, MEMBER(ether.direct), ANY},
    {ETHER, "services", "yes or no", &conf_yes_no, MEMBER(ether.services), ANY},
    {MONITOR, "period", "seconds, 1 to 86400", &conf_seconds, MEMBER(monitor.period_us),
     FROM_TO(1000000, DAY_US)},
    {MONITOR, "procfs", "an absolute path", &conf_path, TEXT(monitor.procfs, 1)},
    {MONITOR, "metrics", "off, socket, a port or FIRST-LAST", &conf_metrics,
     MEMBER(monitor.metrics), FROM_TO(1, UINT16_MAX)},
    {MONITOR, "metrics_bind", "an IP address without a port", &conf_ip,
     TEXT(monitor.metrics_bind, 1)},
    {CONTENTION, "mode", "off, stagger, token or topology", &conf_mode, MEMBER(contention.mode),
     ANY},
    {CONTENTION, "threshold", "1 to 1024M bytes", &conf_bytes, MEMBER(contention.threshold_bytes),
     FROM_TO(1, BULK_LIMIT)},
    {CONTENTION, "quantum", "64K to 1024M bytes", &conf_bytes, MEMBER(contention.quantum_bytes),
     FROM_TO(QUANTUM_LEAST, BULK_LIMIT)},
    {CONTENTION, "rate", "bits per second, 8K to 400G", &conf_rate, MEMBER(contention.rate), ANY},
    {CONTENTION, "turns", "yes or no", &conf_yes_no, MEMBER(contention.turns), ANY},
};
#define SETTINGS (sizeof settings / sizeof settings[0])

static int setting_parse(const struct setting *s, struct conf *conf, const char *text)
{
    return s->type->parse((char *)conf + s->offset, text, &s->range);
}

/* ---- files ---- */

#define SYSTEM_FILE "/etc/covey.conf"

struct reading {
    struct conf *conf;
    struct failure *why;
    bool refused;
};

static int refuse_setting(struct reading *reading, const char *format, const char *a, const char *b)
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
        return refuse_setting(reading, "%s: a value cannot begin with a semicolon%s", name, "");
    for (size_t i = 0; i < SETTINGS; i++) {
        if (strcmp(settings[i].section, section) != 0)
            continue;
        known = true;
        if (strcmp(settings[i].name, name) != 0)
            continue;
        if (setting_parse(&settings[i], reading->conf, value) == 0)
            return 1;
        return refuse_setting(reading, "%s must be %s", name, settings[i].expects);
    }
    if (known)
        return refuse_setting(reading, "unknown setting '%s' in [%s]", name, section);
    return refuse_setting(reading, "unknown section [%s]%s", section, "");
}

/* With a capability that root gave coveyd any user could ask for raw sockets otherwise: who obeys
 * `direct` asks for this, too. That a file is root's is not enough: he may have written it to be
 * read, not to be obeyed here. */
static bool may_give_sockets(FILE *file)
{
    struct stat st, system;
    if (geteuid() == 0)
        return true;
    return fstat(fileno(file), &st) == 0 && stat(SYSTEM_FILE, &system) == 0 &&
           st.st_dev == system.st_dev && st.st_ino == system.st_ino && st.st_uid == 0 &&
           (st.st_mode & (S_IWGRP | S_IWOTH)) == 0;
}

static int read_conf_file(struct conf *conf, const char *path, FILE *file, struct failure *why)
{
    struct failure cause = {"syntax error"};
    struct reading reading = {.conf = conf, .why = &cause};
    int line = ini_parse_file(file, on_setting, &reading);
    if (line > 0)
        return failure_set(why, "%.200s:%d: %.250s", path, line, cause.text);
    if (line == 0 && ferror(file))
        return failure_set(why, "cannot read %s: %s", path, strerror(errno));
    conf->ether.direct_is_roots = conf->ether.direct && may_give_sockets(file);
    return line == 0 ? 0 : failure_set(why, "cannot read %s: memory is exhausted", path);
}

int conf_read(struct conf *conf, const char *path, struct failure *why)
{
    FILE *file = fopen(path, "re");
    if (file == NULL)
        return failure_set(why, "cannot read %s: %s", path, strerror(errno));
    int status = read_conf_file(conf, path, file, why);
    fclose(file);
    return status;
}

int conf_set(struct conf *conf, const char *name, const char *value, struct failure *why)
{
    for (size_t i = 0; i < SETTINGS; i++)
        if (strcmp(settings[i].section, DAEMON) == 0 && strcmp(settings[i].name, name) == 0 &&
            setting_parse(&settings[i], conf, value) == 0)
            return 0;
        else if (strcmp(settings[i].section, DAEMON) == 0 && strcmp(settings[i].name, name) == 0)
            return failure_set(why, "%s must be %s, not '%s'", name, settings[i].expects, value);
    return failure_set(why, "unknown setting '%s'", name);
}

int conf_set_option(struct conf *conf, const char *name, const char *value, struct failure *why)
{
    struct failure cause;
    if (value == NULL || conf_set(conf, name, value, &cause) == 0)
        return 0;
    failure_set(why, "--%s", cause.text);
    char *mark = strchr(why->text, '_');
    if (mark != NULL)
        *mark = '-';
    return -1;
}

/* The file that is read when none is named. Returns 0 and sets path, or -1 when there is none. */
static int conf_find(char *path, size_t size)
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

int conf_load(struct conf *conf, const char *file, struct failure *why)
{
    char path[PATH_MAX];
    conf_init(conf);
    if (file == NULL && conf_find(path, sizeof path) == 0)
        file = path;
    return file == NULL ? 0 : conf_read(conf, file, why);
}

void conf_print(const struct conf *conf, FILE *out)
{
    const char *section = "";
    for (size_t i = 0; i < SETTINGS; i++) {
        if (strcmp(settings[i].section, section) != 0)
            fprintf(out, "[%s]\n", settings[i].section);
        section = settings[i].section;
        fprintf(out, "%s = ", settings[i].name);
        settings[i].type->print((const char *)conf + settings[i].offset, out);
        fputc('\n', out);
    }
}
