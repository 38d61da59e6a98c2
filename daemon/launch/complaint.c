/*
 * Complaints. A failing ssh prints one line or fifteen, between greetings and warnings; people need
 * the one that tells, and what to do about it. The table lists the words of the OpenSSH client (its
 * messages are not translated), then those of systems and of coveyd. A line is of the first kind
 * whose words it has, and the earlier a kind stands, the more it tells.
 */
#include "daemon/launch/complaint.h"

#include <stdio.h>
#include <string.h>

#include "lib/covey.h"

struct complaint_kind {
    const char *words, *also; /* both in the line, `also` anywhere; NULL: the first alone */
    int32_t error;
    bool again;
    const char *remedy; /* NULL: the line says it all */
};

#define REMEDY_CHANGED                                                                             \
    "somebody may be in between, or it was installed anew: then remove its old key with "          \
    "ssh-keygen -R"
#define REMEDY_UNKNOWN "its key is unknown here: call it once by hand with ssh, and check the key"
#define REMEDY_KEY                                                                                 \
    "ssh has to get in without a password: see ssh-copy-id, and ssh-agent for a key with a "       \
    "passphrase"
#define REMEDY_PASSWORD "it wants a password, which nobody can type here: see ssh-copy-id"
#define REMEDY_REFUSED "does sshd run there, on that port?"
#define REMEDY_TIMEOUT "is it up, and does a firewall let ssh through?"
#define REMEDY_NAME "a name that DNS, /etc/hosts or ~/.ssh/config knows is needed"
#define REMEDY_CLIENT "install the OpenSSH client (openssh-client) on the host that coordinates"

static const struct complaint_kind kinds[] = {
    {"Host key for ", " has changed", COVEY_EDENIED, false, REMEDY_CHANGED},
    {"REMOTE HOST IDENTIFICATION HAS CHANGED", NULL, COVEY_EDENIED, false, REMEDY_CHANGED},
    {"REVOKED HOST KEY", NULL, COVEY_EDENIED, false, NULL},
    {"host key is known for", NULL, COVEY_EDENIED, false, REMEDY_UNKNOWN},
    {"Host key verification failed", NULL, COVEY_EDENIED, false, REMEDY_UNKNOWN},
    {"Permission denied (", "publickey", COVEY_EDENIED, false, REMEDY_KEY},
    {"Permission denied (", NULL, COVEY_EDENIED, false, REMEDY_PASSWORD},
    {"Too many authentication failures", NULL, COVEY_EDENIED, false, REMEDY_KEY},
    {"Could not resolve hostname", NULL, COVEY_EADDHOST, false, REMEDY_NAME},
    {"Connection refused", NULL, COVEY_EADDHOST, false, REMEDY_REFUSED},
    {"timed out", NULL, COVEY_ETIMEOUT, false, REMEDY_TIMEOUT},
    {"No route to host", NULL, COVEY_EADDHOST, false, NULL},
    {"Network is unreachable", NULL, COVEY_EADDHOST, false, NULL},
    {"Unable to negotiate", NULL, COVEY_EADDHOST, false, NULL},
    {"kex_exchange_identification", NULL, COVEY_EADDHOST, true, NULL},
    {"ssh_exchange_identification", NULL, COVEY_EADDHOST, true, NULL},
    {"Connection closed by ", NULL, COVEY_EADDHOST, true, NULL},
    {"Connection reset by ", NULL, COVEY_EADDHOST, true, NULL},
    {"Bad owner or permissions on", NULL, COVEY_EADDHOST, false, NULL},
    {"Bad configuration option", NULL, COVEY_EADDHOST, false, NULL},
    {"ssh: not found", NULL, COVEY_ENOENT, false, REMEDY_CLIENT},
    {"account is currently not available", NULL, COVEY_EDENIED, false, NULL},
    {"of another version", NULL, COVEY_EVERSION, false, NULL},
    {"No space left on device", NULL, COVEY_ERESOURCE, false, NULL},
    {"quota exceeded", NULL, COVEY_ERESOURCE, false, NULL},
    {"Cannot allocate memory", NULL, COVEY_ERESOURCE, false, NULL},
    {"Resource temporarily unavailable", NULL, COVEY_ERESOURCE, false, NULL},
    {"Too many open files", NULL, COVEY_ERESOURCE, false, NULL},
};

/* Lines that never tell why. */
static const char *const noises[] = {"Permanently added", "Could not chdir to home directory",
                                     "Connection to ", "Killed by signal", "debug1: "};

static const struct complaint_kind *kind_of(const char *line)
{
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
        if (strstr(line, kinds[i].words) != NULL &&
            (kinds[i].also == NULL || strstr(line, kinds[i].also) != NULL))
            return &kinds[i];
    return NULL;
}

static bool is_noise(const char *line)
{
    for (size_t i = 0; i < sizeof noises / sizeof noises[0]; i++)
        if (strstr(line, noises[i]) != NULL)
            return true;
    return strspn(line, "@ ") == strlen(line); /* the frame around ssh's loudest warning */
}

void complaint_hear(struct complaint *complaint, const char *line)
{
    const struct complaint_kind *kind = kind_of(line), *before = complaint->kind;
    if (kind == NULL && (before != NULL || is_noise(line)))
        return;
    if (before != NULL && before <= kind)
        return;
    complaint->kind = kind;
    snprintf(complaint->line, sizeof complaint->line, "%s", line);
}

int32_t complaint_error(const struct complaint *complaint)
{
    return complaint->kind == NULL ? COVEY_EADDHOST : complaint->kind->error;
}

void complaint_print(const struct complaint *complaint, char *text, size_t size)
{
    const char *remedy = complaint->kind == NULL ? NULL : complaint->kind->remedy;
    size_t length = strcspn(complaint->line, "\r\n");
    while (remedy != NULL && length > 0 && strchr(". ", complaint->line[length - 1]) != NULL)
        length--;
    snprintf(text, size, "%.*s%s%s", (int)length, complaint->line, remedy == NULL ? "" : "; ",
             remedy == NULL ? "" : remedy);
}

bool complaint_again(const struct complaint *complaint)
{
    return complaint->kind != NULL && complaint->kind->again;
}
