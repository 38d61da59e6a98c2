/*
 * web_feed.h - looks at a VM that is made up, for tests of the live page: as many hosts and tasks
 * as wanted, of which some come and go with each look.
 */
#ifndef COVEY_TESTS_TOOL_WEB_FEED_H
#define COVEY_TESTS_TOOL_WEB_FEED_H

#include "tools/web/web_look.h"

struct web_feed {
    int hosts, tasks;    /* tasks: of a host */
    int churn;           /* tasks of the VM that are others in the next look */
    const char *program; /* what tasks run, and the name of hosts, locks and bags, and lines; NULL:
                            usual ones */
};

/* The look of that number, to be freed by web_feed_free(). */
struct web_look *web_feed_look(const struct web_feed *feed, int number);
void web_feed_free(struct web_look *look);

#endif
