#!/bin/bash
# version_test.sh - daemons, tasks and console of two versions: with another version of the protocol each side says in one
# line what is wrong; with the same one a virtual machine is renewed host by host, while a program goes on.
#
# The other versions are coveyd and covey with those few files compiled anew that know the version.
set -u
cd "$(dirname "$0")/../.." || exit 1
# shellcheck source=tests/local_vm.sh
. tests/local_vm.sh
sanitized "$BUILD/coveyd" && skip versions "linked once more by hand, without the sanitizer" && finish

# Links a program again, of whose sources those that name a version are compiled with other numbers.
other() { # folder, what sed changes in the headers
    local to=$1 change=$2 header file object objects=()
    mkdir -p "$to/obj" "$to/include/proto/wire" "$to/include/lib"
    cp -r lib/covey.h lib/covey "$to/include/lib/" # they include each other by their own folder
    for header in proto/wire/frame.h lib/covey/base.h; do sed "$change" $header >"$to/include/$header"; done
    for object in $(cd "$BUILD/obj" && find daemon proto cipher lib/link -name '*.o'); do
        file=${object%.o}.c
        if grep -qE 'WIRE_VERSION|COVEY_VERSION' "$file" 2>/dev/null; then
            "${CC:-cc}" -std=c17 -D_GNU_SOURCE -D_FILE_OFFSET_BITS=64 -O1 -I"$to/include" -I"$to/include/lib" -I. -Ilib -c -o "$to/obj/${object//\//_}" "$file" || return 1
            objects+=("$to/obj/${object//\//_}")
        elif [ -e "$file" ]; then
            objects+=("$BUILD/obj/$object")
        fi
    done
    "${CC:-cc}" -o "$to/coveyd" "${objects[@]}" -lev -lsodium -linih -lzstd -lpthread -lm
}
wire=$(sed -n 's/^#define WIRE_VERSION //p' proto/wire/frame.h)
next=$((wire + 1))
expect "a coveyd with the next version of the protocol" other "$dir/next" "s/^#define WIRE_VERSION .*/#define WIRE_VERSION $next/"
expect "and one of the next program, with the same protocol" other "$dir/patch" 's/^#define COVEY_VERSION "\(.*\)[.].*"/#define COVEY_VERSION "\1.99"/'
version_of() { "$1" --version | sed 's/^coveyd //'; }
differ() { [ "$(version_of "$dir/next/coveyd")" = "$(version_of coveyd | sed "s/protocol $wire/protocol $next/")" ] && version_of "$dir/patch/coveyd" | grep -q "[.]99 (protocol $wire)"; }
expect "they say so" differ

# ---- another protocol: one line on each side --------------------------------------------------------------------------
says() { # status, text, command...: it is one line
    local status=$1 text=$2
    shift 2
    "$@" >"$dir/out" 2>&1
    [ $? = "$status" ] && [ "$(wc -l <"$dir/out")" = 1 ] && grep -qF -- "$text" "$dir/out" || { sed 's/^/    /' "$dir/out"; return 1; }
}
expect "a virtual machine of this version" covey start --local 1
expect "a host of the next version is refused, and says why" says 1 "from a coveyd of another version, protocol $wire; this is coveyd" \
    covey add newer --template 'exec {command} --local' --coveyd "$dir/next/coveyd"
sed 's/^/    /' "$dir/out"
both() { grep -q "(protocol $next)" "$dir/out"; }
expect "it names both versions" both
alone() { [ "$(covey hosts | grep -c ' up ')" = 1 ]; }
expect "the virtual machine goes on without it" alone
covey halt >/dev/null
other_vm() { COVEY_VM=newer-$$ "$dir/next/coveyd" --local --name h0; }
expect "a virtual machine of the next version" other_vm
expect "a program of this version is told" says 1 "version $wire, this daemon version $next" covey --vm "newer-$$" hosts
sed 's/^/    /' "$dir/out"
logged() { grep -q "may not enrol: the task speaks version $wire, this daemon version $next" "$dir/run/covey/newer-$$/h0.log"; }
expect "and so is the log of the daemon" logged
ended() { ! kill -0 "$1" 2>/dev/null; }
for pid in $(grep -lszxF "XDG_RUNTIME_DIR=$dir/run" /proc/[0-9]*/environ 2>/dev/null | cut -d/ -f3); do
    [ "$(readlink "/proc/$pid/exe")" = "$dir/next/coveyd" ] && kill "$pid" && within 10 ended "$pid"
