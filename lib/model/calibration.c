/*
 * calibration.c - the file of a VM's calibration: where it is, reading and writing it. Its text is
 * proto/model/calibration.c's.
 */
#include "proto/model/calibration.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/msg/error.h"

#define PATH_BYTES 4096

/* ---- Where --------------------------------------------------------------------------------- */

static int put_path(char *path, size_t size, const char *folder, const char *below,
                    const char *vm_name)
{
    int length = snprintf(path, size, "%s%s/covey/calibration.%s", folder, below, vm_name);
    return (size_t)length < size ? COVEY_OK : error_code(COVEY_ETRUNC);
}

int covey_calibration_path(const char *vm_name, char *path, size_t size)
{
    const char *named = getenv("COVEY_CALIBRATION"), *state = getenv("XDG_STATE_HOME");
    const char *home = getenv("HOME");
    if (vm_name == NULL || !calibration_name_ok(vm_name) || path == NULL)
        return error_set(COVEY_EINVAL, "calibration: no such name of a VM");
    if (named != NULL && named[0] != '\0')
        return (size_t)snprintf(path, size, "%s", named) < size ? COVEY_OK
                                                                : error_code(COVEY_ETRUNC);
    if (state != NULL && state[0] == '/')
        return put_path(path, size, state, "", vm_name);
    if (home != NULL && home[0] == '/')
        return put_path(path, size, home, "/.local/state", vm_name);
    return error_set(COVEY_EINVAL, "calibration: HOME is not set, nor COVEY_CALIBRATION");
}

/* ---- Reading ------------------------------------------------------------------------------- */

static int read_file(const char *path, struct calibration *calibration)
{
    char error[CALIBRATION_ERROR_BYTES];
    FILE *file = fopen(path, "re");
    if (file == NULL && errno == ENOENT)
        return error_set(COVEY_ENOENT, "%s: there is no calibration; run covey calibrate", path);
    if (file == NULL)
        return error_set(COVEY_ESYS, "%s: %s", path, strerror(errno));
    char *text = malloc(CALIBRATION_BYTES_MAX + 1);
    size_t bytes = text != NULL ? fread(text, 1, CALIBRATION_BYTES_MAX + 1, file) : 0;
    int failed = ferror(file) ? errno : 0;
    fclose(file);
    int result = text == NULL ? error_code(COVEY_ENOMEM)
                 : failed     ? error_set(COVEY_ESYS, "%s: %s", path, strerror(failed))
                              : COVEY_OK;
    if (result == COVEY_OK && calibration_parse(calibration, text, bytes, path, error) != 0)
        result = error_set(COVEY_EINVAL, "%s", error);
    free(text);
    return result;
}

int covey_calibration_load(const char *vm_name, struct covey_calibration **calibration)
{
    char path[PATH_BYTES];
    int error = covey_calibration_path(vm_name, path, sizeof path);
    struct calibration *made = error == COVEY_OK ? malloc(sizeof *made) : NULL;
    if (error != COVEY_OK)
        return error;
    if (made == NULL)
        return error_code(COVEY_ENOMEM);
    error = read_file(path, made);
    if (error == COVEY_OK)
        *calibration = (struct covey_calibration *)(void *)made;
    else
        free(made);
    return error;
}

/* ---- Writing ------------------------------------------------------------------------------- */

static int make_folders(char *path)
{
    for (char *slash = strchr(path + 1, '/'); slash != NULL; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        bool made = mkdir(path, 0700) == 0 || errno == EEXIST;
        *slash = '/';
        if (!made)
            return error_set(COVEY_ESYS, "%s: its folder cannot be made: %s", path,
                             strerror(errno));
    }
    return COVEY_OK;
}

/* Beside it first, so that who reads meanwhile finds the old one or the new one. */
static int write_file(const char *path, const char *text)
{
    char beside[PATH_BYTES + 16];
    snprintf(beside, sizeof beside, "%s.%d", path, (int)getpid());
    FILE *file = fopen(beside, "we");
    if (file == NULL)
        return error_set(COVEY_ESYS, "%s: %s", beside, strerror(errno));
    bool written = fputs(text, file) >= 0;
    written = fclose(file) == 0 && written;
    if (written && rename(beside, path) == 0)
        return COVEY_OK;
    int why = errno;
    unlink(beside);
    return error_set(COVEY_ESYS, "%s: %s", path, strerror(why));
}

int covey_calibration_save(const char *vm_name, const struct covey_calibration *calibration)
{
    char path[PATH_BYTES];
    const struct calibration *c = (const struct calibration *)(const void *)calibration;
    int error = covey_calibration_path(vm_name, path, sizeof path);
    if (error == COVEY_OK)
        error = make_folders(path);
    if (error != COVEY_OK)
        return error;
    size_t size = calibration_print(c, NULL, 0) + 1;
    char *text = malloc(size);
    if (text == NULL)
        return error_code(COVEY_ENOMEM);
    calibration_print(c, text, size);
    error = write_file(path, text);
    free(text);
    return error;
}
