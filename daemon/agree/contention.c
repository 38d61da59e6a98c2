/*
 * The part of the tokens of contention domains (proto/contention/contention.h): this daemon's tasks
 * and their claims, and the arbiter while it leads.
 *
 * A task's claim goes to its daemon, which passes it on to the host that leads; that
 * one's arbiter answers the task itself.
 *
 *   task --BULK_ASK--> its daemon --BULK_ASK--> the leader's: arbiter.c
 *   task <--BULK_ANSWER-------------------------
 *   task --BULK_END--> its daemon --BULK_END--> (its daemon says so when the task ends, too)
 *
 * The arbiter has nothing that outlives it. A daemon that begins to lead makes one that waits until
 * the grants of the one before have run out; only the daemon that began the VM need not, the first
 * time. Which domains a message crosses follows from the names of its hosts and the topology of the
 * VM, which the leader has in what is agreed; it is looked at again when it has changed.
 */
#include <stdlib.h>

#include "daemon/agree/agreement.h"
#include "daemon/base/daemon.h"
#include "daemon/base/options.h"
#include "daemon/post/post.h"
#include "daemon/table/task.h"
#include "proto/contention/contention.h"
#include "proto/network/domain.h"
#include "proto/network/topology.h"
#include "proto/state/vm_topology.h"

#define LOOK_US 500000u /* between two looks whether the topology is another one */

struct contention {
    struct daemon *daemon;
    struct arbiter *arbiter; /* while this daemon leads and its VM avoids contention */
    bool led;                /* it had one before */
    struct domains *domains;
    uint64_t topology_hash, look_us;
};

static int contention_create(struct daemon *d, struct failure *why)
{
    (void)why;
    d->own.contention->daemon = d;
    return 0;
}

static void contention_destroy(struct daemon *d)
{
    struct contention *c = d->own.contention;
    arbiter_destroy(c->arbiter);
    domains_destroy(c->domains);
}

/* ---- the topology ---- */

/* 0: there is none. */
static uint64_t topology_head(const struct contention *c, size_t *bytes)
{
    uint8_t value[CONSENSUS_VALUE_MAX];
    int size = agreement_decision(c->daemon, VM_TOPOLOGY_SERIES, 0, value);
    struct cursor head = cursor_reader(value, size < 0 ? 0 : (size_t)size);
    uint64_t hash;
    *bytes = vm_topology_get_head(&head, &hash);
    return cursor_done(&head) ? hash | 1 : 0;
}

static char *topology_text(const struct contention *c, size_t bytes, uint64_t hash)
{
    uint8_t value[CONSENSUS_VALUE_MAX];
    char *text = malloc(bytes + 1);
    size_t at = 0;
    for (uint64_t i = 1; text != NULL && at < bytes; i++) {
        int size = agreement_decision(c->daemon, VM_TOPOLOGY_SERIES, i, value);
        if (size <= 0 || (size_t)size > bytes - at) {
            free(text);
            return NULL;
        }
        memcpy(text + at, value, (size_t)size);
        at += (size_t)size;
    }
    if (text != NULL && (vm_topology_hash(text, bytes) | 1) != hash) {
        free(text);
        return NULL;
    }
    return text;
}

static void domains_look(struct contention *c, uint64_t now_us)
{
    size_t bytes;
    if (now_us < c->look_us)
        return;
    c->look_us = now_us + LOOK_US;
    uint64_t hash = topology_head(c, &bytes);
    if (c->domains == NULL || hash != c->topology_hash) {
        struct daemon *d = c->daemon;
        char why[TOPOLOGY_ERROR_BYTES] = "its parts do not belong together";
        char *text = hash == 0 ? NULL : topology_text(c, bytes, hash);
        domains_destroy(c->domains);
        c->domains = NULL;
        if (hash == 0 || text != NULL)
            c->domains = domains_create(&d->conf.contention, text, bytes, why);
        free(text);
        c->topology_hash = hash;
        if (c->domains == NULL)
            log_line(&d->log, LOG_ERROR, "no contention domains: %s", why);
        else
            log_line(&d->log, LOG_INFO, "contention domains: %d%s", domains_count(c->domains),
                     hash == 0 ? ", without a topology" : "");
    }
}

/* ---- the arbiter ---- */

static void on_arbiter_answer(void *context, const struct contention_answer *answer)
{
    uint8_t bytes[CONTENTION_ANSWER_BYTES];
    struct contention *c = context;
    struct cursor out = cursor_writer(bytes, sizeof bytes);
    contention_put_answer(&out, answer);
    post_send_payload(c->daemon, FRAME_BULK_ANSWER, answer->task, bytes, &out);
}

static struct domain_way way_of(const struct contention *c, const struct contention_ask *ask)
{
    const struct host *from = node_host(c->daemon->node, tid_host(ask->task));
    const struct host *to = node_host(c->daemon->node, ask->to);
    if (from == NULL || to == NULL || c->domains == NULL)
        return (struct domain_way){0};
    return domains_way(c->domains, from->name, to->name);
}

