/*
 * launchspec.c - completes the words of whoever adds a host by those of covey.conf, and refuses
 * what cannot stand on a launcher's command line. Only here is decided which of the two says what.
 */
#include "daemon/launch/launchspec.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "daemon/base/bootstrap.h"
#include "lib/covey.h"

static void fill_field(char *field, size_t size, const char *from)
{
    if (field[0] == '\0')
        snprintf(field, size, "%s", from);
}

void launchspec_complete(struct control_host_spec *s, const struct conf_launch *conf)
{
    if (s->launcher == COVEY_LAUNCH_DEFAULT && s->template_[0] != '\0')
        s->launcher = COVEY_LAUNCH_EXEC;
    if (s->launcher == COVEY_LAUNCH_DEFAULT)
        s->launcher = (uint8_t)conf->launcher;
    fill_field(s->hostname, sizeof s->hostname, s->name);
    if (s->launcher == COVEY_LAUNCH_LOCAL)
        return; /* the rest is about other machines */
    fill_field(s->template_, sizeof s->template_, conf->template_);
    fill_field(s->coveyd, sizeof s->coveyd, conf->coveyd);
    fill_field(s->user, sizeof s->user, conf->user);
    if (s->port == 0)
        s->port = (uint16_t)conf->port;
}

/* A word of the launcher's command line. */
static bool word_ok(const char *word)
{
    if (*word == '-')
        return false;
    for (; *word != '\0'; word++)
        if (!isgraph((unsigned char)*word))
            return false;
    return true;
}

const char *launchspec_refused(const struct control_host_spec *s)
{
    if (!bootstrap_name_ok(s->name))
        return "a host's name has 1 to 63 letters, digits or ._-@, not - or . first";
    if (!word_ok(s->hostname))
        return "hostname must be printable characters without a blank, not - first";
    if (!word_ok(s->user))
        return "user must be printable characters without a blank, not - first";
    if (s->launcher < COVEY_LAUNCH_SSH || s->launcher > COVEY_LAUNCH_LOCAL)
        return "there is no such launcher";
    if (s->launcher == COVEY_LAUNCH_EXEC && strstr(s->template_, "{command}") == NULL)
        return "the exec launcher's template must contain {command}";
    return NULL;
}
