-- dissect.lua DISSECTOR CAPTURE - what Covey's dissector for Wireshark finds in a capture, without
-- Wireshark: a line a packet of Covey's, in the words of the column Info.
--
-- Wireshark's interface is a stand-in that takes everything; what is tested is what takes bytes apart.
-- Reads pcap files of Ethernet in little-endian order, IP without options: what tests/lab/record.sh makes.

local anything = setmetatable({}, { __index = function(t) return t end, __newindex = function() end,
    __call = function(t) return t end })
Proto, ProtoField, DissectorTable, base = anything, anything, anything, anything
dofile(arg[1])

local memory = covey_wire.memory()

local function show(list)
    local words = {}
    for _, d in ipairs(list) do words[#words + 1] = covey_wire.describe(d.list) end
    if #list > 0 then print(table.concat(words, "; ")) end
end

local function on_tcp(segment, from, to)
    local from_port, to_port, head = string.unpack(">I2I2", segment)
    head = (string.byte(segment, 13) >> 4) * 4
    from, to = from .. from_port, to .. to_port
    local bytes = string.sub(segment, head + 1)
    if bytes == "" then return end
    local list, _, missing = covey_wire.tcp(bytes, from .. " " .. to, to .. " " .. from, memory)
    assert(missing == 0, "a frame is cut: this reader puts no segments together")
    if #list > 0 then show({ { list = list } }) end
end

local function on_ip(packet, protocol, head, from, to)
    local rest = string.sub(packet, head + 1)
    if protocol == 6 then return on_tcp(rest, from, to) end
    local from_port, to_port, size = string.unpack(">I2I2I2", rest)
    local datagram = string.sub(rest, 9, size)
    if protocol == 17 and covey_wire.is_udp(datagram) then
        show(covey_wire.udp(datagram, from .. from_port .. " " .. to .. to_port, memory))
    end
end

local function on_frame(frame)
    local to, from, kind = string.unpack(">c6c6I2", frame)
    local payload = string.sub(frame, 15)
    if kind == 0x88b5 then
        show(covey_wire.ether(payload, "ether " .. from .. to, memory))
    elseif kind == 0x0800 then
        payload = string.sub(payload, 1, (string.unpack(">I2", payload, 3)))
        on_ip(payload, string.byte(payload, 10), 20, string.sub(payload, 13, 16), string.sub(payload, 17, 20))
    elseif kind == 0x86dd then
        on_ip(payload, string.byte(payload, 7), 40, string.sub(payload, 9, 24), string.sub(payload, 25, 40))
    end
end

local file = assert(io.open(arg[2], "rb")):read("a")
local at = 25
while at <= #file do
    local captured = string.unpack("<I4", file, at + 8)
    on_frame(string.sub(file, at + 16, at + 15 + captured))
    at = at + 16 + captured
end
