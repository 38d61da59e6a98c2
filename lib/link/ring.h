/*
 * ring.h - a byte ring in shared memory from one writer to one reader.
 *
 * Both ends keep their own position privately and publish it; each checks what the other publishes,
 * so that a peer that is killed at any instruction, or that writes nonsense, harms only itself:
 * bytes are copied first and published after, a half-written piece is never seen.
 *
 * What one end writes and the other reads costs both a miss of their caches: so each end looks at
 * the other's position only when what it knows of it is not enough, and the reader publishes its
 * own not before RING_TOLD_BYTES more were read. The writer puts a copy of a short piece into the
 * line of its position, a note: a reader that waits for it has that line anyway.
 *
 * Sleeping: an end that is about to sleep says so (`..._waiting`) and looks once more; the other
 * end then must ring its doorbell after the next progress that it publishes. The two flags are
 * looked at all the time and seldom change: each has a line of its own. One ring pair of a link
 * lies in one memory.
 */
#ifndef COVEY_LIB_RING_H
#define COVEY_LIB_RING_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/uio.h>

#define RING_BYTES (1024 * 1024)    /* stays in cache; a power of two */
#define RING_TOLD_BYTES (64 * 1024) /* read, until the writer is told */
#define RING_NOTE_BYTES 48          /* what the line of the writer's position has room for */
#define RING_PAYS_AFTER 128
#define RING_LINE 64
#define RING_AHEAD_BYTES 1024 /* that the reader asks its processor for when it hears of them */

/* What the flags say; RING_PAYS the reader's alone. */
enum ring_flags { RING_ASLEEP = 1, RING_PAYS = 2 };

/* Bytes, by words that are read while they are written: those that end at that position. */
struct ring_note {
    _Atomic uint64_t end_size; /* << 8, and how many */
    _Atomic uint64_t words[RING_NOTE_BYTES / 8];
};

struct ring_shared {
    _Alignas(64) _Atomic uint64_t written;   /* by the writer */
    struct ring_note note;                   /* by the writer, of what it wrote last if short */
    _Alignas(64) _Atomic uint64_t announced; /* by the writer: see ring_announce() */
    _Atomic uint32_t format;                 /* by who made the memory, see ring_begin() */
    _Alignas(64) _Atomic uint64_t read;      /* by the reader */
    _Alignas(64) _Atomic uint32_t reader_waiting;
    _Alignas(64) _Atomic uint32_t writer_waiting;
    _Alignas(64) uint8_t bytes[RING_BYTES];
};

struct ring {
    struct ring_shared *shared;
    uint64_t position; /* of this end */
    uint64_t other;    /* the other end's, when it was last looked at */
    uint64_t told;     /* the reader's, when it was last published */
    uint64_t mapped;   /* bytes whose pages this end has, or asks for one by one */
    uint64_t seen;     /* the reader's: what was announced, when it was last looked at */
    uint64_t noted;    /* the reader's: its note is of bytes up to here, */
    size_t note_size;  /* so many, */
    uint64_t note[RING_NOTE_BYTES / 8]; /* a copy */
    bool trusts;    /* the writer's: it takes part in barriers, and needs none if the reader pays */
    bool may_pay;   /* the reader's: it can have barriers in the writer's program, */
    bool pays;      /* and has said that it will have one, */
    uint32_t reads; /* after so many since it slept */
    bool asked;     /* the reader's: it said that it sleeps, and not that it is awake */
};

/* Makes memory of zeros an empty ring; all numbers in it have the byte order of this program. */
void ring_begin(struct ring_shared *shared);

/* Each end begins with its position where the other expects it, at 0. */
void ring_begin_writer(struct ring *ring, struct ring_shared *shared);
void ring_begin_reader(struct ring *ring, struct ring_shared *shared);

/* NULL when the other end's program made it a ring that this one understands; otherwise why not.
 * On one host the byte order differs only from that of a program under an emulator. */
const char *ring_check(const struct ring_shared *shared);

/* Copies what fits and publishes it; the number of bytes taken, or -1 when the other end's
 * position makes no sense. *wake: the reader sleeps and must be woken. */
ptrdiff_t ring_write(struct ring *ring, const struct iovec *iov, int count, bool *wake);

/* The same of so many words, at most RING_NOTE_BYTES, if there is room for all; false: there is
 * not, or the other end's position makes no sense. */
bool ring_write_words(struct ring *ring, const uint64_t *words, size_t count, bool *wake);

/* Copies up to `size` bytes out; likewise. *wake: the writer sleeps and must be woken. */
ptrdiff_t ring_read(struct ring *ring, void *bytes, size_t size, bool *wake);

/* In the steps of those two, for who writes or reads a message as a whole: whether so many bytes
 * have room; how many can be read, at least `wanted` if there are as many, SIZE_MAX: the writer's
 * position makes no sense; copies out some of those; goes behind them, *wake as above. */
bool ring_fits(struct ring *ring, size_t size);
size_t ring_there(struct ring *ring, size_t wanted);
void ring_peek(const struct ring *ring, size_t offset, void *bytes, size_t size);
/* What is to be read, if it is one note, as words of this end; NULL: it is not. */
const uint64_t *ring_noted(const struct ring *ring, size_t *size);
void ring_skip(struct ring *ring, size_t size, bool *wake);

/* The writer says that something with this stamp, or later ones, will come, 0: nothing is announced
 * any more; *wake as above. */
void ring_announce(struct ring *ring, uint64_t stamp, bool *wake);
/* What is announced. When it is 0 whatever had been announced before can be read. */
uint64_t ring_announced(struct ring *ring);

/* Something else that the reader looks at changed; *wake as above. */
void ring_nudge(struct ring *ring, bool *wake);

/* Bytes that the writer ever wrote, as the reader sees it. */
uint64_t ring_written(const struct ring *ring);

/* Says that the reader sleeps; true when there is something to do after all. */
bool ring_reader_sleeps(struct ring *ring);
/* The same in steps, for the reader of several rings: the first says it; true: there has to be a
 * barrier_all() before the second, which looks; `barrier`: whether that succeeded. */
bool ring_reader_asks(struct ring *ring);
bool ring_reader_looks(struct ring *ring, bool barrier);
/* Nobody needs to wake it any more. */
void ring_reader_awake(struct ring *ring);

/* Says that the writer sleeps; true when there is something to do after all. */
bool ring_writer_sleeps(struct ring *ring);

#endif
