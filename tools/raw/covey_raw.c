/*
 * covey-raw: the one program of Covey that needs a privilege to be of use to ordinary users. It
 * opens packet sockets of one interface and one EtherType, and hands them to whoever started it,
 * which is coveyd. Who may execute it may do all that such a socket does: so its owner decides, by
 * its group and mode, as Debian does it for dumpcap. covey-raw(8) says what that is.
 *
 * The caller is taken for an enemy who shares nothing with this program but the socket that is
 * descriptor 0. So the environment goes first, and all other descriptors: 1 and 2 become the
 * socket, too, and what a library might say there goes to the caller. No file is opened. Of the
 * capabilities CAP_NET_RAW is kept, lowered but for the moment in which a socket is made, and no
 * program that is executed could get any. Interface and EtherType are fixed for good before the
 * first request; what is no request ends it. It keeps no socket that it made, and remembers nothing
 * between requests. It waits where the caller does not read.
 *
 * Not here: a filter of system calls. Their numbers differ from processor to processor, and it
 * would have to let through what this program does: the making of packet sockets.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "daemon/link/nic.h"
#include "daemon/link/privilege.h"
#include "daemon/link/raw_request.h"
#include "daemon/link/raw_socket.h"
#include "daemon/process/helper.h"

#define CALLER 0

static const char usage[] =
    "usage: covey-raw INTERFACE 0x88b5|0x88b6\n"
    "\n"
    "Opens packet sockets for coveyd, which starts it; see covey-raw(8).\n"
    "\n"
    "  --help, --version   this text; the versions of program and protocol\n";

/* The two that IEEE 802 leaves to local experiments, as coveyd writes them. 0: neither. */
static uint16_t type_of(const char *word)
{
    if (strcmp(word, "0x88b5") == 0)
        return 0x88b5;
    return strcmp(word, "0x88b6") == 0 ? 0x88b6 : 0;
}

static bool caller_is_there(void)
{
    int domain = 0, type = 0;
    socklen_t size = sizeof domain;
    return getsockopt(CALLER, SOL_SOCKET, SO_DOMAIN, &domain, &size) == 0 && domain == AF_UNIX &&
           getsockopt(CALLER, SOL_SOCKET, SO_TYPE, &type, &size) == 0 && type == SOCK_SEQPACKET;
}

/* Leaves nothing that the caller gave but the socket. */
static int shut_out(const char *program, struct failure *why)
{
    clearenv();
    if (dup2(CALLER, STDOUT_FILENO) < 0 || dup2(CALLER, STDERR_FILENO) < 0 ||
        close_range(STDERR_FILENO + 1, ~0U, 0) != 0 || prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) != 0)
        return failure_set(why, "covey-raw cannot begin: %s", strerror(errno));
    if (privilege_keep_raw() != 0)
        return failure_set(why, "covey-raw has none: as root, setcap cap_net_raw+ep %.300s",
                           program);
    return 0;
}

static int serve(const struct nic *nic, uint16_t type, struct failure *why)
{
    struct raw_request request;
    enum raw_came came;
    while ((came = raw_request_receive(CALLER, &request)) == RAW_ASKED) {
        int fd = raw_socket_open(nic, type, request.channel, request.vm);
        if (fd < 0)
            failure_set(why, "no packet socket: %s", strerror(errno));
        bool sent = raw_reply_send(CALLER, fd, why);
        if (fd >= 0)
            close(fd);
        if (!sent)
            return 0; /* nobody hears why */
    }
    return came == RAW_END ? 0 : failure_set(why, "covey-raw was not asked for a socket");
}

int main(int argc, char **argv)
{
    struct nic nic;
    struct failure why = {""};
    if (helper_answer(argc, argv, usage))
        return 0;
    if (argc != 3 || argv[1][0] == '\0' || !caller_is_there()) {
        fputs(usage, stderr);
        return 2;
    }
    uint16_t type = type_of(argv[2]);
    int status = shut_out(argv[0], &why);
    if (status == 0 && type == 0)
        status = failure_set(&why, "covey-raw gives sockets of EtherType 0x88b5 or 0x88b6 alone");
    if (status == 0)
        status = nic_find(&nic, argv[1], NULL, &why);
    if (status == 0)
        status = serve(&nic, type, &why);
    if (status != 0)
        raw_reply_send(CALLER, -1, &why);
    return status == 0 ? 0 : 1;
}
