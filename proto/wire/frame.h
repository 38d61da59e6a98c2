/*
 * frame.h - the frame: what streams between tasks and daemons, and the windows between daemons,
 * carry. Every kind exists once, in FRAME_KINDS.
 *
 *   stream  = *frame
 *   frame   = length kind flags reserved source destination payload
 *   length      = u32   ; bytes of payload, <= FRAME_PAYLOAD_MAX
 *   kind        = u8    ; enum frame_kind
 *   flags       = u8    ; FRAME_FIRST, FRAME_LAST; in bits 2-3 how many descriptors travel with
 *                       ; the frame over a Unix socket (0 between hosts); FRAME_ETHER: between
 *                       ; hosts it goes, or came, over raw Ethernet
 *   reserved    = u16   ; 0
 *   source      = u32   ; tid of a task; of a daemon: host index << 18; 0 before enrolment
 *   destination = u32   ; likewise; 0: the daemon at the other end
 *   payload     = *u8   ; see control.h, and below for data
 *
 * A message travels as one or more data frames of its pair (source, destination), which may be
 * interleaved with frames of other kinds and other pairs but never with another message of the
 * same pair and route:
 *   data payload = [message] *u8            ; message in the frame flagged FRAME_FIRST, and then
 *                                           ; 16 bytes (the first item's header) or all there are
 *   message = sequence size tag context representation stamp
 *   sequence = u64  ; counts the messages of the pair from 0, over all routes
 *   size     = u64  ; bytes of the packed message, <= 2^40
 *   tag      = i32
 *   context  = u32  ; 0: sent by tid; others: of teams, see lib/collective/collective.h
 *   representation = u8 ; REPRESENTATION_LITTLE or REPRESENTATION_BIG: byte order of the arrays
 *   stamp = 7u8     ; when it was sent, among those of one host: see stamp.h; 0: to another host.
 *                   ; The daemon of its receiver writes its own stamp over it
 * A message for several tasks of one host travels there once, in MCAST frames to the daemon of that
 * host, which makes a data frame of each for every receiver, see control.h. One for tasks of many
 * hosts goes once to the task's own daemon, in CAST frames, and from the other daemons in CAST_DATA
 * frames to each receiver.
 *
 * On a TCP stream between two tasks, which says who they are, a message of one array that fits one
 * frame has a brief header, the 16 bytes of a frame's in the place of its 64:
 *   brief    = mark type size sequence tag context *u8 ; for a data frame, FIRST and LAST
 *   mark     = u8    ; 128, + 8 where numbers are big-endian, + the bytes that are padding
 *   type     = u8    ; of the array
 *   size     = u16   ; bytes that follow, padding included, at most BRIEF_SIZE_MAX
 *   sequence = u32   ; the lower half
 * A frame's length is so small that the two differ in the first bit. In the memory of two tasks of
 * one host such a message has a stamp, which follows the header:
 *   stamped  = mark type size sequence tag context stamp *u8
 *   mark     = u8    ; as above, + 64
 *   stamp    = u64
 *
 * CREDIT: limit=u64 [turn=u64]: so many bytes of data payload may be sent in all; where receivers
 * take bulk messages in turn (covey.conf), those with numbers less than turn may be sent whole. All
 * numbers are big-endian.
 */
#ifndef COVEY_PROTO_FRAME_H
#define COVEY_PROTO_FRAME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define WIRE_VERSION 8

#define FRAME_HEADER_BYTES 16
/* 64 KiB of a program's message, with all headers and the names of a multicast's receivers: a frame
 * more of a hundred bytes would be a system call more for each receiver. */
#define FRAME_PAYLOAD_MAX (65 * 1024)
#define FRAME_MESSAGE_BYTES 32 /* the message header at the start of a first data frame */
#define MESSAGE_STAMP_AT 25    /* in that header */
#define FRAME_ITEM_BYTES 16    /* the header of its first item behind that */
#define BRIEF_SIZE_MAX (64 * 1024 - FRAME_MESSAGE_BYTES - FRAME_ITEM_BYTES)

#define BRIEF_STAMP_BYTES 8
#define BRIEF_STAMPED_BYTES (FRAME_HEADER_BYTES + BRIEF_STAMP_BYTES)
#define BRIEF_STAMPED_WORDS 3

/* Bytes of data payload that a task may send to another before the first credit arrives. */
#define CREDIT_INITIAL_BYTES (512 * 1024)

enum frame_flags { FRAME_FIRST = 1, FRAME_LAST = 2, FRAME_ETHER = 16 };
#define FRAME_FLAGS_CARRIED (FRAME_FIRST | FRAME_LAST | FRAME_ETHER) /* on every way */
#define FRAME_FDS_SHIFT 2
#define FRAME_FDS_MAX 3
#define FRAME_FDS(flags) (((flags) >> FRAME_FDS_SHIFT) & FRAME_FDS_MAX)

enum { REPRESENTATION_LITTLE = 1, REPRESENTATION_BIG = 2 };

