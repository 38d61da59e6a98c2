/*
 * route.h - which way a message takes, and how a direct link comes to be.
 */
#ifndef COVEY_LIB_ENGINE_ROUTE_H
#define COVEY_LIB_ENGINE_ROUTE_H

#include "lib/link/link.h"
#include "lib/member/routes.h"
#include <stdbool.h>
#include <stdint.h>

struct conn;
struct control_link;
struct covey;
struct covey_req;
struct frame;
struct peer;

enum opening { OPENING_NONE, OPENING_ASKED, OPENING_CONNECTING, OPENING_FAILED };

/* The way to a direct link of one route. */
struct route_state {
    enum opening opening;
    struct conn *conn; /* ready for use; others of the same route are only read */
    struct conn *pending;
    uint64_t deadline_us; /* OPENING_FAILED: not before then is it tried again */
    uint8_t nonce[AUTH_NONCE_BYTES];
    struct link_secret secret;
    unsigned broken; /* this often, while being opened */
    unsigned failed; /* this often, since it was ready last */
    char why[160];   /* OPENING_FAILED */
    bool has_stream; /* tcp within the host: the opener's end is there, */
    int stream_fd;   /* which this is */
    bool relayed;    /* ether: accepted, and frames pass the daemons */
    bool accepting;  /* the peer opens: a stream with this nonce will come */
    uint8_t accept_nonce[AUTH_NONCE_BYTES];
    struct link_secret accept_secret;
};

/* The link for the next message: *conn, NULL meaning through the daemon. 1: go; 0: not yet;
 * < 0: it cannot work, req->text says why. */
int route_choose(struct covey *vm, struct peer *peer, struct covey_req *req, struct conn **conn);
int route_wanted(const struct covey *vm, const struct peer *peer);
/* Whether the next message to that task goes by frames that reach several hosts. */
bool route_is_broadcast(struct covey *vm, uint32_t tid);
/* Whether what goes to a task of this host may go through memory. */
bool route_is_memory(struct covey *vm, uint32_t tid);
/* Whether route_choose(), free to choose, takes a stream to that task or begins to open one. */
bool route_takes_stream(const struct covey *vm, const struct peer *peer);
/* Much is going to that task: a stream is worth it from now on. */
void route_expect_bulk(struct peer *peer);
/* And the link for it may as well be opened now. */
void route_open_ahead(struct covey *vm, struct peer *peer);
/* The flags of frames through the daemon of a message that route_choose() let go. */
uint8_t route_flags(const struct covey *vm, const struct peer *peer);
void route_on_link_frame(struct covey *vm, const struct frame *frame, const uint8_t *payload,
                         int *fds, int nfds);
void route_check(struct covey *vm, struct peer *peer, uint64_t now_us);
void route_failed(struct covey *vm, struct peer *peer, int route, const char *why);
/* The link broke while it was being opened: asks for another, the third time gives up. */
void route_broke(struct covey *vm, struct peer *peer, int route, const char *why);
/* From now on messages to the peer, or to all (NULL), take that route; where opening it failed it
 * is tried again. */
void route_force(struct covey *vm, struct peer *only, int route);
/* By which route the next message to that task goes, as far as that is known. */
int route_taken(struct covey *vm, uint32_t tid);
/* Opening one: for those that do it (route_links.h). */
bool route_may_open(struct route_state *state);
void route_open(struct covey *vm, struct peer *peer, int route);
int route_send_open(struct covey *vm, struct peer *peer, int route, const int *fds, int nfds);
void route_stream_drop(struct route_state *state);
/* LINK_ACCEPT, or with an error LINK_REFUSE. */
void route_answer(struct covey *vm, uint32_t tid, const struct control_link *l, const int *fds,
                  int nfds);
void route_free_all(struct peer *peer);
/* The state of that route; NULL: no memory. */
struct route_state *route_state_get(struct peer *peer, int route);

#endif
