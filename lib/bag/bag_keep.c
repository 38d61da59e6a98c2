/*
 * bag_keep.c - a bag that goes into a file, and one that comes out of it. While it is saved it is
 * frozen; when the file is there the bag ends, so that no result is delivered in both. A bag that
 * is loaded is new, and nobody else gets anything of it until it is whole.
 *
 * The file is not for loading until its bag was seen to end, and no more from when somebody begins
 * to load it: see its states in proto/bag/bag_file.h.
 */
#include "lib/agree/service.h"
#include "lib/bag/bag.h"
#include "lib/drive/call.h"
#include "lib/msg/clock.h"
#include "lib/msg/error.h"
#include "lib/msg/write_all.h"
#include "proto/bag/bag_file.h"
#include "proto/wire/error.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#define ANSWER_US 60000000 /* for a large one to come */
#define END_US 15000000

static void info_set(struct covey_bag_info *info, const char *name, const struct bag_file *file)
{
    if (info == NULL)
        return;
    *info = (struct covey_bag_info){.closed = file->closed,
                                    .ready = file->items,
                                    .results = file->results,
                                    .put = file->counters.put,
                                    .done = file->counters.done,
                                    .delivered = file->counters.given,
                                    .set_aside = file->counters.set_aside};
    snprintf(info->name, sizeof info->name, "%s", name);
}

/* ---- files ---- */

/* What was renamed is there after a crash, too. */
static void folder_sync(const char *path)
{
    char copy[PATH_MAX];
    snprintf(copy, sizeof copy, "%s", path);
    int fd = open(dirname(copy), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd >= 0) {
        fsync(fd);
        close(fd);
    }
}

/* The whole file or none: what was there stays until then. */
static int file_write(const char *path, const uint8_t *records, size_t size)
{
    char part[PATH_MAX];
    uint8_t head[BAG_FILE_HEAD_BYTES];
    bag_file_head(head, BAG_FILE_WRITTEN, records, size);
    if (snprintf(part, sizeof part, "%s.XXXXXX", path) >= (int)sizeof part)
        return error_set(COVEY_EINVAL, "bag: the path %.60s... is too long", path);
    int fd = mkstemp(part);
    if (fd < 0)
        return error_set(COVEY_ESYS, "bag: cannot write %s: %s", path, strerror(errno));
    bool good = write_all(fd, head, sizeof head) && write_all(fd, records, size) && fsync(fd) == 0;
    int error = errno;
    good = close(fd) == 0 && good;
    if (good && rename(part, path) == 0) {
        folder_sync(path);
        return COVEY_OK;
    }
    error = good ? errno : error;
    unlink(part);
    return error_set(COVEY_ESYS, "bag: cannot write %s: %s", path, strerror(error));
}

static int file_failed(const char *path, const char *verb)
{
    int error = errno;
    return error_set(error == ENOENT ? COVEY_ENOENT : COVEY_ESYS, "bag: cannot %s %s: %s", verb,
                     path, strerror(error));
}

static bool state_write(int fd, uint32_t state)
{
    uint8_t bytes[BAG_FILE_STATE_BYTES];
    bag_file_state_put(bytes, state);
    return pwrite(fd, bytes, sizeof bytes, BAG_FILE_STATE_AT) == (ssize_t)sizeof bytes &&
           fsync(fd) == 0;
}

/* To read it and to change its state; nobody else does meanwhile. Less than 0: an error. */
static int file_open(const char *path)
{
    struct stat st;
    int fd = open(path, O_RDWR | O_CLOEXEC);
    if (fd < 0)
        return file_failed(path, "open");
    if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode)) {
        if (flock(fd, LOCK_EX | LOCK_NB) == 0)
            return fd;
        if (errno != EWOULDBLOCK)
            return fd; /* a file system without locks */
        close(fd);
        return error_set(COVEY_EEXIST, "bag: %s is being loaded by another program", path);
    }
    close(fd);
    errno = EINVAL;
    return file_failed(path, "open");
}

