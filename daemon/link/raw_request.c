/*
 * raw_request.c - both ends of a request, beside each other. covey-raw believes nothing of what
 * comes: what is not exactly a request is none. coveyd takes one descriptor and no other.
 */
#include "daemon/link/raw_request.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>

#include "proto/wire/cursor.h"

enum { GRANTED = 0, REFUSED = 1 };

/* Room for one descriptor beside a message. */
union passing {
    char bytes[CMSG_SPACE(sizeof(int))];
    struct cmsghdr align;
};

/* ---- a request ---- */

bool raw_request_send(int fd, const struct raw_request *request)
{
    uint8_t bytes[RAW_REQUEST_BYTES];
    struct cursor c = cursor_writer(bytes, sizeof bytes);
    cursor_put_u32(&c, RAW_REQUEST_VERSION);
    cursor_put_u32(&c, request->channel);
    cursor_put_u32(&c, request->vm);
    return send(fd, bytes, sizeof bytes, MSG_NOSIGNAL) == (ssize_t)sizeof bytes;
}

enum raw_came raw_request_receive(int fd, struct raw_request *request)
{
    uint8_t bytes[RAW_REQUEST_BYTES];
    ssize_t size;
    while ((size = recv(fd, bytes, sizeof bytes, MSG_TRUNC)) < 0 && errno == EINTR)
        ;
    if (size <= 0)
        return RAW_END;
    struct cursor c = cursor_reader(bytes, sizeof bytes);
    if (size != (ssize_t)sizeof bytes || cursor_get_u32(&c) != RAW_REQUEST_VERSION)
        return RAW_NONSENSE;
    request->channel = cursor_get_u32(&c);
    request->vm = cursor_get_u32(&c);
    return RAW_ASKED;
}

/* ---- a reply ---- */

bool raw_reply_send(int fd, int socket, const struct failure *why)
{
    uint8_t kind = socket >= 0 ? GRANTED : REFUSED;
    union passing passing = {{0}};
    struct iovec parts[2] = {{&kind, sizeof kind}, {(void *)why->text, strlen(why->text)}};
    struct msghdr message = {.msg_iov = parts, .msg_iovlen = socket >= 0 ? 1 : 2};
    if (socket >= 0) {
        message.msg_control = passing.bytes;
        message.msg_controllen = sizeof passing.bytes;
        struct cmsghdr *head = CMSG_FIRSTHDR(&message);
        head->cmsg_level = SOL_SOCKET;
        head->cmsg_type = SCM_RIGHTS;
        head->cmsg_len = CMSG_LEN(sizeof socket);
        memcpy(CMSG_DATA(head), &socket, sizeof socket);
    }
    ssize_t sent;
    while ((sent = sendmsg(fd, &message, MSG_NOSIGNAL)) < 0 && errno == EINTR)
        ;
    return sent > 0;
}

int raw_reply_receive(int fd, struct failure *why)
{
    uint8_t kind = REFUSED;
    char text[sizeof why->text] = "";
    union passing passing;
    struct iovec parts[2] = {{&kind, sizeof kind}, {text, sizeof text - 1}};
    struct msghdr message = {.msg_iov = parts,
                             .msg_iovlen = 2,
                             .msg_control = passing.bytes,
                             .msg_controllen = sizeof passing.bytes};
    ssize_t size;
    int socket = -1;
    /* It may have ended without reading what it was asked: that is told once, before what it said.
     */
    while ((size = recvmsg(fd, &message, MSG_CMSG_CLOEXEC)) < 0 &&
           (errno == EINTR || errno == ECONNRESET))
        ;
    if (size <= 0) {
        failure_set(why, "covey-raw %s", size == 0 ? "has ended" : "does not answer");
        return RAW_SILENT;
    }
    const struct cmsghdr *head = CMSG_FIRSTHDR(&message);
    if (kind == GRANTED && head != NULL && head->cmsg_type == SCM_RIGHTS &&
        head->cmsg_len == CMSG_LEN(sizeof socket))
        memcpy(&socket, CMSG_DATA(head), sizeof socket);
    if (socket >= 0)
        return socket;
    failure_set(why, "%s", text);
    return RAW_REFUSED;
}
