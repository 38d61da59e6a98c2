/*
 * Capabilities by the system calls themselves: of libcap nothing else would be needed.
 *
 * No program that this daemon starts has the capability by inheritance: what is executed gets only
 * what is inheritable and ambient, and neither set ever holds it. What root executes has all that
 * root has, whatever the daemon gave up: so root's daemon only lowers it, and keeps it permitted.
 * (If it did not, its children would gain a capability by being executed, and a process that gains
 * one forgets that it is to die with its parent.) A program with a file capability cannot be traced
 * by its user's others, nor can their descriptors be taken, so that the raw sockets of a coveyd
 * that opened them itself stay its own, and nobody makes covey-raw do what it does not do; nothing
 * here changes that.
 */
#include "daemon/link/privilege.h"

#include <errno.h>
#include <linux/capability.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#define RAW_BIT (1u << CAP_NET_RAW) /* of the first word */

typedef struct __user_cap_data_struct capability_words[_LINUX_CAPABILITY_U32S_3];

static int capabilities_get(capability_words words)
{
    struct __user_cap_header_struct head = {.version = _LINUX_CAPABILITY_VERSION_3};
    return syscall(SYS_capget, &head, words) == 0 ? 0 : -errno;
}

static int capabilities_set(const capability_words words)
{
    struct __user_cap_header_struct head = {.version = _LINUX_CAPABILITY_VERSION_3};
    return syscall(SYS_capset, &head, words) == 0 ? 0 : -errno;
}

bool privilege_has_raw(void)
{
    capability_words words;
    return capabilities_get(words) == 0 && (words[0].effective & RAW_BIT) != 0;
}

int privilege_lower_raw(bool for_good)
{
    capability_words words;
    int error = capabilities_get(words);
    if (error != 0)
        return error;
    words[0].effective &= ~RAW_BIT;
    words[0].inheritable &= ~RAW_BIT;
    if (for_good && geteuid() != 0)
        words[0].permitted &= ~RAW_BIT;
    prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_LOWER, CAP_NET_RAW, 0, 0);
    return capabilities_set(words);
}

int privilege_raise_raw(void)
{
    capability_words words;
    int error = capabilities_get(words);
    if (error != 0)
        return error;
    words[0].effective |= RAW_BIT;
    return capabilities_set(words);
}

int privilege_keep_raw(void)
{
    capability_words raw = {{.permitted = RAW_BIT}};
    prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0)
        return -errno;
    return capabilities_set(raw);
}

bool privilege_may_capture(void)
{
    capability_words words;
    if (getuid() == 0)
        return true;
    return capabilities_get(words) == 0 &&
           (words[0].inheritable & words[0].effective & RAW_BIT) != 0;
}

int privilege_drop_all(void)
{
    capability_words none = {{0}};
    return capabilities_set(none);
}
