/*
 * window_cc.c - CUBIC, but for a small share of losses. Section numbers are those of RFC 9438
 * unless another is named.
 *
 * A path that loses one packet in a hundred is not congested; taking each loss for congestion would
 * leave a tenth of its bandwidth. So the share of the last some hundred packets that were lost
 * decides: tail drop exceeds what is tolerated within a few packets, chance does not.
 *
 * A reduction is kept apart from what caused it: each packet declared lost remembers its episode,
 * and when all packets of an episode arrived after all (a host that froze, a path that reorders),
 * the state before the reduction comes back (section 4.9.2).
 */
#include "proto/window/window_cc.h"

#define CC_INITIAL_PACKETS 16
#define CC_INITIAL_BYTES (256.0 * 1024) /* but at least 4 packets */
#define CC_MINIMUM_PACKETS 2
#define CC_SHARE_PACKETS 512                    /* over so many the share of losses is taken */
#define CUBIC_C 0.4                             /* section 5: segments per s^3 */
#define CUBIC_BETA 0.7                          /* section 4.6 */
#define CUBIC_ALPHA (3 * (1 - 0.7) / (1 + 0.7)) /* section 4.3 */

static double cube_root(double x)
{
    if (x <= 0)
        return 0;
    double root = x < 1 ? 1 : x;
    while (root * root * root > 8 * x)
        root /= 2;
    for (int i = 0; i < 12; i++)
        root -= (root * root * root - x) / (3 * root * root);
    return root;
}

static double larger(double a, double b)
{
    return a > b ? a : b;
}

static double smaller(double a, double b)
{
    return a < b ? a : b;
}

static double cc_initial(const struct cc *c)
{
    double packet = (double)c->packet_bytes;
    return smaller(CC_INITIAL_PACKETS * packet, larger(CC_INITIAL_BYTES, 4 * packet));
}

static double cc_minimum(const struct cc *c)
{
    return CC_MINIMUM_PACKETS * (double)c->packet_bytes;
}

void cc_init(struct cc *c, size_t packet_bytes)
{
    *c = (struct cc){.packet_bytes = packet_bytes};
    c->now.window = cc_initial(c);
    c->now.threshold = 1e18;
}

void cc_set_packet_bytes(struct cc *c, size_t packet_bytes)
{
    c->packet_bytes = packet_bytes;
    c->now.window = larger(c->now.window, cc_minimum(c));
}

uint64_t cc_window(const struct cc *c)
{
    return (uint64_t)c->now.window;
}

bool cc_slow_start(const struct cc *c)
{
    return c->now.window < c->now.threshold;
}

static double cubic_at(const struct cc *c, uint64_t now_us)
{
    double t = (double)(now_us - c->epoch_us) / 1e6 - c->k_s;
    return c->now.maximum + CUBIC_C * (double)c->packet_bytes * t * t * t;
}

/* Sections 4.2 to 4.5. */
static void cubic_grow(struct cc *c, const struct cc_ack *ack)
{
    struct cc_state *s = &c->now;
    double bytes = (double)ack->bytes;
    if (!c->epoch) { /* section 4.2: the stage begins with the window after the reduction */
        c->epoch = true;
        c->epoch_us = ack->now_us;
        s->estimate = s->window;
        s->maximum = larger(s->maximum, s->window);
        c->k_s = cube_root((s->maximum - s->window) / (double)c->packet_bytes / CUBIC_C);
    }
    double alpha = s->estimate < s->prior ? CUBIC_ALPHA : 1;
    s->estimate += alpha * (double)c->packet_bytes * bytes / s->window;
    if (cubic_at(c, ack->now_us) < s->estimate) {
        s->window = larger(s->window, s->estimate);
        return;
    }
    double target = smaller(cubic_at(c, ack->now_us + ack->rtt_us), 1.5 * s->window);
    if (target > s->window)
        s->window += (target - s->window) * smaller(bytes / s->window, 1);
}