/* Who may send a kind to whom. "task" and "daemon" are the ends, not the relays. */
enum frame_party {
    TASK_TO_TASK = 1,
    TASK_TO_DAEMON = 2, /* to its own or, by tid, to any daemon of the VM */
    DAEMON_TO_TASK = 3,
    DAEMON_TO_DAEMON = 4,
    ANY_TO_TASK = 5, /* replies and reports */
    ANY_TO_DAEMON = 6
};

/* X(number, NAME, party) */
#define FRAME_KINDS(X)                                                                             \
    X(1, DATA, TASK_TO_TASK)                                                                       \
    X(2, CREDIT, TASK_TO_TASK)                                                                     \
    X(3, LINK_OPEN, TASK_TO_TASK)                                                                  \
    X(4, LINK_KEY, DAEMON_TO_TASK)                                                                 \
    X(5, LINK_ACCEPT, TASK_TO_TASK)                                                                \
    X(6, LINK_REFUSE, ANY_TO_TASK)                                                                 \
    X(7, MCAST, TASK_TO_DAEMON)                                                                    \
    X(8, LINK_LOST, TASK_TO_TASK)                                                                  \
    X(9, SYNC, TASK_TO_TASK)                                                                       \
    X(10, DETOUR, TASK_TO_TASK)                                                                    \
    X(11, FAMILY, TASK_TO_TASK)                                                                    \
    X(12, SEGMENT, TASK_TO_TASK)                                                                   \
    X(13, OFFER, TASK_TO_TASK)                                                                     \
    X(16, ENROL, TASK_TO_DAEMON)                                                                   \
    X(17, LEAVE, TASK_TO_DAEMON)                                                                   \
    X(18, REPLY, ANY_TO_TASK)                                                                      \
    X(20, HOSTS, TASK_TO_DAEMON)                                                                   \
    X(21, TASKS, TASK_TO_DAEMON)                                                                   \
    X(22, SPAWN, TASK_TO_DAEMON)                                                                   \
    X(23, SIGNAL, TASK_TO_DAEMON)                                                                  \
    X(24, WATCH, ANY_TO_DAEMON)                                                                    \
    X(25, GONE, ANY_TO_TASK)                                                                       \
    X(26, OUTPUT, DAEMON_TO_TASK)                                                                  \
    X(27, OUTPUT_ACK, TASK_TO_DAEMON)                                                              \
    X(28, ADD_HOSTS, TASK_TO_DAEMON)                                                               \
    X(29, REMOVE_HOSTS, TASK_TO_DAEMON)                                                            \
    X(30, HALT, TASK_TO_DAEMON)                                                                    \
    X(31, STATS, TASK_TO_DAEMON)                                                                   \
    X(32, HOST_EVENT, DAEMON_TO_TASK)                                                              \
    X(33, TASKER, TASK_TO_DAEMON)                                                                  \
    X(34, ORDER, DAEMON_TO_TASK)                                                                   \
    X(35, ORDER_TOLD, TASK_TO_DAEMON)                                                              \
    X(36, ENDED, DAEMON_TO_TASK)                                                                   \
    X(37, INPUT, TASK_TO_DAEMON)                                                                   \
    X(45, SERVICE, TASK_TO_DAEMON)                                                                 \
    X(46, NOTICE, DAEMON_TO_TASK)                                                                  \
    X(47, PROPOSE, DAEMON_TO_DAEMON)                                                               \
    X(48, APPLIED, DAEMON_TO_DAEMON)                                                               \
    X(49, EVENT, DAEMON_TO_DAEMON)                                                                 \
    X(50, RESEND, DAEMON_TO_DAEMON)                                                                \
    X(51, ASK, DAEMON_TO_DAEMON)                                                                   \
    X(60, JOIN, DAEMON_TO_DAEMON)                                                                  \
    X(61, TABLE, DAEMON_TO_DAEMON)                                                                 \
    X(62, GOODBYE, DAEMON_TO_DAEMON)                                                               \
    X(63, SHUTDOWN, DAEMON_TO_DAEMON)                                                              \
    X(64, CLAIM, DAEMON_TO_DAEMON)                                                                 \
    X(65, CLAIM_REPLY, DAEMON_TO_DAEMON)                                                           \
    X(66, TABLE_ACK, DAEMON_TO_DAEMON)                                                             \
    X(67, RAFT, DAEMON_TO_DAEMON)                                                                  \
    X(68, CAST, TASK_TO_DAEMON)                                                                    \
    X(69, CAST_CONTROL, DAEMON_TO_DAEMON)                                                          \
    X(70, CAST_DATA, DAEMON_TO_TASK)                                                               \
    X(71, CAST_WAY, TASK_TO_DAEMON)                                                                \
    X(72, RESIGN, DAEMON_TO_DAEMON)                                                                \
    X(78, RELEASE, DAEMON_TO_DAEMON)                                                               \
    X(73, BAG, TASK_TO_DAEMON)                                                                     \
    X(74, BAG_ANSWER, DAEMON_TO_TASK)                                                              \
    X(75, BAG_LOG, DAEMON_TO_DAEMON)                                                               \
    X(76, BAG_LOG_ACK, DAEMON_TO_DAEMON)                                                           \
    X(77, BAG_LOOK, TASK_TO_DAEMON)                                                                \
    X(80, HOST_STAT, TASK_TO_DAEMON)                                                               \
    X(81, MEASURE, TASK_TO_DAEMON)                                                                 \
    X(82, LOG, TASK_TO_DAEMON)                                                                     \
    X(83, TRACE, TASK_TO_DAEMON)                                                                   \
    X(84, BULK_ASK, ANY_TO_DAEMON)                                                                 \
    X(85, BULK_END, ANY_TO_DAEMON)                                                                 \
    X(86, BULK_ANSWER, DAEMON_TO_TASK)                                                             \
    X(87, TRACE_RING, DAEMON_TO_TASK)                                                              \
    X(88, TASK_STAT, TASK_TO_DAEMON)                                                               \
    X(89, TRAFFIC, TASK_TO_DAEMON)                                                                 \
    X(90, DRAIN, TASK_TO_DAEMON)                                                                   \
    X(91, HOST_ENDS, DAEMON_TO_TASK)

