/*
 * Services: what tasks agree on through the daemons.
 *
 *   task --SERVICE--> its daemon --PROPOSE--> the leader: agreement.c
 *   task <---REPLY--- its daemon <---EVENT--- the leader
 *
 * Every daemon is a client of the leader (proto/state/client.h): it keeps each of its commands
 * until it is said to be applied, and proposes all that are left anew when nothing was heard for a
 * while; the state applies each once. Events for the tasks here are taken in their order, each
 * once, and asked for again when one is missing. A question changes nothing: the leader answers the
 * task itself, and the task asks again when the answer is lost.
 *
 * A task that asked for anything, or was told anything, is `served`: its end becomes a command. So
 * does an event for a task that is no more: it may have been handed what it never asked for.
 *
 * Nothing is proposed from inside an event: services_settle() looks at the queue.
 *
 * When another host leads, it is proposed all that is left. When another generation of the state
 * begins, for most of the voters died at once, it knows nothing of the session: a new one begins,
 * and all that tasks here wait for ends with an error (NOTICE_LOST).
 */
#include "daemon/agree/services.h"

#include <stdlib.h>

#include "daemon/agree/agreement.h"
#include "daemon/agree/bags.h"
#include "daemon/post/reply.h"
#include "proto/state/client.h"

#define RETRY_US 1000000u
#define LOOK_US_MAX 32000000u
#define QUEUE_MAX 65536 /* commands that wait for the leader */
#define QUEUE_FULL 1024 /* from here on tasks that add to them are not read */

struct services {
    struct daemon *daemon;
    struct loop_timer *retry;
    uint32_t leader; /* whom the queue is for; 0: nobody was known yet */
    uint64_t generation;
    struct client client;
    bool watching;    /* a task here may be told something */
    uint64_t look_us; /* until events are asked for that nobody announced */
};

static void resend_ask(struct services *s);

static bool anybody_served(const struct services *s)
{
    const struct task *task = s->daemon->tasks->first;
    if (bags_any(s->daemon))
        return true;
    while (task != NULL && !task->served)
        task = task->next;
    return task != NULL;
}

static void on_retry(void *context)
{
    struct services *s = context;
    if (s->client.first == NULL) {
        /* All that was proposed is applied, and nothing is heard: the last event may be lost with a
         * leader, and no later one tells. It is asked for, less and less often. */
        s->watching = anybody_served(s) && s->leader != daemon_host(s->daemon);
        if (s->watching) {
            resend_ask(s);
            s->look_us = 2 * s->look_us < LOOK_US_MAX ? 2 * s->look_us : LOOK_US_MAX;
            loop_timer_start(s->retry, s->look_us);
        }
    }
    client_again(&s->client);
    part_want(s->daemon, PART_services); /* the round that follows starts the timer again */
}

static int services_create(struct daemon *d, struct failure *why)
{
    struct services *s = d->own.services;
    s->daemon = d;
    s->retry = loop_timer_add(d->loop, on_retry, s);
    return s->retry == NULL ? failure_memory(why) : 0;
}

static void services_destroy(struct daemon *d)
{
    struct services *s = d->own.services;
    client_fini(&s->client);
    loop_timer_remove(&s->retry);
}

/* ---- proposing ---- */

static void session_begin(struct services *s)
{
    const struct daemon *d = s->daemon;
    uint64_t session = s->client.session + 1;
    if (s->client.session == 0)
        session = agreement_session_first(node_self(d->node)->incarnation);
    client_open(&s->client, daemon_host(d), session);
}

/* A task may be faster than the news of who leads: its command waits. */
static bool command_put_in(struct services *s, const struct command *command)
{
    if (s->client.session == 0)
        session_begin(s);
    part_want(s->daemon, PART_services);
    loop_wake(s->daemon->loop);
    return client_put(&s->client, command);
}

void services_propose(struct daemon *d, const struct command *command)
{
    d->own.services->watching = true;
    command_put_in(d->own.services, command);
}

void services_enter(struct daemon *d)
{
    if (d->own.services->client.session == 0)
        services_propose(d, &(struct command){.kind = COMMAND_ACK});
}

