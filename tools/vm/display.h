/*
 * The screen of `covey top`: the terminal is taken over from display_open() to display_close().
 */
#ifndef COVEY_TOOLS_DISPLAY_H
#define COVEY_TOOLS_DISPLAY_H

#include "tools/vm/load.h"

struct display;

/* What is shown beside the list. */
struct display_view {
    const char *vm_name;
    const char *trouble; /* in the place of the sum; NULL: none */
    enum load_order order;
    bool reverse;
    int first; /* row of the list at the top; set to one that can be */
};

/* Takes over the terminal of standard input and output; NULL: it is none, or of an unknown kind. */
struct display *display_open(void);
void display_close(struct display *display);

void display_draw(struct display *display, const struct load_list *list, struct display_view *view);

/* What was typed within that time. DISPLAY_NONE: nothing, DISPLAY_GONE: the terminal is. */
enum {
    DISPLAY_NONE = -1,
    DISPLAY_GONE = -2,
    DISPLAY_RESIZED = 0x1000,
    DISPLAY_UP,
    DISPLAY_DOWN,
    DISPLAY_PAGE_UP,
    DISPLAY_PAGE_DOWN,
    DISPLAY_INTERRUPT
};
int display_key(struct display *display, int timeout_ms);

/* Lines of the list that fit. */
int display_lines(const struct display *display);

#endif
