/*
 * covey class: the class of a VM, which students join by a code (covey join).
 *
 *   cmd_class.c     the teacher's command, and two that Covey runs itself: `class serve`, in the
 *                   background, and `class bring`, a launcher
 *   class_server.c  what keeps the class open
 *   class_told.c    what it tells
 *   adding.c        how a guest becomes a host
 *   cmd_join.c      the student's command
 *   search.c        finds classes
 *   entrance.c      one try of a code at one of them
 *   sockets.c       sockets of both
 *
 * The exchange itself is in proto/class.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "tools/base/arguments.h"
#include "tools/base/child.h"
#include "tools/base/command.h"
#include "tools/base/interrupt.h"
#include "tools/base/program.h"
#include "tools/class/adding.h"
#include "tools/class/class_server.h"
#include "tools/class/class_told.h"

#define ANSWER_US 10000000
#define WATCH_MS 500

enum { KEY_FOR = 2000, KEY_PORT };

struct class_wish {
    const char *verb; /* NULL: to be told */
    double for_s;
    long port;
};

static const struct args_option options[] = {
    {"for", KEY_FOR, "SECONDS", "open: be open for so long (3600)"},
    {"port", KEY_PORT, "PORT", "open: where students ask, by UDP and TCP (26839)"},
    {NULL, 0, NULL, NULL}};

static int take_class_argument(void *context, int key, const char *value)
{
    static const char *const verbs[] = {"open", "close", "watch", NULL};
    struct class_wish *wish = context;
    switch (key) {
    case KEY_FOR:
        return args_real(value, 1, CLASS_FOR_S_MAX, &wish->for_s)
                   ? TOOL_OK
                   : tool_usage("class", "--for %s: must be seconds, 1 .. 604800", value);
    case KEY_PORT:
        return args_number(value, 1, UINT16_MAX, &wish->port)
                   ? TOOL_OK
                   : tool_usage("class", "--port %s: must be a number in 1 .. 65535", value);
    default:
        if (wish->verb != NULL || args_choice(verbs, value) < 0)
            return tool_usage("class", "%s: must be open, close or watch", value);
        wish->verb = value;
        return TOOL_OK;
    }
}

/* ---- asking the class ------------------------------------------------------------------------ */

/* Its tid, or 0: there is none. */
static covey_tid_t class_find(struct tool *tool)
{
    struct covey_member *members;
    int count = covey_group_members(tool->vm, CLASS_GROUP, &members);
    if (count < 1)
        return 0;
    covey_tid_t tid = members[0].tid;
    covey_free(members);
    return tid;
}

/* Returns 0 or an error. */
static int class_ask(struct tool *tool, covey_tid_t class, const char *ask, int32_t *number,
                     char text[TOLD_TEXT_BYTES])
{
    covey_msg_t *msg = covey_msg_new();
    int error = msg == NULL ? COVEY_ENOMEM : covey_pack_string(msg, ask);
    if (error == 0)
        error = covey_send(tool->vm, class, CLASS_ASK, msg);
    covey_msg_free(msg);
    if (error == 0)
        error = covey_recv(tool->vm, class, CLASS_TELL, ANSWER_US, &msg);
    if (error != 0)
        return error;
    error = covey_unpack_int32(msg, number, 1, 1);
    if (error == 0)
        error = covey_unpack_string(msg, text, TOLD_TEXT_BYTES);
    covey_msg_free(msg);
    return error;
}

static int class_print(struct tool *tool, covey_tid_t class, const char *ask)
{
    char text[TOLD_TEXT_BYTES];
    int32_t number;
    int error = class_ask(tool, class, ask, &number, text);
    if (error != 0)
        return tool_failed(tool, "class", error);
    fputs(text, stdout);
    return TOOL_OK;
}

/* ---- opening --------------------------------------------------------------------------------- */

/* The first line of a process that has just begun; false: it ended without. */
static bool read_ready(int fd)
{
    char line[sizeof CLASS_READY] = "";
    size_t used = 0;
    ssize_t size;
    while (used < sizeof line - 1 && (size = read(fd, line + used, sizeof line - 1 - used)) != 0) {
        if (size < 0 && errno != EINTR)
            break;
        used += size > 0 ? (size_t)size : 0;
    }
    return strcmp(line, CLASS_READY) == 0;
}

