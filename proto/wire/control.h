/*
 * control.h - the payloads of the control frames (see FRAME_KINDS), each a struct with a put and a
 * get that mirror each other. A get refuses what does not fit; ask cursor_ok() (or cursor_done()
 * where nothing may follow) once at the end. Texts inside structs that a get fills point into
 * arrays of the struct, never into the foreign bytes, unless the comment says `view`.
 *
 * Requests begin with a request number (u32) that the asker chose; the REPLY repeats it. A REPLY
 * may take several frames: all but the last are sent without FRAME_LAST and their contents are
 * joined. A task's request may be addressed to any daemon: its destination is that daemon's tid.
 *
 *   reply content after number and status:
 *     status < 0: text (u16 length, bytes): the cause in one line
 *     ENROL: enrol-reply · HOSTS: *(host path) · TASKS: *task-row · SPAWN: *result · SIGNAL: empty
 *     ADD_HOSTS, REMOVE_HOSTS: *result · HALT: empty · STATS: *(text u64)
 *     HOST_STAT, MEASURE: figures, see figure.h · LOG: at=u64 *u8
 *     SERVICE: as command.h says
 */
#ifndef COVEY_PROTO_CONTROL_H
#define COVEY_PROTO_CONTROL_H

#include "proto/wire/contention_config.h"
#include "proto/wire/frame.h"
#include "proto/wire/host.h"
#include "proto/wire/sizes.h"

#define CONTROL_TEXT_MAX 4096   /* longest single text: a path, an argument is a view */
#define CONTROL_NAME_MAX 63     /* host, VM and group names */
#define CONTROL_COMMAND_MAX 127 /* command as shown by ps */
#define CONTROL_REASON_MAX 255
#define CONTROL_HOSTNAME_MAX 255 /* as DNS has it */
#define CONTROL_ADDRESS_MAX 127
#define CONTROL_INTERFACE_MAX 31

/* ---- REPLY: number status=i32 content ---- */
struct control_reply {
    uint32_t request;
    int32_t status; /* >= 0 or an enum covey_error */
};
void control_put_reply(struct cursor *c, const struct control_reply *reply);
void control_get_reply(struct cursor *c, struct control_reply *reply);

/* ---- ENROL: number version=u8 role=u8 u16(0) pid=i32 cookie=u64 command=text ---- */
struct control_enrol {
    uint32_t request;
    uint8_t version; /* WIRE_VERSION; another is refused by name before the rest is read */
    uint8_t role;    /* enum covey_role */
    int32_t pid;
    uint64_t cookie; /* of $COVEY_TASK, 0: not spawned by the daemon */
    char command[CONTROL_COMMAND_MAX + 1];
};
void control_put_enrol(struct cursor *c, const struct control_enrol *enrol);
void control_get_enrol(struct cursor *c, struct control_enrol *enrol);

/* enrol-reply: tid parent sink host coordinator=u32 route=u8 direct=u8 print=u8 u8(0)
 *              host-name vm=text contention
 *  contention: as contention_config_put() writes it */
struct control_enrolled {
    uint32_t tid, parent, sink; /* sink: tid that gets the task's output, inherited by its spawns */
    uint32_t host;              /* index of the daemon's host */
    uint32_t coordinator;       /* host index */
    uint8_t route;              /* enum covey_route that the spawner asked for */
    bool direct;                /* tasks here may have links straight over raw Ethernet */
    bool print;                 /* as in control_spawn, likewise inherited */
    char host_name[CONTROL_NAME_MAX + 1];
    char vm[CONTROL_NAME_MAX + 1];
    struct contention_config contention;
};
void control_put_enrolled(struct cursor *c, const struct control_enrolled *e);
void control_get_enrolled(struct cursor *c, struct control_enrolled *e);

/* The environment of a spawned task: COVEY_SOCKET=path, COVEY_VM=name, and
 * COVEY_TASK=<cookie as 16 hex digits>. */

/* ---- a row of the host table, also inside TABLE and HOST_EVENT ---- */
void control_put_host(struct cursor *c, const struct host *host);
void control_get_host(struct cursor *c, struct host *host, struct host_room *room);

