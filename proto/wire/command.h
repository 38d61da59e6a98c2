/*
 * command.h - the commands that change the state that the VM's voters agree on, the events that
 * come of them, and the questions that change nothing. All have one form, whatever they are about:
 *
 *   command  = kind=u8 3u8(0) host=u32 session=u64 number=u64 taken=u64 task=u32 request=u32 body
 *   host     = index of the daemon that numbered it; 0: the VM's own, which needs no number
 *   session  = of that daemon: it grows with each life of the daemon, and no two have the same
 *   number   = counts the commands of the session from 1 on
 *   taken    = the last event of the session that the daemon has taken
 *   task, request = who wants it, and how the answer is known; 0: nobody
 *
 *   event    = kind=u8 3u8(0) session=u64 sequence=u64 applied=u64 task=u32 request=u32
 *              status=i32 body
 *   sequence = counts the events for the session from 1 on
 *   applied  = the last command of the session that was applied
 *
 * What the bodies hold:
 *   OPEN: empty, number 1: the session begins, an earlier one of the host ends
 *   ACK: empty: what its head says was taken
 *   TASK_GONE: empty: the task in the head ended · HOST_GONE (the VM's own): host=u32 session=u64:
 *     this session and those before it ended
 *   CANCEL: request=u32 of the task in the head: what it waits for is given up, what it has been
 *     given since is given back
 *   GROUP_JOIN: name=text -> instance=u32
 *   GROUP_LEAVE: name -> empty
 *   GROUP_BARRIER: name count=u32 -> empty, when it opens
 *   GROUP_MEMBERS (a question): name -> *(instance=u32 tid=u32)
 *   LOCK_ACQUIRE: name try=u8 -> fence=u64
 *   LOCK_RELEASE: name fence=u64 -> empty
 *   LOCK_OWNER (a question): name -> task=u32 fence=u64
 *   TOKEN_CREATE: name -> number=u64
 *   TOKEN_REQUEST: name try=u8 -> number=u64
 *   TOKEN_PASS: name number=u64 to=u32 -> empty; to 0: the next in line
 *   TOKEN_DESTROY: name number=u64 -> empty
 *   TOKEN_HOLDER (a question): name -> task=u32 number=u64
 *   RENDEZVOUS: name wanted=u32 value -> *(task=u32 value), in the order of coming
 *     value = size=u8 *u8
 *   LOCK_LIST, TOKEN_LIST, RENDEZVOUS_LIST (questions): empty -> *(name holder=u32 number=u64
 *     count=u32 *(task=u32)): who waits; the number of a meeting is how many are wanted
 *   VIEW_...: see view.h · LEADER_...: leader.h · CONSENSUS_...: consensus.h · BAG_...: bag_place.h
 */
#ifndef COVEY_PROTO_COMMAND_H
#define COVEY_PROTO_COMMAND_H

#include <stddef.h>
#include <stdint.h>

#include "proto/wire/cursor.h"

#define COMMAND_HEAD_BYTES 40
#define COMMAND_BODY_MAX 8192
#define COMMAND_BYTES_MAX (COMMAND_HEAD_BYTES + COMMAND_BODY_MAX)
#define RENDEZVOUS_MAX 256      /* tasks that meet */
#define RENDEZVOUS_VALUE_MAX 64 /* bytes that each brings */
#define EVENT_HEAD_BYTES 40
#define EVENT_BODY_MAX 60000

/* Who may want it: the VM itself, a daemon, a task; a question is a task's and changes nothing. */
enum command_party { COMMAND_OF_VM = 1, COMMAND_OF_DAEMON = 2, COMMAND_OF_TASK = 3, QUERY = 4 };

/* What it does to a state that is full: a command that ADDS is refused then; one that FREES gives
 * something up or back, or is about daemons and tasks themselves; a question changes nothing. */
enum command_effect { COMMAND_ADDS = 1, COMMAND_FREES = 2, COMMAND_ASKS = 3 };

