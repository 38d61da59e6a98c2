/*
 * model_tcp.c - the streams of a net (model_net.h): what Linux's TCP does with a message, as far as
 * it takes time where links are shared.
 *
 * A sender has at most cwnd segments under way, and no more than QUEUED_MAX in the queue of its own
 * host (TCP small queues). cwnd begins at 10, or at what an earlier message has left of it, grows
 * by one with every segment that comes until ssthresh is reached or round trips show a queue
 * (HyStart), and slowly beyond (CUBIC, in its Reno-friendly region: messages are over before its
 * cubic one). A segment is lost when one that was sent later has come (RACK), in which case cwnd
 * falls to 0.7 of itself. When nothing comes for two round trips the last segment is sent once more
 * (tail loss probe), and when that shows nothing, all are lost after 200 ms and a round trip: cwnd
 * is 1 then, and the next wait twice as long.
 *
 * The receiver says of each arrival in which order it came; an acknowledgement is how far the
 * sender may read that list. Acknowledgements can be lost: a later one says the same and more.
 */
#include <assert.h>
#include <math.h>
#include <stdlib.h>

#include "proto/model/model_net_state.h"

#define FIRST_WINDOW 10.0 /* RFC 6928 */
#define LEAST_SSTHRESH 2.0
#define CUT 0.7        /* RFC 9438: beta of CUBIC */
#define FRIENDLY 0.529 /* 3 (1 - beta) / (1 + beta): segments a round trip */
#define UNHURT 0.05    /* a round trip, of a stream that never lost anything */
#define HYSTART_WINDOW 16.0
#define HYSTART_LEAST_S 0.004
#define HYSTART_MOST_S 0.016
#define TIMEOUT_LEAST_S 0.2
#define TIMEOUT_MOST_S 2.0 /* Covey's streams: RETRY_MS of link_tcp.c */
#define PROBE_MORE_S 0.008 /* two ticks of a kernel with 250 a second */
#define QUEUED_MAX 4       /* two packets of two segments */
/* A socket takes so many bytes before the first of them are acknowledged: Linux's first 87040, of
 * which a packet of two segments takes 4352. Of a longer message it takes the rest when a third of
 * them is free; the mean of what is not acknowledged by then. */
#define KERNEL_BYTES 57920.0
#define KERNEL_LAST_BYTES 46000.0

/* ---- timers of the sender ---------------------------------------------------------------- */

static double timeout_s(const struct net_stream *s)
{
    double around_s = s->round_s + fmax(TIMEOUT_LEAST_S, 4 * s->deviation_s);
    return fmin(around_s * s->timeout_s, TIMEOUT_MOST_S);
}

static bool is_probe_next(const struct net_stream *s)
{
    return !s->probed && s->lost == 0 && s->first >= s->recover;
}

static void arm(struct net *net, int stream)
{
    struct net_stream *s = &net->streams[stream];
    double for_s = timeout_s(s);
    if (is_probe_next(s)) {
        bool alone = s->away == 1; /* its acknowledgement may be delayed */
        double probe_s = 2 * s->round_s + (alone ? TIMEOUT_LEAST_S : PROBE_MORE_S);
        for_s = fmin(for_s, probe_s);
    }
    s->timer_s = s->away + s->lost > 0 ? net->now_s + for_s : 0;
    if (s->timer_s > 0 && !s->timed) {
        s->timed = true;
        s->refs++;
        net_timer_add(net, s->timer_s, TIMER_STREAM, stream, 0);
    }
}

/* ---- sending ----------------------------------------------------------------------------- */

static double segment_bytes(const struct net *net, const struct net_stream *s, int segment)
{
    double full = net->config.frame_bytes;
    return segment + 1 < s->count ? full : s->message.bytes - full * (s->count - 1);
}

