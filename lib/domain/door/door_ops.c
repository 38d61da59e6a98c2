/*
 * door_ops.c - the operations by number, as orders name them: a new one comes last.
 */
#include "lib/domain/door/door.h"

static int run_network(struct door_member *member, const struct door_args *args)
{
    (void)args;
    return covey_domain_network(member->team, &member->network);
}

const struct door_op door_network = {.name = "the network", .run = run_network};

const struct door_op *const door_ops[DOOR_OPS] = {
    [DOOR_NETWORK] = &door_network,
    [DOOR_SORT] = &door_sort,
    [DOOR_FFT] = &door_fft,
    [DOOR_GEMM] = &door_gemm,
    [DOOR_SOLVE] = &door_solve,
    [DOOR_SOLVE_SPD] = &door_solve_spd,
    [DOOR_LEAST_SQUARES] = &door_least_squares,
    [DOOR_POISSON] = &door_poisson,
};
