/*
 * http.c - no more of HTTP than a scraper needs: whatever else comes is refused by its own status.
 * Pure, so that a fuzzer reaches all of it.
 */
#include "daemon/monitor/http.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

/* An empty line ends the request. */
static bool is_whole(const char *bytes, size_t size)
{
    return memmem(bytes, size, "\r\n\r\n", 4) != NULL || memmem(bytes, size, "\n\n", 2) != NULL;
}

/* The next word of a line up to a blank; *size is what is left of the line. */
static const char *take_word(const char **at, size_t *size, size_t *word_size)
{
    const char *word = *at, *blank = memchr(word, ' ', *size);
    *word_size = blank == NULL ? *size : (size_t)(blank - word);
    size_t used = *word_size + (blank != NULL);
    *at += used;
    *size -= used;
    return word;
}

static bool is_word(const char *word, size_t size, const char *wanted)
{
    return size == strlen(wanted) && memcmp(word, wanted, size) == 0;
}

static enum http_verdict judge_line(const char *line, size_t size, const char *path)
{
    size_t method_size, target_size, version_size;
    const char *method = take_word(&line, &size, &method_size);
    const char *target = take_word(&line, &size, &target_size);
    const char *version = take_word(&line, &size, &version_size);
    if (method_size == 0 || target_size == 0 || size != 0 || version_size < 5 ||
        memcmp(version, "HTTP/", 5) != 0)
        return HTTP_BAD;
    bool get = is_word(method, method_size, "GET");
    if (!get && !is_word(method, method_size, "HEAD"))
        return HTTP_METHOD;
    const char *query = memchr(target, '?', target_size);
    if (!is_word(target, query == NULL ? target_size : (size_t)(query - target), path))
        return HTTP_NOT_FOUND;
    return get ? HTTP_GET : HTTP_HEAD;
}

enum http_verdict http_judge(const char *bytes, size_t size, const char *path)
{
    size_t line = 0;
    if (!is_whole(bytes, size))
        return size < HTTP_REQUEST_MAX ? HTTP_MORE : HTTP_BAD;
    while (bytes[line] != '\r' && bytes[line] != '\n')
        line++;
    return judge_line(bytes, line, path);
}

size_t http_head(enum http_verdict verdict, size_t content_bytes, char head[HTTP_HEAD_BYTES])
{
    static const char *const status[] = {[HTTP_GET] = "200 OK",
                                         [HTTP_HEAD] = "200 OK",
                                         [HTTP_NOT_FOUND] = "404 Not Found",
                                         [HTTP_METHOD] = "405 Method Not Allowed",
                                         [HTTP_BAD] = "400 Bad Request"};
    bool good = verdict == HTTP_GET || verdict == HTTP_HEAD;
    int size = snprintf(head, HTTP_HEAD_BYTES,
                        "HTTP/1.1 %s\r\nConnection: close\r\nContent-Length: %zu\r\n%s%s\r\n",
                        status[verdict], good ? content_bytes : 0,
                        good ? "Content-Type: text/plain; version=0.0.4; charset=utf-8\r\n" : "",
                        verdict == HTTP_METHOD ? "Allow: GET, HEAD\r\n" : "");
    return (size_t)size;
}
