/*
 * faster.h - whether a long message of this host comes sooner by the ring, which copies it twice
 * with both ends at work, or is copied once by its receiver through the kernel (offer.c). Which is
 * true differs between machines, and with the size: the kernel's work for each page takes as long
 * as the copy on some, and what one processor wrote comes slowly to the other on others. So the
 * receiver measures both and advises the sender.
 */
#ifndef COVEY_LIB_FASTER_H
#define COVEY_LIB_FASTER_H

#include <stdbool.h>
#include <stdint.h>

#define FASTER_CLASSES 4                            /* of sizes */
#define FASTER_UNKNOWN ((1u << FASTER_CLASSES) - 1) /* by the ring, all of them */

struct faster_of {
    uint32_t best[2];   /* nanoseconds a KiB: by the ring, once */
    uint8_t samples[2]; /* so many of each */
    uint16_t known;     /* so many messages came since both were measured */
};

struct faster {
    struct faster_of of[FASTER_CLASSES];
};

/* Of a message of so many bytes. */
int faster_class(uint64_t bytes);
/* Such a message has come within that time. Returns whether the next ones are to be copied once. */
bool faster_note(struct faster *f, uint64_t bytes, bool once, uint64_t ns);

#endif