/* A process of this program that stays: in a session of its own, from `class serve` on. It has said
 * why when it does not. */
static int class_start(struct tool *tool, const struct class_wish *wish)
{
    char for_s[32], port[16], path[PROGRAM_PATH_BYTES];
    const char *argv[] = {path, "--vm", covey_vm_name(tool->vm), "class", "serve", for_s,
                          port, NULL};
    int out[2];
    pid_t pid;
    posix_spawn_file_actions_t files;
    snprintf(for_s, sizeof for_s, "%.0f", wish->for_s);
    snprintf(port, sizeof port, "%ld", wish->port);
    if (program_find("class", "covey", path, sizeof path) != TOOL_OK)
        return TOOL_FAILED;
    if (pipe2(out, O_CLOEXEC) != 0)
        return tool_error("class", "no pipe: %s", strerror(errno));
    fflush(stdout);
    posix_spawn_file_actions_init(&files);
    posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&files, out[1], STDOUT_FILENO);
    int error = child_spawn(&pid, &files, (char *const *)argv, environ);
    close(out[1]);
    bool ready = error == 0 && read_ready(out[0]);
    close(out[0]);
    if (error != 0)
        return tool_error("class", "cannot run %s: %s", path, strerror(error));
    return ready ? TOOL_OK : TOOL_FAILED;
}

static int class_open(struct tool *tool, const struct class_wish *wish)
{
    char ask[64];
    covey_tid_t class = class_find(tool);
    if (class != 0) {
        snprintf(ask, sizeof ask, "open %.0f", wish->for_s);
        return class_print(tool, class, ask);
    }
    int status = class_start(tool, wish);
    class = status == TOOL_OK ? class_find(tool) : 0;
    if (status == TOOL_OK && class == 0)
        return tool_error("class", "it ended as soon as it began");
    return status == TOOL_OK ? class_print(tool, class, "status") : status;
}

/* ---- watching -------------------------------------------------------------------------------- */

static void end_watch(void *context, int signal_number, int count)
{
    (void)signal_number, (void)count;
    close(*(const int *)context);
}

/* Prints what happens until it is interrupted, or the class ends. */
static int class_watch(struct tool *tool, covey_tid_t class)
{
    int wake[2];
    if (pipe2(wake, O_CLOEXEC) != 0)
        return tool_error("class", "no pipe: %s", strerror(errno));
    struct interrupt *interrupt = interrupt_start(end_watch, &wake[1]);
    struct pollfd woken = {.fd = wake[0], .events = POLLIN};
    char text[TOLD_TEXT_BYTES], ask[32];
    int32_t number = 0;
    int error = 0;
    int status = class_print(tool, class, "status");
    while (status == TOOL_OK && error == 0) {
        snprintf(ask, sizeof ask, "since %d", (int)number);
        error = class_ask(tool, class, ask, &number, text);
        if (error == 0)
            fputs(text, stdout);
        if (fflush(stdout) != 0 || (error == 0 && poll(&woken, 1, WATCH_MS) > 0))
            break;
    }
    bool interrupted = interrupt_stop(&interrupt) != 0;
    if (!interrupted)
        close(wake[1]);
    close(wake[0]);
    bool ended = error == COVEY_ENOTASK || error == COVEY_EDAEMON || error == COVEY_EHOSTFAIL;
    return error != 0 && !ended ? tool_failed(tool, "class", error) : status;
}

/* ---- what Covey runs itself ------------------------------------------------------------------ */

/* class serve FOR_S PORT */
static int serve_command(struct tool *tool, int argc, char **argv)
{
    struct class_wish wish = {.for_s = CLASS_FOR_S, .port = BEACON_PORT};
    if (argc != 4 || !args_real(argv[2], 1, CLASS_FOR_S_MAX, &wish.for_s) ||
        !args_number(argv[3], 1, UINT16_MAX, &wish.port))
        return tool_usage("class", "serve is for Covey itself; see: covey class open");
    setsid();
    if (chdir("/") != 0) /* it keeps no folder busy */
        return tool_error("class", "cannot change to /: %s", strerror(errno));
    signal(SIGINT, SIG_IGN);
    signal(SIGHUP, SIG_IGN);
    signal(SIGPIPE, SIG_IGN);
    return class_serve(tool, wish.for_s, (uint16_t)wish.port);
}

