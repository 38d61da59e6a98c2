/*
 * covey_domain/predict.h - what the algorithms of a library would take, without running anything.
 */
#ifndef COVEY_DOMAIN_PREDICT_H
#define COVEY_DOMAIN_PREDICT_H

#include "base.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The name of the i-th library that can be predicted, from 0; NULL: there are no more. */
const char *covey_domain_library(int i);

/* What its size looks like, in words, and what it usually is; NULL: no such library. */
const char *covey_domain_library_sizes(const char *library);
const char *covey_domain_library_usual(const char *library);

/* One algorithm of a library. */
struct covey_domain_prediction {
    char algorithm[24];
    char refusal[96]; /* why it cannot be taken; "": it can */
    double seconds;   /* what it is expected to take */
    int32_t taken;    /* 1: a program that forces none takes this one */
};

#define COVEY_DOMAIN_PREDICTIONS_MAX 16

/* Predicts for that size (NULL: the usual one) there, from the speeds of kernels that this
 * machine keeps: what covey_domain_calibrate() or any solver measured here. Returns the number of
 * rows, "local" first. Needs no VM.
 * Errors: EINVAL (no such library, the size, the place), ENOHOST (its kernels were not measured on
 * this machine), ENOMEM. */
int covey_domain_predict(const char *library, const char *size,
                         const struct covey_domain_place *place,
                         struct covey_domain_prediction rows[COVEY_DOMAIN_PREDICTIONS_MAX]);

/* Measures the kernels of a library on this machine, alone in this process, for some seconds, and
 * keeps them. Errors: EINVAL (no such library), ENOMEM. */
int covey_domain_calibrate(const char *library);

#ifdef __cplusplus
}
#endif
#endif
