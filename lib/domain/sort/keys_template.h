/*
 * keys_template.h - included once a width, with KEY, NAME(), LESS(), BYTE_OF(key, i), the i-th byte
 * of a key from the lowest, DIFFER(a, b), a key with the bits in which two differ, ADD_BITS(a, b),
 * and IS_SAME_FROM(a, b, i), whether two have the same bytes from the i-th one up: radix sort,
 * which is stable, merge and search.
 *
 * Keys are sorted by as few bytes as tell most of them apart, the highest ones in which any differ,
 * from the lowest of these up; what has the same of these then stands together and is sorted by
 * itself, most often no more than two or three. Random keys of 8 bytes are moved 3 times where a
 * sort by each byte moves them 8 times.
 */

static void NAME(insert)(KEY *keys, size_t n)
{
    for (size_t i = 1; i < n; i++) {
        KEY key = keys[i];
        size_t at = i;
        for (; at > 0 && LESS(key, keys[at - 1]); at--)
            keys[at] = keys[at - 1];
        keys[at] = key;
    }
}

/* By what keys are sorted first. */
struct NAME(bytes) {
    size_t count, index[sizeof(KEY)];  /* from the highest one down */
    int is_all;                        /* there are no others in which keys differ */
    size_t keys[sizeof(KEY)][BUCKETS]; /* that have this value of index[i] */
};

/* How many keys have each value of a byte: two neighbours, which may have the same, are counted
 * apart, for else one would wait for the other. Returns how many values as often as each other
 * would tell as many of them apart. */
static double NAME(count)(const KEY *keys, size_t n, size_t i, size_t counts[BUCKETS])
{
    size_t odd[BUCKETS] = {0}, even = n - n % 2;
    double pairs = 0;
    memset(counts, 0, BUCKETS * sizeof *counts);
    for (size_t k = 0; k < even; k += 2) {
        counts[BYTE_OF(keys[k], i)]++;
        odd[BYTE_OF(keys[k + 1], i)]++;
    }
    if (even < n)
        counts[BYTE_OF(keys[even], i)]++;
    for (size_t bucket = 0; bucket < BUCKETS; bucket++) {
        counts[bucket] += odd[bucket];
        pairs += (double)counts[bucket] * (double)counts[bucket];
    }
    return (double)n * (double)n / pairs;
}

/* Of the bytes in which keys differ, which are `differing`, those that tell most of them apart;
 * all, where only one besides these would be left. */
static void NAME(choose)(const KEY *keys, size_t n, struct NAME(bytes) * bytes)
{
    KEY differing = DIFFER(keys[0], keys[0]);
    size_t left = 0;
    double values = 1;
    for (size_t k = 1; k < n; k++)
        differing = ADD_BITS(differing, DIFFER(keys[0], keys[k]));
    for (size_t i = 0; i < sizeof(KEY); i++)
        left += BYTE_OF(differing, i) != 0;
    bytes->count = 0;
    for (size_t i = sizeof(KEY); i-- > 0 && (left == 1 || values < APART * (double)n);) {
        if (BYTE_OF(differing, i) == 0)
            continue;
        values *= NAME(count)(keys, n, i, bytes->keys[bytes->count]);
        bytes->index[bytes->count++] = i;
        left--;
    }
    bytes->is_all = left == 0;
}

/* Moves the keys to `to` in the order of their i-th byte, of which each value has so many keys. */
static void NAME(scatter)(const KEY *keys, size_t n, KEY *to, size_t i, size_t at[BUCKETS])
{
    size_t sum = 0;
    for (size_t bucket = 0; bucket < BUCKETS; bucket++) {
        size_t count = at[bucket];
        at[bucket] = sum;
        sum += count;
    }
    for (size_t k = 0; k < n; k++)
        to[at[BYTE_OF(keys[k], i)]++] = keys[k];
}

/* Sorts keys by the chosen bytes; returns the lowest of these, 0 where all are. Not a part of its
 * caller: what it has on the stack is large. */
static __attribute__((noinline)) size_t NAME(sort_by_highest)(KEY *keys, size_t n, KEY *scratch)
{
    struct NAME(bytes) bytes;
    KEY *from = keys, *to = scratch;
    NAME(choose)(keys, n, &bytes);
    for (size_t i = bytes.count; i-- > 0;) {
        NAME(scatter)(from, n, to, bytes.index[i], bytes.keys[i]);
        KEY *moved = to;
        to = from;
        from = moved;
    }
    if (from != keys)
        memcpy(keys, from, n * sizeof(KEY));
    return bytes.is_all ? 0 : bytes.index[bytes.count - 1];
}

/* Calls itself for keys that have the same of the bytes by which they were sorted, as deep as keys
 * have bytes. */
static void NAME(sort)(const struct sort_order *order, void *base, size_t n, void *scratch)
{
    KEY *keys = base;
    size_t lowest = 0;
    if (n <= FEW)
        NAME(insert)(keys, n);
    else
        lowest = NAME(sort_by_highest)(keys, n, scratch);
    for (size_t begin = 0, end; lowest > 0 && begin < n; begin = end) {
        end = begin + 1;
        while (end < n && IS_SAME_FROM(keys[begin], keys[end], lowest))
            end++;
        NAME(sort)(order, keys + begin, end - begin, scratch);
    }
}

/* Without a branch, for which key is next cannot be predicted. */
static void NAME(merge)(const struct sort_order *order, const void *left, size_t left_n,
                        const void *right, size_t right_n, void *out)
{
    const KEY *a = left, *b = right;
    KEY *to = out;
    size_t i = 0, j = 0;
    (void)order;
    while (i < left_n && j < right_n) {
        int takes_right = LESS(b[j], a[i]);
        *to++ = takes_right ? b[j] : a[i];
        i += !takes_right;
        j += (size_t)takes_right;
    }
    if (i < left_n)
        memcpy(to, a + i, (left_n - i) * sizeof(KEY));
    else if (j < right_n)
        memcpy(to, b + j, (right_n - j) * sizeof(KEY));
}

static size_t NAME(bound)(const struct sort_order *order, const void *base, size_t n,
                          const void *wanted, int upper)
{
    const KEY *keys = base, *key = wanted;
    size_t low = 0, high = n;
    (void)order;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (upper ? !LESS(*key, keys[middle]) : LESS(keys[middle], *key))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static int NAME(compare)(const struct sort_order *order, const void *left, const void *right)
{
    const KEY *a = left, *b = right;
    (void)order;
    return LESS(*a, *b) ? -1 : LESS(*b, *a) ? 1 : 0;
}

const struct sort_kernel NAME(sort_kernel) = {
    .sort = NAME(sort), .merge = NAME(merge), .bound = NAME(bound), .compare = NAME(compare)};
