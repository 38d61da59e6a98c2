/*
 * The main program of coveyd: it reads its options, covey.conf and, of a host that joins, its
 * invitation; leaves who called it; and is the daemon. The process that was called stays until the
 * daemon says that it is ready, or why it is not. What is no daemon is a program of its own beside
 * it, see become_helper().
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "daemon/base/bootstrap.h"
#include "daemon/launch/guest.h"
#include "daemon/launch/nursery.h"
#include "daemon/link/privilege.h"
#include "daemon/process/helper.h"
#include "daemon/root/daemon.h"
#include "daemon/root/detach.h"

/* Buffers of streams come and go in every round: so much free memory is kept, not faulted in anew.
 */
#define KEPT_BYTES (4 * 1024 * 1024)

/* The command line wins over the file. */
static int conf_take_options(struct conf *conf, const struct options *options, struct failure *why)
{
    const struct {
        const char *name, *value;
    } given[] = {{"port", options->port},       {"bind", options->bind},
                 {"address", options->address}, {"interface", options->interface},
                 {"speed", options->speed},     {"fault", options->fault},
                 {"slow", options->slow},       {"fail_timeout", options->fail_timeout}};
    for (size_t i = 0; i < sizeof given / sizeof given[0]; i++)
        if (conf_set_option(conf, given[i].name, given[i].value, why) != 0)
            return -1;
    return 0;
}

static int cwd_change(const struct options *options, struct failure *why)
{
    const char *home = getenv("HOME");
    if (options->cwd != NULL)
        return chdir(options->cwd) == 0
                   ? 0
                   : failure_set(why, "cannot change to %s: %s", options->cwd, strerror(errno));
    if (!options->foreground && (home == NULL || chdir(home) != 0) && chdir("/") != 0)
        return failure_set(why, "cannot change to /: %s", strerror(errno));
    return 0;
}

/* What the daemon starts with. */
struct start {
    struct options options;
    struct conf conf;
    struct control_bootstrap invitation; /* of one that joins */
    char config_path[PATH_MAX];
    int ready; /* where the daemon says that it is ready; -1: nowhere */
};

static int start_read(struct start *s, struct failure *why)
{
    struct options *options = &s->options;
    if (conf_load(&s->conf, options->config, why) != 0 ||
        conf_take_options(&s->conf, options, why) != 0)
        return -1;
    if (options->config != NULL) /* absolute, for the daemons started from here */
        options->config = realpath(options->config, s->config_path);
    if (cwd_change(options, why) != 0)
        return -1;
    bool invited = options->join && options->guest == NULL;
    return invited ? bootstrap_read(&s->invitation, stdin, why) : 0;
}

/* Leaves who called it, unless it stays in the foreground. Returns 0 in the process that is the
 * daemon, 1 in the one that was called, -1 with *why. */
static int start_leave(struct start *s, struct failure *why)
{
    bool stays = s->options.foreground || s->options.attached;
    if (s->options.guest != NULL) {
        /* Prints the line that the ticket asks for, leaves, and fetches the invitation. */
        struct guest guest;
        int status = guest_begin(&guest, s->options.guest, why);
        if (status == 0 && !stays)
            status = detach(&s->ready, false, why);
        if (status != 0)
            return status;
        if (s->ready >= 0)
            close(s->ready);
        return guest_fetch(&guest, &s->invitation, &s->ready, why);
    }
    if (!stays)
        return detach(&s->ready, s->options.born, why);
    if (s->options.join)
        s->ready = dup(STDOUT_FILENO);
    return 0;
}

static int start_begin(struct start *s, struct failure *why)
{
    return start_read(s, why) != 0 ? -1 : start_leave(s, why);
}

/* What `ps` shows of a process that was born and not called. */
static void words_set(int argc, char **argv)
{
    static const char words[] = "coveyd\0--join\0--local";
    char *end = argv[argc - 1] + strlen(argv[argc - 1]) + 1;
    if ((size_t)(end - argv[0]) < sizeof words)
        return;
    memset(argv[0], 0, (size_t)(end - argv[0]));
    memcpy(argv[0], words, sizeof words);
}