static void transmit(struct net *net, int stream, int segment)
{
    struct net_stream *s = &net->streams[stream];
    struct net_segment *g = &s->segments[segment];
    s->lost -= g->state == SEGMENT_LOST;
    s->away += g->state != SEGMENT_AWAY;
    s->most_away = s->away > s->most_away ? s->away : s->most_away;
    s->queued++;
    s->prr_sent++;
    g->state = SEGMENT_AWAY;
    g->times = g->times < UINT8_MAX ? (uint8_t)(g->times + 1) : g->times;
    g->stamp = ++s->stamps;
    g->sent_s = net->now_s;
    net_frame_send(net, stream, FRAME_OF_DATA, segment, segment_bytes(net, s, segment));
}

static int next_segment(const struct net_stream *s)
{
    int segment = s->first;
    if (s->lost == 0)
        return s->next < s->count ? s->next : NET_NONE;
    while (s->segments[segment].state != SEGMENT_LOST)
        segment++;
    return segment;
}

void stream_push(struct net *net, int stream)
{
    struct net_stream *s = &net->streams[stream];
    bool sent = false;
    if (s->done)
        return;
    while (s->away < (int)s->cwnd && s->queued < QUEUED_MAX) {
        int segment = next_segment(s);
        if (segment == NET_NONE)
            break;
        if (!net_has_room(net, s)) {
            net_hold(net, stream);
            break;
        }
        s->next += segment == s->next;
        transmit(net, stream, segment);
        sent = true;
    }
    if (sent)
        arm(net, stream);
    if (!s->left && s->next >= s->count - 1) {
        s->left = true;
        net_hear(net, stream, NET_LEFT);
    }
    double bytes = s->count * net->config.frame_bytes,
           left = bytes - s->came * net->config.frame_bytes;
    if (!s->taken && left <= (bytes <= KERNEL_BYTES ? KERNEL_BYTES : KERNEL_LAST_BYTES)) {
        s->taken = true;
        net_hear(net, stream, NET_TAKEN);
    }
}

void stream_on_left(struct net *net, int stream)
{
    net->streams[stream].queued--;
    stream_push(net, stream);
}

/* ---- acknowledgements -------------------------------------------------------------------- */

static void take_sample(struct net_stream *s, double round_s)
{
    double off = fabs(round_s - s->round_s);
    s->round_s += (round_s - s->round_s) / 8;
    s->deviation_s += (off - s->deviation_s) / 4;
    s->least_s = fmin(s->least_s, round_s);
    double queue_s = fmin(fmax(s->least_s / 8, HYSTART_LEAST_S), HYSTART_MOST_S);
    if (s->cwnd >= HYSTART_WINDOW && s->cwnd < s->ssthresh &&
        round_s > s->least_s + fmin(queue_s, s->least_s / 2))
        s->ssthresh = s->cwnd;
}

static void grow(struct net_stream *s, int came)
{
    for (int i = 0; i < came; i++) {
        if (s->cwnd < s->ssthresh && s->cwnd < 2 * s->most_away)
            s->cwnd += 1;
        else if (s->cwnd >= s->ssthresh && s->away + came >= (int)s->cwnd)
            s->cwnd += fmax(FRIENDLY / s->cwnd, s->cut ? 0 : UNHURT);
    }
}

static bool is_after_timeout(const struct net_stream *s)
{
    return !s->recovering && s->first < s->recover;
}

/* cwnd is to fall to ssthresh by reduce(). */
static void recover(struct net_stream *s)
{
    s->cwnd_before = s->cwnd;
    s->ssthresh = fmax(s->cwnd * CUT, LEAST_SSTHRESH);
    s->recover = s->next;
    s->recovering = s->cut = true;
    s->prr_came = s->prr_sent = 0;
}

/* What was sent before something that has come will not come any more. Once a window is cut for it,
 * and once more when what was sent again after a timeout is lost again. */
static bool find_lost(struct net_stream *s)
{
    int found = 0;
    bool again = false;
    for (int i = s->first; i < s->next; i++) {
        struct net_segment *g = &s->segments[i];
        if (g->state == SEGMENT_AWAY && g->stamp < s->newest) {
            g->state = SEGMENT_LOST;
            found++;
            again = again || g->times > 1;
        }
    }
    s->away -= found;
    s->lost += found;
    if (found > 0 && (s->first >= s->recover || (again && is_after_timeout(s))))
        recover(s);
    return found > 0;
}

