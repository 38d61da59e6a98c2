/*
 * counters.h - what a node counts, each once: its field and the name under which `covey stats`
 * shows it.
 */
#ifndef COVEY_PROTO_COUNTERS_H
#define COVEY_PROTO_COUNTERS_H

#include <stdint.h>

/* X(field, name) */
#define COUNTERS(X)                                                                                \
    X(datagrams_sent, "udp.datagrams_sent")                                                        \
    X(datagrams_received, "udp.datagrams_received")                                                \
    X(bytes_sent, "udp.bytes_sent")                                                                \
    X(bytes_received, "udp.bytes_received")                                                        \
    X(refused_short, "udp.refused_short")                                                          \
    X(refused_magic, "udp.refused_magic")                                                          \
    X(refused_version, "udp.refused_version")                                                      \
    X(refused_vm, "udp.refused_vm")                                                                \
    X(refused_kind, "udp.refused_kind")                                                            \
    X(refused_size, "udp.refused_size")                                                            \
    X(refused_mac, "udp.refused_mac")                                                              \
    X(refused_replay, "udp.refused_replay")                                                        \
    X(refused_session, "udp.refused_session")                                                      \
    X(refused_host, "udp.refused_host")                                                            \
    X(refused_payload, "udp.refused_payload")                                                      \
    X(hellos_sent, "session.hellos_sent")                                                          \
    X(hellos_answered, "session.hellos_answered")                                                  \
    X(sessions_opened, "session.opened")                                                           \
    X(sessions_closed, "session.closed")                                                           \
    X(paths_changed, "session.paths_changed")                                                      \
    X(frames_sent, "session.frames_sent")                                                          \
    X(frames_received, "session.frames_received")                                                  \
    X(pings_sent, "member.pings_sent")                                                             \
    X(probes_sent, "member.probes_sent")                                                           \
    X(suspicions, "member.suspicions")                                                             \
    X(hosts_gone, "member.hosts_gone")                                                             \
    X(claims, "member.claims")                                                                     \
    X(late_us, "member.late_us")

struct counters {
#define COUNTER_FIELD(field, name) uint64_t field;
    COUNTERS(COUNTER_FIELD)
#undef COUNTER_FIELD
};

#endif
