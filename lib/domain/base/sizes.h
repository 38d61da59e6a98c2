/*
 * sizes.h - the size of a problem as a user writes it: "4000", "8M", "128x128x64".
 */
#ifndef COVEY_LIB_DOMAIN_BASE_SIZES_H
#define COVEY_LIB_DOMAIN_BASE_SIZES_H

#include <stdint.h>

/* Reads up to `most` whole numbers above 0 with x between them, each with K, M or G behind it for
 * 1024, 1024^2 or 1024^3, and returns how many there are. Errors: EINVAL; the text says what
 * `sizes` describes. */
int domain_sizes_read(const char *text, const char *sizes, int most, int64_t *n);

#endif
