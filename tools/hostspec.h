/*
 * How a host is to be started, as KEY and VALUE: the keys of a hosts file are the options of
 * `covey add` and `covey start`.
 */
#ifndef COVEY_TOOLS_HOSTSPEC_H
#define COVEY_TOOLS_HOSTSPEC_H

#include <stdbool.h>
#include <stddef.h>

#include "covey.h"
#include "tools/args.h"

#define HOSTSPEC_ERROR_BYTES 160

/* The keys of the options start at this number, in the order of HOSTSPEC_OPTIONS. */
#define HOSTSPEC_KEY 1000

#define HOSTSPEC_OPTIONS                                                                           \
    {"launcher", HOSTSPEC_KEY, "LAUNCHER", "how to reach a host: ssh (default), exec or local"},   \
        {"template", HOSTSPEC_KEY + 1, "TEMPLATE",                                                 \
         "for exec: a command with {host} and {command} in it"},                                   \
        {"address", HOSTSPEC_KEY + 2, "ADDRESS", "address by which others reach the host"},        \
        {"coveyd", HOSTSPEC_KEY + 3, "PATH", "path of coveyd on the host"},                        \
        {"cwd", HOSTSPEC_KEY + 4, "DIR", "working directory of the daemon there"},                 \
    {                                                                                              \
        "speed", HOSTSPEC_KEY + 5, "N", "relative speed, 1000 is ordinary"                         \
    }

/* Whether an option's key is one of HOSTSPEC_OPTIONS. */
bool hostspec_is_key(int key);

/* Sets the field that an option's key names. The value stays the caller's. Returns false with
 * error[HOSTSPEC_ERROR_BYTES] filled when the value is bad. */
bool hostspec_set(struct covey_host_spec *spec, int key, const char *value, char *error);

/* The key for a field's name of `length` bytes, or 0. */
int hostspec_find(const char *name, size_t length);

/* Whether a spec is complete: a good name, and a template where the launcher needs one. */
bool hostspec_check(const struct covey_host_spec *spec, char *error);

/* Whether name is that of a host: 1 .. 63 bytes, printable, no blank or comma. */
bool hostspec_name_ok(const char *name);

#endif
