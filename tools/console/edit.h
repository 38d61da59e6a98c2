/*
 * A line of input from a terminal: editing, history and completion by libedit. History is kept
 * in $XDG_STATE_HOME/covey/history (~/.local/state by default), in memory alone where that
 * cannot be.
 */
#ifndef COVEY_TOOLS_EDIT_H
#define COVEY_TOOLS_EDIT_H

#include "tools/base/tool.h"

struct edit;

/* Prepares the terminal; NULL when that fails. While an edit is open, Ctrl-C clears the line
 * that is being typed and does not end the process. */
struct edit *edit_open(struct tool *tool);

/* The next line, without its end, valid until the next call; NULL at the end of input. */
const char *edit_line(struct edit *edit);

/* Saves the history and gives the terminal back; NULL is fine. */
void edit_close(struct edit *edit);

#endif
