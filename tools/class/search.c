/*
 * search.c - asks for classes; see search.h. Anybody may answer: that it is the right class is what
 * the exchange shows.
 */
#include "tools/class/search.h"

#include <poll.h>
#include <sodium.h>
#include <string.h>
#include <unistd.h>

#include "proto/class/channel.h"
#include "tools/base/clock.h"

#define ASK_MS 250

int search_begin(struct search *search, unsigned label, uint16_t port)
{
    *search = (struct search){.question = {.version = CLASS_VERSION, .label = (uint8_t)label}};
    randombytes_buf(search->question.nonce, sizeof search->question.nonce);
    search->port = port;
    search->asked_count = networks_find(search->asked);
    search->fd = socket_ask();
    return search->fd < 0 ? -1 : 0;
}

void search_end(struct search *search)
{
    close(search->fd);
}

/* A network that is down cannot be asked; others can. */
static void ask(struct search *search)
{
    uint8_t question[BEACON_BYTES];
    beacon_put_question(question, &search->question);
    for (int i = 0; i < search->asked_count; i++)
        socket_broadcast(search->fd, &search->asked[i], search->port, question, sizeof question);
    search->ask_ms = clock_ms() + ASK_MS;
}

static bool is_known(const struct search *search, const struct place *place, const uint8_t *id)
{
    char text[PLACE_TEXT_MAX], known[PLACE_TEXT_MAX];
    place_print(place, text);
    for (int i = 0; i < search->found_count; i++) {
        place_print(&search->found[i], known);
        if (strcmp(text, known) == 0 ||
            (search->settled[i] && memcmp(id, search->ids[i], BEACON_ID_BYTES) == 0))
            return true;
    }
    return false;
}

/* One datagram, if it is an answer of a class that is new. */
static bool take_answer(struct search *search, struct place *place)
{
    uint8_t answer[BEACON_BYTES + 1];
    struct beacon beacon;
    struct place from = {.size = sizeof from.at};
    ssize_t size = recvfrom(search->fd, answer, sizeof answer, MSG_DONTWAIT,
                            (struct sockaddr *)&from.at, &from.size);
    if (size < 0 || !beacon_get_answer(answer, (size_t)size, &beacon) ||
        beacon.label != search->question.label ||
        memcmp(beacon.nonce, search->question.nonce, sizeof beacon.nonce) != 0 ||
        !place_set_port(&from, beacon.port) || is_known(search, &from, beacon.id) ||
        search->found_count == SEARCH_FOUND_MAX)
        return false;
    memcpy(search->ids[search->found_count], beacon.id, BEACON_ID_BYTES);
    search->found[search->found_count++] = *place = from;
    return true;
}

void search_settle(struct search *search)
{
    search->settled[search->found_count - 1] = true;
}

void search_forget(struct search *search)
{
    search->found_count--;
}

bool search_next(struct search *search, int64_t until_ms, struct place *place)
{
    for (int64_t now; (now = clock_ms()) < until_ms;) {
        if (now >= search->ask_ms)
            ask(search);
        int64_t next = search->ask_ms < until_ms ? search->ask_ms : until_ms;
        struct pollfd readable = {.fd = search->fd, .events = POLLIN};
        if (poll(&readable, 1, (int)(next > now ? next - now : 0)) > 0 &&
            take_answer(search, place))
            return true;
    }
    return false;
}