/* X(number, NAME, ENGINE, party, effect): the engine that carries it out, see state_engine.h */
#define COMMAND_KINDS(X)                                                                           \
    X(1, OPEN, STATE, COMMAND_OF_DAEMON, COMMAND_FREES)                                            \
    X(2, ACK, STATE, COMMAND_OF_DAEMON, COMMAND_FREES)                                             \
    X(3, TASK_GONE, STATE, COMMAND_OF_DAEMON, COMMAND_FREES)                                       \
    X(4, HOST_GONE, STATE, COMMAND_OF_VM, COMMAND_FREES)                                           \
    X(5, CANCEL, STATE, COMMAND_OF_TASK, COMMAND_FREES)                                            \
    X(10, GROUP_JOIN, GROUP, COMMAND_OF_TASK, COMMAND_ADDS)                                        \
    X(11, GROUP_LEAVE, GROUP, COMMAND_OF_TASK, COMMAND_FREES)                                      \
    X(12, GROUP_BARRIER, GROUP, COMMAND_OF_TASK, COMMAND_ADDS)                                     \
    X(13, GROUP_MEMBERS, GROUP, QUERY, COMMAND_ASKS)                                               \
    X(20, LOCK_ACQUIRE, LOCK, COMMAND_OF_TASK, COMMAND_ADDS)                                       \
    X(21, LOCK_RELEASE, LOCK, COMMAND_OF_TASK, COMMAND_FREES)                                      \
    X(22, LOCK_OWNER, LOCK, QUERY, COMMAND_ASKS)                                                   \
    X(23, LOCK_LIST, LOCK, QUERY, COMMAND_ASKS)                                                    \
    X(30, TOKEN_CREATE, TOKEN, COMMAND_OF_TASK, COMMAND_ADDS)                                      \
    X(31, TOKEN_REQUEST, TOKEN, COMMAND_OF_TASK, COMMAND_ADDS)                                     \
    X(32, TOKEN_PASS, TOKEN, COMMAND_OF_TASK, COMMAND_FREES)                                       \
    X(33, TOKEN_DESTROY, TOKEN, COMMAND_OF_TASK, COMMAND_FREES)                                    \
    X(34, TOKEN_HOLDER, TOKEN, QUERY, COMMAND_ASKS)                                                \
    X(35, TOKEN_LIST, TOKEN, QUERY, COMMAND_ASKS)                                                  \
    X(40, RENDEZVOUS, RENDEZVOUS, COMMAND_OF_TASK, COMMAND_ADDS)                                   \
    X(41, RENDEZVOUS_LIST, RENDEZVOUS, QUERY, COMMAND_ASKS)                                        \
    X(50, VIEW_JOIN, VIEW, COMMAND_OF_TASK, COMMAND_ADDS)                                          \
    X(51, VIEW_LEAVE, VIEW, COMMAND_OF_TASK, COMMAND_FREES)                                        \
    X(52, VIEW_EXPEL, VIEW, COMMAND_OF_TASK, COMMAND_FREES)                                        \
    X(53, VIEW_NEXT, VIEW, COMMAND_OF_TASK, COMMAND_ADDS)                                          \
    X(54, VIEW_PUT, VIEW, COMMAND_OF_TASK, COMMAND_ADDS)                                           \
    X(55, VIEW_LOOK, VIEW, QUERY, COMMAND_ASKS)                                                    \
    X(56, VIEW_GET, VIEW, QUERY, COMMAND_ASKS)                                                     \
    X(60, LEADER_STAND, LEADER, COMMAND_OF_TASK, COMMAND_ADDS)                                     \
    X(61, LEADER_RESIGN, LEADER, COMMAND_OF_TASK, COMMAND_FREES)                                   \
    X(62, LEADER_NEXT, LEADER, COMMAND_OF_TASK, COMMAND_ADDS)                                      \
    X(63, LEADER_LOOK, LEADER, QUERY, COMMAND_ASKS)                                                \
    X(70, CONSENSUS_PROPOSE, CONSENSUS, COMMAND_OF_TASK, COMMAND_ADDS)                             \
    X(71, CONSENSUS_LEARN, CONSENSUS, COMMAND_OF_TASK, COMMAND_ADDS)                               \
    X(72, CONSENSUS_FORGET, CONSENSUS, COMMAND_OF_TASK, COMMAND_FREES)                             \
    X(73, CONSENSUS_LOOK, CONSENSUS, QUERY, COMMAND_ASKS)                                          \
    X(80, BAG_CREATE, BAG, COMMAND_OF_TASK, COMMAND_ADDS)                                          \
    X(81, BAG_BACKUPS, BAG, COMMAND_OF_DAEMON, COMMAND_FREES)                                      \
    X(82, BAG_REMOVE, BAG, COMMAND_OF_DAEMON, COMMAND_FREES)                                       \
    X(83, BAG_ADOPT, BAG, COMMAND_OF_DAEMON, COMMAND_FREES)                                        \
    X(84, BAG_FIND, BAG, QUERY, COMMAND_ASKS)                                                      \
    X(85, BAG_LIST, BAG, QUERY, COMMAND_ASKS)

enum command_kind {
#define COMMAND_ENUM(number, name, engine, party, effect) COMMAND_##name = number,
    COMMAND_KINDS(COMMAND_ENUM)
#undef COMMAND_ENUM
};

struct command {
    uint8_t kind;
    uint32_t host;
    uint64_t session, number, taken;
    uint32_t task, request;
    const uint8_t *body; /* a get: a view into the foreign bytes */
    size_t size;
};

void command_put(struct cursor *c, const struct command *command);

/* Refuses (the cursor is bad) an unknown kind, a body over COMMAND_BODY_MAX, a question, a head
 * that is not as its kind wants it: a task of another host, a number where there is none. Takes all
 * that is left. */
void command_get(struct cursor *c, struct command *command);

const char *command_name(int kind); /* NULL: unknown */
int command_party(int kind);        /* enum command_party, 0: unknown */
int command_effect(int kind);       /* enum command_effect, 0: unknown */

enum event_kind {
    EVENT_ANSWER = 1, /* to the task's request */
    EVENT_NOTICE = 2  /* to the task; request says what it is about: enum notice_kind */
};

enum notice_kind {
    NOTICE_LOST = 0,  /* of the daemon itself: what the task waits for is lost with the leader */
    NOTICE_TOKEN = 1, /* number=u64 name: the task was passed a token that it did not wait for */
    NOTICE_BAG = 2    /* to the daemon (local part 0): see bag_place.h */
};

struct event {
    uint8_t kind;
    uint32_t host; /* whose daemon it is for; not in the bytes */
    uint64_t session, sequence, applied;
    uint32_t task, request;
    int32_t status;
    const uint8_t *body;
    size_t size;
};

void event_put(struct cursor *c, const struct event *event);
void event_get(struct cursor *c, struct event *event); /* takes all that is left */

#endif
