/*
 * faster.c - what a receiver learns of the two ways of long messages. It measures a few by each way
 * and compares the best ones, for a time in which other programs ran tells nothing. Some thousand
 * messages later it measures again, for tasks move to other processors. The ring comes first, so
 * pairs of tasks with few messages know nothing else.
 */
#include "lib/link/faster.h"

#define TRIES 4      /* messages by each way */
#define AGAIN 2048   /* messages later */
#define FIRST_KIB 64 /* the first class ends below that, each other at four times as much */

int faster_class(uint64_t bytes)
{
    int found = 0;
    for (uint64_t end = FIRST_KIB * 1024; bytes >= end && found < FASTER_CLASSES - 1; end *= 4)
        found++;
    return found;
}

bool faster_note(struct faster *f, uint64_t bytes, bool once, uint64_t ns)
{
    struct faster_of *of = &f->of[faster_class(bytes)];
    uint64_t cost = ns / (bytes / 1024 + 1);
    if (cost > UINT32_MAX)
        cost = UINT32_MAX;
    if (of->samples[once] == 0 || cost < of->best[once])
        of->best[once] = (uint32_t)cost;
    if (of->samples[once] < TRIES)
        of->samples[once]++;
    if (of->samples[false] < TRIES)
        return false;
    if (of->samples[true] < TRIES)
        return true;
    bool better = of->best[true] < of->best[false];
    if (++of->known >= AGAIN)
        *of = (struct faster_of){0};
    return better;
}
