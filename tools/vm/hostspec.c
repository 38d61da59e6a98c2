/*
 * hostspec.c - the keys of a host file, which are also options of `covey add`: their names, their
 * values, and what PVM's and other systems' host files call them, so that a key from there gets an
 * answer.
 */
#include "tools/vm/hostspec.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    KEY_LAUNCHER = HOSTSPEC_KEY,
    KEY_TEMPLATE,
    KEY_HOSTNAME,
    KEY_USER,
    KEY_PORT,
    KEY_ADDRESS,
    KEY_BIND,
    KEY_INTERFACE,
    KEY_COVEYD,
    KEY_CONFIG,
    KEY_CWD,
    KEY_ENV,
    KEY_SPEED,
    KEY_ARCH
};

/* ---- Names of keys ------------------------------------------------------------------------ */

static bool same(const char *text, const char *name, size_t length)
{
    return strlen(text) == length && memcmp(text, name, length) == 0;
}

/* What PVM's host files call them. */
static int find_short(const char *name, size_t length)
{
    static const struct {
        const char *name;
        int key;
    } names[] = {{"lo", KEY_USER},
                 {"dx", KEY_COVEYD},
                 {"wd", KEY_CWD},
                 {"sp", KEY_SPEED},
                 {"ip", KEY_HOSTNAME}};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (same(names[i].name, name, length))
            return names[i].key;
    }
    return 0;
}

/* Why a key that other systems' host files have is not one here. */
static const char *explain_key(const char *name, size_t length)
{
    static const struct {
        const char *name;
        const char *why;
    } foreign[] = {
        {"slots", "unknown key; Covey takes as many tasks as it is given: leave it out"},
        {"max_slots", "unknown key; Covey has tasks_max in covey.conf: leave it out"},
        {"max-slots", "unknown key; Covey has tasks_max in covey.conf: leave it out"},
        {"ep", "unknown key; use env=PATH=..."},
        {"so", "unknown key; Covey asks for no passwords: use keys of ssh"},
        {"bx", "unknown key; Covey has no debugger script"},
    };
    for (size_t i = 0; i < sizeof foreign / sizeof *foreign; i++) {
        if (same(foreign[i].name, name, length))
            return foreign[i].why;
    }
    return "unknown key";
}

int hostspec_find(const char *name, size_t length, const char **why)
{
    static const struct args_option options[] = {HOSTSPEC_OPTIONS, {NULL, 0, NULL, NULL}};
    for (const struct args_option *o = options; o->name; o++) {
        if (same(o->name, name, length))
            return o->key;
    }
    int key = find_short(name, length);
    if (key == 0)
        *why = explain_key(name, length);
    return key;
}

/* ---- Values ------------------------------------------------------------------------------- */

static bool set_launcher(struct covey_host_spec *spec, const char *value, char *error)
{
    static const char *const names[] = {"ssh", "exec", "local", NULL};
    spec->launcher = COVEY_LAUNCH_SSH + args_choice(names, value);
    if (spec->launcher >= COVEY_LAUNCH_SSH)
        return true;
    snprintf(error, HOSTSPEC_ERROR_BYTES, "launcher %.40s: must be ssh, exec or local", value);
    return false;
}

static bool set_number(int *field, const char *name, const char *value, int max, char *error)
{
    long number;
    if (!args_number(value, 1, max, &number)) {
        snprintf(error, HOSTSPEC_ERROR_BYTES, "%s %.40s: must be a number in 1 .. %d", name, value,
                 max);
        return false;
    }
    *field = (int)number;
    return true;
}

static bool set_bind(struct covey_host_spec *spec, const char *value, char *error)
{
    unsigned char ip[16];
    if (inet_pton(AF_INET, value, ip) != 1 && inet_pton(AF_INET6, value, ip) != 1) {
        snprintf(error, HOSTSPEC_ERROR_BYTES, "bind %.60s: must be an IP address without a port",
                 value);
        return false;
    }
    spec->bind = value;
    return true;
}

