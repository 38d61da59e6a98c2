/*
 * The agreed state in this daemon. What is proposed goes to the log of the voters (submit()), and
 * comes back to agreement_apply() at every voter when it is agreed; what comes of it is told to the
 * daemons of the tasks concerned by the one that leads, and kept by all until it was taken.
 *
 * This daemon's copy is only as good as its vote: it follows the log while this host votes, and is
 * replaced by a snapshot when it votes again. Questions are answered by the leader, from what it
 * applied, when a majority has confirmed since that it leads (raft_read.c): until then they wait.
 *
 * Each command is confirmed to its daemon: by an event for that daemon that came of it, which says
 * how far its commands were applied, or else by APPLIED.
 */
#include "daemon/agree/agreement.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/agree/services.h"
#include "daemon/post/reply.h"
#include "daemon/table/ending.h"
#include "lib/covey.h"
#include "proto/raft/raft.h"
#include "proto/state/state.h"

#define ANSWER_FIRST 4096 /* room for the answer to a question; it is doubled */
#define ANSWER_MAX ((size_t)1 << 24)
#define SAVE_FIRST 16384
#define SAVE_MAX ((size_t)RAFT_SNAPSHOT_BYTES_MAX)
_Static_assert(2 * STATE_BYTES_MAX <= SAVE_MAX,
               "a full one fits, with what is added between looks");
#define SESSION_BITS 16 /* of its number count the sessions of one life of a daemon */

#define ASKED_MAX 4096

/* A question that waits; its body lies behind it. */
struct asked {
    struct asked *next;
    uint64_t number; /* as node_read() gave it */
    struct question question;
    uint8_t body[];
};

struct agreement {
    struct daemon *daemon;
    struct state *state;              /* NULL: this host never was a voter */
    bool leads;                       /* and took over what was left undone */
    bool gone_due;                    /* the end of a host could not be proposed */
    bool full;                        /* and it was logged that the state is */
    uint32_t told;                    /* the host that an event was sent to last */
    struct asked *asked, **asked_end; /* in the order of their numbers */
    unsigned asked_count;
};

/* Whether this host leads, and has the state: not when its memory was exhausted. */
static bool serves(const struct agreement *a)
{
    return a->state != NULL && node_leads(a->daemon->node);
}

static int agreement_create(struct daemon *d, struct failure *why)
{
    (void)why;
    d->own.agreement->daemon = d;
    d->own.agreement->asked_end = &d->own.agreement->asked;
    return 0;
}

static void asked_drop(struct agreement *a)
{
    struct asked *first = a->asked;
    assert(first != NULL && a->asked_count > 0);
    a->asked = first->next;
    if (a->asked == NULL)
        a->asked_end = &a->asked;
    a->asked_count--;
    free(first);
}

static void asked_drop_all(struct agreement *a)
{
    while (a->asked != NULL)
        asked_drop(a);
}

static void agreement_destroy(struct daemon *d)
{
    struct agreement *a = d->own.agreement;
    asked_drop_all(a);
    state_destroy(a->state);
}

uint32_t agreement_leader(const struct daemon *d)
{
    return node_leader(d->node);
}

uint64_t agreement_generation(const struct daemon *d)
{
    return node_generation(d->node);
}

uint64_t agreement_session_first(uint64_t incarnation)
{
    return (incarnation << SESSION_BITS) + 1;
}

/* ---- what is agreed ---- */

static void on_event(void *context, const struct event *event)
{
    uint8_t bytes[EVENT_HEAD_BYTES + EVENT_BODY_MAX];
    struct agreement *a = context;
    struct cursor c = cursor_writer(bytes, sizeof bytes);
    a->told = event->host;
    if (!node_leads(a->daemon->node))
        return;
    if (event->host == daemon_host(a->daemon)) {
        services_event(a->daemon, event);
        return;
    }
    event_put(&c, event);
    post_send_payload(a->daemon, FRAME_EVENT, tid_make(event->host, 0), bytes, &c);
}

