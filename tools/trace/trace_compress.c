/*
 * trace_compress.c - a trace's file, compressed and back, in pieces: it may be larger than memory.
 */
#include "tools/trace/trace_compress.h"

#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zstd.h>

#define LEVEL 3
#define PIECE_BYTES (1u << 17)

struct pieces {
    uint8_t in[PIECE_BYTES], out[PIECE_BYTES];
};

/* Compresses what was read, and all of it at the end. */
static bool piece_write(ZSTD_CCtx *packer, struct pieces *p, size_t bytes, bool last, FILE *to)
{
    ZSTD_inBuffer in = {p->in, bytes, 0};
    for (;;) {
        ZSTD_outBuffer out = {p->out, sizeof p->out, 0};
        size_t left = ZSTD_compressStream2(packer, &out, &in, last ? ZSTD_e_end : ZSTD_e_continue);
        errno = ENOMEM;
        if (ZSTD_isError(left) || fwrite(p->out, 1, out.pos, to) != out.pos)
            return false;
        if (last ? left == 0 : in.pos == in.size)
            return true;
    }
}

static bool file_compress(FILE *from, FILE *to)
{
    struct pieces *pieces = malloc(sizeof *pieces);
    ZSTD_CCtx *packer = ZSTD_createCCtx();
    bool good = pieces != NULL && packer != NULL &&
                !ZSTD_isError(ZSTD_CCtx_setParameter(packer, ZSTD_c_compressionLevel, LEVEL)) &&
                !ZSTD_isError(ZSTD_CCtx_setParameter(packer, ZSTD_c_checksumFlag, 1));
    for (bool last = false; good && !last;) {
        size_t bytes = fread(pieces->in, 1, sizeof pieces->in, from);
        last = bytes < sizeof pieces->in;
        good = !ferror(from) && piece_write(packer, pieces, bytes, last, to);
    }
    ZSTD_freeCCtx(packer);
    free(pieces);
    return good;
}

/* The file beside it, with the same rights. NULL: errno. */
static FILE *part_open(char *part, int like)
{
    struct stat status;
    int fd = mkstemp(part);
    if (fd < 0)
        return NULL;
    FILE *file = fstat(like, &status) == 0 && fchmod(fd, status.st_mode & 0777) == 0
                     ? fdopen(fd, "wb")
                     : NULL;
    if (file == NULL) {
        int error = errno;
        close(fd);
        unlink(part);
        errno = error;
    }
    return file;
}

static int compress_beside(FILE *from, const char *path, char *part)
{
    FILE *to = part_open(part, fileno(from));
    if (to == NULL)
        return -1;
    bool good = file_compress(from, to);
    int error = errno;
    if (fclose(to) != 0 && good) {
        good = false;
        error = errno;
    }
    if (good && rename(part, path) == 0)
        return 0;
    error = good ? errno : error;
    unlink(part);
    errno = error;
    return -1;
}

int trace_compress(const char *path)
{
    char real[PATH_MAX], part[PATH_MAX + 8];
    struct stat status;
    if (realpath(path, real) == NULL || stat(real, &status) != 0)
        return -1;
    if (!S_ISREG(status.st_mode))
        return 0;
    snprintf(part, sizeof part, "%s.XXXXXX", real);
    FILE *from = fopen(real, "rbe");
    if (from == NULL)
        return -1;
    int result = compress_beside(from, real, part);
    int error = errno;
    fclose(from);
    errno = error;
    return result;
}

/* 1: there may be more. 0: that was all. -1: why. */
static int piece_read(ZSTD_DCtx *unpacker, ZSTD_inBuffer *in, ZSTD_outBuffer *out, size_t *room,
                      const char **why)
{
    if (out->pos == *room) {
        size_t wanted = *room == 0 ? PIECE_BYTES : 2 * *room;
        void *more = realloc(out->dst, wanted);
        *why = "memory is exhausted";
        if (more == NULL)
            return -1;
        out->dst = more;
        out->size = *room = wanted;
    }
    size_t before = out->pos;
    size_t left = ZSTD_decompressStream(unpacker, out, in);
    *why = "its compressed bytes are damaged";
    if (ZSTD_isError(left))
        return -1;
    return left != 0 && (in->pos < in->size || out->pos > before) ? 1 : 0;
}

static bool is_compressed(const uint8_t *bytes, size_t size)
{
    return size >= 4 && bytes[0] == (ZSTD_MAGICNUMBER & 0xff) &&
           bytes[1] == (ZSTD_MAGICNUMBER >> 8 & 0xff) &&
           bytes[2] == (ZSTD_MAGICNUMBER >> 16 & 0xff) && bytes[3] == ZSTD_MAGICNUMBER >> 24;
}

uint8_t *trace_decompress(uint8_t *bytes, size_t *size, const char **why)
{
    if (!is_compressed(bytes, *size))
        return bytes;
    ZSTD_DCtx *unpacker = ZSTD_createDCtx();
    ZSTD_inBuffer in = {bytes, *size, 0};
    ZSTD_outBuffer out = {NULL, 0, 0};
    size_t room = 0;
    int more = unpacker == NULL ? -1 : 1;
    *why = "memory is exhausted";
    while (more > 0)
        more = piece_read(unpacker, &in, &out, &room, why);
    ZSTD_freeDCtx(unpacker);
    free(bytes);
    if (more == 0) {
        *size = out.pos;
        return out.dst;
    }
    free(out.dst);
    return NULL;
}
