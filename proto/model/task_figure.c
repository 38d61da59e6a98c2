/*
 * task_figure.c - what a task does, as bytes; figures by the table TASK_FIGURES, so that hosts of
 * different versions understand each other.
 */
#include "proto/model/task_figure.h"

#include <string.h>

static const uint16_t numbers[TASK_FIGURE_COUNT] = {
#define TASK_FIGURE_NUMBER(number, field) number,
    TASK_FIGURES(TASK_FIGURE_NUMBER)
#undef TASK_FIGURE_NUMBER
};

void task_figures_init(struct task_figures *f)
{
    memset(f, 0, sizeof *f);
    for (int i = 0; i < TASK_FIGURE_COUNT; i++)
        f->values[i] = FIGURE_UNKNOWN;
}

void task_figures_put(struct cursor *c, const struct task_figures *f)
{
    control_put_task(c, &f->task);
    cursor_put_u8(c, f->waits);
    cursor_put_u32(c, f->peer);
    cursor_put_i32(c, f->tag);
    cursor_put_text(c, f->call);
    cursor_put_text(c, f->name);
    figure_list_put(c, numbers, f->values, TASK_FIGURE_COUNT);
}

void task_figures_get(struct cursor *c, struct task_figures *f)
{
    task_figures_init(f);
    control_get_task(c, &f->task);
    f->waits = cursor_get_u8(c);
    f->peer = cursor_get_u32(c);
    f->tag = cursor_get_i32(c);
    cursor_get_text(c, f->call, sizeof f->call);
    cursor_get_text(c, f->name, sizeof f->name);
    figure_list_get(c, numbers, f->values, TASK_FIGURE_COUNT);
}
