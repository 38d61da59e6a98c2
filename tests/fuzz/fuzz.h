/*
 * fuzz.h - what every fuzz target has: its entry, and a check whose failure the fuzzer reports.
 */
#ifndef COVEY_TESTS_FUZZ_FUZZ_H
#define COVEY_TESTS_FUZZ_FUZZ_H

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

/* Looks at one input; returns 0. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define REQUIRE(condition)                                                                         \
    do {                                                                                           \
        if (!(condition))                                                                          \
            abort();                                                                               \
    } while (0)

#endif
