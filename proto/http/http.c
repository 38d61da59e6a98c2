/*
 * http.c - no more of HTTP than a scraper or one page need: whatever else comes is refused by its
 * own status. Pure, so that a fuzzer reaches all of it.
 */
#include "proto/http/http.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

/* An empty line ends the request. */
static bool is_whole(const char *bytes, size_t size)
{
    return memmem(bytes, size, "\r\n\r\n", 4) != NULL || memmem(bytes, size, "\n\n", 2) != NULL;
}

/* The next word of a line up to a blank. */
static struct http_text take_word(struct http_text *line)
{
    const char *blank = memchr(line->at, ' ', line->size);
    struct http_text word = {line->at, blank == NULL ? line->size : (size_t)(blank - line->at)};
    size_t used = word.size + (blank != NULL);
    line->at += used;
    line->size -= used;
    return word;
}

/* The next line, without its end; the request is whole, so each line has one. */
static struct http_text take_line(const char **at, const char *end)
{
    const char *newline = memchr(*at, '\n', (size_t)(end - *at));
    struct http_text line = {*at, newline == NULL ? 0 : (size_t)(newline - *at)};
    *at = newline == NULL ? end : newline + 1;
    if (line.size > 0 && line.at[line.size - 1] == '\r')
        line.size--;
    return line;
}

static struct http_text without_blanks(struct http_text text)
{
    while (text.size > 0 && (*text.at == ' ' || *text.at == '\t')) {
        text.at++;
        text.size--;
    }
    while (text.size > 0 && (text.at[text.size - 1] == ' ' || text.at[text.size - 1] == '\t'))
        text.size--;
    return text;
}

int http_is(struct http_text text, const char *wanted)
{
    return text.size == strlen(wanted) &&
           (text.size == 0 || memcmp(text.at, wanted, text.size) == 0);
}

int http_is_secret(struct http_text text, const char *wanted)
{
    size_t size = strlen(wanted);
    volatile unsigned char differ = 0;
    if (text.size != size)
        return 0;
    for (size_t i = 0; i < size; i++)
        differ = (unsigned char)(differ | (unsigned char)(text.at[i] ^ wanted[i]));
    return differ == 0;
}

static enum http_verdict read_line(struct http_text line, struct http_request *request)
{
    struct http_text method = take_word(&line), target = take_word(&line),
                     version = take_word(&line);
    if (method.size == 0 || target.size == 0 || line.size != 0 || version.size < 5 ||
        memcmp(version.at, "HTTP/", 5) != 0)
        return HTTP_BAD;
    bool get = http_is(method, "GET");
    if (!get && !http_is(method, "HEAD"))
        return HTTP_METHOD;
    const char *query = memchr(target.at, '?', target.size);
    *request = (struct http_request){.path = target, .query = {"", 0}, .host = {"", 0}};
    if (query != NULL) {
        request->path.size = (size_t)(query - target.at);
        request->query = (struct http_text){query + 1, target.size - request->path.size - 1};
    }
    return get ? HTTP_GET : HTTP_HEAD;
}

/* The field Host; false: there are two. */
static bool read_fields(const char *at, const char *end, struct http_request *request)
{
    static const char name[] = "Host:";
    bool found = false;
    for (struct http_text line; (line = take_line(&at, end)).size > 0;) {
        if (line.size < sizeof name - 1 || strncasecmp(line.at, name, sizeof name - 1) != 0)
            continue;
        if (found)
            return false;
        found = true;
        line.at += sizeof name - 1;
        line.size -= sizeof name - 1;
        request->host = without_blanks(line);
    }
    return true;
}

enum http_verdict http_read(const char *bytes, size_t size, struct http_request *request)
{
    const char *at = bytes, *end = bytes + size;
    struct http_request found;
    if (!is_whole(bytes, size))
        return size < HTTP_REQUEST_MAX ? HTTP_MORE : HTTP_BAD;
    enum http_verdict verdict = read_line(take_line(&at, end), &found);
    if (verdict != HTTP_GET && verdict != HTTP_HEAD)
        return verdict;
    if (!read_fields(at, end, &found))
        return HTTP_BAD;
    *request = found;
    return verdict;
}

enum http_verdict http_judge(const char *bytes, size_t size, const char *path)
{
    struct http_request request;
    enum http_verdict verdict = http_read(bytes, size, &request);
    bool read = verdict == HTTP_GET || verdict == HTTP_HEAD;
    return read && !http_is(request.path, path) ? HTTP_NOT_FOUND : verdict;
}

size_t http_head(enum http_verdict verdict, const char *fields, size_t content_bytes,
                 char head[HTTP_HEAD_BYTES])
{
    static const char *const status[] = {[HTTP_GET] = "200 OK",
                                         [HTTP_HEAD] = "200 OK",
                                         [HTTP_FORBIDDEN] = "403 Forbidden",
                                         [HTTP_NOT_FOUND] = "404 Not Found",
                                         [HTTP_METHOD] = "405 Method Not Allowed",
                                         [HTTP_BUSY] = "503 Service Unavailable",
                                         [HTTP_BAD] = "400 Bad Request"};
    char length[48] = "";
    if (content_bytes != HTTP_ENDLESS)
        snprintf(length, sizeof length, "Content-Length: %zu\r\n", content_bytes);
    int size = snprintf(head, HTTP_HEAD_BYTES, "HTTP/1.1 %s\r\nConnection: close\r\n%s%s\r\n",
                        status[verdict], length, fields);
    return size < HTTP_HEAD_BYTES ? (size_t)size : 0;
}
