/*
 * trace_record.h - the records of a trace: what a task writes of itself, the daemon of its host
 * passes on as it is, and `covey trace` reads. A record is four words of 64 bits, which are written
 * as fewer bytes (trace_pack.h). A file of a trace names the fields below with their places at its
 * beginning, so that a reader finds them by name.
 */
#ifndef COVEY_PROTO_TRACE_RECORD_H
#define COVEY_PROTO_TRACE_RECORD_H

#include <stdint.h>

#define TRACE_WORDS 4
#define TRACE_RECORD_BYTES (8 * TRACE_WORDS)

struct trace_record {
    uint64_t word[TRACE_WORDS];
};

/* X(name, word, first bit, bits, what): ticks are those of the task's host; a block of records says
 * which moments they are. */
#define TRACE_FIELDS(X)                                                                            \
    X(begin, 0, 0, 64, "ticks")                                                                    \
    X(duration, 1, 0, 48, "ticks")                                                                 \
    X(name, 1, 48, 12, "number of a name")                                                         \
    X(kind, 1, 60, 4, "number of a kind")                                                          \
    X(bytes, 2, 0, 40, "bytes")                                                                    \
    X(sequence, 2, 40, 24, "lowest bits")                                                          \
    X(peer, 3, 0, 32, "tid")                                                                       \
    X(tag, 3, 32, 32, "signed")

/* X(number, NAME, name). Of `count` and `expect` word 2 is a double. */
#define TRACE_KINDS(X)                                                                             \
    X(1, CALL, "call")             /* of the library, from its begin to its end */                 \
    X(2, SEND, "send")             /* from the call until the message has left */                  \
    X(3, RECEIVE, "receive")       /* from the call until the message is there */                  \
    X(4, INNER_SEND, "inner send") /* likewise, messages that collective calls are made of */      \
    X(5, INNER_RECEIVE, "inner receive")                                                           \
    X(6, COLLECTIVE, "collective") /* peer: the team's context; tag: the call's number */          \
    X(7, HELD, "held")             /* a send waits; sequence: enum trace_held */                   \
    X(8, SERVICE, "service") /* tag: number of the name of a lock; sequence: trace_service */      \
    X(9, ENTER, "enter")     /* a part of the program begins; tag: number of its name */           \
    X(10, LEAVE, "leave")                                                                          \
    X(11, MARK, "mark")                                                                            \
    X(12, COUNT, "count")   /* tag: number of its name */                                          \
    X(13, OPEN, "open")     /* a call that had not ended when the daemon looked last */            \
    X(14, EXPECT, "expect") /* seconds that the part of this name will take, as count */

enum trace_kind {
#define TRACE_ENUM(number, NAME, text) TRACE_##NAME = number,
    TRACE_KINDS(TRACE_ENUM)
#undef TRACE_ENUM
};

enum trace_held { TRACE_HELD_CREDIT = 1, TRACE_HELD_TURN = 2 };
enum trace_service { TRACE_SERVICE_OTHER, TRACE_SERVICE_TAKE, TRACE_SERVICE_GIVE };

#define TRACE_DURATION_MAX (((uint64_t)1 << 48) - 1)
#define TRACE_BYTES_MAX (((uint64_t)1 << 40) - 1)
#define TRACE_NAMES_MAX 4095u

/* What a daemon answers who collects a trace; numbers are those of cursor.h.
 *
 *   pulled = state waits untraced clock *block
 *   state    = u8   ; enum trace_state
 *   waits    = u8   ; percent of the fullest ring that were full; TRACE_WAITS_MORE: not all was
 *                   ; taken, and the rest is to be asked for at once
 *   untraced = u32  ; tasks of the host for which there was no room
 *   clock    = u64  ; of the host, CLOCK_MONOTONIC, nanoseconds
 *   block  = tid parent flags ticks0 ns0 ticks1 ns1 dropped command open from names size bytes
 *   tid, parent = u32
 *   flags  = u8    ; bit 0: the task has ended; bit 1: its words are big-endian
 *   ticks0 ns0 ticks1 ns1 = 4u64 ; two moments, in ticks of the records and on the host's clock
 *   dropped = u64  ; records that found no room, so far
 *   command = text
 *   open   = 32u8  ; the record of a call under way; zeros: there is none
 *   from   = u64   ; which of all bytes that the task has written is the first of those that follow
 *   names size = 2u32 ; bytes of names, each with a NUL, that are new; of records (trace_pack.h)
 */
enum trace_state { TRACE_RUNS = 1, TRACE_ENDS = 2 };
#define TRACE_PULLED_BYTES 14
#define TRACE_WAITS_MORE 255
enum { TRACE_TASK_ENDED = 1, TRACE_TASK_BIG = 2 };

/* What a FRAME_TRACE asks: number op=u8. */
enum trace_op {
    TRACE_OP_LOOK = 0, /* who collects: a u32 is answered, 0: nobody */
    TRACE_OP_PULL = 1, /* begins a trace, too */
    TRACE_OP_STOP = 2  /* from who collects: at once; from others: asks that one to end */
};

/* Of records, at most, before they are compressed. */
#define TRACE_PULL_BYTES ((size_t)1024 * 1024)
#define TRACE_NAMES_BYTES 65536u /* of one task */

/* A file: lines of text up to an empty line, then chunks.
 *
 *   line   = "covey-trace 2"  ; of version 1, see below
 *          / "root" TID      ; that task and its descendants are meant; 0: all
 *          / "record" BYTES
 *          / "field" NAME WORD BIT BITS WHAT
 *          / "kind" NUMBER NAME
 *   chunk  = kind=u8 size=u32 content
 *   pulled = host=u32 name=text before=u64 after=u64 pulled
 *            ; kind 'P'; before, after: on the clock of who collects, around the question
 *   seen   = at=u64 *line ; kind 'S', what is round the tasks; at: on the clock of who collects
 *   line   = "host" INDEX BUSY USED TOTAL RECEIVED SENT LF ; share of its cores; memory in bytes;
 *                                       ; bytes a second on its network; negative: not known
 *          / "bag" PUT DONE READY LEASED WORKERS NAME LF   ; items so far and at present
 *          / "node" IS-SWITCH NAME LF          ; of the network, numbered from 0 in this order
 *          / "link" NODE NODE BITS LF          ; bits a second, each way
 *          / "log" INDEX TEXT LF               ; a line that a host's daemon wrote meanwhile
 *   end    = ; kind 'E', empty: the trace is whole
 *
 * Version 1 had records as words:
 *   block  = tid parent flags ticks0 ns0 ticks1 ns1 dropped command open names count packed bytes
 *   names count = 2u32 ; bytes of names; records
 *   packed = u32   ; bytes that follow: names and records, compressed by zstd
 */
#define TRACE_FILE_MAGIC "covey-trace 2\n"
#define TRACE_FILE_MAGIC_1 "covey-trace 1\n" /* as long */
enum { TRACE_CHUNK_PULLED = 'P', TRACE_CHUNK_SEEN = 'S', TRACE_CHUNK_END = 'E' };
#define TRACE_CHUNK_HEAD 5

#endif
