/*
 * web_door.h - who may have what of the live page. Pure.
 */
#ifndef COVEY_TOOLS_WEB_DOOR_H
#define COVEY_TOOLS_WEB_DOOR_H

#include "proto/http/http.h"

#define WEB_TOKEN_BYTES 33 /* 128 bits as hexadecimal digits, and a NUL */

/* 128 random bits as text. */
void web_token_make(char token[WEB_TOKEN_BYTES]);

enum web_wish { WEB_PAGE, WEB_EVENTS };

/* Judges what came so far. HTTP_GET, and what is wanted, only for a request that has the token in
 * its query and names its host by an address, or as localhost. */
enum http_verdict web_door_judge(const char *token, const char *bytes, size_t size,
                                 enum web_wish *wish);

#endif
