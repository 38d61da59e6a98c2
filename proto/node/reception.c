/*
 * reception.c - judges every datagram that arrives: a ladder of refusals, each counted by its own
 * name. What an outsider can send costs a comparison or one MAC, no memory, and at most one answer
 * that is shorter than what he sent.
 */
#include <string.h>

#include "proto/node/node_state.h"

#define LOG_INTERVAL_US 10000000

static const uint8_t NO_ID[HOST_ID_BYTES];

/* Refusals can be caused by anyone, as often as he likes: one line an interval. */
static bool may_log(struct node *node)
{
    if (node->now_us < node->log_next_us)
        return false;
    node->log_next_us = node->now_us + LOG_INTERVAL_US;
    return true;
}

static void refuse_version(struct medium *medium, uint8_t version, const struct address *from)
{
    char text[ADDRESS_TEXT_BYTES];

    medium->endpoint.counters.refused_version++;
    if (!may_log(medium->node))
        return;
    address_text(from, text);
    node_log(medium->node, "refused %s: it speaks version %u, this is version %u", text, version,
             WIRE_VERSION);
}

static void log_refusal(struct node *node, const struct address *from, const char *why)
{
    char text[ADDRESS_TEXT_BYTES];

    if (!may_log(node))
        return;
    address_text(from, text);
    node_log(node, "refused a datagram from %s: %s", text, why);
}

static void refuse_mac(struct medium *medium, const struct address *from)
{
    medium->endpoint.counters.refused_mac++;
    log_refusal(medium->node, from, "it is not authentic");
}

static void refuse_datagram(struct medium *medium, enum datagram_refusal refusal,
                            const struct datagram *d, const struct address *from)
{
    static const char *const WHY[] = {[DATAGRAM_SHORT] = "too short",
                                      [DATAGRAM_FOREIGN] = "not of Covey",
                                      [DATAGRAM_VM] = "of another VM",
                                      [DATAGRAM_KIND] = "of no known kind",
                                      [DATAGRAM_SIZE] = "of a size that its kind never has"};
    struct counters *counters = &medium->endpoint.counters;

    /* raw Ethernet has no ports: the daemons of several VMs on a host hear each other's frames */
    if (WHY[refusal] != NULL && !(medium->number == MEDIUM_ETHER && refusal == DATAGRAM_VM))
        log_refusal(medium->node, from, WHY[refusal]);
    switch (refusal) {
    case DATAGRAM_SHORT:
        counters->refused_short++;
        break;
    case DATAGRAM_FOREIGN:
        counters->refused_magic++;
        break;
    case DATAGRAM_VERSION:
        refuse_version(medium, d->version, from);
        break;
    case DATAGRAM_VM:
        counters->refused_vm++;
        break;
    case DATAGRAM_KIND:
        counters->refused_kind++;
        break;
    case DATAGRAM_SIZE:
        counters->refused_size++;
        break;
    case DATAGRAM_GOOD:
        break;
    }
}

/* ---- who may have a session ---- */

enum verdict { WELCOME, IGNORE, REFUSE_GONE, REFUSE_IDENTITY };

static enum verdict judge_host(const struct node *node, const struct hello *hello)
{
    const struct table *table = member_table(node->member);
    const struct row *row = table_row(table, hello->from);
    bool coordinates = table->coordinator == member_self(node->member);

    if (hello->from == member_self(node->member))
        return IGNORE;
    if (!member_is_up(node->member) && !(row != NULL && row_is_up(row)))
        return IGNORE;
    if (row == NULL)
        return coordinates ? REFUSE_GONE : IGNORE;
    if (!row_is_living(row))
        return REFUSE_GONE;
    if (row->invited && memcmp(row->host.id, NO_ID, HOST_ID_BYTES) == 0)
        return WELCOME;
    if (memcmp(row->host.id, hello->from_id, HOST_ID_BYTES) != 0)
        return coordinates ? REFUSE_IDENTITY : IGNORE;
    return WELCOME;
}

static bool is_for_us(const struct medium *medium, const struct hello *hello)
{
    const struct identity *me = &medium->endpoint.me;

    return hello->to == me->index && memcmp(hello->to_id, me->id, HOST_ID_BYTES) == 0;
}

static void on_here(struct medium *medium, const struct datagram *d, const struct address *from,
                    uint64_t now_us)
{
    if (!node_roll_on_here(medium, d, now_us))
        refuse_mac(medium, from);
}

