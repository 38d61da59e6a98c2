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
 * sender may read that list. Acknowledgements can be lost: a later one says the same and more. What
 * is not worth one by itself is acknowledged after 40 ms.
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
#define ACK_DELAY_S 0.04   /* of what is less than two segments */
#define PROBE_MORE_S 0.008 /* two ticks of a kernel with 250 a second */
#define QUEUED_MAX 2       /* a packet of two segments */
/* A socket takes so many bytes before the first of them are acknowledged: Linux's first 87040, of
 * which a packet of two segments takes 4352. Of a longer message it takes the rest when a third of
 * them is free; the mean of what is not acknowledged by then. */
#define KERNEL_BYTES 57920.0
#define KERNEL_LAST_BYTES 46000.0

/* ---- timers of the sender ---------------------------------------------------------------- */

static double timeout_s(const struct net_stream *s)
{
    double around_s = s->times.round_s + s->times.variation_s;
    return fmin(around_s * s->times.timeout_s, TIMEOUT_MOST_S);
}

static bool is_probe_next(const struct net_stream *s)
{
    bool gap = s->out.came != s->out.first;
    return !s->times.probed && !gap && s->out.lost == 0 && s->out.first >= s->window.recover;
}

static void arm(struct net *net, int stream)
{
    struct net_stream *s = &net->streams[stream];
    double for_s = timeout_s(s);
    if (is_probe_next(s)) {
        bool alone = s->out.away == 1; /* its acknowledgement may be delayed */
        double probe_s = 2 * s->times.round_s + (alone ? TIMEOUT_LEAST_S : PROBE_MORE_S);
        for_s = fmin(for_s, probe_s);
    }
    s->times.timer_s = s->out.away + s->out.lost > 0 ? net->now_s + for_s : 0;
    if (s->times.timer_s > 0 && !s->times.timed) {
        s->times.timed = true;
        s->refs++;
        net_timer_add(net, s->times.timer_s, TIMER_STREAM, stream, 0);
    }
}

/* ---- sending ----------------------------------------------------------------------------- */

static double segment_bytes(const struct net *net, const struct net_stream *s, int segment)
{
    double full = net->config.frame_bytes;
    return segment + 1 < s->out.count ? full : s->message.bytes - full * (s->out.count - 1);
}

static void transmit(struct net *net, int stream, int segment)
{
    struct net_stream *s = &net->streams[stream];
    struct net_segment *g = &s->out.segments[segment];
    s->out.lost -= g->state == SEGMENT_LOST;
    s->out.away += g->state != SEGMENT_AWAY;
    s->window.most_away = s->out.away > s->window.most_away ? s->out.away : s->window.most_away;
    s->out.queued++;
    s->window.prr_sent++;
    g->state = SEGMENT_AWAY;
    g->times = g->times < UINT8_MAX ? (uint8_t)(g->times + 1) : g->times;
    g->stamp = ++s->out.stamps;
    g->sent_s = net->now_s;
    net_frame_send(net, stream, FRAME_OF_DATA, segment, segment_bytes(net, s, segment));
}

static int next_segment(const struct net_stream *s)
{
    int segment = s->out.first;
    if (s->out.lost == 0)
        return s->out.next < s->out.count ? s->out.next : NET_NONE;
    while (s->out.segments[segment].state != SEGMENT_LOST)
        segment++;
    return segment;
}

void stream_push(struct net *net, int stream)
{
    struct net_stream *s = &net->streams[stream];
    bool sent = false;
    if (s->done)
        return;
    while (s->out.away < (int)s->window.cwnd && s->out.queued < QUEUED_MAX) {
        int segment = next_segment(s);
        if (segment == NET_NONE)
            break;
        if (!net_has_room(net, s)) {
            net_hold(net, stream);
            break;
        }
        s->out.next += segment == s->out.next;
        transmit(net, stream, segment);
        sent = true;
    }
    if (sent)
        arm(net, stream);
    if (!s->out.left && s->out.next >= s->out.count - 1) {
        s->out.left = true;
        net_hear(net, stream, NET_LEFT);
    }
    double bytes = s->out.count * net->config.frame_bytes,
           left = bytes - s->out.came * net->config.frame_bytes;
    if (!s->out.taken && left <= (bytes <= KERNEL_BYTES ? KERNEL_BYTES : KERNEL_LAST_BYTES)) {
        s->out.taken = true;
        net_hear(net, stream, NET_TAKEN);
    }
}