static void command_send(struct services *s, const struct command *command)
{
    struct daemon *d = s->daemon;
    uint8_t bytes[COMMAND_BYTES_MAX];
    struct cursor c = cursor_writer(bytes, sizeof bytes);
    if (s->leader == daemon_host(d)) {
        agreement_propose(d, command);
        return;
    }
    command_put(&c, command);
    post_send_payload(d, FRAME_PROPOSE, tid_make(s->leader, 0), bytes, &c);
}

static void leader_follow(struct services *s, uint32_t leader)
{
    uint64_t before = s->generation;
    s->leader = leader;
    s->generation = agreement_generation(s->daemon);
    client_again(&s->client);
    if (before == s->generation || (before == 0 && s->client.session != 0))
        return;
    if (before != 0) {
        /* Tasks that wait learn that the state is lost. */
        struct daemon *d = s->daemon;
        uint8_t bytes[4];
        struct cursor c = cursor_writer(bytes, sizeof bytes);
        cursor_put_u32(&c, NOTICE_LOST);
        for (struct task *task = d->tasks->first; task != NULL; task = task->next)
            if (task->served)
                post_send_payload(d, FRAME_NOTICE, task->tid, bytes, &c);
    }
    session_begin(s);
    if (before != 0)
        bags_state_lost(s->daemon);
}

/* Sends what is to be proposed to whoever leads now. */
static uint64_t services_settle(struct daemon *d, uint64_t now_us)
{
    struct services *s = d->own.services;
    (void)now_us;
    const struct command *next;
    uint32_t leader = d->joined ? agreement_leader(d) : 0;
    if (leader == 0)
        return UINT64_MAX;
    if (leader != s->leader || agreement_generation(d) != s->generation)
        leader_follow(s, leader);
    if (client_wants_ack(&s->client))
        command_put_in(s, &(struct command){.kind = COMMAND_ACK});
    if (s->client.first != NULL && s->client.unsent == s->client.first)
        loop_timer_start(s->retry, RETRY_US); /* later ones do not put it off */
    while ((next = client_next(&s->client)) != NULL)
        command_send(s, next);
    return UINT64_MAX;
}

/* ---- what the leader says ---- */

/* A daemon without tasks that were served sleeps. `advanced`: a command was applied. */
static void client_rest(struct services *s, bool advanced)
{
    part_want(s->daemon, PART_services); /* it may want to acknowledge */
    if (s->client.first != NULL) {
        if (advanced)
            loop_timer_start(s->retry, RETRY_US);
        if (s->client.unsent != NULL)
            loop_wake(s->daemon->loop);
        return;
    }
    s->look_us = RETRY_US;
    if (s->watching)
        loop_timer_start(s->retry, RETRY_US);
    else
        loop_timer_stop(s->retry);
}

void services_applied(struct daemon *d, uint64_t session, uint64_t applied)
{
    struct client *client = &d->own.services->client;
    size_t queued = client->queued;
    client_applied(client, session, applied);
    client_rest(d->own.services, client->queued < queued);
}

static const char *services_on_applied(struct daemon *d, uint32_t source, struct cursor *payload)
{
    uint64_t session = cursor_get_u64(payload), applied = cursor_get_u64(payload);
    (void)source;
    if (!cursor_done(payload))
        return "bad payload";
    services_applied(d, session, applied);
    return NULL;
}

static void event_notice(struct daemon *d, const struct event *event)
{
    uint8_t bytes[4 + EVENT_BODY_MAX];
    struct cursor c = cursor_writer(bytes, sizeof bytes);
    cursor_put_u32(&c, event->request);
    cursor_put_bytes(&c, event->body, event->size);
    post_send_payload(d, FRAME_NOTICE, event->task, bytes, &c);
}

static void event_deliver(struct services *s, const struct event *event)
{
    struct daemon *d = s->daemon;
    if (tid_local(event->task) == TASK_LOCAL_DAEMON) {
        if (event->status < 0)
            log_line(&d->log, LOG_ERROR, "what this daemon asked of the VM is refused: error %d",
                     event->status);
        return;
    }
    struct task *task = task_find(d->tasks, event->task);
    if (tid_local(event->task) == 0) {
        s->watching = true;
        bags_on_notice(d, event);
        return;
    }
    if (task == NULL) {
        command_put_in(s, &(struct command){.kind = COMMAND_TASK_GONE, .task = event->task});
        return;
    }
    task->served = s->watching = true;
    if (event->kind == EVENT_ANSWER) {
        struct reply reply;
        reply_begin(&reply, d, event->task, event->request);
        struct cursor c = reply_room(&reply, event->size);
        cursor_put_bytes(&c, event->body, event->size);
        reply_add(&reply, &c);
        reply_send(&reply, event->status);
    } else
        event_notice(d, event);
}

