/*
 * ticket.c - tickets and their answers: printed, parsed, and sealed. Public keys pass in the open
 * and the VM's key only in a box for both of them; ticket.h says what that protects against and
 * what not.
 */
#include "daemon/launch/ticket.h"

#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/base/sockaddr.h"
#include "proto/wire/frame.h"

_Static_assert(TICKET_KEY_BYTES == crypto_box_PUBLICKEYBYTES, "a public key");
_Static_assert(TICKET_KEY_BYTES == crypto_box_SECRETKEYBYTES, "a secret key");
_Static_assert(TICKET_SEALED_MAX >=
                   BOOTSTRAP_LINE_MAX + crypto_box_NONCEBYTES + crypto_box_MACBYTES,
               "the longest line, sealed");

#define HEX_SIZE (2 * TICKET_KEY_BYTES)

bool ticket_keys_make(struct ticket_keys *keys)
{
    return sodium_init() >= 0 && crypto_box_keypair(keys->own, keys->secret) == 0;
}

static bool key_parse(const char *hex, uint8_t key[TICKET_KEY_BYTES])
{
    size_t size = 0;
    return strnlen(hex, HEX_SIZE) == HEX_SIZE &&
           sodium_hex2bin(key, TICKET_KEY_BYTES, hex, HEX_SIZE, NULL, &size, NULL) == 0 &&
           size == TICKET_KEY_BYTES;
}

/* ---- tickets --------------------------------------------------------------------------------- */

void ticket_print(const struct ticket *ticket, char text[TICKET_TEXT_MAX])
{
    sodium_bin2hex(text, HEX_SIZE + 1, ticket->key, TICKET_KEY_BYTES);
    size_t used = HEX_SIZE;
    for (int i = 0; i < ticket->count; i++) {
        char address[SOCKADDR_TEXT_MAX];
        sockaddr_print(&ticket->at[i], address);
        used += (size_t)snprintf(text + used, TICKET_TEXT_MAX - used, "%c%s", i == 0 ? '@' : ',',
                                 address);
    }
}

int ticket_parse(const char *text, struct ticket *ticket, struct failure *why)
{
    char list[TICKET_TEXT_MAX];
    *ticket = (struct ticket){.count = 0};
    if (strlen(text) >= sizeof list || !key_parse(text, ticket->key) || text[HEX_SIZE] != '@')
        return failure_set(why, "--guest: that is no ticket; it is for programs that start hosts");
    snprintf(list, sizeof list, "%s", text + HEX_SIZE + 1);
    char *save = NULL;
    for (char *at = strtok_r(list, ",", &save); at != NULL; at = strtok_r(NULL, ",", &save)) {
        if (ticket->count == TICKET_ADDRESSES_MAX)
            return failure_set(why, "--guest: more than %d addresses", TICKET_ADDRESSES_MAX);
        if (!sockaddr_parse(at, 0, &ticket->at[ticket->count]) ||
            sockaddr_port(&ticket->at[ticket->count]) == 0)
            return failure_set(why, "--guest: '%.60s' is no address with a port", at);
        ticket->count++;
    }
    return ticket->count > 0 ? 0 : failure_set(why, "--guest: it names no address");
}

/* ---- the line -------------------------------------------------------------------------------- */

#define LINE_BEGIN "covey<"
#define LINE_KEY "> key<"

void ticket_line_print(const uint8_t key[TICKET_KEY_BYTES], char line[TICKET_LINE_MAX])
{
    char hex[HEX_SIZE + 1];
    sodium_bin2hex(hex, sizeof hex, key, TICKET_KEY_BYTES);
    snprintf(line, TICKET_LINE_MAX, LINE_BEGIN "%d" LINE_KEY "%s>", WIRE_VERSION, hex);
}

int ticket_line_parse(const char *line, uint8_t key[TICKET_KEY_BYTES], struct failure *why)
{
    char *end = NULL;
    const char *at = strstr(line, LINE_BEGIN);
    if (at == NULL)
        return failure_set(why, "%.200s", line);
    unsigned long version = strtoul(at + strlen(LINE_BEGIN), &end, 10);
    if (strncmp(end, LINE_KEY, strlen(LINE_KEY)) != 0)
        return failure_set(why, "what coveyd there says makes no sense: %.100s", at);
    if (version != WIRE_VERSION)
        return failure_set(why, "coveyd there speaks protocol %lu, this VM %d", version,
                           WIRE_VERSION);
    end += strlen(LINE_KEY);
    if (!key_parse(end, key) || end[HEX_SIZE] != '>')
        return failure_set(why, "what coveyd there says makes no sense: %.100s", at);
    return 0;
}

/* ---- the secret ------------------------------------------------------------------------------ */

size_t ticket_seal(const struct ticket_keys *keys, const uint8_t other[TICKET_KEY_BYTES],
                   const char *text, uint8_t sealed[TICKET_SEALED_MAX])
{
    size_t size = strnlen(text, BOOTSTRAP_LINE_MAX);
    randombytes_buf(sealed, crypto_box_NONCEBYTES);
    if (crypto_box_easy(sealed + crypto_box_NONCEBYTES, (const uint8_t *)text, size, sealed, other,
                        keys->secret) != 0)
        return 0; /* the other key is none */
    return crypto_box_NONCEBYTES + crypto_box_MACBYTES + size;
}

int ticket_open(const struct ticket_keys *keys, const uint8_t other[TICKET_KEY_BYTES],
                const uint8_t *sealed, size_t size, char text[BOOTSTRAP_LINE_MAX])
{
    const size_t around = crypto_box_NONCEBYTES + crypto_box_MACBYTES;
    if (size < around || size - around >= BOOTSTRAP_LINE_MAX)
        return -1;
    text[size - around] = '\0';
    return crypto_box_open_easy((uint8_t *)text, sealed + crypto_box_NONCEBYTES,
                                size - crypto_box_NONCEBYTES, sealed, other, keys->secret);
}