/* ---- HOST_EVENT: event=u8 3u8(0) coordinator=u32 host, to all tasks of the daemon ---- */
struct control_host_event {
    uint8_t event; /* enum node_host_event */
    uint32_t coordinator;
    struct host host;
    struct host_room room; /* of a host that was read */
};
void control_put_host_event(struct cursor *c, const struct control_host_event *e);
void control_get_host_event(struct cursor *c, struct control_host_event *e);

/* ---- DRAIN: number left=u64 ; the time of that daemon's host is over in so many microseconds; all
 * ones: it is not, after all. HOST_ENDS: left=u64 ; the same, from a task's own daemon, when it
 * enrols and when that changes ---- */
#define CONTROL_ENDS_NEVER UINT64_MAX

/* ---- task-row: tid parent sink=u32 pid=i32 state=u8 command=text ---- */
struct control_task {
    uint32_t tid, parent, sink;
    int32_t pid;
    uint8_t state; /* enum covey_task_state */
    char command[CONTROL_COMMAND_MAX + 1];
};
void control_put_task(struct cursor *c, const struct control_task *task);
void control_get_task(struct cursor *c, struct control_task *task);

/* ---- SPAWN: number count parent sink=u32 route tether print input=u8 cwd=text
 *             argc=u16 *(length=u32 bytes) envc=u16 *(length=u32 bytes) ----
 * argv and env are lists whose strings are views into the payload, not NUL-terminated.
 * The sender gets GONE of each task that is started, perhaps before the reply, without a WATCH. */
struct control_string {
    const char *bytes; /* view */
    size_t size;
};
struct control_spawn {
    uint32_t request, count;
    uint32_t parent; /* 0, or the tid the tasks see as parent (the asker) */
    uint32_t sink;   /* who gets the output, 0: nobody */
    uint8_t route;   /* enum covey_route */
    uint8_t tether;  /* 1: end the tasks when the parent ends */
    bool print;      /* the library of the sink prints the output; otherwise its program gets it */
    bool input;      /* the first one reads what the asker sends, INPUT, and not /dev/null */
    char cwd[CONTROL_TEXT_MAX];
};
void control_put_spawn(struct cursor *c, const struct control_spawn *s, const char *const *argv,
                       const char *const *env);
/* Reads the head; then argv and env are read by control_get_strings(), in this order. */
void control_get_spawn(struct cursor *c, struct control_spawn *s);
/* The number of strings and the strings, freed as one block; NULL (and c bad) when refused. */
struct control_string *control_get_strings(struct cursor *c, size_t *count);

/* ---- FAMILY: kind=u8 ; 1, to the task that spawned the sender: who was spawned with it?
 * 2: kind count=u32 from=u32 *tid=u32 ; those from the one with that number on, in several frames
 * if they are many; of none: that is not known any more ---- */

/* ---- tasker ----
 * TASKER: number on=u8 ; to the task's own daemon: it starts the tasks of its host from now on, or
 *   no longer
 * ORDER: tid=u32 program=text, then as SPAWN: the task to be started, where its program lies; env
 *   has what makes it that task, and not what its daemon would add of its own environment
 * ORDER_TOLD: as GONE, of a task that was ordered: kind 0: it was started, its process is `value`
 */

/* ---- result, of one spawned task or one host: error=i32 number=u32 text ---- */
struct control_result {
    int32_t error;
    uint32_t number; /* tid or host index */
    char text[CONTROL_REASON_MAX + 1];
};
void control_put_result(struct cursor *c, const struct control_result *r);
void control_get_result(struct cursor *c, struct control_result *r);

/* ---- SIGNAL: number tid=u32 signal=i32 ; signal 0: SIGTERM, after 3 s SIGKILL ---- */
struct control_signal {
    uint32_t request, tid;
    int32_t signal;
};
void control_put_signal(struct cursor *c, const struct control_signal *s);
void control_get_signal(struct cursor *c, struct control_signal *s);

/* ---- WATCH: tid=u32, to the daemon of tid's host. No reply: GONE comes when the task ends, or at
 * once when there is none. A daemon watches for its own tethered and grouped tasks likewise.
 * GONE: tid=u32 kind=u8 3u8(0) value=i32, comes after all frames that the task sent. ---- */
