/*
 * cast.c - reliable multicast, put together.
 *
 *   cast_send.c     own channels: cutting, window, credit, repair, what is stable
 *   cast_receive.c  others' channels: putting together, acknowledging, asking for what is missing
 *   cast_flush.c    what survivors of a sender do
 *   cast_order.c    total order
 *   cast_ring.c     fragments by number; cast_wire.c: the wire; host_set.c
 *
 * A channel is one sender and the set of hosts it casts to. Its messages are cut into fragments,
 * numbered from 0, each one datagram for all members. A member acknowledges what it has without a
 * gap, from time to time and when it is asked to; what all have is stable, and is forgotten by
 * all. A member that sees a gap waits a moment (the network may reorder) and asks the sender, who
 * collects what others ask for meanwhile: what one lacks is repaired by unicast, what several lack
 * by multicast. The sender never has more under way than the slowest member takes (its limit) and
 * than the network seems to carry (a window that grows with what is acknowledged and shrinks with
 * what is lost, once a round trip).
 *
 * Whether a fragment is one frame for all members or a datagram to each is the owner's affair, and
 * may change from one to the next: nothing here depends on it but the size of fragments, which is
 * chosen when a channel is opened, and with another channel when larger ones fit. What was repaired
 * in vain, perhaps since its path carries less by now, goes over the window to that member (DATA).
 *
 * Fragments of a channel are sent only when all members know the channel. So when its sender dies,
 * all survivors know who they are. Each stops, forgets what lies behind a gap, and tells the others
 * up to where it has everything (FLUSH). One that has heard all knows the farthest; the lowest of
 * the farthest hands the others what they lack (DATA), which is still here, since it is not stable.
 * Who has come there says so (DONE), and keeps all until all have said so. Another member's death
 * begins a new round: statements count only among survivors who know of the same deaths. So all
 * survivors end at one fragment, and a message that is not whole there is given out by none.
 * (Virtual synchrony: Birman & Joseph, 1987.)
 *
 * Total order: one host of the VM is the sequencer, until it dies. Others hand it their
 * messages over the windows, and it casts them to all in its own channel, whose order is then that
 * of all (the PB method of Amoeba: Kaashoek & Tanenbaum, 1991). When it dies its channel is flushed
 * as any; each host hands what did not come back to the next sequencer, which begins when its own
 * flush is over. A member gives out nothing of a later channel in total order before an earlier one
 * has ended there.
 *
 * Not done here: who is a member (the owner tells), and how datagrams and control frames travel.
 */
#include "proto/cast/cast_state.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "proto/auth/handshake.h"
#include "proto/wire/counters.h"
#include "proto/wire/list.h"

#define BUFFER_BYTES_DEFAULT (1536u * 1024)

void cast_control_send(struct cast *cast, uint32_t host, const struct cast_control *control)
{
    struct cursor c = cursor_writer(cast->control, sizeof cast->control);
    cast_put_control(&c, control);
    if (cursor_ok(&c))
        cast->owner.control(cast->owner.context, host, cast->control,
                            (size_t)(c.at - cast->control));
}

void cast_control_spread(struct cast *cast, const struct cast_channel *ch,
                         const struct cast_control *control)
{
    for (size_t i = 0; i < ch->link_count; i++) {
        if (cast_link_lives(ch, &ch->links[i]))
            cast_control_send(cast, ch->links[i].host, control);
    }
}

/* ---- lists of messages ----------------------------------------------------------------------- */

void cast_list_push(struct cast_list *list, struct cast_parcel *parcel)
{
    LINK_LAST(list->first, list->last, parcel, next);
    list->bytes += parcel->size;
}

struct cast_parcel *cast_list_add(struct cast_list *list, const uint8_t *bytes, size_t size,
                                  size_t prefix)
{
    struct cast_parcel *parcel = calloc(1, sizeof *parcel + prefix + size);
    if (parcel == NULL)
        return NULL;
    parcel->size = prefix + size;
    memcpy(parcel->bytes + prefix, bytes, size);
    cast_list_push(list, parcel);
    return parcel;
}

struct cast_parcel *cast_list_pop(struct cast_list *list)
{
    struct cast_parcel *parcel = list->first;
    if (parcel == NULL)
        return NULL;
    list->first = parcel->next;
    if (list->first == NULL)
        list->last = NULL;
    assert(list->bytes >= parcel->size);
    list->bytes -= parcel->size;
    return parcel;
}

