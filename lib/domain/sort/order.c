/*
 * order.c - which operations serve which elements.
 */
#include "lib/domain/sort/order.h"

#include "lib/domain/base/error.h"

#define RECORD_BYTES_MAX ((size_t)1 << 20)

struct row {
    const struct sort_kernel *kernel;
    size_t size;
    int wire_type;
    size_t wire_count;
};

static const struct row rows[] = {
    [COVEY_INT8] = {&sort_kernel_8, 1, COVEY_UINT8, 1},
    [COVEY_INT16] = {&sort_kernel_16, 2, COVEY_UINT16, 1},
    [COVEY_INT32] = {&sort_kernel_32, 4, COVEY_UINT32, 1},
    [COVEY_INT64] = {&sort_kernel_64, 8, COVEY_UINT64, 1},
    [COVEY_UINT8] = {&sort_kernel_8, 1, COVEY_UINT8, 1},
    [COVEY_UINT16] = {&sort_kernel_16, 2, COVEY_UINT16, 1},
    [COVEY_UINT32] = {&sort_kernel_32, 4, COVEY_UINT32, 1},
    [COVEY_UINT64] = {&sort_kernel_64, 8, COVEY_UINT64, 1},
    [COVEY_FLOAT] = {&sort_kernel_32, 4, COVEY_UINT32, 1},
    [COVEY_DOUBLE] = {&sort_kernel_64, 8, COVEY_UINT64, 1},
    [COVEY_COMPLEX_FLOAT] = {&sort_kernel_64, 8, COVEY_UINT64, 1},
    [COVEY_COMPLEX_DOUBLE] = {&sort_kernel_pair, 16, COVEY_UINT64, 2},
    [COVEY_BYTES] = {&sort_kernel_8, 1, COVEY_UINT8, 1},
};

static int init_record(struct sort_order *order, const struct covey_sort_kind *kind)
{
    if (kind->type != COVEY_BYTES)
        return domain_fail(COVEY_EINVAL, "a comparison is for records, whose type is BYTES");
    if (kind->record_bytes == 0 || kind->record_bytes > RECORD_BYTES_MAX)
        return domain_fail(COVEY_EINVAL, "a record has %zu bytes: allowed are 1 to %zu",
                           kind->record_bytes, RECORD_BYTES_MAX);
    *order = (struct sort_order){.kernel = &sort_kernel_record,
                                 .size = kind->record_bytes,
                                 .wire_type = COVEY_BYTES,
                                 .wire_count = kind->record_bytes,
                                 .type = kind->type,
                                 .compare = kind->compare,
                                 .context = kind->context};
    return 0;
}

int order_init(struct sort_order *order, const struct covey_sort_kind *kind)
{
    if (kind->compare != NULL)
        return init_record(order, kind);
    if (kind->record_bytes != 0)
        return domain_fail(COVEY_EINVAL, "records need a comparison");
    if (kind->type < 0 || (size_t)kind->type >= sizeof rows / sizeof *rows ||
        rows[kind->type].kernel == NULL)
        return domain_fail(COVEY_EINVAL, "type %d is none of numbers", (int)kind->type);
    const struct row *row = &rows[kind->type];
    *order = (struct sort_order){.kernel = row->kernel,
                                 .size = row->size,
                                 .wire_type = row->wire_type,
                                 .wire_count = row->wire_count,
                                 .type = kind->type};
    return 0;
}
