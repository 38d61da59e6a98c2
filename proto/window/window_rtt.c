/* window_rtt.c - see window_rtt.h. */
#include "proto/window/window_rtt.h"

void rtt_init(struct rtt *r)
{
    *r = (struct rtt){.latest_us = RTT_INITIAL_US,
                      .smoothed_us = RTT_INITIAL_US,
                      .variance_us = RTT_INITIAL_US / 2};
}

void rtt_sample(struct rtt *r, uint64_t latest_us, uint64_t delay_us)
{
    r->latest_us = latest_us;
    if (!r->sampled) {
        r->sampled = true;
        r->min_us = latest_us;
        r->smoothed_us = latest_us;
        r->variance_us = latest_us / 2;
        return;
    }
    if (latest_us < r->min_us)
        r->min_us = latest_us;
    /* section 5.3: the peer's word is taken only as far as the path could be that fast */
    uint64_t adjusted = latest_us - r->min_us >= delay_us ? latest_us - delay_us : latest_us;
    uint64_t apart =
        adjusted > r->smoothed_us ? adjusted - r->smoothed_us : r->smoothed_us - adjusted;
    r->variance_us = (3 * r->variance_us + apart) / 4;
    r->smoothed_us = (7 * r->smoothed_us + adjusted) / 8;
}

uint64_t rtt_probe_us(const struct rtt *r, uint64_t ack_delay_us, unsigned probes)
{
    uint64_t spread = 4 * r->variance_us;
    if (spread < RTT_GRANULARITY_US)
        spread = RTT_GRANULARITY_US;
    uint64_t wait = r->smoothed_us + spread + ack_delay_us;
    for (; probes > 0 && wait < RTT_PROBE_MAX_US; probes--)
        wait *= 2;
    return wait < RTT_PROBE_MAX_US ? wait : RTT_PROBE_MAX_US;
}
