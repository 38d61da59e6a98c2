/* links: proto/http/http.c tools/web/web_door.c */
/*
 * Requests of whoever can connect: read within their bounds, and judged alike when they come in
 * pieces; and nobody gets in at the door of the live page without its token.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "proto/http/http.h"
#include "tests/fuzz/fuzz.h"
#include "tools/web/web_door.h"

static int inside(struct http_text text, const uint8_t *data, size_t size)
{
    const char *begin = (const char *)data;
    return text.size == 0 ||
           (text.at >= begin && text.size <= size && text.at <= begin + size - text.size);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char head[HTTP_HEAD_BYTES];
    enum http_verdict verdict, first = HTTP_MORE;
    struct http_request request;

    if (size > HTTP_REQUEST_MAX)
        size = HTTP_REQUEST_MAX;
    char *exact = malloc(size + 1); /* a sanitizer sees what is read behind it */
    REQUIRE(exact != NULL);
    for (size_t cut = 0; cut <= size && first == HTTP_MORE; cut++) {
        exact = realloc(exact, cut + (cut == 0));
        REQUIRE(exact != NULL);
        if (cut > 0)
            memcpy(exact, data, cut);
        first = http_judge(exact, cut, "/metrics");
    }
    free(exact);
    verdict = http_judge((const char *)data, size, "/metrics");
    REQUIRE(verdict == first);
    REQUIRE(verdict == HTTP_MORE || http_head(verdict, "", size, head) < sizeof head);
    if (http_read((const char *)data, size, &request) == HTTP_GET) {
        REQUIRE(inside(request.path, data, size));
        REQUIRE(inside(request.query, data, size) && inside(request.host, data, size));
    }
    enum web_wish wish;
    verdict = web_door_judge("sesame", (const char *)data, size, &wish);
    REQUIRE(verdict != HTTP_GET || memmem(data, size, "token=sesame", 12) != NULL);
    return 0;
}