static void confirm(struct agreement *a, uint32_t host)
{
    uint8_t bytes[16];
    uint64_t applied, session = state_session(a->state, host, &applied);
    struct cursor c = cursor_writer(bytes, sizeof bytes);
    if (host == daemon_host(a->daemon)) {
        services_applied(a->daemon, session, applied);
        return;
    }
    cursor_put_u64(&c, session);
    cursor_put_u64(&c, applied);
    post_send_payload(a->daemon, FRAME_APPLIED, tid_make(host, 0), bytes, &c);
}

static void broken(struct agreement *a)
{
    ending_begin(a->daemon, ENDING_FAILED, "memory for the state of the VM is exhausted");
}

void agreement_apply(struct daemon *d, uint64_t index, const uint8_t *bytes, size_t size)
{
    struct agreement *a = d->own.agreement;
    struct command command;
    struct cursor c = cursor_reader(bytes, size);
    a->told = 0;
    if (a->state == NULL || state_apply(a->state, index, bytes, size) == STATE_BROKEN) {
        broken(a);
        return;
    }
    bool full = state_is_full(a->state);
    if (full && !a->full)
        log_line(&a->daemon->log, LOG_ERROR,
                 "the state of the VM exceeds %zu MiB: what adds to it is refused; covey locks "
                 "shows who waits",
                 STATE_BYTES_MAX >> 20);
    a->full = full;
    command_get(&c, &command);
    if (node_leads(d->node) && cursor_ok(&c) && command.host != 0 && command.host != a->told)
        confirm(a, command.host);
}

void agreement_reset(struct daemon *d)
{
    struct agreement *a = d->own.agreement;
    uint64_t generation = agreement_generation(d); /* the first is 1 */
    asked_drop_all(a);                             /* their numbers count anew */
    part_want(d, PART_agreement);
    state_destroy(a->state);
    a->leads = false;
    a->state = state_create(on_event, a);
    if (a->state == NULL)
        broken(a);
    else /* above all numbers of earlier generations: 2^40 of them fit in between */
        state_begin(a->state, (generation == 0 ? 0 : generation - 1) << 40);
}

bool agreement_save(struct daemon *d, uint8_t **bytes, size_t *size)
{
    for (size_t room = SAVE_FIRST; room <= SAVE_MAX && d->own.agreement->state != NULL; room *= 2) {
        *bytes = malloc(room);
        if (*bytes == NULL)
            return false;
        *size = state_save(d->own.agreement->state, *bytes, room);
        if (*size > 0)
            return true;
        free(*bytes);
    }
    return false;
}

bool agreement_load(struct daemon *d, const uint8_t *bytes, size_t size)
{
    struct agreement *a = d->own.agreement;
    struct state *loaded = state_load(on_event, a, bytes, size);
    if (loaded == NULL)
        return false;
    state_destroy(a->state);
    a->state = loaded;
    part_want(d, PART_agreement);
    return true;
}

/* Gives a command to the log, if this host leads; if not, it comes again. */
static bool submit(struct agreement *a, const uint8_t *bytes, size_t size)
{
    return node_propose(a->daemon->node, bytes, size, loop_now_us()) >= 0;
}

/* ---- what is proposed ---- */

static bool command_propose(struct agreement *a, const struct command *command)
{
    uint8_t bytes[COMMAND_BYTES_MAX];
    struct cursor c = cursor_writer(bytes, sizeof bytes);
    command_put(&c, command);
    return cursor_ok(&c) && submit(a, bytes, (size_t)(c.at - bytes));
}

void agreement_propose(struct daemon *d, const struct command *command)
{
    command_propose(d->own.agreement, command);
}