/* A variable that is set again, as a host's own after the default, replaces the first one. */
static bool add_env(struct hostspec *host, const char *value, char *error)
{
    size_t name = strcspn(value, "=") + 1;
    if (*value == '=' || !strchr(value, '=')) {
        snprintf(error, HOSTSPEC_ERROR_BYTES, "env %.60s: must be NAME=VALUE", value);
        return false;
    }
    for (int i = 0; i < host->env_count; i++) {
        if (strncmp(host->env[i], value, name) == 0)
            return host->env[i] = value, true;
    }
    if (host->env_count == HOSTSPEC_ENV_MAX) {
        snprintf(error, HOSTSPEC_ERROR_BYTES, "env %.60s: more than %d of them", value,
                 HOSTSPEC_ENV_MAX);
        return false;
    }
    host->env[host->env_count++] = value;
    return true;
}

static bool set_text(struct covey_host_spec *spec, int key, const char *value)
{
    const struct {
        int key;
        const char **field;
    } fields[] = {
        {KEY_TEMPLATE, &spec->template_},  {KEY_HOSTNAME, &spec->hostname},
        {KEY_USER, &spec->user},           {KEY_ADDRESS, &spec->address},
        {KEY_INTERFACE, &spec->interface}, {KEY_COVEYD, &spec->coveyd},
        {KEY_CONFIG, &spec->config},       {KEY_CWD, &spec->cwd},
        {KEY_ARCH, &spec->arch},
    };
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++) {
        if (fields[i].key == key)
            *fields[i].field = value;
    }
    return true;
}

bool hostspec_set(struct hostspec *host, int key, const char *value, char *error)
{
    struct covey_host_spec *spec = &host->spec;
    if (!*value) {
        snprintf(error, HOSTSPEC_ERROR_BYTES, "an empty value is not possible here");
        return false;
    }
    switch (key) {
    case KEY_LAUNCHER:
        return set_launcher(spec, value, error);
    case KEY_SPEED:
        return set_number(&spec->speed, "speed", value, 1000000, error);
    case KEY_PORT:
        return set_number(&spec->port, "port", value, 65535, error);
    case KEY_BIND:
        return set_bind(spec, value, error);
    case KEY_ENV:
        return add_env(host, value, error);
    default:
        return set_text(spec, key, value);
    }
}

/* ---- The whole ---------------------------------------------------------------------------- */

bool hostspec_name_ok(const char *name)
{
    size_t length = strlen(name);
    if (length == 0 || length > 63 || *name == '-' || *name == '.')
        return false;
    for (; *name; name++) {
        if (!isalnum((unsigned char)*name) && !strchr("._-@", *name))
            return false;
    }
    return true;
}

int hostspec_names(const char *list, int most, char **text, const char **names)
{
    int count = 0;
    free(*text);
    char *rest = *text = strdup(list);
    for (char *name; (name = strsep(&rest, ","));) {
        if (!hostspec_name_ok(name) || count == most)
            return -1;
        names[count++] = name;
    }
    return *text ? count : -1;
}

void hostspec_own_name(char *name, size_t size)
{
    if (gethostname(name, size) != 0)
        snprintf(name, size, "localhost");
    name[size - 1] = '\0';
    name[strcspn(name, ".")] = '\0';
}

/* What a launcher could take for an option of its own, or for several words. */
static bool word_ok(const char *word)
{
    return !word || (*word != '-' && !strpbrk(word, " \t\r\n"));
}

static bool bad_spec(const struct covey_host_spec *spec, char *error, const char *why)
{
    snprintf(error, HOSTSPEC_ERROR_BYTES, "host %.63s: %s", spec->name, why);
    return false;
}

bool hostspec_check(const struct hostspec *host, char *error)
{
    const struct covey_host_spec *spec = &host->spec;
    if (!hostspec_name_ok(spec->name)) {
        snprintf(error, HOSTSPEC_ERROR_BYTES,
                 "host name %.40s: must be 1 .. 63 letters, digits or ._-@, not - or . first%s",
                 spec->name, strchr(spec->name, ':') ? "; give it a name and hostname=" : "");
        return false;
    }
    if (!word_ok(spec->hostname) || !word_ok(spec->user))
        return bad_spec(spec, error, "hostname and user have no blanks, and no - first");
    if (spec->template_ && !strstr(spec->template_, "{command}"))
        return bad_spec(spec, error, "exec needs a template with {command} in it");
    return true;
}

struct covey_host_spec hostspec_done(const struct hostspec *host)
{
    struct covey_host_spec spec = host->spec;
    spec.env = host->env_count ? host->env : NULL;
    return spec;
}