/* HELLO or ROLL */
static void on_hello(struct medium *medium, const struct datagram *d, const struct address *from,
                     uint64_t now_us)
{
    struct endpoint *e = &medium->endpoint;
    uint8_t bytes[WELCOME_BYTES > REFUSE_BYTES ? WELCOME_BYTES : REFUSE_BYTES];
    enum verdict verdict;

    if (!is_for_us(medium, &d->hello)) {
        e->counters.refused_host++;
        return;
    }
    if (!handshake_hello_ok(&e->me, d)) {
        refuse_mac(medium, from);
        return;
    }
    verdict = judge_host(medium->node, &d->hello);
    if (verdict == IGNORE) {
        e->counters.refused_host++;
        return;
    }
    if (verdict != WELCOME) {
        e->counters.refused_host++;
        handshake_refuse(&e->me, &d->hello, verdict == REFUSE_GONE ? REASON_GONE : REASON_IDENTITY,
                         bytes);
        node_send_alone(medium, from, bytes, REFUSE_BYTES);
        return;
    }
    if (d->kind == DATAGRAM_ROLL) {
        member_on_roll(medium->node->member, d->hello.from, d->hello.session, now_us);
        handshake_here(&e->me, &d->hello, bytes);
        node_send_alone(medium, from, bytes, HERE_BYTES);
        return;
    }
    e->counters.hellos_answered++;
    handshake_welcome(&e->me, &d->hello, e->made[d->hello.from], bytes);
    node_send_alone(medium, from, bytes, WELCOME_BYTES);
}

static void on_confirm(struct medium *medium, struct datagram *d, const struct address *from,
                       uint64_t now_us)
{
    struct endpoint *e = &medium->endpoint;
    struct node *node = medium->node;
    struct session_keys keys;
    struct peer *peer;

    if (!is_for_us(medium, &d->hello) || judge_host(node, &d->hello) != WELCOME) {
        e->counters.refused_host++;
        return;
    }
    peer = medium->peers[d->hello.from];
    if (peer == NULL) {
        if (!session_confirm_ok(e, d, &keys)) {
            refuse_mac(medium, from);
            return;
        }
        member_bind(node->member, d->hello.from, d->hello.from_id);
        peer = node_peer(medium, table_row(member_table(node->member), d->hello.from));
        if (peer == NULL)
            return;
    }
    session_on_confirm(peer->session, d, from, now_us);
    node_peer_touch(peer);
}

/* What names a session of ours. */
static void on_session(struct medium *medium, struct datagram *d, const struct address *from,
                       uint64_t now_us)
{
    struct peer *peer = medium->peers[session_id_peer(d->session)];
    uint64_t refused = medium->endpoint.counters.refused_mac;

    if (peer == NULL) {
        medium->endpoint.counters.refused_session++;
        return;
    }
    if (d->kind == DATAGRAM_WELCOME)
        session_on_welcome(peer->session, d, from, now_us);
    else if (d->kind == DATAGRAM_REFUSE)
        session_on_refuse(peer->session, d, now_us);
    else
        session_on_sealed(peer->session, d, from, now_us);
    if (medium->endpoint.counters.refused_mac > refused)
        log_refusal(medium->node, from, "it is not authentic");
    node_peer_touch(peer);
}

/* Whether it is of a session on raw Ethernet, though it came over IP. */
static bool is_detour(const struct address *from, const uint8_t *bytes, size_t size)
{
    struct cursor c = cursor_reader(bytes, size);

    return node_medium_of(from) == MEDIUM_IP && cursor_get_u16(&c) == DETOUR_MAGIC &&
           cursor_get_u16(&c) == 0 && cursor_ok(&c);
}

void node_on_datagram(struct node *node, const struct address *from, const uint8_t *bytes,
                      size_t size, uint64_t now_us)
{
    bool detour = node->has_ether && is_detour(from, bytes, size);
    struct medium *medium = &node->media[detour ? MEDIUM_ETHER : node_medium_of(from)];
    struct datagram d = {0};
    enum datagram_refusal refusal;

    node_notice(node, now_us);
    if (medium->number == MEDIUM_ETHER && !node->has_ether)
        return;
    bytes += detour ? DETOUR_BYTES : 0;
    size -= detour ? DETOUR_BYTES : 0;
    medium->endpoint.counters.datagrams_received++;
    medium->endpoint.counters.bytes_received += size;
    refusal = datagram_decode(bytes, size, medium->endpoint.me.vm, &d);
    if (refusal != DATAGRAM_GOOD)
        refuse_datagram(medium, refusal, &d, from);
    else if (d.kind == DATAGRAM_HELLO || d.kind == DATAGRAM_ROLL)
        on_hello(medium, &d, from, now_us);
    else if (d.kind == DATAGRAM_HERE)
        on_here(medium, &d, from, now_us);
    else if (d.kind == DATAGRAM_CONFIRM)
        on_confirm(medium, &d, from, now_us);
    else if (d.kind == DATAGRAM_CAST)
        medium->endpoint.counters.refused_kind++; /* cast.h takes them */
    else
        on_session(medium, &d, from, now_us);
}