static const char *agreement_on_propose(struct daemon *d, uint32_t source, struct cursor *payload)
{
    struct command command;
    struct cursor ahead = *payload;
    command_get(&ahead, &command);
    if (!cursor_ok(&ahead))
        return "bad payload";
    if (command.host != tid_host(source))
        return "a command of another host";
    submit(d->own.agreement, payload->at, cursor_left(payload));
    return NULL;
}

/* Its session is no more, and so is what its tasks held. No daemon says so again: if the log does
 * not take it now, the hosts are looked at again. */
static void propose_gone(struct agreement *a, uint32_t host, uint64_t session)
{
    uint8_t body[12];
    struct cursor c = cursor_writer(body, sizeof body);
    cursor_put_u32(&c, host);
    cursor_put_u64(&c, session);
    const struct command gone = {.kind = COMMAND_HOST_GONE, .body = body, .size = sizeof body};
    if (!command_propose(a, &gone))
        a->gone_due = true;
}

/* The last session of a host in that life of its daemon. */
static uint64_t session_last(uint64_t incarnation)
{
    return ((incarnation + 1) << SESSION_BITS) - 1;
}

static void agreement_host_event(struct daemon *d, const struct host *host, int event)
{
    if (event == NODE_HOST_GONE)
        propose_gone(d->own.agreement, host->index, session_last(host->incarnation));
}

int agreement_decision(const struct daemon *d, const char *series, uint64_t number,
                       uint8_t value[CONSENSUS_VALUE_MAX])
{
    uint8_t asked[2 + CONTROL_NAME_MAX + 8], found[4 + CONSENSUS_VALUE_MAX];
    struct cursor c = cursor_writer(asked, sizeof asked), out = cursor_writer(found, sizeof found);
    cursor_put_text(&c, series);
    cursor_put_u64(&c, number);
    struct cursor body = cursor_reader(asked, (size_t)(c.at - asked));
    if (!cursor_ok(&c) || !serves(d->own.agreement) ||
        state_query(d->own.agreement->state, COMMAND_CONSENSUS_LOOK, 0, &body, &out) != ERROR_OK ||
        !cursor_ok(&out))
        return -1;
    struct cursor answer = cursor_reader(found, (size_t)(out.at - found));
    bool decided = cursor_get_u32(&answer) != 0;
    size_t size = cursor_left(&answer);
    cursor_get_bytes(&answer, value, size);
    return decided ? (int)size : -1;
}

/* ---- what is asked ---- */

const char *agreement_on_resend(struct daemon *d, uint32_t source, struct cursor *payload)
{
    uint64_t session = cursor_get_u64(payload), taken = cursor_get_u64(payload), applied;
    const struct agreement *a = d->own.agreement;
    if (!cursor_done(payload))
        return "bad payload";
    if (serves(a) && state_session(a->state, tid_host(source), &applied) == session)
        state_resend(a->state, tid_host(source), taken);
    return NULL;
}

/* Writes the answer; NULL: memory is exhausted. It is freed by the caller. */
static uint8_t *question_answer(const struct agreement *a, const struct question *q,
                                int32_t *status, size_t *size)
{
    for (size_t room = ANSWER_FIRST; room <= ANSWER_MAX; room *= 2) {
        uint8_t *bytes = malloc(room);
        if (bytes == NULL)
            return NULL;
        struct cursor body = q->body, out = cursor_writer(bytes, room);
        *status = state_query(a->state, q->kind, q->task, &body, &out);
        *size = (size_t)(out.at - bytes);
        if (cursor_ok(&out))
            return bytes;
        free(bytes);
    }
    return NULL;
}

/* It goes the way that events go, so that it does not come after one that is newer. */
static void tell_answer(struct daemon *d, const struct question *q)
{
    int32_t status = ERROR_OK;
    size_t size = 0;
    uint8_t *bytes = question_answer(d->own.agreement, q, &status, &size);
    struct reply reply;
    if (bytes == NULL)
        status = COVEY_ENOMEM;
    reply_begin(&reply, d, q->task, q->request);
    reply.flags = FRAME_ETHER;
    struct cursor c = reply_room(&reply, status < 0 ? 2 : size);
    if (status < 0)
        cursor_put_text(&c, "");
    else
        cursor_put_bytes(&c, bytes, size);
    reply_add(&reply, &c);
    reply_send(&reply, status < 0 ? status : 0);
    free(bytes);
}

