/*
 * counters.h - what a node counts, each once: its field and the name under which `covey stats`
 * shows it. Those of a medium's datagrams are shown for each medium, the others summed up.
 */
#ifndef COVEY_PROTO_COUNTERS_H
#define COVEY_PROTO_COUNTERS_H

#include <stddef.h>
#include <stdint.h>

/* X(field, name): shown as udp.NAME and ether.NAME. */
#define MEDIUM_COUNTERS(X)                                                                         \
    X(datagrams_sent, "datagrams_sent")                                                            \
    X(datagrams_received, "datagrams_received")                                                    \
    X(bytes_sent, "bytes_sent")                                                                    \
    X(bytes_received, "bytes_received")                                                            \
    X(service_frames, "service_frames")                                                            \
    X(refused_short, "refused_short")                                                              \
    X(refused_magic, "refused_magic")                                                              \
    X(refused_version, "refused_version")                                                          \
    X(refused_vm, "refused_vm")                                                                    \
    X(refused_kind, "refused_kind")                                                                \
    X(refused_size, "refused_size")                                                                \
    X(refused_mac, "refused_mac")                                                                  \
    X(refused_replay, "refused_replay")                                                            \
    X(refused_session, "refused_session")                                                          \
    X(refused_host, "refused_host")                                                                \
    X(refused_payload, "refused_payload")

/* X(field, name) */
#define NODE_COUNTERS(X)                                                                           \
    X(hellos_sent, "session.hellos_sent")                                                          \
    X(hellos_answered, "session.hellos_answered")                                                  \
    X(sessions_opened, "session.opened")                                                           \
    X(sessions_closed, "session.closed")                                                           \
    X(session_looks, "session.looks")                                                              \
    X(paths_changed, "session.paths_changed")                                                      \
    X(frames_sent, "session.frames_sent")                                                          \
    X(frames_received, "session.frames_received")                                                  \
    X(pings_sent, "member.pings_sent")                                                             \
    X(probes_sent, "member.probes_sent")                                                           \
    X(suspicions, "member.suspicions")                                                             \
    X(hosts_gone, "member.hosts_gone")                                                             \
    X(watch_rounds, "member.watch_rounds")                                                         \
    X(batch_counts, "member.batch_counts")                                                         \
    X(rolls, "member.rolls")                                                                       \
    X(claims, "member.claims")                                                                     \
    X(late_us, "member.late_us")

struct counters {
#define COUNTER_FIELD(field, name) uint64_t field;
    MEDIUM_COUNTERS(COUNTER_FIELD)
    NODE_COUNTERS(COUNTER_FIELD)
#undef COUNTER_FIELD
};

/* One of a list of counters as they stand; NULL: there is no i-th. */
struct counter {
    const char *name;
    uint64_t value;
};

static inline const char *counter_get(const struct counter *list, size_t count, size_t i,
                                      uint64_t *value)
{
    if (i >= count)
        return NULL;
    *value = list[i].value;
    return list[i].name;
}

#endif
