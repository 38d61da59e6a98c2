/*
 * Why a VM is not there any more, as its daemons' logs have it. Each line of a log begins with the
 * time, but for those that are not the daemon's own (of a library, or of a failed assertion). A
 * daemon that ends says "ending: " and why; one that was killed or crashed does not.
 */
#include "tools/base/logfile.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define END_BYTES 16384  /* of a log: a daemon says little between `ending` and its end */
#define STAMP_BYTES 24   /* "2026-11-22 18:40:01.123 " */
#define SECOND_BYTES 19  /* without what is below a second */
#define REASON_BYTES 256 /* of a line, that is shown */

static void folder_of(const char *vm_name, char path[LOGFILE_PATH_BYTES])
{
    const char *runtime = getenv("XDG_RUNTIME_DIR");
    if (runtime && runtime[0] == '/')
        snprintf(path, LOGFILE_PATH_BYTES, "%s/covey/%s", runtime, vm_name);
    else
        snprintf(path, LOGFILE_PATH_BYTES, "/tmp/covey-%u/%s", (unsigned)geteuid(), vm_name);
}

void logfile_path(const char *vm_name, const char *host, char path[LOGFILE_PATH_BYTES])
{
    char folder[LOGFILE_PATH_BYTES];
    folder_of(vm_name, folder);
    if (snprintf(path, LOGFILE_PATH_BYTES, "%s/%s.log", folder, host) >= LOGFILE_PATH_BYTES)
        path[0] = '\0'; /* no daemon could have made it, either */
}

static bool is_written_later(const struct timespec *a, const struct timespec *b)
{
    return a->tv_sec != b->tv_sec ? a->tv_sec > b->tv_sec : a->tv_nsec > b->tv_nsec;
}

bool logfile_latest(const char *vm_name, char host[64])
{
    char path[LOGFILE_PATH_BYTES];
    struct timespec latest = {0};
    bool found = false;
    folder_of(vm_name, path);
    DIR *folder = strchr(vm_name, '/') ? NULL : opendir(path);
    for (struct dirent *e; folder && (e = readdir(folder));) {
        struct stat st;
        size_t length = strlen(e->d_name);
        if (length <= 4 || length - 4 >= 64 || strcmp(e->d_name + length - 4, ".log") != 0 ||
            fstatat(dirfd(folder), e->d_name, &st, AT_SYMLINK_NOFOLLOW) != 0)
            continue;
        if (found && !is_written_later(&st.st_mtim, &latest))
            continue;
        found = true;
        latest = st.st_mtim;
        snprintf(host, 64, "%.*s", (int)length - 4, e->d_name);
    }
    if (folder)
        closedir(folder);
    return found;
}

/* ---- The last words ----------------------------------------------------------------------- */

/* The end of a file as a text; false: it cannot be read, or is empty. */
static bool read_end(const char *path, char text[END_BYTES + 1])
{
    FILE *file = fopen(path, "re");
    if (!file)
        return false;
    if (fseek(file, -END_BYTES, SEEK_END) != 0)
        rewind(file);
    size_t size = fread(text, 1, END_BYTES, file);
    fclose(file);
    text[size] = '\0';
    return size > 0;
}

static bool is_stamped(const char *line)
{
    static const char form[] = "dddd-dd-dd dd:dd:dd.ddd ";
    for (size_t i = 0; i < STAMP_BYTES; i++) {
        bool digit = line[i] >= '0' && line[i] <= '9';
        if (form[i] == 'd' ? !digit : line[i] != form[i])
            return false;
    }
    return true;
}

/* What the lines at the end of a log tell. */
struct words {
    const char *ending; /* the line that says why it ends; NULL: none */
    const char *why;    /* in that line */
    const char *last;   /* that has a time; NULL: none */
    const char *other;  /* the last one behind it that has none; NULL: none */
};

/* Cuts the text into lines. */
static struct words find_words(char *text)
{
    static const char mark[] = "ending: ", level[] = "error: ";
    struct words words = {0};
    for (char *line, *rest = text; (line = strsep(&rest, "\n"));) {
        if (is_stamped(line)) {
            words.last = line;
            words.other = NULL;
            const char *said = line + STAMP_BYTES;
            said += strncmp(said, level, sizeof level - 1) == 0 ? sizeof level - 1 : 0;
            if (strncmp(said, mark, sizeof mark - 1) == 0) {
                words.ending = line;
                words.why = said + sizeof mark - 1;
            }
        } else if (*line && words.last) {
            words.other = line;
        }
    }
    return words;
}

bool logfile_last_words(const char *vm_name, char text[LOGFILE_WORDS_BYTES])
{
    char host[64], path[LOGFILE_PATH_BYTES], end[END_BYTES + 1];
    if (!logfile_latest(vm_name, host))
        return false;
    logfile_path(vm_name, host, path);
    struct words words = {0};
    if (read_end(path, end))
        words = find_words(end);
    if (words.ending)
        snprintf(text, LOGFILE_WORDS_BYTES, "the daemon of %s ended at %.*s: %.*s", host,
                 SECOND_BYTES, words.ending, REASON_BYTES, words.why);
    else if (words.last)
        snprintf(text, LOGFILE_WORDS_BYTES,
                 "the daemon of %s was killed or crashed after %.*s%s%.*s", host, SECOND_BYTES,
                 words.last, words.other ? ": " : "", REASON_BYTES, words.other ? words.other : "");
    else
        snprintf(text, LOGFILE_WORDS_BYTES, "the daemon of %s was killed or crashed", host);
    return true;
}
