/*
 * keys_template.h - included once a width, with KEY, NAME(), LESS() and BYTE_OF(key, i), the i-th
 * byte of a key from the lowest: radix sort from the lowest byte, which is stable, merge and
 * search.
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

/* How often each byte has each value: keys that change their places have the same. */
static void NAME(count)(const KEY *keys, size_t n, size_t counts[sizeof(KEY)][BUCKETS])
{
    memset(counts, 0, sizeof(KEY) * BUCKETS * sizeof(size_t));
    for (size_t k = 0; k < n; k++)
        for (size_t i = 0; i < sizeof(KEY); i++)
            counts[i][BYTE_OF(keys[k], i)]++;
}

/* Moves the keys to `to` by their i-th byte; returns 0 when it is the same in all: they stay. */
static int NAME(scatter)(const KEY *keys, size_t n, KEY *to, size_t i, size_t at[BUCKETS])
{
    size_t sum = 0;
    if (at[BYTE_OF(keys[0], i)] == n)
        return 0;
    for (size_t bucket = 0; bucket < BUCKETS; bucket++) {
        size_t count = at[bucket];
        at[bucket] = sum;
        sum += count;
    }
    for (size_t k = 0; k < n; k++)
        to[at[BYTE_OF(keys[k], i)]++] = keys[k];
    return 1;
}

static void NAME(sort)(const struct sort_order *order, void *base, size_t n, void *scratch)
{
    KEY *from = base, *to = scratch;
    size_t counts[sizeof(KEY)][BUCKETS];
    (void)order;
    if (n <= FEW) {
        NAME(insert)(base, n);
        return;
    }
    NAME(count)(base, n, counts);
    for (size_t i = 0; i < sizeof(KEY); i++) {
        if (NAME(scatter)(from, n, to, i, counts[i])) {
            KEY *moved = to;
            to = from;
            from = moved;
        }
    }
    if (from != base)
        memcpy(base, from, n * sizeof(KEY));
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