static int file_mark(const char *path, uint32_t state)
{
    int fd = file_open(path);
    if (fd < 0)
        return fd;
    int error = state_write(fd, state) ? COVEY_OK : file_failed(path, "write");
    close(fd);
    return error;
}

static int file_read(int fd, const char *path, uint8_t **bytes, struct bag_file *file)
{
    struct stat st;
    size_t got = 0;
    if (fstat(fd, &st) != 0)
        return file_failed(path, "read");
    *bytes = malloc((size_t)st.st_size + 1);
    if (*bytes == NULL)
        return error_code(COVEY_ENOMEM);
    for (ssize_t n = 1; got < (size_t)st.st_size && n > 0; got += (size_t)n) {
        n = read(fd, *bytes + got, (size_t)st.st_size - got);
        if (n < 0)
            return file_failed(path, "read");
    }
    const char *wrong = bag_file_read(*bytes, got, file);
    return wrong == NULL ? COVEY_OK
                         : error_set(COVEY_EINVAL, "bag: %s cannot be loaded: %s", path, wrong);
}

int covey_bag_again(const char *path)
{
    struct bag_file file;
    uint8_t *bytes = NULL;
    if (path == NULL)
        return error_set(COVEY_EINVAL, "bag: no path");
    int fd = file_open(path);
    if (fd < 0)
        return fd;
    int error = file_read(fd, path, &bytes, &file);
    if (error == COVEY_OK && !state_write(fd, BAG_FILE_READY))
        error = file_failed(path, "write");
    free(bytes);
    close(fd);
    return error;
}

/* ---- saving ---- */

static bool is_saved(void *context)
{
    const struct covey_bag *bag = context;
    return bag->user.rest.come || bag->user.error != 0;
}

static bool has_ended(void *context)
{
    const struct covey_bag *bag = context;
    return bag->user.error != 0;
}

static int say(struct covey_bag *bag, uint8_t kind, uint8_t flag)
{
    bag->user.urgent = true;
    if (!bag_user_record(&bag->user, &(struct bag_record){.kind = kind, .flag = flag}))
        return error_code(COVEY_ENOMEM);
    bag_step(bag);
    return COVEY_OK;
}

/* The bag in the file is the only one now. */
static int end_here(struct covey_bag *bag, const char *path)
{
    int error = say(bag, BAG_END, 0);
    if (error == COVEY_OK)
        error = call_idle(bag->vm, has_ended, bag, clock_deadline(END_US));
    if (error == COVEY_OK && bag->user.error == COVEY_ENOENT)
        return COVEY_OK;
    return error_set(error == COVEY_OK ? bag->user.error : error,
                     "bag %s: it is in %s, but did not end here, and may go on: save it once more",
                     bag->name, path);
}

static int save(struct covey_bag *bag, const char *path, struct covey_bag_info *info)
{
    struct bag_file file;
    int error = say(bag, BAG_FREEZE, BAG_FREEZE_SAVE);
    if (error == COVEY_OK)
        error = bag_await(bag, is_saved, clock_deadline(ANSWER_US), "what is left did not come");
    if (error != COVEY_OK)
        return error;
    const struct bag_parcel *rest = &bag->user.rest.records;
    if (!bag_file_records(rest->bytes, rest->used, &file))
        return error_set(COVEY_EPROTO, "bag %s: what its holder sent makes no bag", bag->name);
    error = file_write(path, rest->bytes, rest->used);
    if (error == COVEY_OK)
        error = end_here(bag, path);
    if (error == COVEY_OK)
        error = file_mark(path, BAG_FILE_READY);
    if (error == COVEY_OK)
        info_set(info, bag->name, &file);
    return error;
}

