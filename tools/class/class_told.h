/*
 * class_told.h - what a class has to tell its teacher: who joined, and the last lines of what
 * happened, each with its time.
 */
#ifndef COVEY_TOOLS_CLASS_TOLD_H
#define COVEY_TOOLS_CLASS_TOLD_H

#include <stddef.h>
#include <stdint.h>

#include "proto/class/door.h"

#define TOLD_TEXT_BYTES 8192
#define TOLD_LINE_BYTES 320
#define TOLD_LINES 64
#define TOLD_NAMES_BYTES 4096

struct told {
    char lines[TOLD_LINES][TOLD_LINE_BYTES]; /* a ring */
    int32_t count;                           /* of all lines there were */
    char names[TOLD_NAMES_BYTES];            /* ", anna, ben" */
    unsigned joined;
};

/* Adds a line. */
void told_line(struct told *told, const char *format, ...) __attribute__((format(printf, 2, 3)));

void told_joined(struct told *told, const char *name, const char *from);

/* The lines from that number on, of which the oldest may be gone. Returns the next number. */
int32_t told_since(const struct told *told, int32_t since, char text[TOLD_TEXT_BYTES]);

/* The class as it is: its code, how it is joined, and who has. */
void told_status(const struct told *told, const struct door_status *status, uint16_t port,
                 uint16_t tcp_port, uint64_t now_ms, char text[TOLD_TEXT_BYTES]);

#endif
