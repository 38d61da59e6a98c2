#include "daemon/base/options.h"

#include <getopt.h>
#include <stdio.h>
#include <string.h>

#include "daemon/base/version.h"

static const char usage[] =
    "usage: coveyd [--vm NAME] [--name HOST] [--local | --loopback] [--address A]\n"
    "              [--bind A] [--interface NAME] [--port P[-P]] [--speed N]\n"
    "              [--config FILE] [--cwd DIR] [--fault LIST] [--encrypt]\n"
    "              [--fail-timeout S] [--foreground] [--verbose]\n"
    "       coveyd --join [...] | --guest TICKET [...]\n"
    "       coveyd --examine [...] | --offer [...]\n"
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
    "  --fail-timeout S\n"
    "                  seconds of silence after which a host of this VM is declared gone\n"
    "  --encrypt       encrypt everything that this VM sends from host to host\n"
    "  --config FILE   read FILE instead of the usual covey.conf\n"
    "  --cwd DIR       change to this directory first\n"
    "  --fault LIST    faults of the datagrams sent, for tests, as in covey.conf(5)\n"
    "  --foreground    do not go to the background; log to standard error\n"
    "  --verbose       log more\n"
    "  --guest TICKET  join the virtual machine that gave it away; for programs that start hosts\n"
    "\n"
    "As the first option:\n"
    "  --examine       print what is wrong with this machine, as covey-probe; covey doctor calls "
    "it\n"
    "  --offer         have a program start another host, as covey-offer\n"
    "\n"
    "  --help, --version\n";

static const struct option long_options[] = {
    {"vm", required_argument, NULL, 'm'},
    {"name", required_argument, NULL, 'n'},
    {"local", no_argument, NULL, 'l'},
    {"loopback", no_argument, NULL, 'O'},
    {"address", required_argument, NULL, 'a'},
    {"bind", required_argument, NULL, 'b'},
    {"interface", required_argument, NULL, 'i'},
    {"speed", required_argument, NULL, 's'},
    {"port", required_argument, NULL, 'p'},
    {"config", required_argument, NULL, 'c'},
    {"cwd", required_argument, NULL, 'd'},
    {"fault", required_argument, NULL, 'F'},
    {"foreground", no_argument, NULL, 'f'},
    {"verbose", no_argument, NULL, 'v'},
    {"launch", no_argument, NULL, 'L'},
    {"guest", required_argument, NULL, 'g'},
    {"join", no_argument, NULL, 'j'},
    {"encrypt", no_argument, NULL, 'e'},
    {"fail-timeout", required_argument, NULL, 'T'},
    {"measure", no_argument, NULL, 'M'},
    {"help", no_argument, NULL, 'h'},
    {"version", no_argument, NULL, 'V'},
    {NULL, 0, NULL, 0},
};

/* Where an option's value goes; NULL for one without. */
static const char **options_text(struct options *o, int letter)
{
    const struct {
        int letter;
        const char **text;
    } texts[] = {
        {'m', &o->vm},   {'n', &o->host},      {'a', &o->address},      {'b', &o->bind},
        {'p', &o->port}, {'i', &o->interface}, {'s', &o->speed},        {'c', &o->config},
        {'d', &o->cwd},  {'F', &o->fault},     {'T', &o->fail_timeout}, {'g', &o->guest},
    };
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
        if (texts[i].letter == letter)
            return texts[i].text;
    return NULL;
}

/* Where an option without an argument goes; NULL: it is none of those. */
static bool *options_flag(struct options *o, int letter)
{
    const struct {
        int letter;
        bool *flag;
    } flags[] = {
        {'l', &o->local},   {'e', &o->encrypt}, {'f', &o->foreground},
        {'v', &o->verbose}, {'j', &o->join},    {'O', &o->loopback},
    };
    for (size_t i = 0; i < sizeof flags / sizeof flags[0]; i++)
        if (flags[i].letter == letter)
            return flags[i].flag;
    return NULL;
}

static int options_set(struct options *o, int letter)
{
    const char **text = options_text(o, letter);
    bool *flag = options_flag(o, letter);
    if (text != NULL)
        return *text = optarg, OPTIONS_GO;
    if (flag != NULL)
        return *flag = true, OPTIONS_GO;
    if (letter == 'h')
        return fputs(usage, stdout), OPTIONS_DONE;
    if (letter == 'V')
        return printf("coveyd %s\n", version_short), OPTIONS_DONE;
    return OPTIONS_BAD;
}

int options_parse(struct options *options, int argc, char **argv, struct failure *why)
{
    memset(options, 0, sizeof *options);
    opterr = 0;
    int letter;
    while ((letter = getopt_long(argc, argv, "+", long_options, NULL)) != -1) {
        int result = options_set(options, letter);
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
