/*
 * slow.h - a network of virtual hosts that are slower than the machine that they are on: how long a
 * message takes between two of them, and which share of a processor each has. Pure: it says when
 * what is sent comes out; fault_line.h keeps it until then.
 *
 * As text, rules with commas, semicolons or line ends between:
 *
 *   rule  = host SP "speed=" share            ; 0.05 to 1
 *         / link SP *("alpha=" time / "rate=" number ("kbit" / "Mbit" / "Gbit"))
 *   link  = host "-" host / host "-*" / "*"   ; both ways, each on its own
 *   host  = name / "*"
 *   time  = number ("us" / "ms" / "s")
 *
 * A later rule wins over an earlier one in what it says. "#" begins a comment.
 */
#ifndef COVEY_PROTO_SLOW_H
#define COVEY_PROTO_SLOW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SLOW_RULES_MAX 64
#define SLOW_NAME_MAX 63
#define SLOW_TEXT_MAX 8192
#define SLOW_WHOLE 1000 /* a share of 1 */
#define SLOW_ALPHA_US_MAX 2000000
#define SLOW_EXPECTS "rules such as h0-h1 alpha=1ms rate=10Mbit, h2 speed=0.5, see covey.conf(5)"

struct slow_rule {
    char host[SLOW_NAME_MAX + 1], other[SLOW_NAME_MAX + 1]; /* "*": any; other "": a speed */
    uint32_t speed;                                         /* in SLOW_WHOLE; 0: not said */
    bool has_alpha;
    uint32_t alpha_us;
    uint64_t rate_bps; /* 0: not said */
};

struct slow_config {
    int count;
    struct slow_rule rules[SLOW_RULES_MAX];
};

/* Reads the text over *config. Returns 0, or -1 and leaves *config. */
int slow_parse(const char *text, struct slow_config *config);
/* Writes what slow_parse() reads; text has SLOW_TEXT_MAX bytes. Empty: nothing is slow. */
void slow_print(const struct slow_config *config, char *text);

uint32_t slow_speed(const struct slow_config *config, const char *host); /* in SLOW_WHOLE */
bool slow_any_link(const struct slow_config *config);

/* One way of a link. What is sent at once leaves one after another, as its rate says. */
struct slow_lane {
    uint32_t alpha_us;
    uint64_t rate_bps; /* 0: as fast as it can be */
    uint64_t free_us;  /* what was sent has left by then */
};

void slow_lane_init(struct slow_lane *lane, const struct slow_config *config, const char *from,
                    const char *to);
/* What is sent now comes out so much later; `queued`: it takes its place on the lane, which what is
 * small and urgent does not. */
uint64_t slow_lane_send(struct slow_lane *lane, size_t bytes, bool queued, uint64_t now_us);

#endif
