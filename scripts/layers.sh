#!/bin/bash
# layers.sh [DIR] - who may include whom, and where system interfaces may stand (default: here).
#
#   proto    includes proto alone: no sockets, clocks, threads or event loop
#   lib      includes lib and proto
#   daemon   includes daemon, proto and of lib what both ends of a task's socket need
#   tools    includes tools and covey.h
#   apps     an app includes its own folder, headers directly in apps/, and covey.h
#   ev.h     stands in daemon/loop.c alone: all others see daemon/loop.h
#   socket() is called by files that are links or make them, never by proto, tools or apps
#   ntohl() and its kin stand in proto/cursor alone (and where a socket address is taken apart)
#
# Prints each breach as FILE:LINE: words; the exit status is 0 when there is none.
set -u
cd "${1:-.}" || exit 2
export LC_ALL=C

breaches=$(mktemp)
trap 'rm -f "$breaches"' EXIT

sources() { # folders -> their C files
    find "$@" -name '*.[ch]' 2>/dev/null | sort
}

# Where an include with quotes leads: beside the file, in the root or in lib/, as the compiler does.
target_of() { # file, name
    local dir=${1%/*}
    if [ -e "$dir/$2" ]; then
        realpath --relative-to=. "$dir/$2"
    elif [ -e "$2" ]; then
        echo "$2"
    elif [ -e "lib/$2" ]; then
        echo "lib/$2"
    fi
}

allowed() { # including file, included file
    local own=${1#apps/}
    own=apps/${own%%/*}/
    case $1:$2 in
    proto/*:proto/*) ;;
    lib/*:lib/* | lib/*:proto/*) ;;
    daemon/*:daemon/* | daemon/*:proto/*) ;;
    daemon/*:lib/covey.h | daemon/*:lib/stream.h | daemon/*:lib/link*.h | daemon/*:lib/ring.h) ;;
    tools/*:tools/* | tools/*:lib/covey.h | apps/*:lib/covey.h) ;;
    apps/*:apps/*.h)
        case $2 in
        "$own"*) ;;
        apps/*/*) return 1 ;;
        esac
        ;;
    *) return 1 ;;
    esac
}

check_includes() {
    local file line name target
    while IFS=: read -r file line name; do
        target=$(target_of "$file" "$name")
        [ -n "$target" ] || continue # a header of the system
        allowed "$file" "$target" ||
            echo "$file:$line: ${file%%/*} must not include $target" >>"$breaches"
    done < <(sources proto lib daemon tools apps |
        xargs -r grep -nHoE '^ *# *include *["<][^">]+[">]' /dev/null |
        sed -E 's/: *# *include *["<]/:/; s/[">]$//')
}

# The uses of a pattern in files that are not on the list of those that may; comments do not count.
check_words() { # pattern, what is said of a breach, folders, allowed files (as one extended regex)
    local file
    # shellcheck disable=SC2086
    for file in $(sources $3); do
        [[ $file =~ ^($4)$ ]] && continue
        sed -E 's|//.*||; s|/\*.*\*/||; s|^ ?\* .*||; s|/\*.*||' "$file" | grep -nE "$1" |
            sed -E "s|^([0-9]+):.*|$file:\\1: $2|" >>"$breaches"
    done
}

everything="proto lib daemon tools apps"
check_includes
check_words '# *include *<ev\.h>' 'only daemon/loop.c may include ev.h' "$everything" \
    'daemon/loop\.c'
check_words '(^|[^a-z_])(ntoh|hton)[sl] *\(|(^|[^a-z_])(be|le)(16|32|64)toh *\(|(^|[^a-z_])hto(be|le)(16|32|64) *\(' \
    'only proto/cursor and socket addresses may turn byte order' "$everything" \
    'proto/cursor\.[ch]|(lib|daemon)/[a-z_]*(address|addr)[a-z_]*\.[ch]'
check_words '(^|[^a-z_])(socket|socketpair|accept4?) *\(' \
    'only links and what starts them may make sockets' "$everything" \
    '(lib|daemon)/[a-z_]*\.c'
check_words '# *include *<(sys/socket|netinet/in|arpa/inet|pthread|time|sys/time|poll|sys/epoll|threads)\.h>' \
    'an engine has no sockets, clocks or threads' proto ''
check_words '(^|[^a-z_])(clock_gettime|gettimeofday|time|random|rand|getrandom|randombytes_buf) *\(' \
    'an engine is given its time and its randomness' proto ''

sort -u "$breaches"
[ ! -s "$breaches" ]