/* RFC 6937: while it recovers a stream sends in proportion to what comes, and when less than
 * ssthresh is under way, as much as comes. */
static void reduce(struct net_stream *s, int came, bool lost_more, bool advanced)
{
    int wanted;
    s->prr_came += came;
    if (s->away > (int)s->ssthresh) {
        wanted = (int)ceil(s->ssthresh * s->prr_came / s->cwnd_before) - s->prr_sent;
    } else {
        wanted = s->prr_came - s->prr_sent > came ? s->prr_came - s->prr_sent : came;
        wanted += advanced && !lost_more;
        wanted = wanted < (int)s->ssthresh - s->away ? wanted : (int)s->ssthresh - s->away;
    }
    wanted = wanted < 1 && s->prr_sent == 0 ? 1 : wanted;
    s->cwnd = s->away + (wanted > 0 ? wanted : 0);
}

static struct net_memory *memory_of(struct net *net, const struct net_stream *s)
{
    size_t ranks = (size_t)net->network->rank_count;
    return &net->memory[(size_t)s->message.from * ranks + (size_t)s->message.to];
}

static void finish(struct net *net, int stream)
{
    struct net_stream *s = &net->streams[stream];
    *memory_of(net, s) = (struct net_memory){.cwnd = (float)s->cwnd,
                                             .ssthresh = (float)s->ssthresh,
                                             .round_s = (float)s->round_s,
                                             .deviation_s = (float)s->deviation_s,
                                             .least_s = (float)s->least_s,
                                             .cut = s->cut,
                                             .used_s = net->now_s};
    s->done = true;
    net_stream_release(net, stream);
}

void stream_on_ack(struct net *net, int stream, int arrivals)
{
    struct net_stream *s = &net->streams[stream];
    int came = 0;
    double sample_s = 0; /* of the oldest that was sent once */
    if (s->done)
        return;
    for (; s->heard < arrivals; s->heard++, came++) {
        struct net_segment *g = &s->segments[s->arrivals[s->heard]];
        assert(g->state == SEGMENT_AWAY || g->state == SEGMENT_LOST);
        double round_s = net->now_s - g->sent_s;
        s->away -= g->state == SEGMENT_AWAY;
        s->lost -= g->state == SEGMENT_LOST;
        g->state = SEGMENT_CAME;
        /* What came of a segment that was sent twice may be the first one. */
        if (g->times == 1 || round_s >= s->least_s)
            s->newest = g->stamp > s->newest ? g->stamp : s->newest;
        if (g->times == 1)
            sample_s = fmax(sample_s, round_s);
    }
    if (came == 0)
        return;
    if (sample_s > 0)
        take_sample(s, sample_s);
    s->came += came;
    int first = s->first;
    while (s->first < s->next && s->segments[s->first].state == SEGMENT_CAME)
        s->first++;
    if (s->recovering && s->first >= s->recover) {
        s->recovering = false;
        s->cwnd = s->ssthresh;
    }
    if (!s->recovering)
        grow(s, came);
    bool lost_more = find_lost(s);
    if (s->recovering)
        reduce(s, came, lost_more, s->first > first);
    s->timeout_s = 1;
    s->probed = s->first < s->recover;
    arm(net, stream);
    stream_push(net, stream);
    if (s->came == s->count)
        finish(net, stream);
}

static void on_timeout(struct net_stream *s)
{
    bool moved = s->timeout_s <= 1; /* since the timeout before */
    if (s->first >= s->recover || (is_after_timeout(s) && moved))
        s->ssthresh = fmax(s->cwnd * CUT, LEAST_SSTHRESH);
    for (int i = s->first; i < s->next; i++)
        s->segments[i].state =
            s->segments[i].state == SEGMENT_AWAY ? SEGMENT_LOST : s->segments[i].state;
    s->lost += s->away;
    s->away = 0;
    s->cwnd = 1;
    s->cut = true;
    s->recovering = false;
    s->recover = s->next;
    s->timeout_s *= 2;
}

