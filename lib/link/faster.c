/*
 * faster.c - what a receiver learns of the two ways of long messages: the best of a few by each
 * way, for whoever was disturbed says nothing; and after some hundred messages again, for the
 * tasks move to other processors. The ring comes first: of a few messages nothing is learnt.
 */
#include "lib/link/faster.h"

#define TRIES 4      /* messages by each way */
#define AGAIN 512    /* messages later */
#define FIRST_KIB 64 /* the first class ends below that, each other at four times as much */

int faster_class(uint64_t bytes)
{
    int class = 0;
    for (uint64_t end = FIRST_KIB * 1024; bytes >= end && class < FASTER_CLASSES - 1; end *= 4)
        class ++;
    return class;
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