static void cast_list_clear(struct cast_list *list)
{
    while (list->first != NULL)
        free(cast_list_pop(list));
}

/* ---- channels -------------------------------------------------------------------------------- */

struct cast_channel *cast_find(struct cast *cast, const struct cast_key *key)
{
    struct cast_channel *ch = cast->channels[key->sender % CAST_BUCKETS];
    for (; ch != NULL; ch = ch->chain) {
        if (ch->key.sender == key->sender && ch->key.id == key->id &&
            ch->key.incarnation == key->incarnation)
            return ch;
    }
    return NULL;
}

struct cast_link *cast_link_find(const struct cast_channel *ch, uint32_t host)
{
    size_t low = 0, high = ch->link_count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (ch->links[middle].host < host)
            low = middle + 1;
        else
            high = middle;
    }
    return low < ch->link_count && ch->links[low].host == host ? &ch->links[low] : NULL;
}

bool cast_link_lives(const struct cast_channel *ch, const struct cast_link *link)
{
    return !host_set_has(&ch->gone, link->host);
}

static bool links_create(struct cast *cast, struct cast_channel *ch)
{
    struct host_set others = ch->members;
    host_set_remove(&others, cast->self);
    ch->link_count = host_set_count(&others);
    ch->links = calloc(ch->link_count + 1, sizeof *ch->links);
    if (ch->links == NULL)
        return false;
    uint32_t host = 0;
    for (size_t i = 0; i < ch->link_count; i++)
        ch->links[i].host = host = host_set_next(&others, host);
    return true;
}

struct cast_channel *cast_channel_create(struct cast *cast, const struct cast_key *key,
                                         const struct host_set *members)
{
    struct cast_channel *ch = calloc(1, sizeof *ch);
    if (ch == NULL)
        return NULL;
    ch->key = *key;
    ch->mine = key->sender == cast->self;
    ch->members = *members;
    ch->gone = cast->gone;
    host_set_intersect(&ch->gone, members);
    ch->seal.vm = cast->vm;
    ch->seal.encrypt = cast->config.encrypt;
    if (!cast_seal_derive(&ch->seal, cast->vm_key, cast->hosts[key->sender].id, key) ||
        !links_create(cast, ch)) {
        cast_seal_end(&ch->seal);
        free(ch);
        return NULL;
    }
    ch->chain = cast->channels[key->sender % CAST_BUCKETS];
    cast->channels[key->sender % CAST_BUCKETS] = ch;
    cast->channel_count++;
    cast->own_count += ch->mine;
    cast->counters.channels++;
    return ch;
}

void cast_channel_destroy(struct cast *cast, struct cast_channel *ch)
{
    UNLINK(cast->channels[ch->key.sender % CAST_BUCKETS], ch, chain);
    cast->channel_count--;
    assert(cast->own_count >= ch->mine && cast->queued >= ch->sender.queue.bytes);
    cast->own_count -= ch->mine;
    cast->queued -= ch->sender.queue.bytes;
    cast_list_clear(&ch->sender.queue);
    cast_ring_fini(&ch->ring);
    free(ch->links);
    cast_seal_end(&ch->seal);
    free(ch);
}

void cast_tomb_add(struct cast *cast, const struct cast_key *key, uint64_t have)
{
    cast->tombs[cast->tomb_next++ % CAST_TOMBS] = (struct cast_tomb){*key, have};
}

const struct cast_tomb *cast_tomb_find(const struct cast *cast, const struct cast_key *key)
{
    for (size_t i = 0; i < CAST_TOMBS; i++) {
        const struct cast_key *k = &cast->tombs[i].key;
        if (k->sender == key->sender && k->id == key->id && k->incarnation == key->incarnation)
            return &cast->tombs[i];
    }
    return NULL;
}

void cast_channel_bury(struct cast *cast, struct cast_channel *ch)
{
    cast_tomb_add(cast, &ch->key, ch->receiver.have);
    cast->dirty = true;
    cast_channel_destroy(cast, ch);
}

bool cast_ring_ready(const struct cast *cast, struct cast_channel *ch)
{
    (void)cast;
    return ch->ring.bytes != NULL || cast_ring_init(&ch->ring) == 0;
}

/* ---- life ------------------------------------------------------------------------------------ */

