/*
 * figure.c - figures as bytes, by the table FIGURES: what is not known is left out, and a number
 * that is not in the table is skipped, so that hosts of different versions understand each other.
 */
#include "proto/model/figure.h"

#include <math.h>
#include <string.h>

static const uint16_t numbers[FIGURE_COUNT] = {
#define FIGURE_NUMBER(number, field, name, help) number,
    FIGURES(FIGURE_NUMBER)
#undef FIGURE_NUMBER
};

void figures_init(struct figures *f)
{
    f->machine = 0;
    for (int i = 0; i < FIGURE_COUNT; i++)
        f->values[i] = FIGURE_UNKNOWN;
}

/* ---- doubles as bits ---- */

_Static_assert(sizeof(double) == 8, "a figure travels as eight bytes");

static void put_double(struct cursor *c, double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    cursor_put_u64(c, bits);
}

static double get_double(struct cursor *c)
{
    uint64_t bits = cursor_get_u64(c);
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* ---- the list ---- */

static bool is_known(double value)
{
    return isfinite(value) && value >= 0;
}

void figure_list_put(struct cursor *c, const uint16_t *of, const double *values, int count)
{
    uint16_t known = 0;
    for (int i = 0; i < count; i++)
        known = (uint16_t)(known + is_known(values[i]));
    cursor_put_u16(c, known);
    for (int i = 0; i < count; i++) {
        if (!is_known(values[i]))
            continue;
        cursor_put_u16(c, of[i]);
        put_double(c, values[i]);
    }
}

void figure_list_get(struct cursor *c, const uint16_t *of, double *values, int count)
{
    for (uint16_t left = cursor_get_u16(c); left > 0 && cursor_ok(c); left--) {
        uint16_t number = cursor_get_u16(c);
        double value = get_double(c);
        if (!is_known(value))
            c->bad = true;
        for (int i = 0; i < count && cursor_ok(c); i++)
            if (of[i] == number)
                values[i] = value;
    }
}

void figures_put(struct cursor *c, const struct figures *f)
{
    cursor_put_u64(c, f->machine);
    figure_list_put(c, numbers, f->values, FIGURE_COUNT);
}

void figures_get(struct cursor *c, struct figures *f)
{
    figures_init(f);
    f->machine = cursor_get_u64(c);
    figure_list_get(c, numbers, f->values, FIGURE_COUNT);
}
