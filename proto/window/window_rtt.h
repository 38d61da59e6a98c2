/* window_rtt.h - the round trip time and the times that follow from it (RFC 6298, RFC 9002). */
#ifndef COVEY_PROTO_WINDOW_RTT_H
#define COVEY_PROTO_WINDOW_RTT_H

#include <stdbool.h>
#include <stdint.h>

#define RTT_INITIAL_US 20000u /* before the first sample: a LAN, not the 333 ms of the Internet */
#define RTT_GRANULARITY_US 1000u /* kGranularity */
#define RTT_PROBE_MAX_US 1000000u

struct rtt {
    bool sampled;
    uint64_t latest_us, min_us, smoothed_us, variance_us;
};

void rtt_init(struct rtt *r);

/* RFC 9002 section 5: delay_us is what the peer held its acknowledgement back. */
void rtt_sample(struct rtt *r, uint64_t latest_us, uint64_t delay_us);

/* RFC 9002 section 6.2.1: how long to wait for an acknowledgement, after so many probes. */
uint64_t rtt_probe_us(const struct rtt *r, uint64_t ack_delay_us, unsigned probes);

#endif