static bool asked_add(struct agreement *a, const struct question *q, uint64_t number)
{
    size_t size = cursor_left(&q->body);
    struct asked *asked = a->asked_count < ASKED_MAX ? malloc(sizeof *asked + size) : NULL;
    if (asked == NULL)
        return false;
    *asked = (struct asked){.number = number, .question = *q};
    memcpy(asked->body, q->body.at, size);
    asked->question.body = cursor_reader(asked->body, size);
    *a->asked_end = asked;
    a->asked_end = &asked->next;
    a->asked_count++;
    part_want(a->daemon, PART_agreement);
    return true;
}

void agreement_ask(struct daemon *d, struct question *q)
{
    struct agreement *a = d->own.agreement;
    uint64_t number = serves(a) ? node_read(d->node, loop_now_us()) : 0;
    if (number == 0)
        return;                        /* the task asks again */
    if (node_read_ok(d->node, number)) /* who votes alone need not ask */
        tell_answer(d, q);
    else if (!asked_add(a, q, number))
        reply_error(d, q->task, q->request, COVEY_ERESOURCE, "too many ask at once");
}

static const char *agreement_on_ask(struct daemon *d, uint32_t source, struct cursor *payload)
{
    struct question q = {.task = cursor_get_u32(payload), .request = cursor_get_u32(payload)};
    q.kind = cursor_get_u8(payload);
    q.body = *payload;
    if (!cursor_ok(payload))
        return "bad payload";
    if (tid_host(q.task) != tid_host(source) || tid_local(q.task) == 0)
        return "not for a task of the host that asks";
    agreement_ask(d, &q);
    return NULL;
}

/* ---- who leads ---- */

/* Takes over what an earlier leader left undone. While somebody waits for an answer each round
 * looks whether a majority has confirmed. */
static uint64_t agreement_settle(struct daemon *d, uint64_t now_us)
{
    struct agreement *a = d->own.agreement;
    (void)now_us;
    bool leads = serves(a);
    if (leads && (!a->leads || a->gone_due)) {
        a->gone_due = false;
        /* Hosts that went while nobody led. */
        for (uint32_t host = 1; host <= HOST_INDEX_MAX; host++) {
            uint64_t applied, session = state_session(a->state, host, &applied);
            const struct host *row = session == 0 ? NULL : node_host(a->daemon->node, host);
            if (session != 0 && (row == NULL || row->state == HOST_DOWN))
                propose_gone(a, host, session);
        }
    }
    for (uint32_t host = 1; leads && !a->leads && host <= HOST_INDEX_MAX; host++)
        state_resend(a->state, host, 0); /* what the leader before may have told nobody */
    a->leads = leads;
    /* Where this host leads no more the tasks ask again, another one. */
    if (!serves(a))
        asked_drop_all(a);
    while (a->asked != NULL && node_read_ok(a->daemon->node, a->asked->number)) {
        tell_answer(a->daemon, &a->asked->question);
        asked_drop(a);
    }
    if (a->asked != NULL || a->gone_due)
        part_want(d, PART_agreement);
    return UINT64_MAX;
}

const struct part agreement_part = {
    .name = "agreement",
    .kinds = (const struct part_kind[]){{FRAME_PROPOSE, agreement_on_propose, false},
                                        {FRAME_RESEND, agreement_on_resend, false},
                                        {FRAME_ASK, agreement_on_ask, false},
                                        {0}},
    .state_bytes = sizeof(struct agreement),
    .create = agreement_create,
    .destroy = agreement_destroy,
    .settle = agreement_settle,
    .host_event = agreement_host_event};
