/*
 * http.h - as much of HTTP/1.x as a scraper of figures, and a browser that looks at one page, need:
 * a request without a body, of which the first line and the field Host count. Pure.
 */
#ifndef COVEY_PROTO_HTTP_H
#define COVEY_PROTO_HTTP_H

#include <stddef.h>

#define HTTP_REQUEST_MAX 4096

enum http_verdict {
    HTTP_MORE,      /* the end of the request has not come */
    HTTP_GET,       /* of what is served */
    HTTP_HEAD,      /* likewise, without the content */
    HTTP_FORBIDDEN, /* who asks may not have it */
    HTTP_NOT_FOUND, /* another path */
    HTTP_METHOD,    /* neither GET nor HEAD */
    HTTP_BUSY,      /* as many as can be are served already */
    HTTP_BAD        /* no request, or one longer than HTTP_REQUEST_MAX */
};

/* Parts of the request's bytes, not ended by a NUL. A query or a host that is not there has the
 * size 0. */
struct http_text {
    const char *at;
    size_t size;
};

struct http_request {
    struct http_text path;
    struct http_text query; /* what follows the question mark */
    struct http_text host;  /* of the field Host, without blanks around it */
};

/* Reads what came so far; sets *request for HTTP_GET and HTTP_HEAD alone. A request that names two
 * hosts is HTTP_BAD. */
enum http_verdict http_read(const char *bytes, size_t size, struct http_request *request);

/* Judges what came so far, for a server of `path` alone, which takes no query. */
enum http_verdict http_judge(const char *bytes, size_t size, const char *path);

/* Whether a part is that text; in a time that tells nothing of where they differ, for secrets. */
int http_is(struct http_text text, const char *wanted);
int http_is_secret(struct http_text text, const char *wanted);

/* The answer's head for a verdict, with further fields ("Name: value\r\n"...), and the length of
 * the content that follows it; HTTP_ENDLESS: it ends with the connection. Returns its size, which
 * is less than HTTP_HEAD_BYTES, or 0 if the fields are too long. */
#define HTTP_HEAD_BYTES 1024
#define HTTP_ENDLESS ((size_t)-1)
size_t http_head(enum http_verdict verdict, const char *fields, size_t content_bytes,
                 char head[HTTP_HEAD_BYTES]);

#endif
