/*
 * model_net.c - the clock, links and frames of a net (model_net.h); model_tcp.c has its streams.
 *
 * All that will happen stands in a heap of timers: a link has carried a frame, a frame has reached
 * its host, a stream has waited long enough, a task hears of something. A frame moves through the
 * queues of the links of its path. Half of the delay of a short message is the way of every frame,
 * the other half is what a task takes to react, which varies evenly by a half; so what happens in
 * lockstep here would not do so there.
 */
#include "proto/model/model_net.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "proto/model/model_net_state.h"
#include "proto/wire/grow.h"
#include "proto/wire/splitmix.h"

#define TELL_BYTES 50 /* of a short message */

/* ---- timers ------------------------------------------------------------------------------ */

static bool is_before(const struct net_timer *a, const struct net_timer *b)
{
    return a->at_s < b->at_s || (a->at_s == b->at_s && a->number < b->number);
}

void net_timer_add(struct net *net, double at_s, enum timer_kind kind, int index, int what)
{
    if (!GROW(net->timers, net->timer_room, net->timer_count + 1, 256)) {
        net->failed = true;
        return;
    }
    const struct net_timer timer = {at_s, net->numbers++, kind, index, what};
    size_t at = net->timer_count++;
    for (; at > 0 && is_before(&timer, &net->timers[(at - 1) / 2]); at = (at - 1) / 2)
        net->timers[at] = net->timers[(at - 1) / 2];
    net->timers[at] = timer;
}

static struct net_timer timer_take(struct net *net)
{
    struct net_timer first = net->timers[0], moved = net->timers[--net->timer_count];
    size_t at = 0;
    for (size_t child; (child = 2 * at + 1) < net->timer_count; at = child) {
        child +=
            child + 1 < net->timer_count && is_before(&net->timers[child + 1], &net->timers[child]);
        if (!is_before(&net->timers[child], &moved))
            break;
        net->timers[at] = net->timers[child];
    }
    net->timers[at] = moved;
    return first;
}

/* ---- streams and frames ------------------------------------------------------------------ */

void net_stream_release(struct net *net, int stream)
{
    struct net_stream *s = &net->streams[stream];
    assert(s->refs > 0);
    if (--s->refs > 0 || !s->done)
        return;
    free(s->path);
    free(s->in.arrivals);
    free(s->out.segments);
    *s = (struct net_stream){.next_free = net->free_stream};
    net->free_stream = stream;
}

int net_stream_create(struct net *net, const struct net_message *message)
{
    if (net->free_stream == NET_NONE) {
        if (!GROW(net->streams, net->stream_room, (size_t)net->stream_count + 1, 64))
            return NET_NONE;
        net->streams[net->stream_count] = (struct net_stream){.next_free = NET_NONE};
        net->free_stream = net->stream_count++;
    }
    int stream = net->free_stream;
    struct net_stream *s = &net->streams[stream];
    int *path = calloc(2 * (size_t)net->network->path_max + 1, sizeof *path);
    if (path == NULL)
        return NET_NONE;
    net->free_stream = s->next_free;
    *s = (struct net_stream){.message = *message, .path = path, .next_held = NET_NONE};
    s->there = network_path(net->network, message->from, message->to, path);
    s->back = network_path(net->network, message->to, message->from, path + s->there);
    return stream;
}

static int frame_create(struct net *net)
{
    if (net->free_frame == NET_NONE) {
        if (!GROW(net->frames, net->frame_room, (size_t)net->frame_count + 1, 256))
            return NET_NONE;
        net->frames[net->frame_count].next = NET_NONE;
        net->free_frame = net->frame_count++;
    }
    int frame = net->free_frame;
    net->free_frame = net->frames[frame].next;
    return frame;
}

static void frame_destroy(struct net *net, int frame)
{
    int stream = net->frames[frame].stream;
    net->frames[frame].next = net->free_frame;
    net->free_frame = frame;
    net_stream_release(net, stream);
}

/* The link that the frame takes next, or NULL: it is at its host. */
static struct net_link *frame_link(struct net *net, const struct net_frame *f)
{
    const struct net_stream *s = &net->streams[f->stream];
    bool back = f->kind == FRAME_OF_ACK;
    if (f->hop >= (back ? s->back : s->there))
        return NULL;
    return &net->links[s->path[(back ? s->there : 0) + f->hop]];
}