void cc_on_ack(struct cc *c, const struct cc_ack *ack)
{
    uint64_t since_us = ack->now_us - c->acked_us;
    bool limited = c->limited;
    c->acked_us = ack->now_us;
    size_t bytes = ack->bytes;
    double packets = (double)bytes / (double)c->packet_bytes;
    c->loss_share -= c->loss_share * smaller(packets / CC_SHARE_PACKETS, 1);
    c->limited = false;
    if (ack->position < c->recovery)
        return;
    if (!limited)
        /* section 5.8: time that the program did not use is no time to grow in */
        c->epoch_us += c->epoch ? since_us : 0;
    else if (cc_slow_start(c))
        c->now.window += (double)ack->bytes;
    else
        cubic_grow(c, ack);
}

uint32_t cc_on_loss(struct cc *c, uint64_t position, uint64_t next)
{
    c->loss_share += (1 - c->loss_share) / CC_SHARE_PACKETS;
    if (position >= c->recovery && c->loss_share <= CC_LOSS_TOLERATED)
        return 0;
    if (position >= c->recovery) {
        /* Sections 4.6 and 4.7: multiplicative decrease, fast convergence. */
        struct cc_state *s = &c->now;
        c->saved = *s;
        s->prior = s->window;
        s->maximum = s->window < s->maximum ? s->window * (1 + CUBIC_BETA) / 2 : s->window;
        s->window = larger(s->window * CUBIC_BETA, cc_minimum(c));
        s->threshold = s->window;
        c->epoch = false;
        c->loss_share /= 2; /* paid for: what a bad path loses does not reduce it again and again */
        c->recovery = next;
        c->episode++;
        c->lost = 0;
        c->spurious = 0;
    }
    c->lost++;
    return c->episode;
}

void cc_on_spurious(struct cc *c, uint32_t episode)
{
    c->loss_share = larger(c->loss_share - 1.0 / CC_SHARE_PACKETS, 0);
    if (episode == 0 || episode != c->episode || ++c->spurious < c->lost)
        return;
    if (c->saved.window > c->now.window)
        c->now = c->saved;
    c->epoch = false;
    c->recovery = 0;
    c->episode++; /* nothing belongs to the undone one any more */
}

void cc_on_persistent_congestion(struct cc *c)
{
    c->now.window = cc_minimum(c);
    c->now.estimate = c->now.window;
    c->epoch = false;
    c->episode++; /* not undone */
}

void cc_on_idle(struct cc *c)
{
    c->now.window = smaller(c->now.window, larger(cc_initial(c), cc_minimum(c)));
    c->epoch = false;
}

void pacer_init(struct pacer *p)
{
    *p = (struct pacer){0};
}

void pacer_set_rate(struct pacer *p, const struct cc *c, uint64_t rtt_us)
{
    /* RFC 9002 section 7.7: a bit faster than the window, so that pacing never limits it */
    double gain = cc_slow_start(c) ? 2 : 1.25;
    bool first = p->rate <= 0;
    p->rate = gain * c->now.window / (double)(rtt_us == 0 ? 1 : rtt_us);
    p->burst = larger(PACER_BURST_BYTES, p->rate * PACER_BURST_US);
    if (first)
        p->tokens = p->burst;
}

bool pacer_allows(struct pacer *p, size_t size, uint64_t now_us)
{
    double need = (double)size;
    if (p->rate <= 0)
        return true;
    p->tokens = smaller(p->burst, p->tokens + p->rate * (double)(now_us - p->filled_us));
    p->filled_us = now_us;
    if (p->waiting)
        need = larger(need, smaller(p->burst / 2, p->rate * PACER_QUANTUM_US));
    p->waiting = p->tokens < need;
    if (p->waiting) {
        need = larger(need, smaller(p->burst / 2, p->rate * PACER_QUANTUM_US));
        p->resume_us = now_us + 1 + (uint64_t)((need - p->tokens) / p->rate);
    }
    return !p->waiting;
}

void pacer_spend(struct pacer *p, size_t size)
{
    if (p->rate > 0)
        p->tokens -= (double)size;
}