done

# ---- the same protocol: host by host, while a bag of work goes on -----------------------------------------------------
mkdir "$dir/bin"
for name in h1 h2 h3; do ln "$BUILD/coveyd" "$dir/bin/$name" 2>/dev/null || cp "$BUILD/coveyd" "$dir/bin/$name"; done
cp "$dir/patch/coveyd" "$dir/bin/spare"
for name in h1 h2 h3 spare; do echo "$name coveyd=$dir/bin/$name template='exec {command} --local'"; done >"$dir/hosts"
begin() { coveyd --local --name h0 && covey add --hosts "$dir/hosts" h1 h2 h3 && covey add --hosts "$dir/hosts" spare; }
expect "four hosts, and a spare one of the new program" begin
program_of() { # host
    local pid
    for pid in $(grep -lszxF "XDG_RUNTIME_DIR=$dir/run" /proc/[0-9]*/environ 2>/dev/null | cut -d/ -f3); do
        [ "$(readlink "/proc/$pid/fd/2")" = "$dir/run/covey/$COVEY_VM/$1.log" ] && [[ $(readlink "/proc/$pid/exe") == */coveyd || $(readlink "/proc/$pid/exe") == "$dir"/bin/* ]] && readlink "/proc/$pid/exe"
    done
}
items=240
for i in $(seq $items); do echo "sleep 0.2; echo item $i"; done >"$dir/commands"
export COVEY_SOCKET
COVEY_SOCKET=$(socket_of spare)
: >"$dir/done" >"$dir/trouble"
map=
if "$BUILD/covey-map" --help >/dev/null 2>&1; then # it is Python's, at the place where it was built
    covey map --retries 5 "$dir/commands" >"$dir/done" 2>"$dir/trouble" &
    map=$!
    within 20 grep -q item "$dir/done"
fi
gone() { ! covey hosts | grep -q "^$1 .* up "; }
leave() { # host: the one that coordinates hands that over when it ends in order
    if covey hosts | grep "^$1 " | grep -q coordinator; then
        # shellcheck disable=SC2016
        covey run --host "$1" sh -c 'kill $PPID' >/dev/null 2>&1
        within 20 gone "$1"
    else
        covey remove "$1"
    fi
}
renew() { # host, its program
    local before
    before=$(wc -l <"$dir/done")
    leave "$1" || return 1
    rm -f "$dir/bin/$1" && cp "$dir/patch/coveyd" "$dir/bin/$1" || return 1
    covey add --hosts "$dir/hosts" "$1" || return 1
    echo "    $before items before, $(wc -l <"$dir/done") after"
    covey hosts | grep -q "^$1 .* up "
}
echo "h0 coveyd=$dir/bin/h0 template='exec {command} --local'" >>"$dir/hosts"
for name in h1 h2 h3 h0; do expect "$name is removed, gets the new program, and is added" renew "$name"; done
goes_on() { kill -0 $map; }
[ -z "$map" ] || expect "the program still goes on" goes_on
leader() { covey hosts | grep coordinator | grep -qv '^h0 '; }
expect "the first host had the lead, which has moved" leader
all_items() { [ "$(grep -c '^item ' "$dir/done")" = $items ] && [ "$(sort -u "$dir/done" | wc -l)" = $items ]; }
if [ -n "$map" ]; then
    wait $map
    status=$?
    expect "the program ends well" test $status = 0
    expect "and all $items items were done, each with one result" all_items
else
    skip "a bag of work goes on meanwhile" "covey map does not run here"
fi
none_old() { local name; for name in h0 h1 h2 h3; do [ "$(program_of "$name")" = "$dir/bin/$name" ] || return 1; done; }
expect "all hosts run the new program" none_old
sed 's/^/    /' "$dir/trouble" | head
finish