enum frame_kind {
#define FRAME_ENUM(number, name, party) FRAME_##name = number,
    FRAME_KINDS(FRAME_ENUM)
#undef FRAME_ENUM
};

struct frame {
    uint32_t length;
    uint8_t kind;
    uint8_t flags;
    uint32_t source;
    uint32_t destination;
};

/* The header of a message; see the grammar above. */
struct message_header {
    uint64_t sequence;
    uint64_t size;
    int32_t tag;
    uint32_t context;
    uint8_t representation;
    uint64_t stamp;
};

/* A brief header; see the grammar above. */
struct brief {
    uint8_t type;
    uint8_t representation;
    uint8_t padding;
    uint16_t size;
    uint32_t sequence;
    int32_t tag;
    uint32_t context;
};

/* tid arithmetic: 12 bits host, 18 bits local; local 0 is the host's daemon. */
#define TID_LOCAL_BITS 18
#define TID_LOCAL_MAX 0x3ffffu
#define HOST_INDEX_MAX 4095u
static inline uint32_t tid_host(uint32_t tid)
{
    return tid >> TID_LOCAL_BITS;
}
static inline uint32_t tid_local(uint32_t tid)
{
    return tid & TID_LOCAL_MAX;
}
static inline uint32_t tid_make(uint32_t host, uint32_t local)
{
    return (host << TID_LOCAL_BITS) | local;
}

void frame_encode(const struct frame *frame, uint8_t bytes[FRAME_HEADER_BYTES]);

/* Refuses an unknown kind, a length over FRAME_PAYLOAD_MAX, a set reserved field, tids that have
 * more than 30 bits and unknown flags; then it returns NULL-terminated text that names the cause.
 * Returns NULL and sets *frame when the header is good. */
const char *frame_decode(const uint8_t bytes[FRAME_HEADER_BYTES], struct frame *frame);

void message_header_encode(const struct message_header *header, uint8_t bytes[FRAME_MESSAGE_BYTES]);
const char *message_header_decode(const uint8_t *bytes, size_t size, struct message_header *header);
/* The stamp alone, in the encoded header. */
void message_stamp_put(uint8_t bytes[FRAME_MESSAGE_BYTES], uint64_t stamp);
uint64_t message_stamp_get(const uint8_t bytes[FRAME_MESSAGE_BYTES]);

/* Whether these are the first bytes of a brief header. */
static inline bool brief_is(const uint8_t bytes[FRAME_HEADER_BYTES])
{
    return bytes[0] >> 7 != 0;
}

/* A stamp behind it, and a mark that says so: put() adds both, take() returns the stamp and removes
 * the mark, so that it can be decoded. */
static inline bool brief_is_stamped(const uint8_t bytes[FRAME_HEADER_BYTES])
{
    return bytes[0] >> 6 == 3;
}
void brief_stamp_put(uint8_t bytes[BRIEF_STAMPED_BYTES], uint64_t stamp);
uint64_t brief_stamp_take(uint8_t bytes[BRIEF_STAMPED_BYTES]);

void brief_encode(const struct brief *brief, uint8_t bytes[FRAME_HEADER_BYTES]);
const char *brief_decode(const uint8_t bytes[FRAME_HEADER_BYTES], struct brief *brief);
/* Those with a stamp as words of memory: what is made in registers is read back by words, too. */
void brief_to_words(const struct brief *brief, uint64_t stamp, uint64_t words[BRIEF_STAMPED_WORDS]);
const char *brief_of_words(const uint64_t words[BRIEF_STAMPED_WORDS], struct brief *brief,
                           uint64_t *stamp);
/* The headers that it stands for, but for the tids and the upper half of the sequence. */
void brief_expand(const struct brief *brief, struct frame *frame, struct message_header *header);

/* The name of a kind ("DATA"), and who may send it; NULL and 0 for an unknown one. */
const char *frame_kind_name(int kind);
int frame_kind_party(int kind);

/* The representation of this machine. */
static inline uint8_t representation_native(void)
{
    const union {
        uint16_t number;
        uint8_t bytes[2];
    } probe = {.number = 1};
    return probe.bytes[0] == 1 ? REPRESENTATION_LITTLE : REPRESENTATION_BIG;
}

#endif