struct control_gone {
    uint32_t tid;
    uint8_t kind; /* enum covey_exit_kind */
    int32_t value;
};
void control_put_gone(struct cursor *c, const struct control_gone *g);
void control_get_gone(struct cursor *c, struct control_gone *g);

/* ---- OFFER, which only a link in memory carries: message item number=u64 1*4(address=u64
 * size=u64) A message begins, the first frame of which this is: message and item (the header of its
 * first item) as in a data frame. The rest lies there in the sender's memory, where the receiver
 * may read it (lib/link/peek.h); what it has not read by then comes in data frames. ---- */
#define OFFER_PIECES_MAX 4
#define OFFER_HEAD_BYTES (FRAME_MESSAGE_BYTES + FRAME_ITEM_BYTES)
#define OFFER_BYTES_MAX (OFFER_HEAD_BYTES + 8 + 16 * OFFER_PIECES_MAX)

struct offer_piece {
    uint64_t address, size;
};

struct control_offer {
    uint64_t number; /* counts those of the link */
    int count;
    struct offer_piece pieces[OFFER_PIECES_MAX];
};
/* What follows message and item. Takes all that is left; refuses pieces of nothing, or that are not
 * so many bytes together. */
void control_put_offer(struct cursor *c, const struct control_offer *o);
bool control_get_offer(struct cursor *c, struct control_offer *o, uint64_t bytes);

/* ---- SYNC: context=u32 number=u32 from=u16 about=u16. In the exchange of that number among the
 * tasks that share `context`, rank `from` says: the message from the receiver of this to rank
 * `about` may start, as far as it is concerned. ---- */
#define CONTROL_SYNC_BYTES 12
struct control_sync {
    uint32_t context, number;
    uint16_t from, about;
};
void control_put_sync(struct cursor *c, const struct control_sync *s);
void control_get_sync(struct cursor *c, struct control_sync *s);

/* ---- OUTPUT: tid=u32 stream print=u8 2u8(0) *u8 (whole lines), from the daemon of the task to the
 * sink. OUTPUT_ACK: tid bytes=u32, from the sink back when they were taken: at most
 * OUTPUT_UNACKED_MAX bytes a task are under way, then the daemon stops reading its pipe. ---- */
#define OUTPUT_UNACKED_MAX (256 * 1024)
struct control_output {
    uint32_t tid;
    uint8_t stream;
    bool print;     /* as in control_spawn */
    uint32_t bytes; /* OUTPUT_ACK */
};
void control_put_output(struct cursor *c, const struct control_output *o);
void control_get_output(struct cursor *c, struct control_output *o);
void control_put_output_ack(struct cursor *c, const struct control_output *o);
void control_get_output_ack(struct cursor *c, struct control_output *o);

/* ---- INPUT: number tid *u8, to the daemon of the task: its standard input, without bytes its end.
 * The reply comes when the task has taken them, and the next INPUT after that. ---- */

/* ---- ENDED: tid parent kind asked print=u8 u8(0) value=i32 host-name command=text, from the
 * daemon of a task to the sink behind all of its output. ---- */
struct control_ended {
    uint32_t tid, parent;
    uint8_t kind; /* enum covey_exit_kind */
    bool asked;   /* its parent has ended it, or has ended itself and it was tethered */
    bool print;   /* as in control_spawn */
    int32_t value;
    char host[CONTROL_NAME_MAX + 1];
    char command[CONTROL_COMMAND_MAX + 1];
};
void control_put_ended(struct cursor *c, const struct control_ended *e);
void control_get_ended(struct cursor *c, struct control_ended *e);

/* ---- env = size=u16 *(name "=" value %x00): variables of an environment. A get refuses one
 * without a name or a NUL. ---- */
#define CONTROL_ENV_MAX 2048
struct control_env {
    uint16_t size;
    char bytes[CONTROL_ENV_MAX];
};
/* Adds a "NAME=value"; false when it is none or does not fit. */
bool control_env_add(struct control_env *env, const char *variable);
/* The variable after `last`, the first after NULL; NULL at the end. */
const char *control_env_next(const struct control_env *env, const char *last);

