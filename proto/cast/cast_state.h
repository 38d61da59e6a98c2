/*
 * cast_state.h - what the files of cast share. The essay stands in cast.c.
 */
#ifndef COVEY_PROTO_CAST_STATE_H
#define COVEY_PROTO_CAST_STATE_H

#include "proto/cast/cast.h"
#include "proto/cast/cast_ring.h"
#include "proto/cast/cast_wire.h"

#define CAST_BUCKETS 256
#define CAST_OWN_MAX 64      /* channels that a host has open at once */
#define CAST_OWN_LARGE 16    /* so many of them with buffers of full size */
#define CAST_FOREIGN_MAX 256 /* of each sender: closed ones that are not yet given out, too */
#define CAST_TOMBS 1024

struct cast_counters {
    uint64_t messages_sent, messages_delivered, fragments_sent, fragments_received;
    uint64_t repairs_sent, repairs_multicast, repairs_framed, duplicates, refused, asked, flushes,
        channels;
};

/* A message that waits, with what a list needs to know of it. */
struct cast_parcel {
    struct cast_parcel *next;
    uint32_t origin; /* of a totally ordered one */
    uint64_t number;
    bool sent;
    size_t size;
    uint8_t bytes[];
};

struct cast_list {
    struct cast_parcel *first, *last;
    size_t bytes;
};

/* What is known of another member of a channel. */
struct cast_link {
    uint32_t host;
    /* its sender knows: */
    bool opened;
    uint64_t have, limit; /* have: of a survivor, what it stated for `round` */
    /* survivors of its sender know: */
    bool stated, done;
    uint64_t round;
};

enum cast_state {
    CAST_OPENING,  /* own: not all members know it yet */
    CAST_LIVE,     /* fragments flow */
    CAST_FLUSHING, /* the sender is gone: the survivors agree where it ended */
    CAST_ENDED     /* no more comes; what is whole is still to be given out */
};

/* What the sender of a channel keeps of it, */
struct cast_sender {
    struct cast_list queue;   /* messages of which not all is in the ring */
    size_t cut;               /* bytes of the first that are */
    uint64_t next, sent;      /* fragments below are in the ring; were sent */
    double window, enough;    /* congestion window; below it grows by what is acknowledged */
    uint64_t recovery;        /* losses below it are those of one congestion */
    uint64_t timed, timed_us; /* the fragment whose round trip is measured, and when it left */
    uint64_t trip_us;         /* smoothed */
    uint64_t pace_us;         /* nothing new is sent before */
    uint64_t sync_us;         /* when to tell where it ends */
    uint64_t repair_us;       /* when to repair what was asked for */
    uint64_t used_us;
    uint64_t sized_us; /* when it is looked whether larger datagrams fit by now */
    bool announced;    /* OPEN was sent */
    bool retired;      /* another takes its place when it is idle */
};

/* what another member does, */
struct cast_receiver {
    uint64_t have, top; /* contiguous below; known to exist below */
    uint64_t given;     /* given out below */
    uint64_t acked, ack_us, ask_us;
    unsigned asked; /* this often for the same */
};

/* and what a survivor of its sender does beside that. */
struct cast_flush {
    uint64_t stated, round, since_us;
    bool served, done;
};

struct cast_channel {
    struct cast_channel *chain; /* in the bucket of its sender */
    struct cast_key key;
    uint64_t serial; /* counts the channels that were admitted here */
    bool mine, total;
    bool withheld; /* in total order, and another host puts in order: OPENED was not sent */
    enum cast_state state;
    struct host_set wanted;  /* whom the owner named */
    struct host_set members; /* those that were up when it was opened, without the sender */
    struct host_set gone;    /* of these */
    struct cast_link *links; /* the other members, ascending */
    size_t link_count;
    struct cast_seal seal;
    struct cast_ring ring;
    uint64_t stable; /* all members have what is below */

    struct cast_sender sender;     /* of an own channel */
    struct cast_receiver receiver; /* of another host's */
    struct cast_flush flush;       /* while it is CAST_FLUSHING */
};

/* A channel that ended here, for members that are not as far. */
struct cast_tomb {
    struct cast_key key;
    uint64_t have;
};

struct cast_host {
    uint64_t incarnation;
    uint8_t id[HOST_ID_BYTES];
};

/* Total order: see cast_order.c. */
struct cast_total {
    struct cast_channel *order; /* own channel while this host is the sequencer */
    uint32_t sequencer;
    uint64_t serial; /* counts the messages of cast_send() */
    uint64_t admitted;
    uint64_t next_number;
    struct cast_list pending; /* own messages that did not come back yet */
    struct cast_list waiting; /* messages to be put in order here */
    struct cast_list local;   /* put in order here, not yet given out here */
};