static void link_start(struct net *net, struct net_link *link)
{
    const struct net_frame *f = &net->frames[link->first];
    link->waiting -= f->bytes;
    link->ready_s = fmax(net->now_s, link->ready_s) + f->bytes / link->bytes_per_s;
    net_timer_add(net, link->ready_s, TIMER_LINK, (int)(link - net->links), 0);
}

/* Into the queue of its next link, where it may be lost, or to its host. */
static void frame_go_on(struct net *net, int frame)
{
    struct net_frame *f = &net->frames[frame];
    struct net_link *link = frame_link(net, f);
    if (link == NULL) {
        net_timer_add(net, net->now_s + net->config.delay_s / 2, TIMER_ARRIVE, frame, 0);
        return;
    }
    if (link->first != NET_NONE && link->waiting + f->bytes > net->config.queue_bytes &&
        f->kind != FRAME_OF_TELL) {
        net->lost++;
        frame_destroy(net, frame);
        return;
    }
    f->next = NET_NONE;
    link->waiting += f->bytes;
    if (link->first == NET_NONE) {
        link->first = link->last = frame;
        link_start(net, link);
    } else {
        net->frames[link->last].next = frame;
        link->last = frame;
    }
}

void net_frame_send(struct net *net, int stream, enum frame_kind kind, int value, double bytes)
{
    int frame = frame_create(net);
    if (frame == NET_NONE) {
        net->failed = true;
        return;
    }
    net->streams[stream].refs++;
    net->frames[frame] =
        (struct net_frame){NET_NONE, stream, 0, kind, value, bytes + net->config.header_bytes};
    frame_go_on(net, frame);
}

bool net_has_room(const struct net *net, const struct net_stream *s)
{
    const struct net_link *link = &net->links[s->path[0]];
    return link->first == NET_NONE ||
           link->waiting + net->config.frame_bytes + net->config.header_bytes <=
               net->config.queue_bytes;
}

void net_hold(struct net *net, int stream)
{
    struct net_link *link = &net->links[net->streams[stream].path[0]];
    if (net->streams[stream].next_held != NET_NONE || link->held_last == stream)
        return;
    if (link->held_first == NET_NONE)
        link->held_first = stream;
    else
        net->streams[link->held_last].next_held = stream;
    link->held_last = stream;
    net->streams[stream].refs++;
}

/* Streams of its host that waited for room, the first one first. */
static void link_let_on(struct net *net, struct net_link *link)
{
    while (link->held_first != NET_NONE && net_has_room(net, &net->streams[link->held_first])) {
        int stream = link->held_first;
        link->held_first = net->streams[stream].next_held;
        if (link->held_first == NET_NONE)
            link->held_last = NET_NONE;
        net->streams[stream].next_held = NET_NONE;
        stream_push(net, stream);
        net_stream_release(net, stream);
    }
}

static void link_on_carried(struct net *net, struct net_link *link)
{
    int frame = link->first;
    struct net_frame *f = &net->frames[frame];
    link->first = f->next;
    if (link->first != NET_NONE)
        link_start(net, link);
    int stream = f->stream;
    bool own = f->hop++ == 0 && f->kind == FRAME_OF_DATA;
    net->streams[stream].refs++; /* it must stay: the frame may be lost on its next link */
    frame_go_on(net, frame);
    if (own)
        stream_on_left(net, stream);
    net_stream_release(net, stream);
    link_let_on(net, link);
}

/* ---- tasks ------------------------------------------------------------------------------- */

/* 0 to 1, evenly. */
static double random_part(struct net *net)
{
    return (double)(splitmix_next(&net->random) >> 11) / 9007199254740992.0;
}

/* Half of the delay, by up to a half of that more or less. */
static double reaction_s(struct net *net)
{
    return net->config.delay_s / 2 * (0.5 + random_part(net));
}

static void hear_after(struct net *net, int stream, enum net_what what, double seconds)
{
    net->streams[stream].refs++;
    net_timer_add(net, net->now_s + seconds + reaction_s(net), TIMER_TASK, stream, (int)what);
}

void net_hear(struct net *net, int stream, enum net_what what)
{
    hear_after(net, stream, what, 0);
}

