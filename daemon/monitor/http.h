/*
 * http.h - as much of HTTP/1.x as a scraper of figures speaks: a request without a body, of which
 * the first line counts. Pure.
 */
#ifndef COVEY_DAEMON_HTTP_H
#define COVEY_DAEMON_HTTP_H

#include <stddef.h>

#define HTTP_REQUEST_MAX 4096

enum http_verdict {
    HTTP_MORE,      /* the end of the request has not come */
    HTTP_GET,       /* of the path that is served */
    HTTP_HEAD,      /* likewise, without the content */
    HTTP_NOT_FOUND, /* another path */
    HTTP_METHOD,    /* neither GET nor HEAD */
    HTTP_BAD        /* no request, or one longer than HTTP_REQUEST_MAX */
};

/* Judges what came so far, for a server of `path` alone. What follows a question mark in the
 * request's path does not count. */
enum http_verdict http_judge(const char *bytes, size_t size, const char *path);

/* The answer's head for a verdict, with the length of the content that follows it for HTTP_GET.
 * Returns its size, which is less than HTTP_HEAD_BYTES. */
#define HTTP_HEAD_BYTES 256
size_t http_head(enum http_verdict verdict, size_t content_bytes, char head[HTTP_HEAD_BYTES]);

#endif
