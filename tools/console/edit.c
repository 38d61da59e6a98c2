/*
 * edit.c - line editing by libedit, with history and completion. What libedit does not do is here:
 * private folders for the history, a candidate that is ended by a blank, and Ctrl-C that ends a
 * line and not the console.
 */
#include "tools/console/edit.h"

#include <errno.h>
#include <histedit.h>
#include <limits.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "tools/console/complete.h"

#define HISTORY_LINES 1000

struct edit {
    struct tool *tool;
    EditLine *el;
    History *history;
    char path[PATH_MAX]; /* of the history, or "" */
    char *line;
    struct sigaction before;
};

/* ---- History ------------------------------------------------------------------------------ */

/* Makes all folders above the last slash, as private ones. */
static bool make_folders(char *path)
{
    for (char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        bool made = mkdir(path, 0700) == 0 || errno == EEXIST;
        *slash = '/';
        if (!made)
            return false;
    }
    return true;
}

static void find_history(char *path, size_t size)
{
    const char *state = getenv("XDG_STATE_HOME");
    const char *home = getenv("HOME");
    int length = 0;
    *path = '\0';
    if (state && *state == '/')
        length = snprintf(path, size, "%s/covey/history", state);
    else if (home && *home == '/')
        length = snprintf(path, size, "%s/.local/state/covey/history", home);
    if ((size_t)length >= size || (length && !make_folders(path)))
        *path = '\0';
}

static void open_history(struct edit *edit)
{
    HistEvent event;
    edit->history = history_init();
    find_history(edit->path, sizeof edit->path);
    if (!edit->history)
        return;
    history(edit->history, &event, H_SETSIZE, HISTORY_LINES);
    history(edit->history, &event, H_SETUNIQUE, 1);
    if (edit->path[0])
        history(edit->history, &event, H_LOAD, edit->path);
    el_set(edit->el, EL_HIST, history, edit->history);
}

/* ---- Completion --------------------------------------------------------------------------- */

/* A sole candidate is finished by a blank, unless it goes on (a folder). */
static unsigned char insert_common(EditLine *el, const struct complete *complete)
{
    size_t typed = strlen(complete->prefix);
    size_t common = complete_common(complete);
    char text[PATH_MAX + 2];
    if (complete->count == 0 || common - typed > PATH_MAX)
        return CC_ERROR;
    bool finished =
        complete->count == 1 && (common == 0 || complete->list[0].text[common - 1] != '/');
    snprintf(text, sizeof text, "%.*s%s", (int)(common - typed), complete->list[0].text + typed,
             finished ? " " : "");
    if (!*text) {
        int width = 1;
        for (int i = 0; i < complete->count; i++) {
            int length = (int)strlen(complete->list[i].text);
            width = length > width ? length : width;
        }
        int per_line = 78 / (width + 2);
        per_line = per_line ? per_line : 1;
        for (int i = 0; i < complete->count; i++)
            printf("%s%-*s", i % per_line ? "  " : "\n", width, complete->list[i].text);
        putchar('\n');
        fflush(stdout);
        return CC_REDISPLAY;
    }
    return el_insertstr(el, text) == 0 ? CC_REFRESH : CC_ERROR;
}

static unsigned char on_tab(EditLine *el, int key)
{
    (void)key;
    struct edit *edit;
    struct complete complete;
    el_get(el, EL_CLIENTDATA, &edit);
    const LineInfo *info = el_line(el);
    complete_find(&complete, edit->tool, info->buffer, (size_t)(info->cursor - info->buffer));
    unsigned char result = insert_common(el, &complete);
    complete_free(&complete);
    return result;
}

/* ---- Lines -------------------------------------------------------------------------------- */

static char *prompt(EditLine *el)
{
    static char text[] = "covey> ";
    (void)el;
    return text;
}

/* Only to make read() return. */
static void on_interrupt(int signal_number)
{
    (void)signal_number;
}

struct edit *edit_open(struct tool *tool)
{
    const struct sigaction action = {.sa_handler = on_interrupt};
    struct edit *edit = calloc(1, sizeof *edit);
    if (!edit)
        return NULL;
    edit->tool = tool;
    edit->el = el_init("covey", stdin, stdout, stderr);
    if (!edit->el) {
        free(edit);
        return NULL;
    }
    el_set(edit->el, EL_CLIENTDATA, edit);
    el_set(edit->el, EL_PROMPT, prompt);
    el_set(edit->el, EL_EDITOR, "emacs");
    el_set(edit->el, EL_SIGNAL, 1);
    el_set(edit->el, EL_ADDFN, "covey-complete", "complete a word", on_tab);
    el_set(edit->el, EL_BIND, "^I", "covey-complete", NULL);
    open_history(edit);
    el_source(edit->el, NULL);
    sigaction(SIGINT, &action, &edit->before);
    return edit;
}

/* el_gets() that ends with an error other than by Ctrl-C is the end of input. */
static const char *get_line(struct edit *edit, int *length)
{
    for (;;) {
        errno = 0;
        const char *text = el_gets(edit->el, length);
        if (text && *length > 0)
            return text;
        if (*length == 0 || errno != EINTR)
            return NULL;
        puts("^C");
        el_reset(edit->el);
    }
}

const char *edit_line(struct edit *edit)
{
    HistEvent event;
    int length;
    const char *text = get_line(edit, &length);
    free(edit->line);
    edit->line = text ? strndup(text, strcspn(text, "\n")) : NULL;
    if (edit->line && edit->history && edit->line[strspn(edit->line, " \t")])
        history(edit->history, &event, H_ENTER, edit->line);
    return edit->line;
}

void edit_close(struct edit *edit)
{
    if (!edit)
        return;
    sigaction(SIGINT, &edit->before, NULL);
    HistEvent event;
    if (edit->history) {
        if (edit->path[0])
            history(edit->history, &event, H_SAVE, edit->path);
        history_end(edit->history);
    }
    el_end(edit->el);
    free(edit->line);
    free(edit);
}
