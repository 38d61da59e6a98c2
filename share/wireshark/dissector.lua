
-- The dissector of Covey's protocol for Wireshark, behind the tables of the wire (kinds.h).
--
-- Bytes are taken apart by functions that know nothing of Wireshark: they get a string and make a
-- list of what they found, each with a field's name, its place and its value. The last part turns
-- such a list into a tree. So all but that part runs in plain Lua too (covey_wire), and is tested so.
--
-- Frames are told in the order of the stream's bytes, as in covey sniff. That happens once, when a
-- packet is seen for the first time; what was found is kept under the packet's number.
--
-- For Lua 5.2 to 5.4, whose bit operations differ: none is used.

local wire = {}
covey_wire = wire

local PENDING_MAX = 256 -- pieces of a stream that wait for one that is missing

local function number_at(s, at, bytes)
    local n = 0
    for i = at + 1, at + bytes do n = n * 256 + (string.byte(s, i) or 0) end
    return n
end

local function has_bit(n, bit) return math.floor(n / bit) % 2 == 1 end

local function add(list, name, at, length, value)
    list[#list + 1] = { name = name, at = at, length = length, value = value }
end

-- ---- frames -------------------------------------------------------------------------------

-- The frame whose header begins at `at`, or nil if it is none.
local function frame_at(s, at)
    local f = { length = number_at(s, at, 4), kind = number_at(s, at + 4, 1), flags = number_at(s, at + 5, 1),
        source = number_at(s, at + 8, 4), destination = number_at(s, at + 12, 4) }
    if f.length > PAYLOAD_MAX or not FRAME_KINDS[f.kind] or number_at(s, at + 6, 2) ~= 0 or f.flags >= 32 or
        f.source >= 2 ^ 30 or f.destination >= 2 ^ 30 then
        return nil
    end
    return f
end

local function message_at(s, at)
    local tag = number_at(s, at + 16, 4)
    if tag >= 2 ^ 31 then tag = tag - 2 ^ 32 end
    return { sequence = number_at(s, at, 8), size = number_at(s, at + 8, 8), tag = tag,
        context = number_at(s, at + 20, 4) }
end

-- How much of a frame is collected before it is told.
local function shown_bytes(f)
    if f.kind == 1 and has_bit(f.flags, 1) and f.length >= MESSAGE then return FRAME_HEADER + MESSAGE end
    return FRAME_HEADER
end

-- Whether bytes begin with frames from one host (its index) or, with 0, from any.
local function plausible(s, from)
    local at = 0
    while #s - at >= FRAME_HEADER do
        local f = frame_at(s, at)
        if not f or has_bit(f.flags, 4) or has_bit(f.flags, 8) or
            (from ~= 0 and math.floor(f.source / 2 ^ 18) ~= from) then
            return false
        end
        at = at + FRAME_HEADER + f.length
        if at >= #s then return true end
    end
    return at < #s and at > 0
end

-- ---- streams ------------------------------------------------------------------------------

local function stream_new(from, offset)
    return { from = from, next = 0, skip = 0, head = "", want = FRAME_HEADER, synced = offset == 0, pending = {} }
end

local function lose_step(st)
    st.synced, st.skip, st.head, st.want = false, 0, "", FRAME_HEADER
end

local function on_head(st, out)
    local f = frame_at(st.head, 0)
    if not f then return lose_step(st) end
    st.want = shown_bytes(f)
    if #st.head < st.want then return end
    if st.want > FRAME_HEADER then f.message = message_at(st.head, FRAME_HEADER) end
    st.skip = f.length - (st.want - FRAME_HEADER)
    st.head, st.want = "", FRAME_HEADER
    out[#out + 1] = f
end

local function take(st, bytes, out)
    while #bytes > 0 and st.synced do
        local n = math.min(#bytes, st.skip > 0 and st.skip or st.want - #st.head)
        if st.skip > 0 then
            st.skip = st.skip - n
        else
            st.head = st.head .. string.sub(bytes, 1, n)
            if #st.head == st.want then on_head(st, out) end
        end
        bytes = string.sub(bytes, n + 1)
    end
end

local function consume(st, offset, bytes, out)
    local old = st.next - offset
    if old >= #bytes then return end
    if old < 0 then st.skip, old = st.skip + old, 0 end -- a hole in what is passed over
    st.next = offset + #bytes
    take(st, string.sub(bytes, old + 1), out)
end

local function reaches(st, offset) return offset <= st.next + st.skip end

local function find_step(st, offset, bytes)
    if #bytes < FRAME_HEADER or not plausible(bytes, st.from) then return false end
    st.synced, st.next = true, offset
    return true
end

local function drain(st, out)
    while st.pending[1] do
        local piece = st.pending[1]
        if st.synced or find_step(st, piece.offset, piece.bytes) then
            if not reaches(st, piece.offset) then return end
            consume(st, piece.offset, piece.bytes, out)
        end
        table.remove(st.pending, 1)
    end
end

-- The frames whose heads these bytes complete.
local function stream_feed(st, offset, bytes)
    local out = {}
    if not st.synced and not find_step(st, offset, bytes) then return out end
    if reaches(st, offset) then
        consume(st, offset, bytes, out)
    else
        local i = 1
        while st.pending[i] and st.pending[i].offset < offset do i = i + 1 end
        table.insert(st.pending, i, { offset = offset, bytes = bytes })
        if #st.pending > PENDING_MAX then lose_step(st) end
    end
    drain(st, out)
    return out
end

local function add_frames(list, frames, at, length)
    for _, f in ipairs(frames) do
        add(list, "frame.kind", at, length, f.kind)
        add(list, "frame.source", at, length, f.source)
        add(list, "frame.destination", at, length, f.destination)
        add(list, "frame.flags", at, length, f.flags)
        add(list, "frame.length", at, length, f.length)
        if f.message then
            for _, name in ipairs({ "sequence", "size", "tag", "context" }) do
                add(list, "message." .. name, at, length, f.message[name])
            end
        end
    end
end

-- ---- the pieces of a window ---------------------------------------------------------------

-- The end of an acknowledgement's ranges, as text; nil if they do not fit.
local function ack_at(s, at, stop)
    local count = number_at(s, at, 1)
    local size = 5 + 8 + 4 + 8 * (count - 1)
    if count == 0 or count > RANGES_MAX or at + size > stop then return nil end
    local largest, ranges = number_at(s, at + 5, 8), {}
    for i = 0, count - 1 do
        local length = number_at(s, at + 13 + 8 * i, 4)
        local first = largest - length + 1
        if length == 0 or first < 0 then return nil end
        ranges[#ranges + 1] = length == 1 and string.format("%.0f", first) or
            string.format("%.0f-%.0f", first, largest)
        if i < count - 1 then
            local gap = number_at(s, at + 17 + 8 * i, 4)
            if gap == 0 then return nil end
            largest = first - gap - 1
        end
    end
    return size, table.concat(ranges, ","), number_at(s, at + 1, 4)
end

-- Each reads a piece behind its first byte: puts what it is into p and the list; returns its size.
local pieces = {
    [1] = function(s, at, stop, p, list)
        local size, text, delay = ack_at(s, at, stop)
        if not size or p.ack then return nil end
        p.ack = true
        add(list, "ack", at - 1, size + 1, text)
        add(list, "ack.delay", at + 1, 4, delay)
        return size
    end,
    [2] = function(s, at, stop, p, list)
        if at + 8 > stop or p.limit then return nil end
        p.limit = number_at(s, at, 8)
        add(list, "limit", at, 8, p.limit)
        return p.limit <= 2 ^ 62 and 8 or nil
    end,
    [3] = function(_, at, _, p, list)
        if p.ping then return nil end
        p.ping = true
        add(list, "ping", at - 1, 1, true)
        return 0
    end,
    [4] = function(s, at, stop, p, list)
        local offset, length = number_at(s, at, 8), number_at(s, at + 8, 2)
        if at + 10 + length > stop or length == 0 or offset > 2 ^ 62 or p.stream then return nil end
        p.stream = { offset = offset, at = at + 10, length = length }
        add(list, "stream.offset", at, 8, offset)
        add(list, "stream.length", at + 8, 2, length)
        return 10 + length
    end,
}

-- What a payload holds, or nil if it is none of a window's.
local function window_at(s, at, stop)
    local p, list = {}, {}
    while at < stop do
        local kind = number_at(s, at, 1)
        if kind == 0 then break end
        local size = pieces[kind] and pieces[kind](s, at + 1, stop, p, list)
        if not size then return nil end
        at = at + 1 + size
    end
    return p, list
end

-- ---- datagrams ----------------------------------------------------------------------------

-- What is remembered from one packet to the next.
function wire.memory() return { streams = {}, verdicts = {}, flows = {} } end

-- Whether a VM encrypts, by the majority of its payloads (see sniffer.c).
local function is_encrypted(memory, vm, good, counts)
    local v = memory.verdicts[vm] or { clear = 0, refused = 0 }
    memory.verdicts[vm] = v
    if counts then
        if good then v.clear = v.clear + 1 else v.refused = v.refused + 1 end
    end
    return v.refused > v.clear
end

local function read_data(d, s, stop, way, memory)
    local at = d.at + SEALED
    local p, list = window_at(s, at, stop)
    if is_encrypted(memory, d.vm, p, not p or next(p)) then
        return add(d.list, "encrypted", at, stop - at, true)
    end
    if not p then return add(d.list, "malformed", at, stop - at, true) end
    for _, item in ipairs(list) do d.list[#d.list + 1] = item end
    if not p.stream then return end
    local key = string.format("%s %d %d", way, d.vm, d.session)
    local st = memory.streams[key] or stream_new(d.channel == 0 and d.session % 4096 or 0, p.stream.offset)
    memory.streams[key] = st
    add_frames(d.list, stream_feed(st, p.stream.offset, string.sub(s, p.stream.at + 1, p.stream.at + p.stream.length)),
        p.stream.at, p.stream.length)
end

local function read_hello(list, s, at)
    add(list, "from", at, 4, number_at(s, at, 4))
    add(list, "to", at + 4, 4, number_at(s, at + 4, 4))
end

local readers = {
    hello = function(d, s) read_hello(d.list, s, d.at + HEAD) end,
    roll = function(d, s) read_hello(d.list, s, d.at + HEAD) end,
    here = function(d, s) add(d.list, "from", d.at + HEAD, 4, number_at(s, d.at + HEAD, 4)) end,
    welcome = function(d, s) add(d.list, "session", d.at + HEAD, 4, number_at(s, d.at + HEAD, 4)) end,
    refuse = function(d, s)
        add(d.list, "session", d.at + HEAD, 4, number_at(s, d.at + HEAD, 4))
        add(d.list, "reason", d.at + HEAD + 4, 1, number_at(s, d.at + HEAD + 4, 1))
    end,
    confirm = function(d, s) read_hello(d.list, s, d.at + SEALED) end,
    data = read_data,
}

local function read_target(d, s, stop, _, memory)
    local target = number_at(s, d.at + SEALED, 4)
    if is_encrypted(memory, d.vm, target < 4096, target >= 4096) then
        add(d.list, "encrypted", d.at + SEALED, stop - d.at - SEALED, true)
    else
        add(d.list, "target", d.at + SEALED, 4, target)
    end
end
for _, name in ipairs({ "probe", "probed", "call", "call-back" }) do readers[name] = read_target end

local function add_sealed(d, s)
    d.session = number_at(s, d.at + HEAD, 4)
    local number = number_at(s, d.at + HEAD + 5, 7) + number_at(s, d.at + HEAD + 4, 1) % 128 * 2 ^ 56
    add(d.list, "session", d.at + HEAD, 4, d.session)
    add(d.list, "number", d.at + HEAD + 4, 8, number)
end

-- Takes apart the datagram of `size` bytes at `at`; way: a text for where it goes and on what lane.
function wire.datagram(s, at, size, way, channel, memory)
    local d = { at = at, kind = number_at(s, at + 3, 1), vm = number_at(s, at + 4, 4), channel = channel, list = {} }
    local version, stop = number_at(s, at + 2, 1), at + size - TAG
    add(d.list, "version", at + 2, 1, version)
    add(d.list, "kind", at + 3, 1, d.kind)
    add(d.list, "vm", at + 4, 4, d.vm)
    d.name = DATAGRAM_KINDS[d.kind]
    if version ~= VERSION or not d.name or size < HEAD + 8 + TAG then return d end
    if d.kind >= 4 and d.kind < 15 and size >= SEALED + TAG then add_sealed(d, s) end
    if readers[d.name] then readers[d.name](d, s, stop, way, memory) end
    add(d.list, "tag", stop, TAG, nil)
    return d
end

function wire.is_datagram(s, at) return #s >= at + HEAD and number_at(s, at, 2) == MAGIC end

-- What is before a datagram on raw Ethernet that came over UDP: its segment carries nothing.
local function detour_bytes(s, at)
    return number_at(s, at, 2) == DETOUR and number_at(s, at + 2, 2) == 0 and DETOUR_SIZE or 0
end

-- Whether what UDP brought is Covey's.
function wire.is_udp(s) return wire.is_datagram(s, detour_bytes(s, 0)) end

-- Datagrams that the kernel was given at once: their size, all but the last's.
local function is_another(s, at)
    local first, other = detour_bytes(s, 0), at + detour_bytes(s, at)
    return other + HEAD <= #s and string.sub(s, other + 1, other + 3) == string.sub(s, first + 1, first + 3) and
        string.sub(s, other + 5, other + 8) == string.sub(s, first + 5, first + 8)
end
local function is_cut_by(s, part)
    for at = part, #s - HEAD, part do
        if not is_another(s, at) then return false end
    end
    return true
end
local function part_bytes(s)
    for at = SEALED + TAG, #s - HEAD do
        if string.byte(s, at + 1) == math.floor(MAGIC / 256) and is_another(s, at) and is_cut_by(s, at) then return at end
    end
    return #s
end

-- All datagrams of a UDP packet.
function wire.udp(s, way, memory)
    local list, part = {}, part_bytes(s)
    for at = 0, #s - 1, part do
        local detour, size = detour_bytes(s, at), math.min(part, #s - at)
        local d = wire.datagram(s, at + detour, size - detour, (detour > 0 and "detour " or "") .. way, 0, memory)
        if detour > 0 then table.insert(d.list, 1, { name = "detour", at = at, length = detour, value = true }) end
        list[#list + 1] = d
    end
    return list
end

-- The datagram of an Ethernet payload, with its head; nil: it is none.
function wire.ether(s, way, memory)
    local size, channel = number_at(s, 2, 2), number_at(s, 4, 4)
    if #s < ETHER_HEADER + size or number_at(s, 0, 1) ~= 1 or not wire.is_datagram(s, ETHER_HEADER) then return {} end
    local d = wire.datagram(s, ETHER_HEADER, size, way, channel, memory)
    table.insert(d.list, 1, { name = "channel", at = 4, length = 4, value = channel })
    return { d }
end

-- ---- TCP streams between two tasks --------------------------------------------------------

-- A segment of a stream; way: from end to end, back: the other way. Frames come whole: how many
-- bytes more are wanted is the second result.
local steps = {}
function steps.hello(s, at, list)
    add(list, "stream.hello", at, STREAM_HELLO, true)
    add(list, "stream.opener", at + 8, 4, number_at(s, at + 8, 4))
    add(list, "stream.accepter", at + 12, 4, number_at(s, at + 12, 4))
end
function steps.challenge(_, at, list) add(list, "stream.challenge", at, STREAM_CHALLENGE, true) end
function steps.proof(_, at, list) add(list, "stream.proof", at, STREAM_PROOF, true) end
local step_bytes = { hello = STREAM_HELLO, challenge = STREAM_CHALLENGE, proof = STREAM_PROOF }
local step_after = { hello = "proof", proof = "frames", challenge = "frames" }

local function read_step(s, at, flow, list)
    local size = step_bytes[flow.step]
    if at + size > #s then return nil, at + size - #s end
    steps[flow.step](s, at, list)
    flow.step = step_after[flow.step]
    return at + size
end

-- A message with a brief header, as the frame that it stands for.
local function brief_at(s, at, flow)
    local mark, size, tag = number_at(s, at, 1), number_at(s, at + 2, 2), number_at(s, at + 8, 4)
    if mark < 128 or mark >= 144 or size > BRIEF_MAX then return nil end
    if tag >= 2 ^ 31 then tag = tag - 2 ^ 32 end
    return { length = MESSAGE + ITEM + size, kind = 1, flags = 3, source = flow.from, destination = flow.to,
        behind = size, message = { sequence = number_at(s, at + 4, 4), size = ITEM + size, tag = tag,
            context = number_at(s, at + 12, 4) } }
end

local function read_frame(s, at, flow, list)
    if at + FRAME_HEADER > #s then return nil, at + FRAME_HEADER - #s end
    local f = brief_at(s, at, flow) or frame_at(s, at)
    if not f then
        add(list, "encrypted", at, #s - at, true)
        return #s
    end
    local stop = at + FRAME_HEADER + (f.behind or f.length)
    if stop > #s then return nil, stop - #s end
    if not f.behind and shown_bytes(f) > FRAME_HEADER then f.message = message_at(s, at + FRAME_HEADER) end
    add_frames(list, { f }, at, stop - at)
    return stop
end

-- Whether a segment begins a stream of Covey's.
function wire.is_tcp(s) return #s >= STREAM_HELLO and string.sub(s, 1, 4) == "COVY" and number_at(s, 5, 3) == 0 end

-- Returns what was found, how many bytes were read, and how many more are wanted (0: none).
function wire.tcp(s, way, back, memory)
    local list, at, missing = {}, 0, nil
    if wire.is_tcp(s) and not memory.flows[way] then
        local opener, accepter = number_at(s, 8, 4), number_at(s, 12, 4)
        memory.flows[way] = { step = "hello", from = opener, to = accepter }
        memory.flows[back] = { step = "challenge", from = accepter, to = opener }
    end
    local flow = memory.flows[way]
    if not flow then return list, #s, 0 end
    while at < #s do
        local after
        if step_bytes[flow.step] then
            after, missing = read_step(s, at, flow, list)
        else
            after, missing = read_frame(s, at, flow, list)
        end
        if not after then return list, at, missing end
        at = after
    end
    return list, at, 0
end

-- What was found, in a word for the datagram and one for each frame.
function wire.describe(list)
    local words = {}
    for _, item in ipairs(list) do
        if item.name == "kind" then words[#words + 1] = DATAGRAM_KINDS[item.value] or "unknown" end
        if item.name == "frame.kind" then words[#words + 1] = FRAME_KINDS[item.value] end
        if item.name == "encrypted" then words[#words + 1] = "encrypted" end
        if string.find(item.name, "^stream%.[hcp]") then words[#words + 1] = (string.gsub(item.name, "%.", "-")) end
    end
    return table.concat(words, " ")
end

-- ---- Wireshark ----------------------------------------------------------------------------

local covey = Proto("covey", "Covey")
local fields = {
    version = ProtoField.uint8("covey.version", "Version"),
    kind = ProtoField.uint8("covey.kind", "Datagram", base.DEC, DATAGRAM_KINDS),
    vm = ProtoField.uint32("covey.vm", "VM", base.HEX),
    session = ProtoField.uint32("covey.session", "Session", base.HEX),
    number = ProtoField.double("covey.number", "Number"),
    from = ProtoField.uint32("covey.from", "From host"),
    to = ProtoField.uint32("covey.to", "To host"),
    reason = ProtoField.uint8("covey.reason", "Reason", base.DEC, { [1] = "gone", [2] = "identity" }),
    target = ProtoField.uint32("covey.target", "Target"),
    tag = ProtoField.bytes("covey.tag", "Tag"),
    channel = ProtoField.uint32("covey.channel", "Channel", base.HEX),
    detour = ProtoField.bool("covey.detour", "Detour of raw Ethernet"),
    encrypted = ProtoField.bool("covey.encrypted", "Encrypted"),
    malformed = ProtoField.bool("covey.malformed", "Malformed"),
    ack = ProtoField.string("covey.ack", "Acknowledged"),
    ["ack.delay"] = ProtoField.uint32("covey.ack.delay", "Delay of the acknowledgement (us)"),
    limit = ProtoField.double("covey.limit", "Limit"),
    ping = ProtoField.bool("covey.ping", "Ping"),
    ["stream.offset"] = ProtoField.double("covey.stream.offset", "Stream offset"),
    ["stream.length"] = ProtoField.uint16("covey.stream.length", "Stream length"),
    ["stream.hello"] = ProtoField.bool("covey.stream.hello", "Hello of a stream"),
    ["stream.challenge"] = ProtoField.bool("covey.stream.challenge", "Challenge of a stream"),
    ["stream.proof"] = ProtoField.bool("covey.stream.proof", "Proof of a stream"),
    ["stream.opener"] = ProtoField.uint32("covey.stream.opener", "Opener", base.HEX),
    ["stream.accepter"] = ProtoField.uint32("covey.stream.accepter", "Accepter", base.HEX),
    ["frame.kind"] = ProtoField.uint8("covey.frame.kind", "Frame", base.DEC, FRAME_KINDS),
    ["frame.source"] = ProtoField.uint32("covey.frame.source", "Source", base.HEX),
    ["frame.destination"] = ProtoField.uint32("covey.frame.destination", "Destination", base.HEX),
    ["frame.flags"] = ProtoField.uint8("covey.frame.flags", "Flags", base.HEX),
    ["frame.length"] = ProtoField.uint32("covey.frame.length", "Length"),
    ["message.sequence"] = ProtoField.double("covey.message.sequence", "Message"),
    ["message.size"] = ProtoField.double("covey.message.size", "Message size"),
    ["message.tag"] = ProtoField.int32("covey.message.tag", "Message tag"),
    ["message.context"] = ProtoField.uint32("covey.message.context", "Message context"),
}
local list_of_fields = {}
for _, field in pairs(fields) do list_of_fields[#list_of_fields + 1] = field end
covey.fields = list_of_fields

local memory, kept = wire.memory(), {}
function covey.init() memory, kept = wire.memory(), {} end

-- What was found in a packet, once and for all.
local function once(pinfo, what, find)
    local key = string.format("%d %s", pinfo.number, what)
    if not kept[key] then kept[key] = find() end
    return kept[key]
end

local function show_list(list, tvb, tree)
    local parent = tree
    for _, item in ipairs(list) do
        local range = tvb(item.at, item.length)
        local into = (string.find(item.name, "^frame%.[^k]") or string.find(item.name, "^message")) and parent or tree
        local shown
        if item.value == nil then
            shown = into:add(fields[item.name], range)
        else
            shown = into:add(fields[item.name], range, item.value)
        end
        if item.name == "frame.kind" then parent = shown end
    end
end

local function show(list, tvb, pinfo, tree)
    local all = {}
    pinfo.cols.protocol = "Covey"
    for _, d in ipairs(list) do
        show_list(d.list, tvb, tree:add(covey, tvb()))
        all[#all + 1] = wire.describe(d.list)
    end
    pinfo.cols.info = table.concat(all, "; ")
    return #list > 0
end

local function way_of(pinfo)
    local from = tostring(pinfo.src) .. ":" .. tostring(pinfo.src_port)
    local to = tostring(pinfo.dst) .. ":" .. tostring(pinfo.dst_port)
    return from .. " " .. to, to .. " " .. from
end

covey:register_heuristic("udp", function(tvb, pinfo, tree)
    local s = tvb:raw()
    if not wire.is_udp(s) then return false end
    local found = once(pinfo, "udp", function() return wire.udp(s, "udp " .. way_of(pinfo), memory) end)
    return show(found, tvb, pinfo, tree)
end)

-- Segments of a stream: the dissector of the connection, once a HELLO was seen.
function covey.dissector(tvb, pinfo, tree)
    local s = tvb:raw()
    local found = once(pinfo, "tcp " .. #s, function()
        local way, back = way_of(pinfo)
        local list, read, missing = wire.tcp(s, way, back, memory)
        return { list = list, read = read, missing = missing }
    end)
    if found.missing > 0 then
        pinfo.desegment_offset = found.read
        pinfo.desegment_len = found.missing
    end
    if #found.list > 0 then show({ found }, tvb, pinfo, tree) end
    return tvb:len()
end

covey:register_heuristic("tcp", function(tvb, pinfo, tree)
    if not wire.is_tcp(tvb:raw()) then return false end
    pinfo.conversation = covey
    covey.dissector(tvb, pinfo, tree)
    return true
end)

local over_ethernet = Proto("covey_ether", "Covey over Ethernet")
function over_ethernet.dissector(tvb, pinfo, tree)
    local s = tvb:raw()
    local way = "ether " .. tostring(pinfo.dl_src) .. " " .. tostring(pinfo.dl_dst)
    show(once(pinfo, "ether", function() return wire.ether(s, way, memory) end), tvb, pinfo, tree)
    return tvb:len()
end
DissectorTable.get("ethertype"):add(ETHER_TYPE, over_ethernet)
