#!/bin/bash
# layers.sh [DIR] - who may include whom, and where system interfaces may stand (default: here).
#
#   proto    includes proto alone: no sockets, clocks, threads or event loop
#   lib      includes lib and proto; lib/pvm3 includes lib/pvm3 and covey.h; covey.h and what is in
#            lib/covey/ include each other alone, for they are installed without the rest
#   daemon   includes daemon, proto and lib/link, which both ends of a task's socket need
#   tools    includes tools and covey.h; tools/wire, whose program stands beside coveyd, includes itself,
#            daemon/base, daemon/link and proto; tools/probe what the daemon includes
#   apps     an app includes its own folder, headers directly in apps/, and covey.h
#   ev.h     stands in daemon/base/loop.c alone: all others see daemon/base/loop.h
#   socket() is called by files that are links or make them: never by proto, tools or apps, but
#            for tools/probe and the raw sockets of covey bench (tools/bench/tasks/raw*.c)
#   ntohl()  and its kin stand in proto/wire/cursor alone, and where socket addresses are made
#
# Prints each breach as FILE:LINE: words; the exit status is 0 when there is none.
set -u
cd "${1:-.}" || exit 2

# shellcheck disable=SC2046
awk '
    # Where an include with quotes leads: beside the file, in the root or in lib/, as the compiler
    # looks; nothing for a header of the system.
    function target_of(file, name,    dir, path) {
        dir = file
        sub(/[^\/]*$/, "", dir)
        path = dir name
        while (sub(/[^\/]+\/\.\.\//, "", path)) {}
        if (path in exists) return path
        if (name in exists) return name
        return ("lib/" name in exists) ? "lib/" name : ""
    }
    function own_app(file) {
        match(file, /^apps\/[^\/]*\//)
        return substr(file, 1, RLENGTH)
    }
    function may_include(file, target) {
        if (file ~ /^lib\/covey[.\/]/) return target ~ /^lib\/covey\//
        if (target ~ /^lib\/covey[.\/]/) return file !~ /^proto\//
        if (file ~ /^proto\//) return target ~ /^proto\//
        if (file ~ /^lib\/pvm3\//) return target ~ /^lib\/pvm3\//
        if (file ~ /^lib\//) return target ~ /^(lib|proto)\//
        if (file ~ /^daemon\//) return target ~ /^(daemon|proto|lib\/link|tools\/probe)\//
        if (file ~ /^tools\/wire\//) return target ~ /^(daemon\/(base|link)|proto|tools\/wire)\//
        if (file ~ /^tools\/probe\//) return target ~ /^(daemon|proto|tools\/probe)\//
        if (file ~ /^tools\//) return target ~ /^tools\// && target !~ /^tools\/(wire|probe)\//
        return target ~ /^apps\/[^\/]*$/ || (target ~ /^apps\// && own_app(file) == own_app(target))
    }
    function breach(words) {
        printf "%s:%d: %s\n", FILENAME, FNR, words
        breaches++
    }
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

    BEGIN { for (i = 1; i < ARGC; i++) exists[ARGV[i]] = 1 }
    FNR == 1 { in_comment = 0 }
    { code = without_comments($0) }

    code ~ /^ *# *include/ && match(code, /["<][^">]*[">]/) {
        name = substr(code, RSTART + 1, RLENGTH - 2)
        target = target_of(FILENAME, name)
        if (target != "" && !may_include(FILENAME, target))
            breach(substr(FILENAME, 1, index(FILENAME, "/") - 1) " must not include " target)
        if (name == "ev.h" && FILENAME != "daemon/base/loop.c")
            breach("only daemon/base/loop.c may include ev.h")
        if (FILENAME ~ /^proto\// && FILENAME != "proto/wire/address.c" &&
            name ~ /^(sys\/socket|netinet\/in|arpa\/inet|pthread|threads|time|sys\/time|poll|sys\/epoll)\.h$/)
            breach("an engine has no sockets, clocks or threads")
    }
    code ~ /(^|[^a-z_0-9])(ntoh[sl]|hton[sl]|(be|le)(16|32|64)toh|hto(be|le)(16|32|64)) *\(/ &&
        FILENAME !~ /^proto\/wire\/cursor\.[ch]$|^tools\/bench\/tasks\/raw_ether\.c$|^(lib|daemon)\/[a-z]+\/(sockaddr|candidate|udp|link_tcp)\.[ch]$/ {
        breach("only proto/wire/cursor and socket addresses may turn byte order")
    }
    code ~ /(^|[^a-z_0-9])(socket|socketpair|accept4?) *\(/ && FILENAME !~ /^(lib|daemon|tools\/probe)\/|^tools\/bench\/tasks\/raw(_ether)?\.c$/ {
        breach("only links and what starts them may make sockets")
    }
    FILENAME ~ /^proto\// &&
        code ~ /(^|[^a-z_0-9.>])(clock_gettime|gettimeofday|time|random|rand|getrandom|randombytes_buf) *\(/ {
        breach("an engine is given its time and its randomness")
    }
    END { exit breaches > 0 }
' $(find proto lib daemon tools apps -name '*.[ch]' 2>/dev/null | sort)
