/*
 * ticket.h - what two processes that have never met are told of each other so that the VM's key can
 * pass between them: public keys. A host that is started by others' hands (covey-offer) is given a
 * ticket on its command line, and answers with one line.
 *
 *   ticket = key "@" address *("," address)   ; key: 64 hex digits; address: as sockaddr_print()
 *   line   = "covey<" version "> key<" key ">"
 *   sealed = nonce box                        ; the bootstrap line, for both keys: crypto_box
 *
 * Who reads a ticket or a line learns no secret. Who could change a line on its way would be given
 * the VM's key: that way must be one that is trusted, as ssh is.
 */
#ifndef COVEY_DAEMON_TICKET_H
#define COVEY_DAEMON_TICKET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "daemon/base/bootstrap.h"
#include "daemon/base/failure.h"
#include "proto/wire/address.h"

#define TICKET_KEY_BYTES 32
#define TICKET_ADDRESSES_MAX HOST_ADDRESSES_MAX
#define TICKET_TEXT_MAX (2 * TICKET_KEY_BYTES + 2 + TICKET_ADDRESSES_MAX * 64)
#define TICKET_LINE_MAX 128
#define TICKET_SEALED_MAX (BOOTSTRAP_LINE_MAX + 64)

struct ticket_keys {
    uint8_t own[TICKET_KEY_BYTES], secret[TICKET_KEY_BYTES];
};

struct ticket {
    uint8_t key[TICKET_KEY_BYTES]; /* of who offers */
    struct address at[TICKET_ADDRESSES_MAX];
    int count;
};

/* A pair of its own for each use. False: libsodium does not work. */
bool ticket_keys_make(struct ticket_keys *keys);

void ticket_print(const struct ticket *ticket, char text[TICKET_TEXT_MAX]);
/* 0, or -1 with *why. */
int ticket_parse(const char *text, struct ticket *ticket, struct failure *why);

void ticket_line_print(const uint8_t key[TICKET_KEY_BYTES], char line[TICKET_LINE_MAX]);
/* Reads the line, which may stand behind a greeting. 0, or -1 with *why. */
int ticket_line_parse(const char *line, uint8_t key[TICKET_KEY_BYTES], struct failure *why);

/* Seals the text for the other; returns the size. Opens it again: the text ends with a NUL. 0, or
 * -1: it was not sealed by the other for these keys. */
size_t ticket_seal(const struct ticket_keys *keys, const uint8_t other[TICKET_KEY_BYTES],
                   const char *text, uint8_t sealed[TICKET_SEALED_MAX]);
int ticket_open(const struct ticket_keys *keys, const uint8_t other[TICKET_KEY_BYTES],
                const uint8_t *sealed, size_t size, char text[BOOTSTRAP_LINE_MAX]);

#endif
