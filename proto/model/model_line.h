/*
 * model_line.h - the time of a message as alpha + beta N, fitted to measured times.
 *
 * Schmidt & Sunderam, section 2.3: T_comm = alpha + beta N, alpha being the startup time and beta
 * the cost of a byte.
 */
#ifndef COVEY_PROTO_MODEL_LINE_H
#define COVEY_PROTO_MODEL_LINE_H

#include <stddef.h>

/* Seconds and bytes. The last two are the residuals of the fit. */
struct model_line {
    double alpha_s;
    double beta_s; /* a byte */
    double r2;     /* share of the variance that the line explains, of the weighted points */
    double worst;  /* the largest deviation of a point, as a share of its time */
};

/* The least squares of the deviations relative to the times, so that small messages, which alone
 * show alpha, count as much as large ones. Needs two different sizes and times above 0; returns 0,
 * or -1 with *line as it was. */
int model_line_fit(const double *bytes, const double *seconds, size_t n, struct model_line *line);

/* alpha of the short messages and beta of the long ones, as section 2.3 has it of Table 1: beta is
 * the slope of the least squares, alpha the mean of what is left of the times of which bytes are
 * less than half. So what queues and the bursts of a shaped link swallow of messages between the
 * two spoils neither. Where something else that ran made times between the two fall with bytes, it
 * is the line through the shortest and the longest message. Needs and returns the same, and -1,
 * too, where the longest message took less time than the shortest. */
int model_line_fit_ends(const double *bytes, const double *seconds, size_t n,
                        struct model_line *line);

/* Time of one message; never below 0. */
double model_line_time(const struct model_line *line, double bytes);

#endif
