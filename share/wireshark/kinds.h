/*
 * kinds.h - the tables of the wire as Lua: the C preprocessor turns this into the first part of the
 * Wireshark dissector, dissector.lua is the rest. So a kind that is new here is new there.
 *
 * What stands behind the line LUA is Lua for the preprocessor, not C.
 */
#include "proto/auth/auth.h"
#include "proto/wire/datagram.h"
#include "proto/wire/ether.h"
#include "proto/wire/frame.h"
#include "proto/window/window_wire.h"

#define ROW_DATAGRAM(number, name, text) [number] = text,
#define ROW_FRAME(number, name, party) [number] = #name,

LUA

local DATAGRAM_KINDS = { DATAGRAM_KINDS(ROW_DATAGRAM) }
local FRAME_KINDS = { FRAME_KINDS(ROW_FRAME) }
local VERSION = WIRE_VERSION
local MAGIC = DATAGRAM_MAGIC
local DETOUR = DETOUR_MAGIC
local DETOUR_SIZE = DETOUR_BYTES
local ETHER_TYPE = ETHER_TYPE_DEFAULT
local ETHER_HEADER = ETHER_HEADER_BYTES
local HEAD = DATAGRAM_HEAD_BYTES
local SEALED = DATAGRAM_SEALED_BYTES
local TAG = AUTH_TAG_BYTES
local FRAME_HEADER = FRAME_HEADER_BYTES
local PAYLOAD_MAX = FRAME_PAYLOAD_MAX
local MESSAGE = FRAME_MESSAGE_BYTES
local ITEM = FRAME_ITEM_BYTES
local BRIEF_MAX = BRIEF_SIZE_MAX
local RANGES_MAX = WIRE_RANGES_MAX
local STREAM_HELLO = STREAM_HELLO_BYTES
local STREAM_CHALLENGE = STREAM_CHALLENGE_BYTES
local STREAM_PROOF = STREAM_PROOF_BYTES
