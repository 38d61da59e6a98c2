#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "daemon/base/bootstrap.h"
#include "daemon/base/detach.h"
#include "daemon/base/helper.h"
#include "daemon/base/privilege.h"
#include "daemon/launch/guest.h"
#include "daemon/root/daemon.h"

/* Buffers of streams come and go in every round: so much free memory is kept, not faulted in anew.
 */
#define KEPT_BYTES (4 * 1024 * 1024)

/* The command line wins over the file. */
static int conf_take_options(struct conf *conf, const struct options *options, struct failure *why)
{
    const struct {
        const char *name, *value;
    } given[] = {{"port", options->port},
                 {"bind", options->bind},
                 {"address", options->address},
                 {"interface", options->interface},
                 {"speed", options->speed},
                 {"fault", options->fault},
                 {"fail_timeout", options->fail_timeout}};
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

static int load(struct options *options, struct conf *conf, struct control_bootstrap *invitation,
                char config_path[PATH_MAX], struct failure *why)
{
    if (conf_load(conf, options->config, why) != 0 || conf_take_options(conf, options, why) != 0)
        return -1;
    if (options->config != NULL) /* absolute, for the daemons started from here */
        options->config = realpath(options->config, config_path);
    if (cwd_change(options, why) != 0)
        return -1;
    bool invited = options->join && options->guest == NULL;
    return invited ? bootstrap_read(invitation, stdin, why) : 0;
}

/* Prints the line that the ticket asks for, and goes on in the background. Returns 0 in the process
 * that is the daemon, 1 in the one that was called, -1 with *why. */
static int visit(const struct options *options, struct control_bootstrap *invitation, int *ready,
                 struct failure *why)
{
    struct guest guest;
    int status = guest_begin(&guest, options->guest, why);
    if (status == 0 && !options->foreground)
        status = detach(ready, why);
    if (status != 0)
        return status;
    if (*ready >= 0)
        close(*ready);
    return guest_fetch(&guest, invitation, ready, why);
}

static int serve(const struct options *options, const struct conf *conf,
                 const struct control_bootstrap *invitation, int ready_fd, struct failure *why)
{
    struct daemon *d = daemon_create(options, conf, invitation, ready_fd, why);
    if (d == NULL)
        return -1;
    int status = daemon_run(d);
    daemon_destroy(d);
    return status;
}

/* `coveyd --examine ...` and `coveyd --offer ...`: who calls them knows coveyd alone, by its path
 * on another host or as his own parent, and so coveyd becomes the program that does it. What only a
 * process of coveyd itself can tell is passed on: whether it may open raw sockets. */
static int become_helper(char **argv, struct failure *why)
{
    char path[HELPER_PATH_BYTES];
    bool probe = strcmp(argv[1], "--examine") == 0;
    if (helper_find(probe ? "covey-probe" : "covey-offer", path, why) != 0)
        return -1;
    if (probe && privilege_has_raw())
        argv[1] = (char *)"--raw";
    else
        argv++;
    argv[0] = path;
    execv(path, argv);
    return failure_set(why, "cannot run %.300s: %s", path, strerror(errno));
}

int main(int argc, char **argv)
{
    struct options options;
    struct conf conf;
    struct control_bootstrap invitation = {0};
    struct failure why = {""};
    char config_path[PATH_MAX];
    int ready = -1, side = 0;

    mallopt(M_TRIM_THRESHOLD, KEPT_BYTES);
    while ((ready = open("/dev/null", O_RDWR)) >= 0 && ready <= STDERR_FILENO)
        ;                   /* descriptors 0 to 2 are there, so none of ours gets their number */
    close_range(3, ~0U, 0); /* what the caller left open is not for tasks */
    ready = -1;
    int status = argc > 1 && (strcmp(argv[1], "--examine") == 0 || strcmp(argv[1], "--offer") == 0)
                     ? become_helper(argv, &why)
                     : options_parse(&options, argc, argv, &why);
    if (status == OPTIONS_DONE && fflush(stdout) == 0)
        return 0;
    if (status == OPTIONS_DONE)
        status = failure_set(&why, "standard output could not be written: %s", strerror(errno));
    if (status == OPTIONS_GO)
        status = load(&options, &conf, &invitation, config_path, &why);
    if (status == 0 && options.guest != NULL)
        status = side = visit(&options, &invitation, &ready, &why);
    else if (status == 0 && !options.foreground)
        status = side = detach(&ready, &why);
    else if (status == 0 && options.join)
        ready = dup(STDOUT_FILENO);
    if (status == 0)
        status = serve(&options, &conf, &invitation, ready, &why);
    else if (side == 1 && options.guest != NULL)
        status = 0;
    else if (side == 1)
        status = detach_wait(ready, options.join, &why);
    if (status < 0)
        fprintf(stderr, "coveyd: %s\n", why.text);
    return status == 0 ? 0 : 1;
}
