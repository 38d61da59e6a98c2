/*
 * session_path.c - where a session sends to: the address that its handshake found, until the peer
 * answers from another one (RFC 9000, section 8.2).
 *
 * That an authentic datagram came from an address does not say that its sender is there: whoever
 * gets hold of one can send it on from anywhere, and what is then sent to that address hits
 * somebody else. So the address is tried: it gets a random token, CHALLENGE, and becomes the path
 * when the token comes back from it sealed by the peer, RESPONSE. The path is used as before
 * meanwhile. No more than three times as many bytes are sent there as have come from there.
 *
 * Addresses that the peer's row names are its own, so a handshake may put them in use at once. When
 * it comes from any other address, and there is no path yet, that address becomes a path that is
 * not proved: no data goes there, and the limit holds for everything else.
 */
#include <assert.h>
#include <string.h>

#include "proto/session/session_state.h"

#define TRIAL_ATTEMPTS 3
#define TRIAL_RETRY_US 50000 /* twice as long each time; then another address may be tried */
#define AMPLIFICATION_MAX 3

static bool is_named(const struct session *s, const struct address *address)
{
    for (uint8_t i = 0; i < s->ways.address_count; i++)
        if (address_equal(&s->ways.addresses[i], address))
            return true;
    for (uint8_t i = 0; i < s->ways.detour_count; i++)
        if (address_equal(&s->ways.detours[i], address))
            return true;
    return false;
}

static void adopt(struct session *s, const struct address *path)
{
    if (s->path.family != ADDRESS_NONE && !address_equal(&s->path, path)) {
        window_path_changed(s->window);
        s->endpoint->counters.paths_changed++;
    }
    s->path = *path;
    s->path_proved = true;
    memset(&s->ways.trial, 0, sizeof s->ways.trial);
}

void session_path_open(struct session *s, const struct address *from)
{
    if (s->path_proved && address_equal(&s->path, from))
        return;
    if (is_named(s, from))
        adopt(s, from);
    else if (!s->path_proved)
        s->path = *from;
}

/* ---- trying an address ---- */

bool session_path_pays(struct session *s, const struct address *to, size_t bytes)
{
    struct trial *t = &s->ways.trial;

    if (s->path_proved && address_equal(&s->path, to))
        return true;
    if (!address_equal(&t->address, to) ||
        t->sent_bytes + bytes > AMPLIFICATION_MAX * t->heard_bytes)
        return false;
    t->sent_bytes += bytes;
    return true;
}

static void challenge(struct session *s, uint64_t now_us)
{
    struct trial *t = &s->ways.trial;

    assert(t->attempts < TRIAL_ATTEMPTS);
    t->retry_us = now_us + ((uint64_t)TRIAL_RETRY_US << t->attempts++);
    session_token(s, DATAGRAM_CHALLENGE, t->token, &t->address);
}

/* An attempt under way is not displaced: whoever sends on one datagram after another from one
 * address after another keeps no answer from being awaited. */
static void begin_trial(struct session *s, const struct address *address)
{
    struct trial *t = &s->ways.trial;

    memset(t, 0, sizeof *t);
    t->address = *address;
    s->endpoint->random(s->endpoint->random_context, &t->token, sizeof t->token);
    if (!s->path_proved)
        s->path = *address;
}

void session_path_heard(struct session *s, const struct address *from, bool newest, size_t bytes,
                        uint64_t now_us)
{
    struct trial *t = &s->ways.trial;
    bool known = address_equal(&t->address, from);

    if (s->path_proved && address_equal(&s->path, from))
        return;
    if (known)
        t->heard_bytes += bytes;
    if (!newest || now_us < t->retry_us)
        return;
    if (!known) {
        begin_trial(s, from);
        t->heard_bytes = bytes;
    }
    t->attempts = 0;
    challenge(s, now_us);
}

void session_path_answered(struct session *s, const struct address *from, uint64_t token)
{
    const struct trial *t = &s->ways.trial;
    struct address there = *from;

    if (t->address.family != ADDRESS_NONE && address_equal(&t->address, from) && t->token == token)
        adopt(s, &there);
}

uint64_t session_path_step(struct session *s, uint64_t now_us)
{
    struct trial *t = &s->ways.trial;

    if (t->address.family == ADDRESS_NONE || t->attempts == TRIAL_ATTEMPTS)
        return UINT64_MAX;
    if (now_us >= t->retry_us)
        challenge(s, now_us);
    return t->attempts == TRIAL_ATTEMPTS ? UINT64_MAX : t->retry_us;
}
