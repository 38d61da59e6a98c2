/*
 * fft_pairs.h - plans there and back of one array: an algorithm divides the array its own way, so
 * that the second plan of a pair takes that of the first, whatever has been learned between.
 */
#ifndef COVEY_LIB_DOMAIN_FOURIER_FFT_PAIRS_H
#define COVEY_LIB_DOMAIN_FOURIER_FFT_PAIRS_H

#include "lib/domain/fourier/fft.h"

/* A plan that is made, until it is removed. */
void fft_pairs_add(struct covey_fft *plan);
void fft_pairs_remove(struct covey_fft *plan);

/* Whether one goes the other's way back, with all that divides the array but the algorithm. */
int fft_pairs_match(const struct covey_fft *there, const struct covey_fft *back);

/* The algorithm of the youngest plan of these members that goes the other way between the same
 * arrays; DOMAIN_CHOSEN: there is none. Not collective: plans are freed by each member alone. */
int fft_pairs_find(const struct covey_fft *plan, const covey_team_t *team);

#endif