/* Sends the invitation, sealed, to the class; its answer is what coveyd has said. */
static int bring(struct tool *tool, covey_tid_t class, long guest, const uint8_t *key,
                 const char *line)
{
    uint8_t sealed[CLASS_SEALED_MAX];
    char said[CLASS_TEXT_MAX + 1];
    int32_t number = (int32_t)guest;
    size_t size = strlen(line);
    covey_msg_t *msg = covey_msg_new();
    if (size + crypto_box_SEALBYTES > sizeof sealed || msg == NULL ||
        crypto_box_seal(sealed, (const uint8_t *)line, size, key) != 0)
        return tool_error("class", "the invitation cannot be sealed");
    int error = covey_pack_int32(msg, &number, 1, 1);
    if (error == 0)
        error = covey_pack_bytes(msg, sealed, size + crypto_box_SEALBYTES);
    if (error == 0)
        error = covey_send(tool->vm, class, CLASS_BRING, msg);
    covey_msg_free(msg);
    if (error == 0)
        error = covey_recv(tool->vm, class, CLASS_BROUGHT, CLASS_BRING_S * INT64_C(1000000), &msg);
    if (error == 0)
        error = covey_unpack_string(msg, said, sizeof said);
    if (error != 0)
        return tool_failed(tool, "class", error);
    covey_msg_free(msg);
    return puts(said) < 0 ? TOOL_FAILED : TOOL_OK;
}

/* class bring TID GUEST KEY ...: a launcher, see adding.h. What follows is the command that another
 * one would run. */
static int bring_command(struct tool *tool, int argc, char **argv)
{
    uint8_t key[CLASS_BOX_KEY_BYTES];
    char line[CLASS_SEALED_MAX];
    long class, guest;
    size_t size = 0;
    if (argc < 5 || !args_number(argv[2], 1, INT32_MAX, &class) ||
        !args_number(argv[3], 1, INT32_MAX, &guest) ||
        sodium_hex2bin(key, sizeof key, argv[4], strlen(argv[4]), NULL, &size, NULL) != 0 ||
        size != sizeof key)
        return tool_usage("class", "bring is for Covey itself; see: covey class open");
    setvbuf(stdin, NULL, _IONBF, 0); /* no copy of the VM's key stays in a buffer */
    if (sodium_init() < 0 || fgets(line, sizeof line, stdin) == NULL)
        return tool_error("class", "no invitation came");
    int status = tool_join(tool, "class");
    if (status == TOOL_OK)
        status = bring(tool, (covey_tid_t) class, guest, key, line);
    sodium_memzero(line, sizeof line);
    return status;
}

/* ---- the command ----------------------------------------------------------------------------- */

static int class_command(struct tool *tool, int argc, char **argv)
{
    struct class_wish wish = {.for_s = CLASS_FOR_S, .port = BEACON_PORT};
    const struct arguments_place places[] = {{0}};
    if (argc > 1 && strcmp(argv[1], "serve") == 0)
        return serve_command(tool, argc, argv);
    if (argc > 1 && strcmp(argv[1], "bring") == 0)
        return bring_command(tool, argc, argv);
    int status = arguments_read(&(struct arguments){options, places, take_class_argument, &wish},
                                argc, argv);
    if (status == TOOL_OK)
        status = tool_join(tool, "class");
    if (status != TOOL_OK)
        return status;
    if (wish.verb != NULL && strcmp(wish.verb, "open") == 0)
        return class_open(tool, &wish);
    covey_tid_t class = class_find(tool);
    if (class == 0)
        return tool_error("class", "VM %s has no class; open one by: covey class open",
                          covey_vm_name(tool->vm));
    if (wish.verb != NULL && strcmp(wish.verb, "watch") == 0)
        return class_watch(tool, class);
    return class_print(tool, class, wish.verb != NULL ? "close" : "status");
}

const struct command cmd_class = {
    .name = "class",
    .run = class_command,
    .usage = "[open [--for SECONDS] [--port PORT] | close | watch]",
    .help = "show the class of the VM: its code, and who joined by it",
    .options = options,
    .operand = "open|close|watch",
};