void stream_on_left(struct net *net, int stream)
{
    net->streams[stream].out.queued--;
    stream_push(net, stream);
}

/* ---- acknowledgements -------------------------------------------------------------------- */

/* RFC 6298 as Linux has it: what is added to the mean is four times the deviation, the most of a
 * round trip and 200 ms at least, and falls by a quarter in each; round trips that are shorter than
 * they were count an eighth. */
static void take_variation(struct net_stream *s, double off_s)
{
    struct net_times *t = &s->times;
    double more_s = fabs(off_s) - t->deviation_s / 4;
    t->deviation_s += off_s < 0 && more_s > 0 ? more_s / 8 : more_s;
    t->most_s = fmax(t->most_s, t->deviation_s);
    t->variation_s = fmax(t->variation_s, t->most_s);
    if (s->out.first <= t->round_end)
        return;
    t->variation_s -= (t->variation_s - t->most_s) / 4;
    t->round_end = s->out.next;
    t->most_s = TIMEOUT_LEAST_S;
}

static void take_sample(struct net_stream *s, double round_s)
{
    double off_s = round_s - s->times.round_s;
    s->times.round_s += off_s / 8;
    take_variation(s, off_s);
    s->times.least_s = fmin(s->times.least_s, round_s);
    double queue_s = fmin(fmax(s->times.least_s / 8, HYSTART_LEAST_S), HYSTART_MOST_S);
    if (s->window.cwnd >= HYSTART_WINDOW && s->window.cwnd < s->window.ssthresh &&
        round_s > s->times.least_s + fmin(queue_s, s->times.least_s / 2))
        s->window.ssthresh = s->window.cwnd;
}

static void grow(struct net_stream *s, int came)
{
    for (int i = 0; i < came; i++) {
        if (s->window.cwnd < s->window.ssthresh && s->window.cwnd < 2 * s->window.most_away)
            s->window.cwnd += 1;
        else if (s->window.cwnd >= s->window.ssthresh && s->out.away + came >= (int)s->window.cwnd)
            s->window.cwnd += fmax(FRIENDLY / s->window.cwnd, s->window.cut ? 0 : UNHURT);
    }
}

static bool is_after_timeout(const struct net_stream *s)
{
    return !s->window.recovering && s->out.first < s->window.recover;
}

/* cwnd is to fall to ssthresh by reduce(). */
static void recover(struct net_stream *s)
{
    s->window.cwnd_before = s->window.cwnd;
    s->window.ssthresh = fmax(s->window.cwnd * CUT, LEAST_SSTHRESH);
    s->window.recover = s->out.next;
    s->window.recovering = s->window.cut = true;
    s->window.prr_came = s->window.prr_sent = 0;
}

/* What was sent before something that has come will not come any more. Once a window is cut for it,
 * and once more when what was sent again after a timeout is lost again. */
static bool find_lost(struct net_stream *s)
{
    int found = 0;
    bool again = false;
    for (int i = s->out.first; i < s->out.next; i++) {
        struct net_segment *g = &s->out.segments[i];
        if (g->state == SEGMENT_AWAY && g->stamp < s->out.newest) {
            g->state = SEGMENT_LOST;
            found++;
            again = again || g->times > 1;
        }
    }
    s->out.away -= found;
    s->out.lost += found;
    if (found > 0 && (s->out.first >= s->window.recover || (again && is_after_timeout(s))))
        recover(s);
    return found > 0;
}

/* RFC 6937: while it recovers a stream sends in proportion to what comes, and when less than
 * ssthresh is under way, as much as comes. */
static void reduce(struct net_stream *s, int came, bool lost_more, bool advanced)
{
    int wanted;
    s->window.prr_came += came;
    if (s->out.away > (int)s->window.ssthresh) {
        wanted = (int)ceil(s->window.ssthresh * s->window.prr_came / s->window.cwnd_before) -
                 s->window.prr_sent;
    } else {
        wanted = s->window.prr_came - s->window.prr_sent > came
                     ? s->window.prr_came - s->window.prr_sent
                     : came;
        wanted += advanced && !lost_more;
        wanted = wanted < (int)s->window.ssthresh - s->out.away
                     ? wanted
                     : (int)s->window.ssthresh - s->out.away;
    }
    wanted = wanted < 1 && s->window.prr_sent == 0 ? 1 : wanted;
    s->window.cwnd = s->out.away + (wanted > 0 ? wanted : 0);
}

