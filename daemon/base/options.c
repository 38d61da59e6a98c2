/*
 * The command line of coveyd: one table says where each option goes. Which options exclude each
 * other is said at the end.
 */
#include "daemon/base/options.h"

#include <getopt.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "daemon/base/version.h"

static const char usage[] =
    "usage: coveyd [--vm NAME] [--name HOST] [--local | --loopback] [--address A]\n"
    "              [--bind A] [--interface NAME] [--port P[-P]] [--speed N]\n"
    "              [--withhold] [--config FILE] [--cwd DIR] [--fault LIST] [--slow RULES]\n"
    "              [--encrypt] [--fail-timeout S] [--foreground | --attached] [--verbose]\n"
    "       coveyd --join [...] | --guest TICKET [...]\n"
    "       coveyd --examine [...] | --offer [...] | --dial [...]\n"
    "\n"
    "Starts the daemon of this host: the first of a new virtual machine, or with --join one more\n"
    "of the virtual machine that the line on standard input speaks of.\n"
    "\n"
    "  --vm NAME       the virtual machine's name (default $COVEY_VM, otherwise \"default\")\n"
    "  --name HOST     this host's name in it (default: the machine's own)\n"
    "  --local         use 127.0.0.1 only\n"
    "  --loopback      use 127.0.0.1 where no network interface has an address\n"
    "  --address A     the address by which others reach this host\n"
    "  --bind A        the address that the UDP socket is bound to\n"
    "  --interface I   offer only the addresses of this interface\n"
    "  --port P[-P]    the UDP port, or the first and last of those to try\n"
    "  --speed N       relative speed of this host, 1000 is ordinary\n"
    "  --withhold      tasks come to this host only by its name\n"
    "  --fail-timeout S\n"
    "                  seconds of silence after which a host of this VM is declared gone\n"
    "  --encrypt       encrypt everything that this VM sends from host to host\n"
    "  --config FILE   read FILE instead of the usual covey.conf\n"
    "  --cwd DIR       change to this directory first\n"
    "  --fault LIST    faults of the datagrams sent, for tests, as in covey.conf(5)\n"
    "  --slow RULES    of virtual hosts: their speeds and links, as in covey.conf(5)\n"
    "  --foreground    do not go to the background; log to standard error\n"
    "  --attached      do not go to the background; log to the file: for batch engines\n"
    "  --verbose       log more\n"
    "  --guest TICKET  join the virtual machine that gave it away; for programs that start hosts\n"
    "\n"
    "As the first option:\n"
    "  --examine       print what is wrong with this machine, as covey-probe; covey doctor calls "
    "it\n"
    "  --offer         have a program start another host, as covey-offer\n"
    "  --dial          be one of hosts that come together by themselves, as covey-dial\n"
    "\n"
    "  --help, --version\n";

#define AT(field) offsetof(struct options, field)

/* Where a value goes, or for an option without one that it was given. */
static const struct {
    const char *name;
    bool has_value;
    size_t field;
} rows[] = {
    {"vm", true, AT(vm)},
    {"name", true, AT(host)},
    {"local", false, AT(local)},
    {"loopback", false, AT(loopback)},
    {"address", true, AT(address)},
    {"bind", true, AT(bind)},
    {"interface", true, AT(interface)},
    {"port", true, AT(port)},
    {"speed", true, AT(speed)},
    {"withhold", false, AT(withhold)},
    {"fail-timeout", true, AT(fail_timeout)},
    {"encrypt", false, AT(encrypt)},
    {"config", true, AT(config)},
    {"cwd", true, AT(cwd)},
    {"fault", true, AT(fault)},
    {"slow", true, AT(slow)},
    {"foreground", false, AT(foreground)},
    {"attached", false, AT(attached)},
    {"verbose", false, AT(verbose)},
    {"guest", true, AT(guest)},
    {"join", false, AT(join)},
};

enum { ROWS = sizeof rows / sizeof rows[0], HELP = 'h', VERSION = 'V', FIRST_ROW = 256 };

static int options_set(struct options *o, int key)
{
    if (key == HELP)
        return fputs(usage, stdout), OPTIONS_DONE;
    if (key == VERSION)
        return printf("coveyd %s\n", version_short), OPTIONS_DONE;
    if (key < FIRST_ROW)
        return OPTIONS_BAD;
    void *field = (char *)o + rows[key - FIRST_ROW].field;
    if (rows[key - FIRST_ROW].has_value)
        *(const char **)field = optarg;
    else
        *(bool *)field = true;
    return OPTIONS_GO;
}

int options_parse(struct options *options, int argc, char **argv, struct failure *why)
{
    memset(options, 0, sizeof *options);
    struct option long_options[ROWS + 3] = {{"help", no_argument, NULL, HELP},
                                            {"version", no_argument, NULL, VERSION}};
    for (int i = 0; i < ROWS; i++)
        long_options[2 + i] = (struct option){
            rows[i].name, rows[i].has_value ? required_argument : no_argument, NULL, FIRST_ROW + i};
    opterr = 0;
    int key;
    while ((key = getopt_long(argc, argv, "+", long_options, NULL)) != -1) {
        int result = options_set(options, key);
        if (result == OPTIONS_DONE)
            return result;
        if (result == OPTIONS_BAD)
            return failure_set(why, "bad option %s; coveyd --help lists them", argv[optind - 1]);
    }
    if (optind < argc)
        return failure_set(why, "unexpected argument '%s'; coveyd --help", argv[optind]);
    options->join |= options->guest != NULL;
    if (options->join && (options->encrypt || options->loopback || options->fail_timeout != NULL))
        return failure_set(why, "--%s is for the daemon that starts the VM",
                           options->encrypt    ? "encrypt"
                           : options->loopback ? "loopback"
                                               : "fail-timeout");
    if (options->join && (options->vm != NULL || options->host != NULL))
        return failure_set(why, "--vm and --name come with the line that --join reads");
    return OPTIONS_GO;
}
