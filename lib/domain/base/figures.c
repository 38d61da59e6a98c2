/*
 * figures.c - a sorted list of names and values, and the file in which a machine's figures stay.
 *
 * A line of the file is: MACHINE NAME VALUE. Several machines may share a file, for they may share
 * a home. Who writes puts a new file in the place of the old one; of two who write at once the
 * later one wins, and the other's figures are measured again some day. Numbers have a point in it,
 * whatever the locale of the program says.
 */
#include "lib/domain/base/figures.h"

#include "lib/domain/base/error.h"

#include <errno.h>
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define LINE_BYTES 512
#define MACHINE_BYTES 256

/* Where the name is, or would be. */
static size_t place_of(const struct domain_figures *figures, const char *name)
{
    size_t low = 0, high = figures->n;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (strcmp(figures->list[middle].name, name) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static int is_at(const struct domain_figures *figures, size_t at, const char *name)
{
    return at < figures->n && strcmp(figures->list[at].name, name) == 0;
}

double domain_figure(const struct domain_figures *figures, const char *name)
{
    size_t at = place_of(figures, name);
    return is_at(figures, at, name) ? figures->list[at].value : 0;
}

int domain_figure_set(struct domain_figures *figures, const char *name, double value)
{
    size_t length = strlen(name), at = place_of(figures, name);
    if (length == 0 || length >= DOMAIN_FIGURE_NAME || strcspn(name, " \t\n#") != length)
        return domain_fail(COVEY_EINVAL, "'%s' is no name of a figure", name);
    if (!(value > 0) || !isfinite(value))
        return domain_fail(COVEY_EINVAL, "%s: a figure of %g", name, value);
    if (!is_at(figures, at, name)) {
        struct domain_figure *list =
            realloc(figures->list, (figures->n + 1) * sizeof *figures->list);
        if (list == NULL)
            return domain_fail(COVEY_ENOMEM, "no memory for %zu figures", figures->n + 1);
        memmove(list + at + 1, list + at, (figures->n - at) * sizeof *list);
        memcpy(list[at].name, name, length + 1);
        figures->list = list;
        figures->n++;
    }
    figures->list[at].value = value;
    return 0;
}

void domain_figures_free(struct domain_figures *figures)
{
    free(figures->list);
    *figures = (struct domain_figures){NULL, 0};
}

/* ---- The file -------------------------------------------------------------------------------- */

void domain_figures_path(char *path, size_t size)
{
    const char *named = getenv("COVEY_SOLVERS"), *cache = getenv("XDG_CACHE_HOME");
    const char *home = getenv("HOME");
    int length = 0;
    if (named != NULL)
        length = snprintf(path, size, "%s", named);
    else if (cache != NULL && cache[0] == '/')
        length = snprintf(path, size, "%s/covey/solvers", cache);
    else if (home != NULL && home[0] == '/')
        length = snprintf(path, size, "%s/.cache/covey/solvers", home);
    if (length <= 0 || (size_t)length >= size)
        path[0] = '\0';
}

/* The calling thread's numbers become those of C; returns what is to be given to its end. */
struct point {
    locale_t c, before;
};

static struct point point_begin(void)
{
    struct point point = {.c = newlocale(LC_NUMERIC_MASK, "C", (locale_t)0)};
    if (point.c != (locale_t)0)
        point.before = uselocale(point.c);
    return point;
}

static void point_end(struct point point)
{
    if (point.c == (locale_t)0)
        return;
    uselocale(point.before);
    freelocale(point.c);
}

/* Whether a line is of the machine; sets name and value if it makes sense. */
static int line_is_of(const char *line, const char *machine, char name[DOMAIN_FIGURE_NAME],
                      double *value)
{
    size_t length = strlen(machine);
    if (strncmp(line, machine, length) != 0 || line[length] != ' ')
        return 0;
    if (sscanf(line + length, " %63s %lf", name, value) != 2)
        name[0] = '\0';
    return 1;
}

int domain_figures_read(struct domain_figures *figures, const char *path, const char *machine)
{
    char line[LINE_BYTES], name[DOMAIN_FIGURE_NAME];
    double value;
    int error = 0;
    FILE *file = fopen(path, "re");
    struct point point = point_begin();
    while (file != NULL && error != COVEY_ENOMEM && fgets(line, sizeof line, file) != NULL)
        if (line_is_of(line, machine, name, &value) && name[0] != '\0')
            error = domain_figure_set(figures, name, value);
    point_end(point);
    if (file != NULL)
        fclose(file);
    return error == COVEY_ENOMEM ? error : 0;
}

/* Lines of other machines, and those of this one that the figures do not replace. */
static void copy_rest(const struct domain_figures *figures, const char *path, const char *machine,
                      FILE *to)
{
    char line[LINE_BYTES], name[DOMAIN_FIGURE_NAME];
    double value;
    FILE *file = fopen(path, "re");
    while (file != NULL && fgets(line, sizeof line, file) != NULL)
        if (!line_is_of(line, machine, name, &value) ||
            (name[0] != '\0' && domain_figure(figures, name) <= 0))
            fputs(line, to);
    if (file != NULL)
        fclose(file);
}

/* The folder of the path, and the one in which that lies. */
static void make_folders(const char *path)
{
    char folder[LINE_BYTES];
    snprintf(folder, sizeof folder, "%s", path);
    for (char *at = strchr(folder + 1, '/'); at != NULL; at = strchr(at + 1, '/')) {
        *at = '\0';
        mkdir(folder, 0700);
        *at = '/';
    }
}

int domain_figures_write(const struct domain_figures *figures, const char *path,
                         const char *machine)
{
    char fresh[LINE_BYTES];
    if (strlen(machine) >= MACHINE_BYTES || strlen(path) + 16 >= sizeof fresh)
        return domain_fail(COVEY_ESYS, "%s: the path is too long", path);
    snprintf(fresh, sizeof fresh, "%s.%ld", path, (long)getpid());
    make_folders(path);
    FILE *to = fopen(fresh, "we");
    if (to == NULL)
        return domain_fail(COVEY_ESYS, "%s: %s", fresh, strerror(errno));
    struct point point = point_begin();
    copy_rest(figures, path, machine, to);
    for (size_t i = 0; i < figures->n; i++)
        fprintf(to, "%s %s %.6g\n", machine, figures->list[i].name, figures->list[i].value);
    point_end(point);
    int is_whole = !ferror(to);
    is_whole &= fclose(to) == 0;
    if (is_whole && rename(fresh, path) == 0)
        return 0;
    domain_fail(COVEY_ESYS, "%s: %s", path, strerror(errno));
    unlink(fresh);
    return COVEY_ESYS;
}