void stream_on_timer(struct net *net, int stream)
{
    struct net_stream *s = &net->streams[stream];
    s->timed = false;
    if (!s->done && s->timer_s > net->now_s) {
        s->timed = true;
        s->refs++;
        net_timer_add(net, s->timer_s, TIMER_STREAM, stream, 0);
    } else if (!s->done && s->timer_s > 0) {
        if (is_probe_next(s)) {
            int last = s->next - 1;
            while (s->segments[last].state != SEGMENT_AWAY)
                last--;
            s->probed = true;
            if (s->queued == 0) /* otherwise it is still here */
                transmit(net, stream, last);
            arm(net, stream);
        } else {
            on_timeout(s);
            arm(net, stream);
            stream_push(net, stream);
        }
    }
    net_stream_release(net, stream);
}

/* ---- the receiver ------------------------------------------------------------------------ */

static bool is_ack_due(const struct net *net, const struct net_stream *s)
{
    double full = net->config.frame_bytes;
    double wanted = fmax(2 * full, fmin(s->prefix * full / 2, s->message.ack_bytes));
    bool gap = s->arrived != s->prefix;
    return gap || s->prefix == s->count || (s->arrived - s->acked_arrivals) * full >= wanted;
}

void stream_on_data(struct net *net, int stream, int segment)
{
    struct net_stream *s = &net->streams[stream];
    bool again = s->segments[segment].here;
    if (!again) {
        s->segments[segment].here = true;
        s->arrivals[s->arrived++] = segment;
        while (s->prefix < s->count && s->segments[s->prefix].here)
            s->prefix++;
    }
    if (again || is_ack_due(net, s)) {
        s->acked_arrivals = s->arrived;
        net_frame_send(net, stream, FRAME_OF_ACK, s->arrived, 0);
    }
    if (!s->marked &&
        (s->prefix == s->count || s->prefix * net->config.frame_bytes >= s->message.mark_bytes)) {
        s->marked = true;
        net_hear(net, stream, NET_MARK);
    }
    if (!again && s->prefix == s->count)
        net_hear(net, stream, NET_WHOLE);
}

/* ---- the beginning ----------------------------------------------------------------------- */

/* A stream that was not used for a while begins anew, but does not forget what it lost. */
static void remember(struct net *net, struct net_stream *s)
{
    const struct net_memory *m = memory_of(net, s);
    if (m->cwnd <= 0) {
        s->cwnd = FIRST_WINDOW;
        s->ssthresh = INFINITY;
        s->round_s = net->config.delay_s; /* of the opening of the connection */
        s->deviation_s = s->round_s / 2;
        s->least_s = INFINITY;
        return;
    }
    s->cwnd = m->cwnd;
    s->ssthresh = m->ssthresh;
    s->round_s = m->round_s;
    s->deviation_s = m->deviation_s;
    s->least_s = m->least_s;
    s->cut = m->cut;
    if (net->now_s - m->used_s > timeout_s(s)) {
        s->ssthresh = fmax(s->ssthresh, 0.75 * s->cwnd);
        s->cwnd = fmin(s->cwnd, FIRST_WINDOW);
    }
}

void stream_begin(struct net *net, int stream)
{
    struct net_stream *s = &net->streams[stream];
    s->refs = 1; /* until it is done */
    s->timeout_s = 1;
    s->count = (int)ceil(s->message.bytes / net->config.frame_bytes);
    s->count = s->count < 1 ? 1 : s->count;
    s->segments = calloc((size_t)s->count, sizeof *s->segments);
    s->arrivals = calloc((size_t)s->count, sizeof *s->arrivals);
    if (s->segments == NULL || s->arrivals == NULL) {
        net->failed = true;
        return;
    }
    remember(net, s);
    stream_push(net, stream);
}
