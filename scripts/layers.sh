#!/bin/bash
# layers.sh [--strict] [--circles] [DIR] - who may use whom, and where system interfaces may stand (default: here).
#
#   rooms    a file includes, and calls (by the symbols of its object below $BUILD), what its room's
#            row in scripts/rooms names. lib/covey.h and lib/covey/ are the room "covey.h", which
#            includes itself alone, for it is installed without the rest; what they declare may be
#            called from outside lib/, from lib/pvm3, lib/python, lib/fortran, lib/r and lib/domain. --strict: as if no row were put off
#   size     a room has at most 32 source files; a struct at most 25 fields, but for messages on the
#            wire (proto/wire/*.h, *_wire.h)
#   circles  files that call each other in a circle are at most 12, all of one room; --circles
#            prints all there are
#   proto    is pure: no sockets, clocks, threads, dlopen(), nor statics that can be written
#   ev.h     stands in daemon/base/loop.c alone: all others see daemon/base/loop.h
#   socket() is called by files that are links or make them: never by proto, tools or apps, but
#            for tools/probe, tools/launch, the server of covey web, the sockets of a class and the raw sockets of covey bench (tools/bench/tasks/raw*.c)
#   ntohl()  and its kin stand in proto/wire/cursor alone, and where socket addresses are made
#
# Prints each breach as FILE:LINE: words; the exit status is 0 when there is none. What is known and
# to be mended stands in scripts/rooms.todo, without the number of the line: it is not printed.
set -u
strict=0 circles=0
while [[ "${1:-}" = --* ]]; do
    case $1 in
    --strict) strict=1 ;;
    --circles) circles=1 ;;
    *) echo "layers.sh: unknown option $1" >&2; exit 2 ;;
    esac
    shift
done
rooms=$(realpath "$(dirname "$0")/rooms")
todo=$(dirname "$rooms")/rooms.todo
cd "${1:-.}" || exit 2
build=${BUILD:-build}/obj

