/*
 * model_paper.c - the equations of Schmidt & Sunderam as they stand in sections 3.1 to 3.3: all
 * tasks on hosts of their own, computation and communication one after the other, no contention.
 */
#include <math.h>

#include "proto/model/model.h"

static struct model_time sum_of(int tasks, double computation_s, double communication_s)
{
    return (struct model_time){.tasks = tasks,
                               .total_s = computation_s + communication_s,
                               .computation_s = computation_s,
                               .communication_s = communication_s};
}

/* T_comp = N^3 / P^2 (T_mult + T_add); T_comm = P (P + 1) [alpha + 4 beta (N / P)^2], P > 1. */
struct model_time model_paper_matmul(double n, int tasks, double element, double madd_s,
                                     const struct model_line *line)
{
    double p = sqrt(tasks), block = n / p;
    double message_s = model_line_time(line, element * block * block);
    return sum_of(tasks, n * n * n / tasks * madd_s, tasks > 1 ? p * (p + 1) * message_s : 0);
}

/* T_comp = (N / P) log2 (N / P) T_oper; T_comm = (log2 P + log2^2 P) alpha / 2
 * + 4 beta N (P - 1) / P. */
struct model_time model_paper_sort(double keys, int tasks, double element, double oper_s,
                                   const struct model_line *line)
{
    double share = keys / tasks, levels = log2(tasks);
    double startup_s = (levels + levels * levels) / 2 * line->alpha_s;
    double bytes = element * keys * (tasks - 1) / tasks;
    return sum_of(tasks, share > 1 ? share * log2(share) * oper_s : 0,
                  startup_s + line->beta_s * bytes);
}

struct model_time model_paper_mandel(double computation_s, int tasks,
                                     const struct model_strips *strips,
                                     const struct model_line *line)
{
    double exchange_s =
        model_line_time(line, strips->request_bytes) + model_line_time(line, strips->answer_bytes);
    return sum_of(tasks, computation_s / tasks, strips->count * exchange_s);
}
