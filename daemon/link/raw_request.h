/*
 * raw_request.h - how coveyd asks covey-raw for a packet socket, and how it gets one: messages over
 * a socket of type SOCK_SEQPACKET, both ends of one installation.
 *
 *   request = version=u32(1) channel=u32 vm=u32   ; of raw_socket_open(): exactly 12 bytes
 *   reply   = granted=u8(0)                       ; and a descriptor with it
 *           / refused=u8(1) text                  ; why, in one line
 *
 * Interface and EtherType are not asked for: they are arguments of covey-raw, which says by a reply
 * that nobody asked for that it will not do with them, and ends.
 */
#ifndef COVEY_DAEMON_RAW_REQUEST_H
#define COVEY_DAEMON_RAW_REQUEST_H

#include <stdbool.h>
#include <stdint.h>

#include "daemon/base/failure.h"

enum { RAW_REQUEST_VERSION = 1, RAW_REQUEST_BYTES = 12 };

struct raw_request {
    uint32_t channel, vm;
};

enum raw_came { RAW_END, RAW_ASKED, RAW_NONSENSE };

/* coveyd: false and errno when it cannot be sent. covey-raw: waits for one; descriptors that come
 * along are closed unseen. */
bool raw_request_send(int fd, const struct raw_request *request);
enum raw_came raw_request_receive(int fd, struct raw_request *request);

/* covey-raw: with socket < 0 a refusal for that reason. Returns whether it could be sent.
 * coveyd: waits for it, as long as SO_RCVTIMEO says; the descriptor, or *why there is none. */
enum { RAW_REFUSED = -1, RAW_SILENT = -2 };
bool raw_reply_send(int fd, int socket, const struct failure *why);
int raw_reply_receive(int fd, struct failure *why);

#endif