static struct net_memory *memory_of(struct net *net, const struct net_stream *s)
{
    size_t ranks = (size_t)net->network->rank_count;
    return &net->memory[(size_t)s->message.from * ranks + (size_t)s->message.to];
}

static void finish(struct net *net, int stream)
{
    struct net_stream *s = &net->streams[stream];
    *memory_of(net, s) = (struct net_memory){.cwnd = (float)s->window.cwnd,
                                             .ssthresh = (float)s->window.ssthresh,
                                             .round_s = (float)s->times.round_s,
                                             .deviation_s = (float)s->times.deviation_s,
                                             .most_s = (float)s->times.most_s,
                                             .variation_s = (float)s->times.variation_s,
                                             .least_s = (float)s->times.least_s,
                                             .cut = s->window.cut,
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
    for (; s->out.heard < arrivals; s->out.heard++, came++) {
        struct net_segment *g = &s->out.segments[s->in.arrivals[s->out.heard]];
        assert(g->state == SEGMENT_AWAY || g->state == SEGMENT_LOST);
        double round_s = net->now_s - g->sent_s;
        s->out.away -= g->state == SEGMENT_AWAY;
        s->out.lost -= g->state == SEGMENT_LOST;
        g->state = SEGMENT_CAME;
        /* What came of a segment that was sent twice may be the first one, if it came sooner than
         * over idle links. */
        if (g->times == 1 || round_s >= net->config.delay_s)
            s->out.newest = g->stamp > s->out.newest ? g->stamp : s->out.newest;
        if (g->times == 1)
            sample_s = fmax(sample_s, round_s);
    }
    if (came == 0)
        return;
    s->out.came += came;
    int first = s->out.first;
    while (s->out.first < s->out.next && s->out.segments[s->out.first].state == SEGMENT_CAME)
        s->out.first++;
    if (sample_s > 0)
        take_sample(s, sample_s);
    if (s->window.recovering && s->out.first >= s->window.recover) {
        s->window.recovering = false;
        s->window.cwnd = s->window.ssthresh;
    }
    if (!s->window.recovering)
        grow(s, came);
    bool lost_more = find_lost(s);
    if (s->window.recovering)
        reduce(s, came, lost_more, s->out.first > first);
    s->times.timeout_s = 1;
    s->times.probed = s->out.first < s->window.recover;
    arm(net, stream);
    stream_push(net, stream);
    if (s->out.came == s->out.count)
        finish(net, stream);
}

static void on_timeout(struct net_stream *s)
{
    bool moved = s->times.timeout_s <= 1; /* since the timeout before */
    if (s->out.first >= s->window.recover || (is_after_timeout(s) && moved))
        s->window.ssthresh = fmax(s->window.cwnd * CUT, LEAST_SSTHRESH);
    for (int i = s->out.first; i < s->out.next; i++)
        s->out.segments[i].state =
            s->out.segments[i].state == SEGMENT_AWAY ? SEGMENT_LOST : s->out.segments[i].state;
    s->out.lost += s->out.away;
    s->out.away = 0;
    s->window.cwnd = 1;
    s->window.cut = true;
    s->window.recovering = false;
    s->window.recover = s->out.next;
    s->times.timeout_s *= 2;
}

void stream_on_timer(struct net *net, int stream)
{
    struct net_stream *s = &net->streams[stream];
    s->times.timed = false;
    if (!s->done && s->times.timer_s > net->now_s) {
        s->times.timed = true;
        s->refs++;
        net_timer_add(net, s->times.timer_s, TIMER_STREAM, stream, 0);
    } else if (!s->done && s->times.timer_s > 0) {
        if (is_probe_next(s)) {
            int last = s->out.next - 1;
            while (s->out.segments[last].state != SEGMENT_AWAY)
                last--;
            s->times.probed = true;
            if (s->out.queued == 0) /* otherwise it is still here */
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
    double wanted = fmax(2 * full, fmin(s->in.prefix * full / 2, s->message.ack_bytes));
    bool gap = s->in.arrived != s->in.prefix;
    return gap || s->in.prefix == s->out.count ||
           (s->in.arrived - s->in.acked_arrivals) * full >= wanted;
}

static void acknowledge(struct net *net, int stream)
{
    struct net_stream *s = &net->streams[stream];
    s->in.acked_arrivals = s->in.arrived;
    net_frame_send(net, stream, FRAME_OF_ACK, s->in.arrived, 0);
}

static void acknowledge_later(struct net *net, int stream)
{
    struct net_stream *s = &net->streams[stream];
    s->in.ack_s = net->now_s + ACK_DELAY_S;
    if (s->in.timed)
        return;
    s->in.timed = true;
    s->refs++;
    net_timer_add(net, s->in.ack_s, TIMER_ACK, stream, 0);
}

/* May find that all was acknowledged meanwhile, and something else has come since. */
void stream_on_ack_timer(struct net *net, int stream)
{
    struct net_stream *s = &net->streams[stream];
    s->in.timed = false;
    if (s->in.acked_arrivals < s->in.arrived && s->in.ack_s > net->now_s) {
        s->in.timed = true;
        s->refs++;
        net_timer_add(net, s->in.ack_s, TIMER_ACK, stream, 0);
    } else if (s->in.acked_arrivals < s->in.arrived) {
        acknowledge(net, stream);
    }
    net_stream_release(net, stream);
}

void stream_on_data(struct net *net, int stream, int segment)
{
    struct net_stream *s = &net->streams[stream];
    bool again = s->out.segments[segment].here;
    if (!again) {
        s->out.segments[segment].here = true;
        s->in.arrivals[s->in.arrived++] = segment;
        while (s->in.prefix < s->out.count && s->out.segments[s->in.prefix].here)
            s->in.prefix++;
    }
    if (again || is_ack_due(net, s))
        acknowledge(net, stream);
    else if (s->in.arrived == s->in.acked_arrivals + 1)
        acknowledge_later(net, stream);
    if (!s->in.marked && (s->in.prefix == s->out.count ||
                          s->in.prefix * net->config.frame_bytes >= s->message.mark_bytes)) {
        s->in.marked = true;
        net_hear(net, stream, NET_MARK);
    }
    if (!again && s->in.prefix == s->out.count)
        net_hear(net, stream, NET_WHOLE);
}

/* ---- the beginning ----------------------------------------------------------------------- */

/* A stream that was not used for a while begins anew, but does not forget what it lost. */
static void remember(struct net *net, struct net_stream *s)
{
    const struct net_memory *m = memory_of(net, s);
    if (m->cwnd <= 0) {
        s->window.cwnd = FIRST_WINDOW;
        s->window.ssthresh = INFINITY;
        s->times.round_s = net->config.delay_s; /* of the opening of the connection */
        s->times.deviation_s = 2 * s->times.round_s;
        s->times.variation_s = s->times.most_s = fmax(s->times.deviation_s, TIMEOUT_LEAST_S);
        s->times.least_s = INFINITY;
        return;
    }
    s->window.cwnd = m->cwnd;
    s->window.ssthresh = m->ssthresh;
    s->times.round_s = m->round_s;
    s->times.deviation_s = m->deviation_s;
    s->times.most_s = m->most_s;
    s->times.variation_s = m->variation_s;
    s->times.least_s = m->least_s;
    s->window.cut = m->cut;
    if (net->now_s - m->used_s > timeout_s(s)) {
        s->window.ssthresh = fmax(s->window.ssthresh, 0.75 * s->window.cwnd);
        s->window.cwnd = fmin(s->window.cwnd, FIRST_WINDOW);
    }
}

void stream_begin(struct net *net, int stream)
{
    struct net_stream *s = &net->streams[stream];
    s->refs = 1; /* until it is done */
    s->times.timeout_s = 1;
    s->out.count = (int)ceil(s->message.bytes / net->config.frame_bytes);
    s->out.count = s->out.count < 1 ? 1 : s->out.count;
    s->out.segments = calloc((size_t)s->out.count, sizeof *s->out.segments);
    s->in.arrivals = calloc((size_t)s->out.count, sizeof *s->in.arrivals);
    if (s->out.segments == NULL || s->in.arrivals == NULL) {
        net->failed = true;
        return;
    }
    remember(net, s);
    stream_push(net, stream);
}