int covey_bag_save(covey_t *vm, const char *name, const char *path, struct covey_bag_info *info)
{
    covey_bag_t *bag = NULL;
    if (path == NULL || *path == '\0')
        return error_set(COVEY_EINVAL, "bag: no path");
    int error = covey_bag_attach(vm, name, &bag);
    if (error != COVEY_OK)
        return error;
    struct call call = call_begin(vm);
    error = save(bag, path, info);
    if (bag->user.error == 0) /* it goes on */
        say(bag, BAG_THAW, 0);
    error = call_end(vm, &call, error);
    char text[256];
    snprintf(text, sizeof text, "%s", covey_error_text());
    covey_bag_free(&bag);
    return error == COVEY_OK ? COVEY_OK : error_set(error, "%s", text);
}

/* ---- loading ---- */

static int records_send(struct covey_bag *bag, const struct bag_file *file)
{
    struct cursor c = cursor_reader(file->records, file->size);
    int error = say(bag, BAG_FREEZE, BAG_FREEZE_LOAD);
    for (struct bag_record r; cursor_left(&c) > 0 && error == COVEY_OK;) {
        bag_record_get(&c, &r);
        error = bag_make_room(bag);
        if (error == COVEY_OK && !bag_user_record(&bag->user, &r))
            error = error_code(COVEY_ENOMEM);
        bag_step(bag);
    }
    return error == COVEY_OK ? say(bag, BAG_THAW, 0) : error;
}

static int load(covey_t *vm, const struct bag_file *file, const char *name)
{
    covey_bag_t *bag = NULL;
    const struct bag_params *p = &file->params;
    const struct covey_bag_options options = {.lease_us = (int64_t)p->lease_us,
                                              .deaths_max = (int)p->deaths_max,
                                              .in_order = p->in_order,
                                              .keep = 1,
                                              .copies = p->copies == 0 ? -1 : p->copies,
                                              .single = p->single};
    int error = covey_bag_create(vm, name, &options, &bag);
    if (error != COVEY_OK)
        return error;
    struct call call = call_begin(vm);
    error = call_end(vm, &call, records_send(bag, file));
    if (error == COVEY_OK)
        error = covey_bag_flush(bag, COVEY_FOREVER);
    char text[256];
    snprintf(text, sizeof text, "%s", covey_error_text());
    if (error == COVEY_OK)
        covey_bag_free(&bag);
    else
        covey_bag_destroy(&bag);
    return error == COVEY_OK ? COVEY_OK : error_set(error, "%s", text);
}

static int file_is_ready(const char *path, const struct bag_file *file)
{
    if (file->state == BAG_FILE_READY)
        return COVEY_OK;
    return error_set(COVEY_EEXIST,
                     file->state == BAG_FILE_LOADED
                         ? "bag: %s was loaded before: its results would come twice; see --again "
                           "in covey(1)"
                         : "bag: nobody saw the bag end that is in %s, and it may go on: save it "
                           "once more, or see --again in covey(1)",
                     path);
}

int covey_bag_load(covey_t *vm, const char *path, const char *name, struct covey_bag_info *info)
{
    struct bag_file file;
    uint8_t *bytes = NULL;
    if (vm == NULL || path == NULL)
        return error_set(COVEY_EINVAL, "bag: NULL");
    int fd = file_open(path);
    if (fd < 0)
        return fd;
    int error = file_read(fd, path, &bytes, &file);
    if (error == COVEY_OK)
        error = file_is_ready(path, &file);
    if (error == COVEY_OK && !state_write(fd, BAG_FILE_LOADED))
        error = file_failed(path, "write");
    if (error == COVEY_OK) {
        name = name == NULL ? file.params.name : name;
        error = load(vm, &file, name);
        if (error != COVEY_OK)
            state_write(fd, BAG_FILE_READY); /* there is no such bag */
    }
    if (error == COVEY_OK)
        info_set(info, name, &file);
    free(bytes);
    close(fd);
    return error;
}
