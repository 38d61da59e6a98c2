/*
 * sniff_flow.h - the TCP connections straight between two tasks, told from all others by the
 * handshake that they begin with (auth.h).
 */
#ifndef COVEY_DAEMON_SNIFF_FLOW_H
#define COVEY_DAEMON_SNIFF_FLOW_H

#include "tools/wire/sniff_packet.h"
#include "tools/wire/sniff_stream.h"
#include "tools/wire/sniffer.h"

struct sniff_flows;

struct sniff_flows *sniff_flows_create(void); /* NULL: no memory */
void sniff_flows_destroy(struct sniff_flows *flows);

/* Reads a segment; frames go to the owner. Fills in what the sighting says of it; false: it is not
 * Covey's, or carries nothing. */
bool sniff_flows_segment(struct sniff_flows *flows, const struct sniff_packet *packet,
                         const struct sniff_stream_owner *owner, struct sighting *sighting);

#endif
