/*
 * gnuplot.c - draws a picture by gnuplot, which reads its script from a file without a name: a
 * pipe would hold up both when gnuplot ends early.
 */
#include "tools/list/gnuplot.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tools/base/child.h"
#include "tools/base/tool.h"

/* The one drawing, for errors. */
struct drawing {
    const char *what, *option, *path;
};

static int fail_drawing(const struct drawing *d, const char *why)
{
    return tool_error(d->what, "%s %s: %s", d->option, d->path, why);
}

/* The script stands in a file without a name: gnuplot may end before it has read it all. */
static int start_gnuplot(FILE *script, int picture, pid_t *pid)
{
    char *argv[] = {(char[]){"gnuplot"}, (char[]){"-"}, NULL};
    posix_spawn_file_actions_t files;

    posix_spawn_file_actions_init(&files);
    posix_spawn_file_actions_adddup2(&files, fileno(script), STDIN_FILENO);
    posix_spawn_file_actions_adddup2(&files, picture, STDOUT_FILENO);
    return child_spawn(pid, &files, argv, environ);
}

static int await_gnuplot(const struct drawing *d, pid_t pid)
{
    int status = 0;

    while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
    }
    return status == 0 ? TOOL_OK : fail_drawing(d, "gnuplot failed");
}

static int run_gnuplot(const struct drawing *d, FILE *script, int picture)
{
    pid_t pid;
    int error = fseek(script, 0, SEEK_SET) != 0 ? errno : start_gnuplot(script, picture, &pid);

    if (error == ENOENT)
        return fail_drawing(d, "gnuplot, which draws it, is not installed; install gnuplot-nox");
    return error ? fail_drawing(d, strerror(error)) : await_gnuplot(d, pid);
}

int gnuplot_draw(const char *what, const char *option, const char *path, gnuplot_script_fn *fn,
                 const void *context)
{
    const struct drawing d = {what, option, path};
    int picture = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    FILE *script = picture < 0 ? NULL : tmpfile();

    if (picture < 0)
        return fail_drawing(&d, strerror(errno));
    int status = script ? TOOL_OK : fail_drawing(&d, "no temporary file");
    if (script) {
        fn(context, script);
        status = run_gnuplot(&d, script, picture);
        fclose(script);
    }
    if (close(picture) != 0 && status == TOOL_OK)
        status = fail_drawing(&d, strerror(errno));
    if (status != TOOL_OK)
        unlink(path);
    return status;
}
