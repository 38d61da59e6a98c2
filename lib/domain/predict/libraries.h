/*
 * libraries.h - the table of the libraries that can be predicted.
 */
#ifndef COVEY_LIB_DOMAIN_PREDICT_LIBRARIES_H
#define COVEY_LIB_DOMAIN_PREDICT_LIBRARIES_H

#include "lib/domain/base/library.h"

/* A row is a library: `const struct domain_library domain_library_NAME` somewhere in its room. It
 * may be missing, as a room is left out whose own library was not found. */
#define DOMAIN_LIBRARIES(ROW)                                                                      \
    ROW(sort)                                                                                      \
    ROW(fft)                                                                                       \
    ROW(gemm)                                                                                      \
    ROW(lu)                                                                                        \
    ROW(cholesky)                                                                                  \
    ROW(qr)                                                                                        \
    ROW(poisson)

#define DECLARE(name)                                                                              \
    extern const struct domain_library domain_library_##name __attribute__((weak));
DOMAIN_LIBRARIES(DECLARE)
#undef DECLARE

#endif
