/*
 * The screen of `covey top`: the hosts, and below them the tasks. The terminal is taken over from
 * display_open() to display_close().
 */
#ifndef COVEY_TOOLS_DISPLAY_H
#define COVEY_TOOLS_DISPLAY_H

#include "tools/top/load.h"
#include "tools/top/work.h"

struct display;

enum display_part { DISPLAY_BOTH, DISPLAY_TASKS, DISPLAY_HOSTS, DISPLAY_PARTS };

/* What is shown of the lists, and beside them. */
struct display_view {
    const char *vm_name;
    const char *trouble; /* in the place of the sum; NULL: none */
    enum display_part part;
    enum load_order host_order;
    enum work_order task_order;
    bool reverse;
    char filter[64]; /* of tasks; "": none */
    bool typing;     /* the filter is being typed */
    bool help;       /* the keys are explained */
    int first;       /* row at the top of the tasks, or of the hosts if they are alone; set to one
                        that can be */
    int page;        /* set: lines of that list */
};

/* Takes over the terminal of standard input and output; NULL: it is none, or of an unknown kind. */
struct display *display_open(void);
void display_close(struct display *display);

void display_draw(struct display *display, const struct load_list *hosts,
                  const struct work_list *tasks, struct display_view *view);

/* What was typed within that time. DISPLAY_NONE: nothing, DISPLAY_GONE: the terminal is. */
enum {
    DISPLAY_NONE = -1,
    DISPLAY_GONE = -2,
    DISPLAY_RESIZED = 0x1000,
    DISPLAY_UP,
    DISPLAY_DOWN,
    DISPLAY_PAGE_UP,
    DISPLAY_PAGE_DOWN,
    DISPLAY_INTERRUPT,
    DISPLAY_ENTER,
    DISPLAY_ERASE,
    DISPLAY_ESCAPE
};
int display_key(struct display *display, int timeout_ms);

#endif
