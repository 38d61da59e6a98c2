/*
 * picture.c - iteration counts become a PNG by libpng, which reports errors by longjmp(). All
 * memory is therefore allocated before the jump can happen.
 */
#include "apps/mandel/picture.h"

#include <err.h>
#include <errno.h>
#include <math.h>
#include <png.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COMPRESSION 6

static unsigned char wave(double phase)
{
    return (unsigned char)(127.5 * (1 - cos(phase)));
}

/* The logarithm spreads the few small counts of a wide view as well as the many of a deep one. */
struct picture_colour picture_colour(int count, int iterations)
{
    if (count >= iterations)
        return (struct picture_colour){0, 0, 0};
    double phase = 2.2 * log1p(count);
    return (struct picture_colour){wave(0.6 * phase), wave(0.8 * phase), wave(phase + 0.8)};
}

static void on_png_error(png_structp png, png_const_charp text)
{
    FILE *stream = png_get_io_ptr(png); /* libpng calls every failure "Write Error" */
    bool failed = stream != NULL && ferror(stream);
    warnx("cannot write the picture: %s", failed ? strerror(errno) : text);
    longjmp(png_jmpbuf(png), 1);
}

/* What is needed to draw: allocated before libpng may jump. */
struct canvas {
    FILE *stream;
    struct picture_colour *palette;
    struct picture_colour *row;
};

/* libpng reports an error by jumping back to setjmp(). */
static int write_png(png_structp png, png_infop info, const struct canvas *canvas,
                     const struct escape_view *view, const uint16_t *counts)
{
    if (setjmp(png_jmpbuf(png)) != 0)
        return -1;
    png_init_io(png, canvas->stream);
    png_set_IHDR(png, info, (png_uint_32)view->width, (png_uint_32)view->height, 8,
                 PNG_COLOR_TYPE_RGB, PNG_INTERLACE_NONE, PNG_COMPRESSION_TYPE_DEFAULT,
                 PNG_FILTER_TYPE_DEFAULT);
    png_set_compression_level(png, COMPRESSION);
    png_write_info(png, info);
    for (int row = 0; row < view->height; row++) {
        const uint16_t *row_counts = counts + (size_t)row * (size_t)view->width;
        for (int i = 0; i < view->width; i++)
            canvas->row[i] = canvas->palette[row_counts[i]];
        png_write_row(png, (png_const_bytep)canvas->row);
    }
    png_write_end(png, info);
    return 0;
}

static int picture_draw(const struct canvas *canvas, const struct escape_view *view,
                        const uint16_t *counts)
{
    png_structp png = png_create_write_struct(PNG_LIBPNG_VER_STRING, NULL, on_png_error, NULL);
    png_infop info = png != NULL ? png_create_info_struct(png) : NULL;
    int result = -1;
    if (info != NULL)
        result = write_png(png, info, canvas, view, counts);
    else
        warnx("out of memory for the picture");
    png_destroy_write_struct(&png, &info);
    return result;
}

int picture_write(FILE *stream, const struct escape_view *view, const uint16_t *counts)
{
    struct canvas canvas = {stream, calloc((size_t)view->iterations + 1, sizeof *canvas.palette),
                            calloc((size_t)view->width, sizeof *canvas.row)};
    for (int count = 0; canvas.palette != NULL && count <= view->iterations; count++)
        canvas.palette[count] = picture_colour(count, view->iterations);
    int result = -1;
    if (canvas.palette != NULL && canvas.row != NULL)
        result = picture_draw(&canvas, view, counts);
    else
        warnx("out of memory for the picture");
    free(canvas.palette);
    free(canvas.row);
    return result;
}
