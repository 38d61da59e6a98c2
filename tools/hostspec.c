#include "tools/hostspec.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

enum {
    KEY_LAUNCHER = HOSTSPEC_KEY,
    KEY_TEMPLATE,
    KEY_ADDRESS,
    KEY_COVEYD,
    KEY_CWD,
    KEY_SPEED,
    KEY_END
};

static const char *const LAUNCHERS[] = {
    [COVEY_LAUNCH_SSH] = "ssh", [COVEY_LAUNCH_EXEC] = "exec", [COVEY_LAUNCH_LOCAL] = "local"};

bool hostspec_is_key(int key)
{
    return key >= HOSTSPEC_KEY && key < KEY_END;
}

int hostspec_find(const char *name, size_t length)
{
    static const struct args_option options[] = {HOSTSPEC_OPTIONS, {NULL, 0, NULL, NULL}};
    for (const struct args_option *o = options; o->name; o++) {
        if (strlen(o->name) == length && memcmp(o->name, name, length) == 0)
            return o->key;
    }
    return 0;
}

static bool set_launcher(struct covey_host_spec *spec, const char *value, char *error)
{
    for (size_t i = 0; i < sizeof LAUNCHERS / sizeof *LAUNCHERS; i++) {
        if (strcmp(LAUNCHERS[i], value) == 0) {
            spec->launcher = (int)i;
            return true;
        }
    }
    snprintf(error, HOSTSPEC_ERROR_BYTES, "launcher %.40s: must be ssh, exec or local", value);
    return false;
}

static bool set_speed(struct covey_host_spec *spec, const char *value, char *error)
{
    long speed;
    if (!args_number(value, 1, 1000000, &speed)) {
        snprintf(error, HOSTSPEC_ERROR_BYTES, "speed %.40s: must be a number in 1 .. 1000000",
                 value);
        return false;
    }
    spec->speed = (int)speed;
    return true;
}

static const char **text_field(struct covey_host_spec *spec, int key)
{
    switch (key) {
    case KEY_TEMPLATE:
        return &spec->template_;
    case KEY_ADDRESS:
        return &spec->address;
    case KEY_COVEYD:
        return &spec->coveyd;
    default:
        return &spec->cwd;
    }
}

bool hostspec_set(struct covey_host_spec *spec, int key, const char *value, char *error)
{
    if (!*value) {
        snprintf(error, HOSTSPEC_ERROR_BYTES, "an empty value is not possible here");
        return false;
    }
    if (key == KEY_LAUNCHER)
        return set_launcher(spec, value, error);
    if (key == KEY_SPEED)
        return set_speed(spec, value, error);
    *text_field(spec, key) = value;
    return true;
}

bool hostspec_name_ok(const char *name)
{
    size_t length = strlen(name);
    if (length == 0 || length > 63 || *name == '-')
        return false;
    for (; *name; name++) {
        if (!isgraph((unsigned char)*name) || *name == ',')
            return false;
    }
    return true;
}

bool hostspec_check(const struct covey_host_spec *spec, char *error)
{
    if (!hostspec_name_ok(spec->name)) {
        snprintf(error, HOSTSPEC_ERROR_BYTES,
                 "host name %.70s: must be 1 .. 63 printable characters without blank or comma",
                 spec->name);
        return false;
    }
    if (spec->launcher != COVEY_LAUNCH_EXEC)
        return true;
    if (!spec->template_ || !strstr(spec->template_, "{command}")) {
        snprintf(error, HOSTSPEC_ERROR_BYTES,
                 "host %.63s: the launcher exec needs a template with {command} in it", spec->name);
        return false;
    }
    return true;
}