struct cast *cast_create(const struct cast_config *config, const struct cast_owner *owner)
{
    struct cast *cast = calloc(1, sizeof *cast);
    struct identity me = {.encrypt = config->encrypt};
    if (cast == NULL)
        return NULL;
    if (auth_init() != 0) {
        free(cast);
        return NULL;
    }
    cast->config = *config;
    cast->config.self = (struct host){0}; /* what it points to is the caller's */
    cast->owner = *owner;
    if (config->buffer_bytes == 0)
        cast->config.buffer_bytes = BUFFER_BYTES_DEFAULT;
    identity_derive(&me, config->vm, config->key);
    memcpy(cast->vm_key, me.vm_key, sizeof cast->vm_key);
    cast->vm = me.vm;
    explicit_bzero(&me, sizeof me);
    explicit_bzero(cast->config.key, sizeof cast->config.key);
    cast->self = config->self.index;
    cast->random = config->seed;
    cast->total.sequencer = cast->self;
    cast->total.next_number = 1;
    struct cast_host *self = &cast->hosts[cast->self];
    self->incarnation = config->self.incarnation;
    memcpy(self->id, config->self.id, HOST_ID_BYTES);
    return cast;
}

void cast_destroy(struct cast *cast)
{
    if (cast == NULL)
        return;
    for (size_t i = 0; i < CAST_BUCKETS; i++) {
        while (cast->channels[i] != NULL)
            cast_channel_destroy(cast, cast->channels[i]);
    }
    cast_list_clear(&cast->total.pending);
    cast_list_clear(&cast->total.waiting);
    cast_list_clear(&cast->total.local);
    explicit_bzero(cast->vm_key, sizeof cast->vm_key);
    free(cast);
}

/* ---- membership ------------------------------------------------------------------------------ */

void cast_host_up(struct cast *cast, const struct host *host, uint64_t now_us)
{
    if (host->index == 0 || host->index > HOST_INDEX_MAX || host->index == cast->self)
        return;
    struct cast_host *h = &cast->hosts[host->index];
    if (host_set_has(&cast->live, host->index) && h->incarnation == host->incarnation)
        return;
    cast->now_us = now_us;
    cast->dirty = true;
    h->incarnation = host->incarnation;
    memcpy(h->id, host->id, HOST_ID_BYTES);
    if (cast->ordered[host->index] > 0)
        cast->ordered[host->index] = 0;
    host_set_add(&cast->live, host->index);
    host_set_remove(&cast->gone, host->index);
    cast_order_review(cast);
}

void cast_host_gone(struct cast *cast, uint32_t host, uint64_t now_us)
{
    if (host == 0 || host > HOST_INDEX_MAX || host == cast->self)
        return;
    cast->now_us = now_us;
    cast->dirty = true;
    host_set_remove(&cast->live, host);
    host_set_add(&cast->gone, host);
    cast_order_review(cast);
    /* hundreds may be gone at once, and most hosts have no channel then */
    for (size_t i = 0; i < CAST_BUCKETS && cast->channel_count > 0; i++) {
        for (struct cast_channel *ch = cast->channels[i], *next; ch != NULL; ch = next) {
            next = ch->chain;
            bool member = host_set_has(&ch->members, host) && !host_set_has(&ch->gone, host);
            if (member)
                host_set_add(&ch->gone, host);
            if (ch->mine && member)
                cast_member_gone(cast, ch);
            else if ((ch->state == CAST_LIVE && ch->key.sender == host) ||
                     (ch->state == CAST_FLUSHING && member))
                cast_flush_round(cast, ch);
        }
    }
}

bool cast_settled(const struct cast *cast, uint32_t host)
{
    const struct cast_channel *ch = cast->channels[host % CAST_BUCKETS];
    while (ch != NULL && ch->key.sender != host)
        ch = ch->chain;
    return ch == NULL;
}

/* ---- sending --------------------------------------------------------------------------------- */

/* The channel to exactly those hosts; one from before some of them came, or whose fragments are not
 * of the size that fits now, is replaced; of one not used for long the place can be taken. */