/* ---- ADD_HOSTS: number count=u16 *spec, to the coordinator's daemon
 * spec = launcher=u8 u8(0) port=u16 speed=u32 name hostname user template address bind interface
 *        coveyd cwd config=text env ---- */
struct control_host_spec {
    uint8_t launcher; /* enum covey_launcher */
    uint16_t port;    /* of the launcher's server, as sshd's; 0: the usual one */
    uint32_t speed;   /* 0: as covey.conf there says */
    char name[CONTROL_NAME_MAX + 1];
    char hostname[CONTROL_HOSTNAME_MAX + 1]; /* whom the launcher calls; "": the name */
    char user[CONTROL_NAME_MAX + 1];
    char template_[CONTROL_TEXT_MAX];
    char address[CONTROL_ADDRESS_MAX + 1]; /* advertised */
    char bind[CONTROL_ADDRESS_MAX + 1];
    char interface[CONTROL_INTERFACE_MAX + 1];
    char coveyd[CONTROL_TEXT_MAX];
    char cwd[CONTROL_TEXT_MAX];
    char config[CONTROL_TEXT_MAX];
    struct control_env env;
};
void control_put_host_spec(struct cursor *c, const struct control_host_spec *s);
void control_get_host_spec(struct cursor *c, struct control_host_spec *s);

/* ---- REMOVE_HOSTS: number count=u16 *name=text
 * HOSTS, TASKS, STATS, HALT, HOST_STAT, MEASURE: number
 * LOG: number from=u64 ; a place in the daemon's log; as a negative number: before its end. The
 *   reply says where the piece begins that it has, an empty one at the end ---- */
#define CONTROL_LOG_BYTES 32768 /* of a piece, at most */

/* ---- services, see command.h for kind and body ----
 * SERVICE: number kind=u8 body, to the task's own daemon: a command or a question; the reply's
 *   content is the answer. NOTICE: about=u32 (enum notice_kind) body, to a task.
 * PROPOSE: command, to the leader's daemon · APPLIED: session applied=u64, EVENT: event, from it ·
 * RESEND: session taken=u64, to it: the events behind `taken` · ASK: task request=u32 kind=u8 body,
 *   to it: a question, which it answers to the task. ---- */

/* ---- MCAST: count=u16 flags=u8 u8(0) count*(tid sequence=u64) *u8 ; what follows is the payload
 * of the data frames with these flags; in the first of a message each receiver's own sequence
 * number takes the place of the one there. All receivers are tasks of the daemon's host, each named
 * once. ---- */
/* CAST: order=u8 3u8(0) MCAST ; to the task's own daemon, the receivers on any hosts; in total
 * order they are members of a group, the caller perhaps among them, and sequence numbers are all
 *   CONTROL_TOTAL
 * CAST_DATA: sequence=u64 *u8 ; the payload of a data frame of the message with that number
 * CAST_CONTROL: see cast_wire.h
 * CAST_WAY: number count=u16 *host=u16 ; reply: u8(1) if one frame on the wire reaches them all
 * ---- */
#define CONTROL_TOTAL (UINT64_C(1) << 63)
#define CONTROL_RECEIVERS_MAX 256
#define CONTROL_RECEIVER_BYTES 12
#define CONTROL_MCAST_BYTES 4 /* before the receivers */
struct control_receiver {
    uint32_t tid;
    uint64_t sequence;
};
struct control_mcast {
    uint16_t count;
    uint8_t flags; /* FRAME_FIRST, FRAME_LAST */
    struct control_receiver receivers[CONTROL_RECEIVERS_MAX];
};
void control_put_mcast(struct cursor *c, const struct control_mcast *m);
/* Refuses no receiver or too many of them, and other flags. */
void control_get_mcast(struct cursor *c, struct control_mcast *m);

