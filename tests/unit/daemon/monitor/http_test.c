/* links: daemon/monitor/http.c */
/*
 * http_test.c - what the metrics server makes of requests.
 */
#include <CUnit/CUnit.h>
#include <stdio.h>
#include <string.h>

#include "daemon/monitor/http.h"
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
        size_t size = http_head((enum http_verdict)verdict, (size_t)-1, head);
        CU_ASSERT_TRUE_FATAL(size < sizeof head);
        CU_ASSERT_EQUAL(strlen(head), size);
        CU_ASSERT_STRING_EQUAL(head + size - 4, "\r\n\r\n");
        CU_ASSERT_EQUAL(strncmp(head, "HTTP/1.1 ", 9), 0);
    }
}

static const struct test_case cases[] = {
    {"good requests", good_requests}, {"requests for something else", requests_for_something_else},
    {"no requests", no_requests},     {"requests that are under way", requests_that_are_under_way},
    {"answers fit", answers_fit},
};

int main(void)
{
    return covey_test_main("http", cases, sizeof cases / sizeof cases[0]);
}