void net_wake(struct net *net, int rank)
{
    const struct net_message none = {.from = rank, .to = rank};
    int stream = net_stream_create(net, &none);
    if (stream == NET_NONE) {
        net->failed = true;
        return;
    }
    net->streams[stream].done = true;
    hear_after(net, stream, NET_START, net->config.skew_s * random_part(net));
}

void net_tell(struct net *net, int from, int to, int about)
{
    const struct net_message none = {.from = from, .to = to};
    int stream = net_stream_create(net, &none);
    if (stream == NET_NONE) {
        net->failed = true;
        return;
    }
    net->streams[stream].done = true;
    net->streams[stream].about = about;
    net_frame_send(net, stream, FRAME_OF_TELL, 0, TELL_BYTES);
}

void net_send(struct net *net, const struct net_message *message)
{
    int stream = net_stream_create(net, message);
    if (stream == NET_NONE) {
        net->failed = true;
        return;
    }
    stream_begin(net, stream);
}

/* ---- time -------------------------------------------------------------------------------- */

static void frame_on_arrived(struct net *net, int frame)
{
    const struct net_frame f = net->frames[frame];
    if (f.kind == FRAME_OF_DATA)
        stream_on_data(net, f.stream, f.value);
    else if (f.kind == FRAME_OF_ACK)
        stream_on_ack(net, f.stream, f.value);
    else
        net_hear(net, f.stream, NET_TOLD);
    frame_destroy(net, frame);
}

static void task_hears(struct net *net, const struct net_timer *timer)
{
    const struct net_stream *s = &net->streams[timer->index];
    const struct net_event event = {(enum net_what)timer->what, s->message.from, s->message.to,
                                    s->about};
    net_stream_release(net, timer->index);
    net->heard(net->context, &event);
}

int net_run(struct net *net, double rest_s)
{
    while (net->timer_count > 0 && !net->failed) {
        const struct net_timer timer = timer_take(net);
        assert(timer.at_s >= net->now_s);
        net->now_s = timer.at_s;
        switch (timer.kind) {
        case TIMER_LINK:
            link_on_carried(net, &net->links[timer.index]);
            break;
        case TIMER_ARRIVE:
            frame_on_arrived(net, timer.index);
            break;
        case TIMER_STREAM:
            stream_on_timer(net, timer.index);
            break;
        case TIMER_ACK:
            stream_on_ack_timer(net, timer.index);
            break;
        case TIMER_TASK:
            task_hears(net, &timer);
            break;
        }
    }
    net->now_s += rest_s;
    return net->failed ? -1 : 0;
}

double net_now(const struct net *net)
{
    return net->now_s;
}

uint64_t net_lost(const struct net *net)
{
    return net->lost;
}

/* ---- the whole --------------------------------------------------------------------------- */

struct net *net_create(const struct network *network, const struct net_config *config,
                       net_fn *heard, void *context)
{
    struct net *net = calloc(1, sizeof *net);
    size_t ranks = (size_t)network->rank_count, links = 2 * (size_t)network->node_count;
    if (net == NULL)
        return NULL;
    *net = (struct net){.network = network,
                        .config = *config,
                        .heard = heard,
                        .context = context,
                        .random = config->seed,
                        .free_frame = NET_NONE,
                        .free_stream = NET_NONE};
    net->links = calloc(links + 1, sizeof *net->links);
    net->memory = calloc(ranks * ranks + 1, sizeof *net->memory);
    if (net->links == NULL || net->memory == NULL) {
        net_destroy(net);
        return NULL;
    }
    for (size_t i = 0; i < links; i++)
        net->links[i] = (struct net_link){.bytes_per_s = (double)network_rate(network, i) / 8,
                                          .first = NET_NONE,
                                          .last = NET_NONE,
                                          .held_first = NET_NONE,
                                          .held_last = NET_NONE};
    return net;
}

void net_destroy(struct net *net)
{
    if (net == NULL)
        return;
    for (int i = 0; i < net->stream_count; i++) {
        free(net->streams[i].path);
        free(net->streams[i].in.arrivals);
        free(net->streams[i].out.segments);
    }
    free(net->links);
    free(net->memory);
    free(net->frames);
    free(net->streams);
    free(net->timers);
    free(net);
}
