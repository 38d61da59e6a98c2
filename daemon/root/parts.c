/*
 * parts.c - all parts of the daemon. The rows are DAEMON_PARTS (daemon/base/part.h), for a row also
 * names the part's state in struct daemon; only here the names become the parts themselves, so that
 * no room below the root depends on a part of a room above it.
 */
#include "daemon/root/parts.h"

const struct part *const daemon_parts[PARTS] = {
#define PART_ROW(name) [PART_##name] = &name##_part,
    DAEMON_PARTS(PART_ROW)
#undef PART_ROW
};