static void resend_ask(struct services *s)
{
    uint8_t bytes[16];
    struct cursor c = cursor_writer(bytes, sizeof bytes);
    cursor_put_u64(&c, s->client.session);
    cursor_put_u64(&c, s->client.taken);
    if (s->leader != 0 && s->leader != daemon_host(s->daemon))
        post_send_payload(s->daemon, FRAME_RESEND, tid_make(s->leader, 0), bytes, &c);
}

void services_event(struct daemon *d, const struct event *event)
{
    struct services *s = d->own.services;
    size_t queued = s->client.queued;
    enum client_verdict verdict = client_event(&s->client, event);
    bool advanced = s->client.queued < queued;
    switch (verdict) {
    case CLIENT_TAKE:
        event_deliver(s, event);
        break;
    case CLIENT_GAP:
        resend_ask(s);
        break;
    case CLIENT_OLD:
        break;
    }
    client_rest(s, advanced);
}

static const char *services_on_event(struct daemon *d, uint32_t source, struct cursor *payload)
{
    struct event event;
    (void)source;
    event_get(payload, &event);
    if (!cursor_ok(payload))
        return "bad payload";
    if (tid_host(event.task) != daemon_host(d))
        return "not for a task of this host";
    services_event(d, &event);
    return NULL;
}

/* ---- what tasks want ---- */

static void question_ask(struct daemon *d, struct question *q)
{
    uint8_t bytes[9 + COMMAND_BODY_MAX];
    struct cursor c = cursor_writer(bytes, sizeof bytes);
    uint32_t leader = agreement_leader(d);
    if (leader == daemon_host(d)) {
        agreement_ask(d, q);
        return;
    }
    cursor_put_u32(&c, q->task);
    cursor_put_u32(&c, q->request);
    cursor_put_u8(&c, q->kind);
    cursor_put_bytes(&c, q->body.at, cursor_left(&q->body));
    if (leader != 0)
        post_send_payload(d, FRAME_ASK, tid_make(leader, 0), bytes, &c);
}

static const char *command_take(struct services *s, const struct question *q)
{
    const struct command command = {.kind = q->kind,
                                    .task = q->task,
                                    .request = q->request,
                                    .body = q->body.at,
                                    .size = cursor_left(&q->body)};
    if (s->client.queued >= QUEUE_MAX)
        return "too many requests wait for the leader";
    return command_put_in(s, &command) ? NULL : "memory is exhausted";
}

const char *services_on_service(struct daemon *d, uint32_t source, struct cursor *payload)
{
    struct question q = {.task = source, .request = cursor_get_u32(payload)};
    struct task *task = task_find(d->tasks, source);
    q.kind = cursor_get_u8(payload);
    q.body = *payload;
    if (!cursor_ok(payload) || cursor_left(payload) > COMMAND_BODY_MAX)
        return "bad payload";
    if (task == NULL)
        return "not a task of this host";
    switch (command_party(q.kind)) {
    case COMMAND_OF_TASK:
        task->served = d->own.services->watching = true;
        return command_take(d->own.services, &q);
    case QUERY:
        question_ask(d, &q);
        return NULL;
    default:
        return "not for a task to ask";
    }
}

static bool services_full(const struct daemon *d)
{
    return d->own.services->client.queued > QUEUE_FULL;
}

static void services_task_gone(struct daemon *d, const struct control_gone *gone,
                               const struct task *own)
{
    if (own != NULL && own->served)
        command_put_in(d->own.services,
                       &(struct command){.kind = COMMAND_TASK_GONE, .task = gone->tid});
}

const struct part services_part = {
    .name = "services",
    .kinds = (const struct part_kind[]){{FRAME_SERVICE, services_on_service, true},
                                        {FRAME_APPLIED, services_on_applied, false},
                                        {FRAME_EVENT, services_on_event, false},
                                        {0}},
    .state_bytes = sizeof(struct services),
    .create = services_create,
    .destroy = services_destroy,
    .settle = services_settle,
    .task_gone = services_task_gone,
    .full = services_full};
