/*
 * version.c - versions. Two daemons are of one VM when their protocol and the first two numbers
 * agree: the third changes nothing that they say to each other.
 */
#include "daemon/base/version.h"

#include <stdio.h>

#include "lib/covey.h"
#include "proto/wire/frame.h"

#define STRING_OF(x) #x
#define STRING(x) STRING_OF(x)

const char version_short[] = COVEY_VERSION " (protocol " STRING(WIRE_VERSION) ")";

bool version_is_one(const char *said)
{
    unsigned major, minor;
    return sscanf(said, "coveyd %u.%u", &major, &minor) == 2;
}

bool version_fits(const char *said)
{
    unsigned major, minor, patch, protocol;
    return sscanf(said, "coveyd %u.%u.%u (protocol %u)", &major, &minor, &patch, &protocol) == 4 &&
           major == COVEY_VERSION_MAJOR && minor == COVEY_VERSION_MINOR && protocol == WIRE_VERSION;
}
