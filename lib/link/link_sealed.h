/*
 * link_sealed.h - the bytes of a TCP link in a VM that encrypts: what is sent leaves as records
 * (record.h), what comes is opened.
 */
#ifndef COVEY_LIB_LINK_SEALED_H
#define COVEY_LIB_LINK_SEALED_H

#include "lib/link/link.h"
#include "proto/auth/record.h"

struct sealed;

/* After the handshake that `auth` went through. NULL: no memory. */
struct sealed *sealed_create(const struct stream_auth *auth, bool opener);
void sealed_destroy(struct sealed *s); /* NULL is fine; wipes keys */

/* As send() and recv() of link.h, on the socket; LINK_BROKEN leaves the reason in *error, or NULL
 * there when errno has it. After sealed_send() returned 0 the same bytes are offered again: they
 * may be half on their way. */
ssize_t sealed_send(struct sealed *s, int fd, const struct iovec *iov, int count,
                    const char **error);
ssize_t sealed_recv(struct sealed *s, int fd, void *bytes, size_t size, const char **error);

/* Whether sealed_recv() would give bytes without reading the socket. */
bool sealed_holds(const struct sealed *s);

#endif
