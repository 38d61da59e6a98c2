/*
 * bag_place.h - which daemon holds which bag, and which others have copies: agreed on by the VM.
 * The commands and what they hold (command.h has their heads):
 *
 *   BAG_CREATE: name params -> bag=u64 holder=u32; its holder is the host of the task that asks
 *   BAG_BACKUPS (of the holder's daemon): bag=u64 count=u8 *(host=u32): these have all of it
 *   BAG_REMOVE (of the holder's daemon): bag=u64: there is nothing left to keep
 *   BAG_ADOPT (of a daemon that held it, or had a copy, before the VM lost what it had agreed on):
 *     bag=u64 epoch=u32 name params: who comes first holds it from now on
 *   BAG_FIND (a question): name -> bag=u64 holder=u32; holder 0: it is lost
 *   BAG_LIST (a question): empty -> *(name bag=u64 epoch=u32 holder=u32 count=u8 *(host=u32))
 *
 * Each change of a bag has a new epoch. When the holder's host is gone its first backup holds it.
 * The daemons concerned are told (NOTICE_BAG, to the daemon itself) who has which part now:
 *
 *   notice = bag=u64 epoch=u32 holder=u32 count=u8 *(host=u32) name params   ; holder 0: of nobody
 *   params: as in bag_wire.h, whose name is the bag's
 */
#ifndef COVEY_PROTO_BAG_PLACE_H
#define COVEY_PROTO_BAG_PLACE_H

#include "proto/bag/bag_holder.h"

struct bag_place {
    uint64_t bag;
    uint32_t epoch, holder;
    uint8_t count;
    uint32_t backups[BAG_BACKUPS_MAX];
    struct bag_params params;
};

#define BAG_PLACE_BYTES_MAX (17 + 4 * BAG_BACKUPS_MAX + BAG_PARAMS_BYTES_MAX)

void bag_place_get(struct cursor *c, struct bag_place *place); /* refuses too many backups */

#endif
