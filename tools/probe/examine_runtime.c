/* Directories that the daemon would refuse, and what dead daemons left in them. */
#include "daemon/base/runtime.h"
#include "tools/probe/examine.h"

static void on_found(void *context, enum runtime_flaw flaw, const char *path, const char *why)
{
    (void)context;
    char remedy[RUNTIME_PATH_MAX * 2 + 64];
    switch (flaw) {
    case RUNTIME_BAD_DIRECTORY:
        examine_finding("runtime-dir", "chown it to yourself and chmod 700 it, or remove it", "%s",
                        why);
        break;
    case RUNTIME_DEAD_SOCKET:
        snprintf(remedy, sizeof remedy, "rm %s", path);
        examine_finding("stale-socket", remedy, "nobody listens on %s: its daemon died", path);
        break;
    case RUNTIME_OLD_LOG:
        snprintf(remedy, sizeof remedy, "read it, then: rm %s", path);
        examine_finding("stale-log", remedy, "%s is of a daemon that ended, and was not told to",
                        path);
        break;
    }
}

void examine_runtime(void)
{
    runtime_survey(on_found, NULL);
}
