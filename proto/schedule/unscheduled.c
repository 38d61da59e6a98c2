/* unscheduled.c - see unscheduled.h. */
#include "proto/schedule/unscheduled.h"

#include <stdbool.h>

#define PAIRED_BYTES 6144 /* under way from each, or two blocks */
#define PAIR_BYTES_MAX 8192
#define QUEUE_BYTES 98304 /* that a switch holds before a host */
#define ASKED_MOST 81920  /* `linear`: for longer blocks a loss is told by what comes behind it */

int unscheduled_at_once(size_t bytes)
{
    if (bytes == 0 || bytes * 2 > PAIR_BYTES_MAX)
        return 1;
    size_t blocks = PAIRED_BYTES / bytes;
    return blocks < 2 ? 2 : blocks > UNSCHEDULED_WINDOW ? UNSCHEDULED_WINDOW : (int)blocks;
}

/* Members of a host, where they are spread evenly. */
static int members_of_host(int size, int hosts)
{
    return (size + hosts - 1) / hosts;
}

struct unscheduled_linear unscheduled_linear(int size, int hosts, size_t mean_bytes)
{
    struct unscheduled_linear l = {.window = UNSCHEDULED_WINDOW, .asked_from = 1};
    if (hosts <= 1)
        return l;
    size_t members = (size_t)members_of_host(size, hosts);
    int others = size - (int)members;
    size_t at_once = members * (size_t)(others < UNSCHEDULED_WINDOW ? others : UNSCHEDULED_WINDOW);
    l.asked_from = QUEUE_BYTES / at_once + 1;
    l.asked_to = ASKED_MOST;
    if (mean_bytes < l.asked_from || mean_bytes > l.asked_to)
        return l;
    size_t least = members == 1 ? 2 : 1, window = QUEUE_BYTES / (members * mean_bytes);
    window = window < least ? least : window;
    l.window = window < UNSCHEDULED_WINDOW ? (int)window : UNSCHEDULED_WINDOW;
    return l;
}

int unscheduled_distance(int i, int size)
{
    int half = size / 2;
    bool back = i > half;
    int most = back ? size - 1 - half : half, k = back ? i - half : i;
    int on = k % 2 != 0 ? (k + 1) / 2 : most + 1 - k / 2;
    return back ? size - on : on;
}