# What both checks share: the rows, the room of a file, and what a room may use.
# shellcheck disable=SC2016
shared='
    function read_rooms(file,    line, part, name) {
        while ((getline line < file) > 0) {
            sub(/#.*/, "", line)
            if (line !~ /:/) continue
            split(line, part, ":")
            name = part[1]
            if (name !~ /^later /) row[name] = part[2]
            else if (!strict) later[substr(name, 7)] = part[2]
        }
        close(file)
    }
    function room_of(file) {
        if (file ~ /^lib\/covey(\.h$|\/)/) return "covey.h"
        sub(/\/[^\/]*$/, "", file)
        return file
    }
    function top_of(file) { sub(/\/.*/, "", file); return file }
    function is_put_off(file) { return top_of(file) in later }
    function names_of(room) {
        if (top_of(room) in later) return later[top_of(room)]
        if (room in row) return row[room]
        sub(/[^\/]*$/, "*", room)
        return row[room]
    }
    function names_room(room, target,    name, count, i) {
        count = split(names_of(room), name, " ")
        for (i = 1; i <= count; i++) {
            if (name[i] == target) return 1
            if (name[i] ~ /\/$/ && index(target "/", name[i]) == 1) return 1
            if (name[i] ~ /\+$/) {
                sub(/\+$/, "", name[i])
                if (may_use(name[i], target)) return 1
            }
        }
        return 0
    }
    function may_use(room, target) {
        if (room == target) return 1
        if (!((room, target) in known)) {
            known[room, target] = 0 # rows in a circle end here
            known[room, target] = names_room(room, target)
        }
        return known[room, target]
    }
'

check_sources() {
    # shellcheck disable=SC2016
    awk -v rooms="$rooms" -v strict=$strict "$shared"'
    # Where an include with quotes leads: beside the file, in the root or in lib/, as the compiler
    # looks; nothing for a header of the system.
    function target_of(file, name,    dir, path) {
        dir = file
        sub(/[^\/]*$/, "", dir)
        path = dir name
        while (sub(/[^\/]+\/\.\.\//, "", path)) {}
        if (path in exists) return path
        if (name in exists) return name
        if ("lib/" name in exists) return "lib/" name
        return ("lib/pvm3/include/" name in exists) ? "lib/pvm3/include/" name : ""
    }
    function breach(words) { breach_at(FNR, words) }
    function breach_at(line, words) { printf "%s:%d: %s\n", FILENAME, line, words }
    function without_comments(line,    text) {
        while (line != "") {
            if (in_comment) {
                if (!match(line, /\*\//)) return text
                line = substr(line, RSTART + 2)
                in_comment = 0
            } else if (match(line, /\/\*|\/\//)) {
                text = text substr(line, 1, RSTART - 1)
                if (substr(line, RSTART, 2) == "//") return text
                line = substr(line, RSTART + 2)
                in_comment = 1
            } else {
                return text line
            }
        }
        return text
    }
    # A field ends with ";" or "," in the braces of its struct, not in those of a struct inside.
    function count_fields(text,    i, c) {
        for (i = 1; i <= length(text); i++) {
            c = substr(text, i, 1)
            if (c == "{") depth++
            else if (c == "}" && --depth == 0) {
                if (fields > 25) breach_at(struct_line, struct_name " has " fields " fields: at most 25")
                struct_name = ""
                return
            }
            else if (c == "(" || c == "[") brackets++
            else if (c == ")" || c == "]") brackets--
            else if (depth == 1 && brackets == 0 && (c == ";" || c == ",")) fields++
        }
    }

    BEGIN {
        read_rooms(rooms)
        for (i = 1; i < ARGC; i++) {
            exists[ARGV[i]] = 1
            if (++files[room_of(ARGV[i])] == 33 && !is_put_off(ARGV[i]))
                printf "%s:1: room %s has more than 32 source files\n", ARGV[i], room_of(ARGV[i])
        }
    }
    FNR == 1 {
        in_comment = depth = brackets = 0
        struct_name = ""
        room = room_of(FILENAME)
        on_wire = room == "proto/wire" || FILENAME ~ /_wire\.h$/
        if (!is_put_off(FILENAME) && names_of(room) == "" && !(room in row) && room != "covey.h")
            breach("room " room " has no row in scripts/rooms")
    }
    { code = without_comments($0) }

    code ~ /^ *# *include/ && match(code, /["<][^">]*[">]/) {
        name = substr(code, RSTART + 1, RLENGTH - 2)
        target = target_of(FILENAME, name)
        if (target != "" && !may_use(room, room_of(target)))
            breach(room " must not include " target)
        if (name == "ev.h" && FILENAME != "daemon/base/loop.c")
            breach("only daemon/base/loop.c may include ev.h")
        if (FILENAME ~ /^proto\// && FILENAME != "proto/wire/address.c" &&
            name ~ /^(sys\/socket|netinet\/in|arpa\/inet|pthread|threads|time|sys\/time|poll|sys\/epoll|dlfcn)\.h$/)
            breach("an engine has no sockets, clocks, threads or libraries of its own")
    }
    struct_name == "" && !on_wire && !is_put_off(FILENAME) && room != "covey.h" &&
        code ~ /^(typedef )?(struct|union) *[A-Za-z_0-9]* *\{/ {
        struct_name = code
        sub(/ *\{.*/, "", struct_name)
        struct_line = FNR
        fields = depth = brackets = 0
    }
    struct_name != "" { count_fields(code) }
    code ~ /(^|[^a-z_0-9])(ntoh[sl]|hton[sl]|(be|le)(16|32|64)toh|hto(be|le)(16|32|64)) *\(/ &&
        FILENAME !~ /^proto\/wire\/cursor\.[ch]$|^tools\/bench\/tasks\/raw_ether\.c$|^(lib|daemon)\/[a-z]+\/(sockaddr|candidate|udp|link_tcp)\.[ch]$/ {
        breach("only proto/wire/cursor and socket addresses may turn byte order")
    }
    code ~ /(^|[^a-z_0-9])(socket|socketpair|accept4?) *\(/ && FILENAME !~ /^(lib|daemon|tools\/(probe|launch))\/|^tools\/(bench\/tasks\/raw(_ether)?|web\/web_server|class\/sockets)\.c$/ {
        breach("only links and what starts them may make sockets")
    }
    FILENAME ~ /^proto\// &&
        code ~ /(^|[^a-z_0-9.>])(clock_gettime|gettimeofday|time|random|rand|getrandom|randombytes_buf) *\(/ {
        breach("an engine is given its time and its randomness")
    }
    FILENAME ~ /^proto\// && code ~ /(^|[^a-z_0-9])(dlopen|dlsym) *\(/ {
        breach("an engine loads no library")
    }
' "${sources[@]}"
}

# nm in the form of System V says in which section a symbol lies.
check_symbols() {
    find "${objects[@]}" -name '*.o' -exec nm -A -f sysv {} + 2>/dev/null | tr -d ' ' |
        awk -F'|' -v rooms="$rooms" -v strict=$strict -v show=$circles -v build="$build/" "$shared"'
    BEGIN {
        read_rooms(rooms)
        while (("printf \"%s\\n\" cipher proto lib daemon tools apps | xargs -I{} find {} -name \"*.c\"" | getline file) > 0)
            exists[file] = 1
    }
    NF < 7 { next }
    {
        colon = index($1, ":")
        file = substr($1, length(build) + 1, colon - length(build) - 3) ".c"
        symbol = substr($1, colon + 1)
        if (!(file in exists)) next
        seen[file] = 1
    }
    $3 == "U" { needs[file] = needs[file] " " symbol }
    $3 ~ /^[TDBRVWC]$/ { definers[symbol] = definers[symbol] " " file }
    file ~ /^proto\// && $7 ~ /^\.(t?data|t?bss)/ && $7 !~ /^\.data\.rel\.ro/ {
        sub(/\.[0-9]+$/, "", symbol)
        printf "%s:1: an engine has no static that can be written: %s\n", file, symbol
    }

    # The definer that a file means: in its own room, else where it may call; else the first.
    function meant(file, symbol,    definer, count, i, allowed, room) {
        count = split(definers[symbol], definer, " ")
        room = room_of(file)
        for (i = 1; i <= count; i++) {
            if (definer[i] == file) return ""
            if (room_of(definer[i]) == room) return definer[i]
            if (allowed == "" && may_call(file, room, symbol, definer[i])) allowed = definer[i]
        }
        if (allowed == "" && count > 0)
            printf "%s:1: %s must not call %s of %s\n", file, room, symbol, definer[1]
        return allowed != "" ? allowed : definer[1]
    }
    function may_call(file, room, symbol, definer) {
        if (may_use(room, room_of(definer))) return 1
        return symbol ~ /^covey_/ && definer ~ /^lib\// && may_use(room, "covey.h") &&
            (file !~ /^lib\// || file ~ /^lib\/(pvm3|domain|python|fortran|r)\//)
    }
    function draw_edges(file,    symbol, count, i, to) {
        count = split(needs[file], symbol, " ")
        for (i = 1; i <= count; i++) {
            to = meant(file, symbol[i])
            if (to == "" || (file, to) in edge) continue
            edge[file, to] = 1
            calls[file] = calls[file] " " to
        }
    }
    # Who calls nobody that is left, or is called by nobody, is in no circle.
    function peel(    file, to, i, count, callee, is_called, was) {
        do {
            was = left
            split("", is_called)
            for (file in remaining) {
                count = split(calls[file], callee, " ")
                to = 0
                for (i = 1; i <= count; i++)
                    if (callee[i] in remaining) { is_called[callee[i]] = 1; to = 1 }
                if (!to) { delete remaining[file]; left-- }
            }
            for (file in remaining)
                if (!(file in is_called)) { delete remaining[file]; left-- }
        } while (left < was)
    }
    function reach(from, reached,    queue, head, tail, callee, count, i) {
        split("", reached)
        queue[tail++] = from
        while (head < tail) {
            count = split(calls[queue[head++]], callee, " ")
            for (i = 1; i <= count; i++)
                if (callee[i] in remaining && !(callee[i] in reached)) {
                    reached[callee[i]] = 1
                    queue[tail++] = callee[i]
                }
        }
    }
    function report_circle(first, members, size, crosses) {
        if (show) printf "circle of %d files:%s\n", size, members
        if (strict_members == 0) return
        if (size > 12) printf "%s:1: a circle of calls has %d files, more than 12:%s\n", first, size, members
        if (crosses) printf "%s:1: a circle of calls crosses rooms:%s\n", first, members
    }
    END {
        for (file in seen) draw_edges(file)
        for (file in seen) { remaining[file] = 1; left++ }
        peel()
        for (file in remaining) {
            reach(file, reached)
            for (to in reached) reaches[file, to] = 1
        }
        for (file in remaining) {
            if (file in done) continue
            members = ""
            first = file
            size = crosses = strict_members = 0
            for (to in remaining) {
                if (!((file, to) in reaches && (to, file) in reaches)) continue
                done[to] = 1
                members = members " " to
                size++
                if (to < first) first = to
                if (room_of(to) != room_of(file)) crosses = 1
                if (!is_put_off(to)) strict_members++
            }
            if (size > 1) report_circle(first, members, size, crosses)
        }
    }
'
}

mapfile -t sources < <(find cipher proto lib daemon tools apps -name '*.[ch]' 2>/dev/null | sort)
objects=()
for top in cipher proto lib daemon tools apps; do [ -d "$build/$top" ] && objects+=("$build/$top"); done
found=$(
    check_sources
    [ ${#objects[@]} -eq 0 ] || check_symbols | sort
)
[ ${#objects[@]} -gt 0 ] || echo "layers: nothing is built below $build: calls between rooms are not checked" >&2
if [ $strict -eq 0 ] && [ -s "$todo" ]; then
    # a line of it has no number: "FILE: words"
    found=$(awk 'NR == FNR { if (!/^#/) known[$0] = 1; next }
        { line = $0; sub(/:[0-9]+:/, ":", line); if (!(line in known)) print }' "$todo" - <<<"$found")
fi
[ -z "$found" ] || { echo "$found"; exit 1; }