static void claim_judge(struct contention *c, const struct contention_ask *ask, uint64_t now_us)
{
    domains_look(c, now_us);
    struct domain_way way = way_of(c, ask);
    struct contention_answer answer = {.task = ask->task,
                                       .number = ask->number,
                                       .asked_us = ask->asked_us,
                                       .verdict = CONTENTION_FREE};
    if (way.tokens != 0) {
        const struct arbiter_claim claim = {.ask = *ask,
                                            .domains = way.tokens,
                                            .quantum_bytes =
                                                c->daemon->conf.contention.quantum_bytes};
        arbiter_ask(c->arbiter, &claim, now_us);
        loop_wake(c->daemon->loop); /* its next time may be another */
        return;
    }
    if (way.rate != 0) {
        answer.verdict = CONTENTION_STAGGERED;
        answer.rate = way.rate;
    }
    on_arbiter_answer(c, &answer);
}

static uint64_t contention_settle(struct daemon *d, uint64_t now_us)
{
    struct contention *c = d->own.contention;
    bool leads = d->joined && d->conf.contention.mode != CONTENTION_OFF &&
                 agreement_leader(d) == daemon_host(d);
    if (leads && c->arbiter == NULL) {
        bool first = !c->led && !c->daemon->options->join;
        c->arbiter = arbiter_create(first ? 0 : now_us + CONTENTION_LEASE_US, on_arbiter_answer, c);
        c->led = true;
        c->look_us = 0;
    }
    if (!leads && c->arbiter != NULL) {
        arbiter_destroy(c->arbiter);
        c->arbiter = NULL;
    }
    return c->arbiter == NULL ? UINT64_MAX : arbiter_step(c->arbiter, now_us);
}

/* ---- what tasks and daemons say ---- */

/* To the leader, of a task here; what another daemon passed on is not passed on again. */
static void claim_pass_on(struct daemon *d, uint32_t source, uint8_t kind,
                          const struct cursor *payload)
{
    uint32_t leader = agreement_leader(d);
    struct frame frame = {.length = (uint32_t)cursor_left(payload),
                          .kind = kind,
                          .source = daemon_tid(d),
                          .destination = tid_make(leader, 0)};
    if (leader != 0 && leader != daemon_host(d) && tid_host(source) == daemon_host(d))
        post_send(d, &frame, payload->at);
}

/* A task speaks for itself, a daemon for its tasks. */
static bool may_speak(uint32_t source, uint32_t task)
{
    return tid_local(source) == 0 ? tid_host(source) == tid_host(task) : source == task;
}

static const char *contention_on_ask(struct daemon *d, uint32_t source, struct cursor *payload)
{
    const struct cursor whole = *payload;
    struct contention_ask ask;
    contention_get_ask(payload, &ask);
    if (!cursor_done(payload))
        return "bad payload";
    if (!may_speak(source, ask.task))
        return "for another's task";
    struct task *task = task_find(d->tasks, source);
    if (task != NULL)
        task->bulk = true;
    if (d->own.contention->arbiter != NULL)
        claim_judge(d->own.contention, &ask, loop_now_us());
    else
        claim_pass_on(d, source, FRAME_BULK_ASK, &whole);
    return NULL;
}

static const char *contention_on_end(struct daemon *d, uint32_t source, struct cursor *payload)
{
    const struct cursor whole = *payload;
    uint32_t task, number;
    contention_get_end(payload, &task, &number);
    if (!cursor_done(payload))
        return "bad payload";
    if (!may_speak(source, task) || tid_local(task) == 0)
        return "for another's task";
    if (d->own.contention->arbiter != NULL)
        arbiter_end(d->own.contention->arbiter, task, number, loop_now_us());
    else
        claim_pass_on(d, source, FRAME_BULK_END, &whole);
    return NULL;
}

/* What it held or wanted is given up. */
static void contention_task_gone(struct daemon *d, const struct control_gone *gone,
                                 const struct task *own)
{
    uint8_t bytes[CONTENTION_END_BYTES];
    struct cursor c = cursor_writer(bytes, sizeof bytes);
    if (own == NULL || !own->bulk)
        return;
    contention_put_end(&c, gone->tid, 0);
    c = cursor_reader(bytes, sizeof bytes);
    contention_on_end(d, daemon_tid(d), &c);
}

static void contention_host_event(struct daemon *d, const struct host *host, int event)
{
    if (event == NODE_HOST_GONE && d->own.contention->arbiter != NULL)
        arbiter_end(d->own.contention->arbiter, tid_make(host->index, 0), 0, loop_now_us());
}

static const char *contention_stat(const struct daemon *d, size_t i, uint64_t *value)
{
    static const char *const names[] = {"contention.asked",   "contention.granted",
                                        "contention.ended",   "contention.regenerated",
                                        "contention.refused", "contention.waiting"};
    const struct arbiter *arbiter = d->own.contention->arbiter;
    if (arbiter == NULL || i >= sizeof names / sizeof names[0])
        return NULL;
    const struct arbiter_counters *n = arbiter_counters(arbiter);
    const uint64_t values[] = {n->asked,       n->granted, n->ended,
                               n->regenerated, n->refused, arbiter_waiting(arbiter)};
    *value = values[i];
    return names[i];
}

const struct part contention_part = {
    .name = "contention",
    .kinds = (const struct part_kind[]){{FRAME_BULK_ASK, contention_on_ask, false},
                                        {FRAME_BULK_END, contention_on_end, false},
                                        {0}},
    .state_bytes = sizeof(struct contention),
    .create = contention_create,
    .destroy = contention_destroy,
    .settle = contention_settle,
    .task_gone = contention_task_gone,
    .host_event = contention_host_event,
    .stat = contention_stat};