static struct cast_channel *own_channel(struct cast *cast, const struct host_set *to)
{
    struct cast_channel *oldest = NULL;
    struct cast_channel *ch = cast->channels[cast->self % CAST_BUCKETS];
    for (; ch != NULL; ch = ch->chain) {
        if (!ch->mine || ch->total || ch->sender.retired)
            continue;
        bool same = host_set_equal(&ch->wanted, to);
        ch->sender.retired = same && (!cast_covers(cast, ch) || !cast_fits(cast, ch));
        if (same && !ch->sender.retired)
            return ch;
        if (cast_idle(ch) && (oldest == NULL || ch->sender.used_us < oldest->sender.used_us))
            oldest = ch;
    }
    if (cast->own_count >= CAST_OWN_MAX && oldest != NULL)
        cast_close(cast, oldest);
    return cast->own_count < CAST_OWN_MAX ? cast_open(cast, to, false) : NULL;
}

int cast_send(struct cast *cast, const struct host_set *to, const uint8_t *bytes, size_t size,
              uint64_t now_us)
{
    struct host_set up = *to;
    host_set_intersect(&up, &cast->live);
    if (size > CAST_MESSAGE_MAX)
        return -EMSGSIZE;
    if (host_set_empty(&up))
        return 0;
    cast->now_us = now_us;
    struct cast_channel *ch = own_channel(cast, to);
    if (ch == NULL)
        return cast->own_count >= CAST_OWN_MAX ? -EBUSY : -ENOMEM;
    struct cast_parcel *parcel = cast_list_add(&ch->sender.queue, bytes, size, 0);
    if (parcel == NULL)
        return -ENOMEM;
    parcel->number = ++cast->total.serial;
    ch->sender.used_us = now_us;
    cast->queued += size;
    cast->counters.messages_sent++;
    cast->dirty = true;
    return 0;
}

int cast_send_total(struct cast *cast, const uint8_t *bytes, size_t size, uint64_t now_us)
{
    if (size > CAST_MESSAGE_MAX - CAST_TOTAL_BYTES)
        return -EMSGSIZE;
    struct cast_parcel *parcel = cast_list_add(&cast->total.pending, bytes, size, 0);
    if (parcel == NULL)
        return -ENOMEM;
    parcel->number = cast->total.next_number++;
    cast->now_us = now_us;
    cast->counters.messages_sent++;
    cast->dirty = true;
    return 0;
}

uint64_t cast_mark(const struct cast *cast)
{
    return cast->total.serial;
}

/* The serial of the oldest message that is not everywhere. */
static uint64_t oldest(const struct cast_channel *ch)
{
    const struct cast_slot *slot = cast_ring_get(&ch->ring, ch->stable);
    if (ch->stable < ch->sender.next && slot != NULL)
        return slot->serial;
    return ch->sender.queue.first != NULL ? ch->sender.queue.first->number : UINT64_MAX;
}

bool cast_passed(const struct cast *cast, uint64_t mark)
{
    const struct cast_channel *ch = cast->channels[cast->self % CAST_BUCKETS];
    for (; ch != NULL; ch = ch->chain) {
        if (ch->mine && !ch->total && oldest(ch) <= mark)
            return false;
    }
    return true;
}

size_t cast_queued(const struct cast *cast)
{
    return cast->queued + cast->total.pending.bytes + cast->total.waiting.bytes;
}

/* ---- what comes in --------------------------------------------------------------------------- */

bool cast_is_datagram(const uint8_t *bytes, size_t size)
{
    return size >= CAST_OVERHEAD_BYTES && bytes[3] == DATAGRAM_CAST;
}

/* Another's channel that a fragment names: of those of one name the last alone is not closed. */
static struct cast_channel *find_live(struct cast *cast, const struct cast_fragment *f)
{
    struct cast_channel *ch = cast->channels[f->sender % CAST_BUCKETS];
    while (ch != NULL && (ch->mine || ch->key.sender != f->sender || ch->state != CAST_LIVE ||
                          cast_name(ch->key.id) != f->name ||
                          ch->key.incarnation != cast->hosts[f->sender].incarnation))
        ch = ch->chain;
    return ch;
}

void cast_on_datagram(struct cast *cast, const uint8_t *bytes, size_t size, uint64_t now_us)
{
    struct cast_fragment fragment;
    cast->now_us = now_us;
    cast->counters.fragments_received++;
    if (!cast_peek(bytes, size, cast->vm, &fragment)) {
        cast->counters.refused++;
        return;
    }
    struct cast_channel *ch = find_live(cast, &fragment);
    if (ch != NULL) /* else ended, or not yet known: the sender repairs it */
        cast_on_fragment(cast, ch, &fragment, bytes);
}

