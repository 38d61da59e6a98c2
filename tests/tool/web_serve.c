/* links: tests/tool/web_feed.c tools/web/web_board.c tools/web/web_work.c tools/web/web_waits.c tools/web/web_flights.c tools/web/web_matrix.c tools/top/work_rates.c tools/top/work_columns.c tools/list/columns.c tools/list/table.c tools/base/tid.c tools/web/web_told.c tools/web/web_door.c tools/web/web_server.c tools/list/report_value.c proto/http/http.c libcovey -ljansson */
/*
 * web_serve HOSTS TASKS CHURN PERIOD_MS LOOKS BYTES_PER_S [NAME] - serves the live page of a VM
 * that is made up (web_feed.c), prints its address, and takes a look each PERIOD_MS, LOOKS of them;
 * those of the last ten minutes before are there from the beginning. The page is told of the usual
 * two seconds. NAME is in all names. Ends when there is something to be read on its input, or its
 * end.
 */
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/tool/web_feed.h"
#include "tools/base/clock.h"
#include "tools/web/web_server.h"

static void take(struct board *board, const struct web_feed *feed, int number)
{
    struct web_look *look = web_feed_look(feed, number);
    board_take(board, look);
    web_feed_free(look);
}

static int has_input(void)
{
    struct pollfd in = {.fd = STDIN_FILENO, .events = POLLIN};
    return poll(&in, 1, 0) > 0;
}

int main(int argc, char **argv)
{
    struct web_address address = {"127.0.0.1", "0"};
    struct web_server_settings settings = {0};
    char why[WEB_WHY_BYTES], url[WEB_URL_BYTES];
    if (argc < 7) {
        fprintf(stderr, "web_serve: needs HOSTS TASKS CHURN PERIOD_MS LOOKS BYTES_PER_S\n");
        return 2;
    }
    const struct web_feed feed = {atoi(argv[1]), atoi(argv[2]), atoi(argv[3]),
                                  argc > 7 ? argv[7] : NULL};
    int period_ms = atoi(argv[4]), looks = atoi(argv[5]);
    settings.bytes_per_s = atol(argv[6]);
    web_token_make(settings.token);
    struct board *board = board_create(argc > 7 ? argv[7] : "lab", 2000);
    struct web_server *server = web_server_create(&address, &settings, board, why);
    if (board == NULL || server == NULL) {
        fprintf(stderr, "web_serve: %s\n", board == NULL ? "memory is exhausted" : why);
        return 1;
    }
    int number = 0;
    for (; number < BOARD_SAMPLES; number++)
        take(board, &feed, number);
    web_server_url(server, url);
    printf("%s\n", url);
    fflush(stdout);
    for (int64_t at = clock_ms(); !has_input();) {
        int64_t left = at + period_ms - clock_ms();
        web_server_run(server, STDIN_FILENO, left < 0 ? 0 : (int)left);
        if (clock_ms() < at + period_ms)
            continue;
        at += period_ms;
        if (number >= looks + BOARD_SAMPLES)
            continue;
        take(board, &feed, number++);
        web_server_tell(server);
    }
    web_server_destroy(server);
    board_destroy(board);
    return 0;
}
