/* links: proto/http/http.c */
/*
 * http_test.c - what servers make of requests.
 */
#include <CUnit/CUnit.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "proto/http/http.h"
#include "tests/unit/runner.h"

static enum http_verdict judge(const char *text)
{
    return http_judge(text, strlen(text), "/metrics");
}

static void good_requests(void)
{
    CU_ASSERT_EQUAL(judge("GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n"), HTTP_GET);
    CU_ASSERT_EQUAL(judge("GET /metrics HTTP/1.0\n\n"), HTTP_GET);
    CU_ASSERT_EQUAL(judge("GET /metrics?name=a HTTP/1.1\r\n\r\nmore"), HTTP_GET);
    CU_ASSERT_EQUAL(judge("HEAD /metrics HTTP/1.1\r\n\r\n"), HTTP_HEAD);
}

static void requests_for_something_else(void)
{
    CU_ASSERT_EQUAL(judge("GET / HTTP/1.1\r\n\r\n"), HTTP_NOT_FOUND);
    CU_ASSERT_EQUAL(judge("GET /metricsx HTTP/1.1\r\n\r\n"), HTTP_NOT_FOUND);
    CU_ASSERT_EQUAL(judge("GET /metric HTTP/1.1\r\n\r\n"), HTTP_NOT_FOUND);
    CU_ASSERT_EQUAL(judge("GET ?/metrics HTTP/1.1\r\n\r\n"), HTTP_NOT_FOUND);
    CU_ASSERT_EQUAL(judge("POST /metrics HTTP/1.1\r\n\r\n"), HTTP_METHOD);
    CU_ASSERT_EQUAL(judge("get /metrics HTTP/1.1\r\n\r\n"), HTTP_METHOD);
}

static void no_requests(void)
{
    static const char *const bad[] = {"\r\n\r\n",
                                      "\n\n",
                                      "GET\r\n\r\n",
                                      "GET /metrics\r\n\r\n",
                                      "GET  /metrics HTTP/1.1\r\n\r\n",
                                      "GET /metrics HTTP/1.1 x\r\n\r\n",
                                      "GET /metrics HTT\r\n\r\n",
                                      " GET /metrics HTTP/1.1\r\n\r\n"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        CU_ASSERT_EQUAL(judge(bad[i]), HTTP_BAD);
    CU_ASSERT_EQUAL(http_judge("GET /metrics\0 HTTP/1.1\r\n\r\n", 26, "/metrics"), HTTP_NOT_FOUND);
}

static void requests_that_are_under_way(void)
{
    const char *text = "GET /metrics HTTP/1.1\r\n\r\n";
    for (size_t size = 0; size < strlen(text); size++)
        CU_ASSERT_EQUAL(http_judge(text, size, "/metrics"), HTTP_MORE);
    char much[HTTP_REQUEST_MAX];
    memset(much, 'x', sizeof much);
    CU_ASSERT_EQUAL(http_judge(much, sizeof much - 1, "/metrics"), HTTP_MORE);
    CU_ASSERT_EQUAL(http_judge(much, sizeof much, "/metrics"), HTTP_BAD);
}

static void answers_fit(void)
{
    for (int verdict = HTTP_GET; verdict <= HTTP_BAD; verdict++) {
        char head[HTTP_HEAD_BYTES];
        size_t size = http_head((enum http_verdict)verdict, "A: b\r\n", (size_t)-2, head);
        CU_ASSERT_TRUE_FATAL(size < sizeof head);
        CU_ASSERT_EQUAL(strlen(head), size);
        CU_ASSERT_STRING_EQUAL(head + size - 4, "\r\n\r\n");
        CU_ASSERT_EQUAL(strncmp(head, "HTTP/1.1 ", 9), 0);
    }
}

static void long_fields_are_refused(void)
{
    char fields[HTTP_HEAD_BYTES], head[HTTP_HEAD_BYTES];
    memset(fields, 'x', sizeof fields - 1);
    fields[sizeof fields - 1] = '\0';
    CU_ASSERT_EQUAL(http_head(HTTP_GET, fields, 0, head), 0);
    CU_ASSERT_TRUE(http_head(HTTP_GET, "", HTTP_ENDLESS, head) > 0);
    CU_ASSERT_PTR_NULL(strstr(head, "Content-Length"));
}

static bool reads(const char *text, const char *path, const char *query, const char *host)
{
    struct http_request r;
    return http_read(text, strlen(text), &r) == HTTP_GET && http_is(r.path, path) &&
           http_is(r.query, query) && http_is(r.host, host);
}

static void parts_of_a_request(void)
{
    CU_ASSERT_TRUE(reads("GET / HTTP/1.1\r\nHost: x:1\r\n\r\n", "/", "", "x:1"));
    CU_ASSERT_TRUE(
        reads("GET /a?b=c&d HTTP/1.1\nA: b\nhOsT:\t [::1]:80 \n\n", "/a", "b=c&d", "[::1]:80"));
    CU_ASSERT_TRUE(reads("GET /a? HTTP/1.1\r\nHost:\r\n\r\n", "/a", "", ""));
    CU_ASSERT_TRUE(reads("GET /a HTTP/1.1\r\nX-Host: y\r\n\r\nHost: z\r\n\r\n", "/a", "", ""));
    CU_ASSERT_EQUAL(judge("GET /metrics HTTP/1.1\r\nHost: a\r\nHost: a\r\n\r\n"), HTTP_BAD);
}

static void secrets(void)
{
    struct http_text text = {"abcd", 4};
    CU_ASSERT_TRUE(http_is_secret(text, "abcd"));
    CU_ASSERT_FALSE(http_is_secret(text, "abce"));
    CU_ASSERT_FALSE(http_is_secret(text, "bbcd"));
    CU_ASSERT_FALSE(http_is_secret(text, "abcde"));
    CU_ASSERT_FALSE(http_is_secret(text, "abc"));
    CU_ASSERT_FALSE(http_is_secret((struct http_text){NULL, 0}, "abcd"));
}

static const struct test_case cases[] = {
    {"good requests", good_requests},
    {"requests for something else", requests_for_something_else},
    {"no requests", no_requests},
    {"requests that are under way", requests_that_are_under_way},
    {"answers fit", answers_fit},
    {"long fields are refused", long_fields_are_refused},
    {"parts of a request", parts_of_a_request},
    {"secrets", secrets},
};

int main(void)
{
    return covey_test_main("http", cases, sizeof cases / sizeof cases[0]);
}
