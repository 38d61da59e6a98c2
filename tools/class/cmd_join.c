/*
 * covey join: makes this machine a host of a class's VM, by the code that the teacher shows.
 *
 * A code that is wrong costs the class one of three tries, so it is tried at one class after the
 * other, and at no more than TRIES_MAX: who plays a class has one guess of the code for each. One
 * that cannot be spoken to, because strangers keep it busy, is called again.
 */
#include <errno.h>
#include <signal.h>
#include <sodium.h>
#include <stdio.h>
#include <string.h>

#include "tools/base/arguments.h"
#include "tools/base/clock.h"
#include "tools/base/command.h"
#include "tools/class/entrance.h"
#include "tools/class/search.h"
#include "tools/vm/hostspec.h"

#define TRIES_MAX 3
#define SEARCH_MS 5000 /* until a class answers; one that is deaf is called again meanwhile */
#define OTHERS_MS 1000 /* for another one, when the first was the wrong one */

enum { KEY_AT = 2000, KEY_PORT };

struct join {
    const char *code_text, *at;
    struct passcode code;
    uint16_t port;
    char name[64];
};

static const struct args_option options[] = {
    {"code", 'c', "CODE", "the code that the teacher shows, such as MAPLE-4821"},
    {"as", 'a', "NAME", "name of this host in the VM (its host name)"},
    {"at", KEY_AT, "ADDRESS", "do not search: the teacher's machine, with a port if wanted"},
    {"port", KEY_PORT, "PORT", "the port of the class (26839)"},
    {NULL, 0, NULL, NULL}};

_Static_assert(BEACON_PORT == 26839, "the port that the help names");

static int take_join_argument(void *context, int key, const char *value)
{
    struct join *join = context;
    long number;
    if (key == 'a') {
        snprintf(join->name, sizeof join->name, "%s", value);
        return hostspec_name_ok(value) ? TOOL_OK
                                       : tool_usage("join", "--as %s: not a host name", value);
    }
    if (key != KEY_PORT)
        return tool_usage("join", "%s: unexpected; the code is --code WORD-1234", value);
    if (!args_number(value, 1, UINT16_MAX, &number))
        return tool_usage("join", "--port %s: must be a number in 1 .. 65535", value);
    join->port = (uint16_t)number;
    return TOOL_OK;
}

static int read_code(struct join *join)
{
    if (join->code_text == NULL)
        return tool_usage("join", "--code is missing: the code that the teacher shows");
    switch (passcode_parse(join->code_text, &join->code)) {
    case PASSCODE_NO_SHAPE:
        return tool_usage("join", "--code %.40s: a code is a word and four digits, as MAPLE-4821",
                          join->code_text);
    case PASSCODE_NO_WORD:
        return tool_error("join", "--code %.40s: no code has this word; look at it again",
                          join->code_text);
    default:
        return TOOL_OK;
    }
}

/* ---- trying ---------------------------------------------------------------------------------- */

static int report_joined(const struct entrance *entrance)
{
    const char *own = getenv("COVEY_VM");
    bool is_default = strcmp(entrance->vm, own != NULL && *own ? own : "default") == 0;
    printf("%s joined VM %s of the class on %s\n", entrance->joined, entrance->vm, entrance->host);
    printf("see its hosts: covey%s%s hosts; leave it: covey%s%s remove %s\n",
           is_default ? "" : " --vm ", is_default ? "" : entrance->vm, is_default ? "" : " --vm ",
           is_default ? "" : entrance->vm, entrance->joined);
    return TOOL_OK;
}

static int join_at(const struct join *join, struct entrance *entrance)
{
    struct place place;
    if (!place_parse(join->at, join->port, &place))
        return tool_error("join", "--at %s: no such address or host", join->at);
    if (entrance_try(entrance, &place) == ENTRANCE_JOINED)
        return report_joined(entrance);
    return tool_error("join", "%s: %s", join->at, entrance->why);
}

static int report_none(const struct search *search)
{
    char asked[NETWORKS_MAX * (NETWORK_NAME_BYTES + 2)] = "";
    for (int i = 1; i < search->asked_count; i++) {
        size_t used = strlen(asked);
        snprintf(asked + used, sizeof asked - used, "%s%s", i > 1 ? ", " : "",
                 search->asked[i].name);
    }
    return tool_error("join",
                      "no class with this code answers (asked on %s): look at the code, be in the "
                      "teacher's network, or name the teacher's machine by --at",
                      asked[0] ? asked : "this machine alone, which has no network");
}

static int join_found(const struct join *join, struct entrance *entrance)
{
    struct search search;
    struct place place;
    enum entrance_result result = ENTRANCE_DEAF;
    int tries = 0, wrong = 0, played = 0;
    if (search_begin(&search, passcode_label(&join->code), join->port) != 0)
        return tool_error("join", "cannot ask for classes: %s", strerror(errno));
    int64_t until = clock_ms() + SEARCH_MS;
    const int64_t again_until = until;
    while (tries < TRIES_MAX && search_next(&search, until, &place)) {
        result = entrance_try(entrance, &place);
        if (result == ENTRANCE_JOINED || result == ENTRANCE_FAILED)
            break;
        if (result == ENTRANCE_DEAF && clock_ms() < again_until)
            search_forget(&search);
        else
            tries++;
        wrong += result == ENTRANCE_WRONG;
        played += result == ENTRANCE_PLAYED;
        if (result == ENTRANCE_WRONG || result == ENTRANCE_CLOSED)
            search_settle(&search);
        until = clock_ms() + OTHERS_MS;
    }
    int status = TOOL_FAILED;
    if (result == ENTRANCE_JOINED)
        status = report_joined(entrance);
    else if (result == ENTRANCE_FAILED)
        tool_error("join", "%s", entrance->why);
    else if (wrong > 0)
        tool_error("join",
                   "the code is wrong; look at it again: after three wrong tries of the class it "
                   "is another one");
    else if (played > 0)
        tool_error("join", "somebody who does not know the code answers in the place of the class: "
                           "tell the teacher, and name the teacher's machine by --at");
    else if (entrance->why[0] != '\0')
        tool_error("join", "%s", entrance->why);
    else
        report_none(&search);
    search_end(&search);
    return status;
}

static int join_command(struct tool *tool, int argc, char **argv)
{
    struct join join = {.port = BEACON_PORT};
    const struct arguments_place places[] = {
        {'c', .text = &join.code_text}, {KEY_AT, .text = &join.at}, {0}};
    struct entrance entrance = {.code = &join.code, .name = join.name};
    (void)tool;
    hostspec_own_name(join.name, sizeof join.name);
    int status =
        arguments_read(&(struct arguments){options, places, take_join_argument, &join}, argc, argv);
    if (status == TOOL_OK)
        status = read_code(&join);
    if (status != TOOL_OK)
        return status;
    if (sodium_init() < 0)
        return tool_error("join", "libsodium could not be initialised");
    signal(SIGPIPE, SIG_IGN);
    return join.at != NULL ? join_at(&join, &entrance) : join_found(&join, &entrance);
}

const struct command cmd_join = {
    .name = "join",
    .run = join_command,
    .usage = "--code CODE [--as NAME] [--at ADDRESS] [--port PORT]",
    .help = "join the VM of a class, by the code that the teacher shows",
    .options = options,
};
