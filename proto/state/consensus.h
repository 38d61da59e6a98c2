/*
 * consensus.h - one value each for the numbers of a series: the first value that is proposed for a
 * number is decided, and whoever proposes or asks later is given that value and who proposed it.
 * That the daemons agree which proposal is the first, in spite of a minority of them failing, is
 * what their common log is for; here is what it decides.
 *
 *   Validity: what is decided was proposed, by the task that is named. Agreement: all are given the
 *   same. Integrity: a number is decided once, also when its value was forgotten in the meantime:
 *   forgotten numbers of a series are refused.
 *
 * The engine is consensus.c, consensus_engine in the state; this header is what its callers share
 * with it.
 *
 *   CONSENSUS_PROPOSE: name=text number=u64 *u8 -> decision ; EINVAL: more than CONSENSUS_VALUE_MAX
 *                                        ; bytes, or number 2^64-1; ENOENT: forgotten; ERESOURCE:
 *                                        ; what is kept takes too much room already
 *   CONSENSUS_LEARN:   name number -> decision              ; when there is one. Likewise
 *   CONSENSUS_FORGET:  name below=u64 -> empty ; all numbers less than that. CONSENSUS_WHOLE: the
 *                                        ; series as if it had never been: the asker knows that
 *                                        ; nobody will come with an old number
 *   CONSENSUS_LOOK:    name number -> decision ; a question. ENOENT: forgotten
 *
 *   decision = proposer=u32 *u8          ; proposer 0: none yet
 */
#ifndef COVEY_PROTO_CONSENSUS_H
#define COVEY_PROTO_CONSENSUS_H

#define CONSENSUS_VALUE_MAX 4096
#define CONSENSUS_WHOLE UINT64_MAX

/* What all that is kept may take, as it is counted: */
#define CONSENSUS_BYTES_MAX (1u << 20)
#define CONSENSUS_SERIES_BYTES 128  /* a series */
#define CONSENSUS_INSTANCE_BYTES 64 /* a number, decided or waited for; and its value's bytes */

#endif