/* The first daemon of a VM of virtual hosts has a nursery. In a process that is born there, which
 * goes on here, this is the start of another one's daemon. */
static bool start_again(struct start *s, int argc, char **argv)
{
    static char cwd[PATH_MAX];
    struct options first = s->options;
    if (!nursery_open(&s->options.nursery, cwd, sizeof cwd))
        return false;
    /* they may lie where the words do */
    first.config = first.config != NULL ? strdup(first.config) : NULL;
    first.fault = first.fault != NULL ? strdup(first.fault) : NULL;
    first.slow = first.slow != NULL ? strdup(first.slow) : NULL;
    *s = (struct start){.ready = -1};
    s->options = (struct options){.config = first.config,
                                  .fault = first.fault,
                                  .slow = first.slow,
                                  .verbose = first.verbose,
                                  .cwd = cwd[0] != '\0' ? cwd : NULL,
                                  .join = true,
                                  .local = true,
                                  .born = true,
                                  .nursery = NURSERY_NONE};
    words_set(argc, argv);
    return true;
}

/* In the process that was called: who called a guest has its line already. */
static int start_wait(const struct start *s, struct failure *why)
{
    return s->options.guest != NULL ? 0 : detach_wait(s->ready, s->options.join, why);
}

static int serve_vm(const struct start *s, struct failure *why)
{
    struct daemon *d = daemon_create(&s->options, &s->conf, &s->invitation, s->ready, why);
    if (d == NULL)
        return -1;
    int status = daemon_run(d);
    daemon_destroy(d);
    return status;
}

/* `coveyd --examine ...`, `--offer ...` and `--dial ...`: who calls them knows coveyd alone, by its
 * path on another host or as his own parent, and so coveyd becomes the program that does it. What
 * only a process of coveyd itself can tell is passed on: whether it may open raw sockets. */
static int become_helper(char **argv, struct failure *why)
{
    char path[HELPER_PATH_BYTES];
    bool probe = strcmp(argv[1], "--examine") == 0, dial = strcmp(argv[1], "--dial") == 0;
    if (helper_find(probe ? "covey-probe" : dial ? "covey-dial" : "covey-offer", path, why) != 0)
        return -1;
    if (probe && privilege_has_raw())
        argv[1] = (char *)"--raw";
    else
        argv++;
    argv[0] = path;
    execv(path, argv);
    return failure_set(why, "cannot run %.300s: %s", path, strerror(errno));
}

static bool is_for_helper(int argc, char **argv)
{
    return argc > 1 && (strcmp(argv[1], "--examine") == 0 || strcmp(argv[1], "--offer") == 0 ||
                        strcmp(argv[1], "--dial") == 0);
}

int main(int argc, char **argv)
{
    static struct start start = {.ready = -1}; /* its texts are needed to the end */
    struct failure why = {""};
    int side = -1;

    mallopt(M_TRIM_THRESHOLD, KEPT_BYTES);
    /* Descriptors 0 to 2 are there, so that none of ours gets their number; what else the caller
     * left open is not for tasks. */
    int fd;
    while ((fd = open("/dev/null", O_RDWR)) >= 0 && fd <= STDERR_FILENO)
        ;
    close_range(STDERR_FILENO + 1, ~0U, 0);
    int status = is_for_helper(argc, argv) ? become_helper(argv, &why)
                                           : options_parse(&start.options, argc, argv, &why);
    if (status == OPTIONS_DONE && fflush(stdout) == 0)
        return 0;
    if (status == OPTIONS_DONE)
        status = failure_set(&why, "standard output could not be written: %s", strerror(errno));
    start.options.nursery = NURSERY_NONE;
    if (status == OPTIONS_GO)
        status = side = start_begin(&start, &why);
    if (side == 0 && start.options.local && !start.options.join && start_again(&start, argc, argv))
        status = side = start_begin(&start, &why);
    if (side == 0)
        status = serve_vm(&start, &why);
    else if (side == 1)
        status = start_wait(&start, &why);
    if (status < 0)
        fprintf(stderr, "coveyd: %s\n", why.text);
    return status == 0 ? 0 : 1;
}