/* What a member says of an own channel, and what its sender says of another's. */
static const char *on_channel(struct cast *cast, uint32_t host, const struct cast_control *m)
{
    struct cast_channel *ch = cast_find(cast, &m->key);
    if (ch == NULL)
        return NULL; /* it ended here meanwhile */
    bool to_sender = m->type == CAST_OPENED || m->type == CAST_ACK;
    bool from_sender = m->type == CAST_SYNC || m->type == CAST_CLOSE ||
                       (m->type == CAST_DATA && host == ch->key.sender);
    if (to_sender != ch->mine || (from_sender && host != ch->key.sender))
        return "not from that host to this one";
    if (!from_sender && cast_link_find(ch, host) == NULL)
        return "its host is not a member";
    if (m->type == CAST_OPENED)
        cast_on_opened(cast, ch, host);
    else if (m->type == CAST_ACK)
        cast_on_ack(cast, ch, host, m);
    else if (m->type == CAST_DATA)
        cast_on_data(cast, ch, host, m);
    else if (m->type == CAST_DONE)
        cast_on_done(cast, ch, host);
    else if (ch->state == CAST_LIVE && m->type == CAST_SYNC)
        cast_on_sync(cast, ch, m);
    else if (ch->state == CAST_LIVE)
        cast_on_close(cast, ch);
    return NULL;
}

const char *cast_on_control(struct cast *cast, uint32_t host, const uint8_t *payload, size_t size,
                            uint64_t now_us)
{
    struct cast_control m;
    struct cursor c = cursor_reader(payload, size);
    cast_get_control(&c, &m);
    if (!cursor_done(&c))
        return "bad payload";
    cast->now_us = now_us;
    cast->dirty = true;
    if (!host_set_has(&cast->live, host))
        return "its host is not up";
    if (m.type == CAST_OPEN)
        return m.key.sender == host ? cast_on_open(cast, &m) : "a channel of another host";
    if (m.type == CAST_FLUSH)
        return cast_on_flush(cast, host, &m);
    if (m.type == CAST_ORDER)
        return cast_on_order(cast, host, &m);
    return on_channel(cast, host, &m);
}

/* ---- time ------------------------------------------------------------------------------------ */

static uint64_t step_channel(struct cast *cast, struct cast_channel *ch)
{
    if (ch->mine)
        return cast_send_step(cast, ch);
    uint64_t due = ch->state == CAST_FLUSHING ? cast_flush_step(cast, ch) : UINT64_MAX;
    uint64_t receive = cast_receive_step(cast, ch);
    return due < receive ? due : receive;
}

static uint64_t step_channels(struct cast *cast)
{
    uint64_t due = UINT64_MAX;
    for (size_t i = 0; i < CAST_BUCKETS && cast->channel_count > 0; i++) {
        for (struct cast_channel *ch = cast->channels[i], *next; ch != NULL; ch = next) {
            next = ch->chain;
            uint64_t at = step_channel(cast, ch);
            due = at < due ? at : due;
        }
    }
    return due;
}

uint64_t cast_step(struct cast *cast, uint64_t now_us)
{
    cast->now_us = now_us;
    while (cast->dirty || now_us >= cast->due_us) {
        cast->dirty = false;
        uint64_t order_us = cast_order_step(cast), channels_us = step_channels(cast);
        cast->due_us = order_us < channels_us ? order_us : channels_us;
        if (cast->due_us <= now_us && !cast->dirty)
            break; /* more may be sent, but not in one go */
    }
    return cast->due_us;
}

/* ---- counters -------------------------------------------------------------------------------- */

const char *cast_stat(const struct cast *cast, size_t i, uint64_t *value)
{
    const struct cast_counters *n = &cast->counters;
    const struct counter stats[] = {
        {"cast.messages_sent", n->messages_sent},
        {"cast.messages_delivered", n->messages_delivered},
        {"cast.fragments_sent", n->fragments_sent},
        {"cast.fragments_received", n->fragments_received},
        {"cast.repairs_sent", n->repairs_sent},
        {"cast.repairs_multicast", n->repairs_multicast},
        {"cast.repairs_framed", n->repairs_framed},
        {"cast.repairs_asked", n->asked},
        {"cast.duplicates", n->duplicates},
        {"cast.refused", n->refused},
        {"cast.flushes", n->flushes},
        {"cast.channels_opened", n->channels},
    };
    return counter_get(stats, sizeof stats / sizeof stats[0], i, value);
}
