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

void figures_put(struct cursor *c, const struct figures *f)
{
    uint16_t count = 0;
    for (int i = 0; i < FIGURE_COUNT; i++)
        count = (uint16_t)(count + is_known(f->values[i]));
    cursor_put_u64(c, f->machine);
    cursor_put_u16(c, count);
    for (int i = 0; i < FIGURE_COUNT; i++) {
        if (!is_known(f->values[i]))
            continue;
        cursor_put_u16(c, numbers[i]);
        put_double(c, f->values[i]);
    }
}

static void figure_set(struct figures *f, uint16_t number, double value)
{
    for (int i = 0; i < FIGURE_COUNT; i++)
        if (numbers[i] == number)
            f->values[i] = value;
}

void figures_get(struct cursor *c, struct figures *f)
{
    figures_init(f);
    f->machine = cursor_get_u64(c);
    for (uint16_t left = cursor_get_u16(c); left > 0 && cursor_ok(c); left--) {
        uint16_t number = cursor_get_u16(c);
        double value = get_double(c);
        if (!is_known(value))
            c->bad = true;
        else if (cursor_ok(c))
            figure_set(f, number, value);
    }
}
