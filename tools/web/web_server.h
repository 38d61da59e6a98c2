/*
 * web_server.h - serves the live page, and its events, to browsers.
 */
#ifndef COVEY_TOOLS_WEB_SERVER_H
#define COVEY_TOOLS_WEB_SERVER_H

#include "tools/web/web_board.h"
#include "tools/web/web_door.h"

#define WEB_VIEWERS 16
#define WEB_CONNECTIONS 32 /* viewers among them */

struct web_server_settings {
    char token[WEB_TOKEN_BYTES];
    int64_t bytes_per_s; /* of events, to each viewer */
};

/* An address to listen on. port "0": any that is free. */
struct web_address {
    char host[64];
    char port[8];
};

/* Reads ADDRESS:PORT, ADDRESS or PORT, by default 127.0.0.1 and 0; an IPv6 address with a port
 * stands in brackets. false: it is none of them. */
bool web_address_parse(const char *text, struct web_address *address);

struct web_server;

/* Listens; `board` stays the caller's. NULL: `why` says why not. */
#define WEB_WHY_BYTES 160
struct web_server *web_server_create(const struct web_address *address,
                                     const struct web_server_settings *settings,
                                     const struct board *board, char why[WEB_WHY_BYTES]);
void web_server_destroy(struct web_server *server);

/* Where a browser finds the page, with the token. Whether only this machine can. */
#define WEB_URL_BYTES 192
void web_server_url(const struct web_server *server, char url[WEB_URL_BYTES]);
bool web_server_is_local(const struct web_server *server);

/* Serves until `timeout_ms` are over, or there is something to be read from `wake_fd` (-1: none).
 */
void web_server_run(struct web_server *server, int wake_fd, int timeout_ms);

/* The board has taken a look, which viewers are told of from now on. */
void web_server_tell(struct web_server *server);

#endif