struct cast {
    struct cast_owner owner;
    struct cast_config config;
    uint8_t vm_key[AUTH_KEY_BYTES];
    uint32_t vm, self;
    uint64_t random, now_us, due_us;
    bool dirty; /* something changed since the last step */
    struct host_set live, gone;
    struct cast_host hosts[HOST_INDEX_MAX + 1];
    /* Of each host, the last of its totally ordered messages that was given out here. Most hosts
     * send none: theirs is not written, and takes no memory. */
    uint64_t ordered[HOST_INDEX_MAX + 1];
    struct cast_channel *channels[CAST_BUCKETS];
    size_t channel_count; /* in all of them */
    size_t own_count;
    uint64_t next_id; /* of own channels */
    struct cast_tomb tombs[CAST_TOMBS];
    size_t tomb_next;
    size_t queued; /* bytes of parcels that were not cut yet */
    struct cast_counters counters;
    uint8_t room[CAST_DATAGRAM_BYTES_MAX];                /* a fragment opened */
    uint8_t message[CAST_MESSAGE_MAX + CAST_TOTAL_BYTES]; /* a message put together */
    uint8_t control[FRAME_PAYLOAD_MAX];
    struct cast_total total;
};

/* ---- cast.c ---- */

void cast_control_send(struct cast *cast, uint32_t host, const struct cast_control *control);
/* To every member that is not gone; a channel's own key and type are enough for most. */
void cast_control_spread(struct cast *cast, const struct cast_channel *ch,
                         const struct cast_control *control);
struct cast_channel *cast_find(struct cast *cast, const struct cast_key *key);
struct cast_channel *cast_channel_create(struct cast *cast, const struct cast_key *key,
                                         const struct host_set *members);
void cast_channel_destroy(struct cast *cast, struct cast_channel *ch);
/* It ended here for good: leaves a tomb. */
void cast_channel_bury(struct cast *cast, struct cast_channel *ch);
void cast_tomb_add(struct cast *cast, const struct cast_key *key, uint64_t have);
const struct cast_tomb *cast_tomb_find(const struct cast *cast, const struct cast_key *key);
struct cast_link *cast_link_find(const struct cast_channel *ch, uint32_t host);
bool cast_link_lives(const struct cast_channel *ch, const struct cast_link *link);
/* Memory for its fragments, on demand. */
bool cast_ring_ready(const struct cast *cast, struct cast_channel *ch);

struct cast_parcel *cast_list_add(struct cast_list *list, const uint8_t *bytes, size_t size,
                                  size_t prefix);
void cast_list_push(struct cast_list *list, struct cast_parcel *parcel);
struct cast_parcel *cast_list_pop(struct cast_list *list);

/* ---- cast_send.c: own channels ---- */

struct cast_channel *cast_open(struct cast *cast, const struct host_set *wanted, bool total);
void cast_close(struct cast *cast, struct cast_channel *ch);
void cast_on_opened(struct cast *cast, struct cast_channel *ch, uint32_t host);
void cast_on_ack(struct cast *cast, struct cast_channel *ch, uint32_t host,
                 const struct cast_control *ack);
void cast_member_gone(struct cast *cast, struct cast_channel *ch);
bool cast_idle(const struct cast_channel *ch); /* all that was taken is stable */
/* Whether all hosts that are up, of those wanted, are members. */
bool cast_covers(const struct cast *cast, const struct cast_channel *ch);
/* Whether its fragments are of about the size that its members' paths carry now; looked at now and
 * then, while it is idle. */
bool cast_fits(const struct cast *cast, struct cast_channel *ch);
uint64_t cast_send_step(struct cast *cast, struct cast_channel *ch);

/* ---- cast_receive.c: others' channels ---- */

const char *cast_on_open(struct cast *cast, const struct cast_control *open);
void cast_on_fragment(struct cast *cast, struct cast_channel *ch, struct cast_fragment *fragment,
                      const uint8_t *bytes);
void cast_on_sync(struct cast *cast, struct cast_channel *ch, const struct cast_control *sync);
/* A fragment that its sender or, when that is gone, a survivor hands over in a control frame. */
void cast_on_data(struct cast *cast, struct cast_channel *ch, uint32_t host,
                  const struct cast_control *data);
uint64_t cast_receive_step(struct cast *cast, struct cast_channel *ch);

/* ---- cast_flush.c: when a sender is gone ---- */

void cast_flush_round(struct cast *cast, struct cast_channel *ch);
const char *cast_on_flush(struct cast *cast, uint32_t host, const struct cast_control *flush);
/* Its sender closed it; some may know already that the sender died since. */
void cast_on_close(struct cast *cast, struct cast_channel *ch);
void cast_on_done(struct cast *cast, struct cast_channel *ch, uint32_t host);
void cast_flush_review(struct cast *cast, struct cast_channel *ch);
uint64_t cast_flush_step(struct cast *cast, struct cast_channel *ch);

/* ---- cast_order.c: total order ---- */

/* Whether a channel in total order has to wait for one that began before it. */
bool cast_order_blocked(const struct cast *cast, const struct cast_channel *ch);
/* Gives out a message of such a channel; false: not now. */
bool cast_order_deliver(struct cast *cast, const uint8_t *bytes, size_t size);
const char *cast_on_order(struct cast *cast, uint32_t host, const struct cast_control *order);
/* Decides anew who puts in order. */
void cast_order_review(struct cast *cast);
/* Whether a host that opens a channel in total order may put in order. */
bool cast_order_admits(struct cast *cast, uint32_t sender);
uint64_t cast_order_step(struct cast *cast);

#endif
