/*
 * stream.h - frames over a Unix stream socket between a task and its daemon: used by both ends.
 * Reads and writes are non-blocking and buffered; descriptors can travel with a frame.
 */
#ifndef COVEY_LIB_STREAM_H
#define COVEY_LIB_STREAM_H

#include "proto/wire/frame.h"

#include <sys/uio.h>

#define STREAM_FDS_MAX FRAME_FDS_MAX
#define STREAM_LARGE_BYTES (16u * 1024) /* of payload: such a frame is hardly copied */

struct stream;

/* What arrives. fds (count nfds, 0 for most frames) belong to the receiver of the call, which must
 * close or keep each of them; STREAM_FDS_LOST instead of a count: descriptors came with the frame,
 * but this process has no room for more. Return 0, or non-zero to stop reading (stream_read returns
 * it). */
#define STREAM_FDS_LOST (-1)
typedef int stream_frame_fn(void *context, const struct frame *frame, const uint8_t *payload,
                            int *fds, int nfds);

/* A stream over a connected non-blocking socket, which it then owns; NULL: no memory. */
struct stream *stream_create(int fd);
void stream_destroy(struct stream *s); /* closes the socket; NULL is fine; keeps errno */

int stream_fd(const struct stream *s);

/* Reads what is there (at most about 1 MiB at a time) and calls on_frame for each whole frame.
 * Returns 0 (would block, or enough for now), STREAM_CLOSED when the peer closed, STREAM_BROKEN
 * when it broke the protocol (stream_error() says how; it stays so), or what on_frame returned:
 * the frames behind that one are kept for the next call, whether or not more comes. STREAM_KEEP,
 * of a frame without descriptors: so is that one. */
enum { STREAM_CLOSED = -1, STREAM_BROKEN = -2, STREAM_KEEP = -3 };
int stream_read(struct stream *s, stream_frame_fn *on_frame, void *context);
const char *stream_error(const struct stream *s);

/* While on_frame() runs for a frame with that payload: the caller keeps its memory, from malloc(),
 * FRAME_HEADER_BYTES before the payload. NULL, and the payload is only lent: it lies among others.
 */
uint8_t *stream_take(struct stream *s, const uint8_t *payload);

/* Queues a frame (and sets the number of descriptors in its flags); fds are duplicated, so the
 * caller keeps its own. Returns 0, -ENOMEM, -EMFILE or -EINVAL (more than STREAM_FDS_MAX); then
 * nothing was queued. */
int stream_put(struct stream *s, const struct frame *frame, const uint8_t *payload, const int *fds,
               int nfds);

/* Queues a frame without descriptors whose payload lies in up to STREAM_PIECES_MAX pieces. One of
 * STREAM_LARGE_BYTES or more is written at once, behind what is queued, from where its pieces lie;
 * only what the socket does not take of it is copied. Returns 0 or -ENOMEM: then nothing was
 * queued, or, when part of it is written, the stream is at its end. */
#define STREAM_PIECES_MAX 6
int stream_put_pieces(struct stream *s, const struct frame *frame, const struct iovec *pieces,
                      int count);

/* Writes what the socket takes. Returns 0 when all is out, 1 when something is left (wait for
 * writability), STREAM_LATER when descriptors are next and all processes of this user together have
 * more on their way than this one may open (man unix, ETOOMANYREFS; never with CAP_SYS_RESOURCE):
 * no event tells when that is over, so try again in STREAM_LATER_US; or STREAM_CLOSED. */
enum { STREAM_LATER = 2, STREAM_LATER_US = 10000 };
int stream_flush(struct stream *s);

/* Bytes queued and not yet written, and descriptors. */
size_t stream_queued(const struct stream *s);
unsigned stream_queued_fds(const struct stream *s);

/* Bytes of all frames ever queued, and of all that on_frame() has dealt with: what one end has
 * queued the other deals with. */
uint64_t stream_put_bytes(const struct stream *s);
uint64_t stream_done_bytes(const struct stream *s);

#endif
