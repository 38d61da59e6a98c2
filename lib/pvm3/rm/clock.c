/*
 * clock.c - pvm_hostsync(): what time it is on a host, and how far the own clock is from that.
 */
#include <pvm3.h>
#include <sys/time.h>

#include "lib/pvm3/core/error.h"
#include "lib/pvm3/core/vm.h"
#include "lib/pvm3/rm/host.h"

#define US_PER_S 1000000

/* The microseconds are never negative: -1 us is -1 s and 999999 us. */
static struct timeval timeval_of(int64_t us)
{
    int64_t s = us / US_PER_S - (us % US_PER_S < 0);
    return (struct timeval){.tv_sec = s, .tv_usec = us - s * US_PER_S};
}

static int compare(int host, int64_t *clock_us, int64_t *ahead_us)
{
    struct covey_host *hosts = NULL;
    int count = host_list(&hosts), found = 0;
    for (int i = 0; i < count; i++)
        found |= hosts[i].index == host;
    if (count >= 0)
        covey_free(hosts);
    int known = count < 0 ? count : found;
    if (known <= 0)
        return known < 0 ? known : PvmNoHost;
    if (host == covey_tid_host(covey_mytid(vm_handle()))) {
        struct timeval now;
        gettimeofday(&now, NULL);
        *clock_us = (int64_t)now.tv_sec * US_PER_S + now.tv_usec;
        *ahead_us = 0;
        return PvmOk;
    }
    return error_of(covey_host_clock(vm_handle(), host, clock_us, ahead_us));
}

int pvm_hostsync(int host, struct timeval *clock, struct timeval *delta)
{
    int64_t clock_us = 0, ahead_us = 0;
    int error = vm_enter() == NULL ? PvmSysErr : PvmOk;
    if (error == PvmOk)
        error = host < 0 ? PvmNoHost : compare((host & TID_HOST) >> 18, &clock_us, &ahead_us);
    if (error != PvmOk)
        return lpvmerr("pvm_host_sync", error); /* as PVM calls it there */
    if (clock != NULL)
        *clock = timeval_of(clock_us);
    if (delta != NULL)
        *delta = timeval_of(ahead_us);
    return PvmOk;
}
