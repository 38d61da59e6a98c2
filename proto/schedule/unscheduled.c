/* unscheduled.c - see unscheduled.h. */
#include "proto/schedule/unscheduled.h"

#define PAIRED_BYTES 6144 /* under way from each, or two blocks */
#define PAIR_BYTES_MAX 8192
#define ASKED_BYTES 32768 /* at least */

int unscheduled_at_once(size_t bytes)
{
    if (bytes == 0 || bytes * 2 > PAIR_BYTES_MAX)
        return 1;
    size_t blocks = PAIRED_BYTES / bytes;
    return blocks < 2 ? 2 : blocks > UNSCHEDULED_WINDOW ? UNSCHEDULED_WINDOW : (int)blocks;
}

bool unscheduled_asks(size_t bytes)
{
    return bytes >= ASKED_BYTES;
}

int unscheduled_distance(int i, int size)
{
    int half = size / 2;
    bool back = i > half;
    int most = back ? size - 1 - half : half, k = back ? i - half : i;
    int on = k % 2 != 0 ? (k + 1) / 2 : most + 1 - k / 2;
    return back ? size - on : on;
}
