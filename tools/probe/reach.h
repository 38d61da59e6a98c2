/*
 * reach.h - whether two hosts reach each other: a server that answers probes by UDP and TCP, and
 * the client that sends them. Neither knows a VM's key: a random token, made by the server, tells
 * its answers from those of another machine with the same address. The server answers with no more
 * bytes than it was sent, and to nobody without the token.
 */
#ifndef COVEY_DAEMON_REACH_H
#define COVEY_DAEMON_REACH_H

#include <stdbool.h>

#include "daemon/base/conf.h"
#include "daemon/base/failure.h"
#include "proto/wire/address.h"

#define REACH_PROBE "covey-probe " /* then the token, a blank and who probes */
#define REACH_NAME_MAX 63
#define REACH_TOKEN_BYTES 33 /* 32 hex digits and a NUL */

/* One host to be probed: it is reached when one of its addresses answers. */
struct reach_target {
    char name[REACH_NAME_MAX + 1];
    char token[REACH_TOKEN_BYTES];
    struct address udp[HOST_ADDRESSES_MAX], tcp[HOST_ADDRESSES_MAX];
    int udp_count, tcp_count;
    bool udp_heard, tcp_heard;
    struct address udp_from, tcp_from; /* what answered */
    int tcp_error;                     /* the errno of the last address that refused; 0: none did */
};

/* NAME,TOKEN,udp=ADDRESS:PORT,...,tcp=ADDRESS:PORT,... */
bool reach_target_parse(struct reach_target *target, char *text);

/* Probes all targets at once for at most 3 s and prints a line for each and route. `name` is who
 * probes. 0, or -1 with *why. */
int reach_probe(const struct conf *conf, const char *name, struct reach_target *targets, int count,
                struct failure *why);

struct reach_server;

/* Binds a UDP socket as a daemon would, in the range of covey.conf, and a TCP one as a task would,
 * and prints where they are. What cannot be bound is a finding, and the rest goes on; NULL when
 * nothing is left. */
struct reach_server *reach_server_create(const struct conf *conf, bool local);

/* Answers until the time is over or standard input, if it is a pipe, ends. */
void reach_server_run(struct reach_server *server, int seconds);
void reach_server_destroy(struct reach_server *server); /* NULL is fine */

#endif
