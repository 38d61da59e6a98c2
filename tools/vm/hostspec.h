/*
 * How a host is to be started, as KEY and VALUE: the keys of a host file are the options of
 * `covey add` and `covey start`. See covey.hosts(5).
 */
#ifndef COVEY_TOOLS_HOSTSPEC_H
#define COVEY_TOOLS_HOSTSPEC_H

#include <stdbool.h>
#include <stddef.h>

#include "covey.h"
#include "tools/base/args.h"

#define HOSTSPEC_ERROR_BYTES 160
#define HOSTSPEC_ENV_MAX 32

/* The strings are the caller's. */
struct hostspec {
    struct covey_host_spec spec; /* its env is set by hostspec_done() */
    const char *env[HOSTSPEC_ENV_MAX + 1];
    int env_count;
};

/* The keys of the options start at this number, in the order of HOSTSPEC_OPTIONS. */
#define HOSTSPEC_KEY 1000

#define HOSTSPEC_OPTIONS                                                                           \
    {"launcher", HOSTSPEC_KEY, "LAUNCHER", "how to reach a host: ssh, exec or local"},             \
        {"template", HOSTSPEC_KEY + 1, "TEMPLATE",                                                 \
         "for exec: a command with {host} and {command} in it"},                                   \
        {"hostname", HOSTSPEC_KEY + 2, "NAME", "whom to call, if not the host's name"},            \
        {"user", HOSTSPEC_KEY + 3, "USER", "the user there"},                                      \
        {"port", HOSTSPEC_KEY + 4, "PORT", "TCP port of the ssh server there"},                    \
        {"address", HOSTSPEC_KEY + 5, "ADDRESS", "address by which others reach the host"},        \
        {"bind", HOSTSPEC_KEY + 6, "ADDRESS", "address that its daemon binds to"},                 \
        {"interface", HOSTSPEC_KEY + 7, "INTERFACE", "offer only this interface's addresses"},     \
        {"coveyd", HOSTSPEC_KEY + 8, "PATH", "path of coveyd on the host"},                        \
        {"config", HOSTSPEC_KEY + 9, "FILE", "path of covey.conf on the host"},                    \
        {"cwd", HOSTSPEC_KEY + 10, "DIR", "working directory of the daemon there"},                \
        {"env", HOSTSPEC_KEY + 11, "NAME=VALUE", "environment of the daemon and tasks there"},     \
        {"speed", HOSTSPEC_KEY + 12, "N", "relative speed, 1000 is ordinary"},                     \
    {                                                                                              \
        "arch", HOSTSPEC_KEY + 13, "ARCH", "refuse a host of another architecture (uname -m)"      \
    }

#define HOSTSPEC_USAGE                                                                             \
    "[--launcher LAUNCHER] [--template TEMPLATE] [--hostname NAME] [--user USER] [--port PORT] "   \
    "[--address ADDRESS] [--bind ADDRESS] [--interface INTERFACE] [--coveyd PATH] "                \
    "[--config FILE] [--cwd DIR] [--env NAME=VALUE]... [--speed N] [--arch ARCH]"

/* Sets the field that an option's key names; `env` adds to those set before. The value stays the
 * caller's. Returns false with error[HOSTSPEC_ERROR_BYTES] filled when the value is bad. */
bool hostspec_set(struct hostspec *host, int key, const char *value, char *error);

/* The key for a field's name of `length` bytes, the short names of PVM's host files included, or
 * 0 with the reason in *why. */
int hostspec_find(const char *name, size_t length, const char **why);

/* Whether a spec is complete: a good name, and a template that can serve. */
bool hostspec_check(const struct hostspec *host, char *error);

/* What to hand to covey_add_hosts(); good while *host stays where it is and as it is. */
struct covey_host_spec hostspec_done(const struct hostspec *host);

/* Cuts a list of at most `most` host names at its commas. *text becomes a copy of the list, which
 * `names` point into; what it was before is freed. Their number, or -1: it is no such list, or with
 * *text NULL, memory is exhausted. */
int hostspec_names(const char *list, int most, char **text, const char **names);

/* The name of this machine, up to the first dot. */
void hostspec_own_name(char *name, size_t size);

/* Whether name may be that of a host: 1 .. 63 letters, digits or ._-@, not - or . first. */
bool hostspec_name_ok(const char *name);

#endif