/* ---- links between two tasks ----
 * LINK_OPEN:   nonce=16u8 route=u8 encrypt=u8 direct=u8 u8(0)
 *              [key=32u8 [vm=u32 detour=u64 address]]
 *              ; opener -> accepter; the accepter's daemon appends the key (auth_link_key) and says
 *              ; whether the VM encrypts. shm: two descriptors travel with it, the memory of the
 *              ; ring pair and the opener's doorbell; both tasks are on one host
 * LINK_KEY:    nonce=16u8 key=32u8 encrypt=u8 3u8(0)
 *              ; the opener's daemon to the opener, for LINK_OPENs of route tcp, source = accepter
 * LINK_ACCEPT: nonce=16u8 route=u8 direct=u8 port=u16
 *              [address [vm=u32 detour=u64 encrypt=u8 key=32u8]]
 *              ; accepter -> opener. tcp: the opener's daemon appends the address by which it
 *              ; reaches the accepter's host (family, bytes; its port is meaningless; absent when
 *              ; both are on one host). shm: one descriptor: the accepter's doorbell
 * LINK_REFUSE: nonce=16u8 route=u8 3u8(0) error=i32 text
 * LINK_LOST:   first=u64 next=u64 sent=u64 syncs=u64
 *              ; a link closed that had the sender's messages of these numbers (first .. next - 1)
 *              ; last; sent: bytes to the other task by then, as credit counts them; syncs: SYNC
 *              ; frames, likewise
 * DETOUR:      session=u32 number=u64 *u8 tag=16u8
 *              ; DATA of datagram.h without its head, of an ether link that goes straight and
 *              ; whose segment carries nothing
 *
 * SEGMENT:     context=u32 u32(0)
 *              ; the first member of a team on a host -> the others there. Two descriptors travel
 * with ; it: the memory that they share (lib/collective/segment.h) and its bell; none: there ; is
 * no such memory
 *
 * Route ether: `direct` says that frames go straight between the tasks, otherwise they pass the
 * daemons. Each daemon sets it in what it gives its task only if it allows that, and then appends
 * the MAC of the other host, the key, the VM's number (datagram.h), and how many microseconds of
 * silence make the tasks send their datagrams in DETOUR frames (detour.h); the first such frame has
 * the task's packet socket with it, whose channel is the task's tid. The accepter says in
 * LINK_ACCEPT whether it took the link so. */
struct control_link {
    uint8_t nonce[AUTH_NONCE_BYTES];
    uint8_t route;
    uint16_t port;
    bool has_key, has_address;
    bool encrypt;       /* streams carry records (record.h) */
    bool direct;        /* ether */
    uint32_t vm;        /* ether, direct */
    uint64_t detour_us; /* the same */
    uint8_t key[AUTH_KEY_BYTES];
    struct address address;
    int32_t error;
    char text[CONTROL_REASON_MAX + 1];
};
void control_put_link_open(struct cursor *c, const struct control_link *l);
void control_get_link_open(struct cursor *c, struct control_link *l);
void control_put_link_key(struct cursor *c, const struct control_link *l);
void control_get_link_key(struct cursor *c, struct control_link *l);
void control_put_link_accept(struct cursor *c, const struct control_link *l);
void control_get_link_accept(struct cursor *c, struct control_link *l);
void control_put_link_refuse(struct cursor *c, const struct control_link *l);
void control_get_link_refuse(struct cursor *c, struct control_link *l);

/* ---- bootstrap: what a launcher writes to the standard input of `coveyd --join`, one line of hex
 * digits of: version=u8 index=u32 incarnation=u64 key=32u8 vm name=text speed=u32
 * fail-timeout-us=u64 encrypt=u8 contention address-to-advertise bind interface=text env
 * coordinator=host ---- */
struct control_bootstrap {
    uint8_t version;
    uint32_t index;
    uint64_t incarnation;
    uint8_t key[VM_KEY_BYTES];
    char vm[VM_NAME_MAX + 1];
    char name[HOST_NAME_MAX_BYTES + 1];
    uint32_t speed;
    uint64_t fail_timeout_us;
    bool encrypt;                        /* what goes between hosts: the first daemon decides */
    struct contention_config contention; /* likewise */
    char address[CONTROL_ADDRESS_MAX + 1];
    char bind[CONTROL_ADDRESS_MAX + 1];
    char interface[CONTROL_INTERFACE_MAX + 1];
    struct control_env env;
    struct host coordinator;
    struct host_room room; /* of a coordinator that was read */
};
void control_put_bootstrap(struct cursor *c, const struct control_bootstrap *b);
void control_get_bootstrap(struct cursor *c, struct control_bootstrap *b);

#endif
