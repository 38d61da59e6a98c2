#!/bin/bash
# hosts_test.sh - host files and covey.conf: what the manual, the examples of conf/ and the programs
# say is the same, and a VM starts from every shipped example.
# timeout: 180
#
# The host files that name other machines are started in a lab whose hosts have the names that ssh,
# podman and srun would call: these three are stand-ins here that run the command on the host of the
# lab. Only the path of what is installed is replaced in the examples.
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/report.sh

BUILD=$(realpath "${BUILD:-build}")
work=$(mktemp -d "${TMPDIR:-/tmp}/covey-hosts-test.XXXXXX")
export COVEY_VM=hosts-$$ XDG_RUNTIME_DIR=$work/run XDG_CONFIG_HOME=$work/config HOME=$work/home
export LAB=hosts-$$ PATH=$work/bin:$BUILD:$PATH COVEYD=$BUILD/coveyd
unset COVEY_SOCKET COVEY_ROUTE XDG_STATE_HOME
mkdir -m 700 "$work/run" "$work/config" "$work/config/covey" "$work/home" "$work/bin"
lab=$PWD/tests/lab/lab
up=

tidy() {
    [ -z "$up" ] && covey halt >/dev/null 2>&1
    [ -n "$up" ] && "$lab" down
    rm -rf "$work"
}
trap tidy EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP

# ---- the manual says what there is --------------------------------------------------------------

fields_of_manual() { sed -n '/^\.SH FIELDS/,/^\.SH FILES/s/^\.BR \([a-z]*\) " (.*/\1/p' conf/covey.hosts.5 | sort; }
options_of_add() { covey help add | sed -n 's/^ .*--\([a-z]*\) [A-Z].*/\1/p' | grep -vx hosts | sort; }
options_in_console_manual() {
    sed -n '/^\.Cm add$/,/^\.It Cm remove/s/^\.It Fl -\([a-z]*\) Ar .*/\1/p; /^\.It Cm remove/q' tools/base/covey.1 | sort
}
fields_of_examples() {
    cat conf/hosts/* | sed 's/#.*//; s/"[^"]*"/x/g' | grep -oE '(^| )[a-z]+=' | tr -d ' =' |
        sed 's/^lo$/user/; s/^dx$/coveyd/; s/^wd$/cwd/; s/^sp$/speed/; s/^ip$/hostname/' | sort -u
}
same() { # what, command, command
    diff <("$2") <("$3") || { echo "$1 differ" && return 1; }
}
expect "covey.hosts(5) has the options of covey add" same "fields and options" fields_of_manual options_of_add
expect "covey(1) has the options of covey add" same "manual and options" options_in_console_manual options_of_add
expect "the examples show every field" same "examples and options" fields_of_examples options_of_add

options_of_daemon() { coveyd --help | sed -n 's/^  --\([a-z]*\).*/\1/p' | sort; }
options_in_daemon_manual() {
    sed -n '/^\.SH OPTIONS/,/^\.SH TASKS/s/^\.B[IR]\{0,1\} \\-\\-\([a-z]*\).*/\1/p' daemon/root/coveyd.8 | grep -vx version | sort -u
}
expect "coveyd(8) has the options of coveyd" same "manual and options" options_in_daemon_manual options_of_daemon

# ---- every covey.conf, with virtual hosts -------------------------------------------------------

hosts_up() { covey hosts --json | grep -c '"state": "up"'; }
are_up() { [ "$(hosts_up)" = "$1" ]; } # how many; one that is slow to answer is a suspect for a moment

starts_with() { # covey.conf
    cp "$1" "$XDG_CONFIG_HOME/covey/covey.conf"
    covey start --local 2 >"$work/said" 2>&1 || { cat "$work/said" && return 1; }
    within 10 are_up 2 && covey halt
}

for file in conf/*.conf; do
    expect "a VM starts with $file" starts_with "$file"
done

range_is_used() { # a port of firewall.conf's range
    cp conf/firewall.conf "$XDG_CONFIG_HOME/covey/covey.conf"
    covey start --local 2 >/dev/null || return 1
    covey hosts --json | grep -qE '"addr": "127.0.0.1:400[01][0-9]"' && covey halt
}
expect "the ports of firewall.conf are those that are used" range_is_used

misspelt() {
    printf '[daemon]\nspeed = 1000\ncolour = red\n' >"$XDG_CONFIG_HOME/covey/covey.conf"
    covey start --local 1 2>"$work/said" && covey halt && return 1
    grep -q "covey.conf:3: unknown setting 'colour' in \[daemon\]" "$work/said" || { cat "$work/said" && return 1; }
}
expect "a setting that is none is named with its line" misspelt
rm "$XDG_CONFIG_HOME/covey/covey.conf"

launcher_of_conf() { # what [launch] says is what `covey add` does with a bare name
    printf '[launch]\nlauncher = exec\ntemplate = echo {host} {user} {port} >%s; {command}\nuser = anna\nport = 22\ncoveyd = %s\n' \
        "$work/called" "$BUILD/coveyd" >"$XDG_CONFIG_HOME/covey/covey.conf"
    echo "first address=127.0.0.1" | covey start --as first --hosts - &&
        covey add --address 127.0.0.1 --hostname there --port 23 second && within 10 are_up 2 || return 1
    covey halt
    rm "$XDG_CONFIG_HOME/covey/covey.conf"
    [ "$(cat "$work/called")" = "there anna 23" ] || { cat "$work/called" && return 1; }
}

# ---- fields reach the daemon ---------------------------------------------------------------------

printf '[daemon]\nspeed = 77\nport = 40100-40109\n' >"$work/other.conf"
cat >"$work/fields" <<TEXT
* launcher=local env=A=all env="B=two words"
first address=127.0.0.1 config=$work/other.conf env=C=first cwd=/usr
slow  address=127.0.0.1 speed=500 env=A=own cwd=/var
other address=127.0.0.1 config=$work/other.conf
bound bind=127.0.0.9
& later address=127.0.0.1 speed=3
TEXT

field() { covey hosts --json | tr -d '\n ' | sed 's/}/}\n/g' | sed -n "s/.*\"name\":\"$1\".*\"$2\":\"\{0,1\}\([^,\"}]*\).*/\1/p"; }
is() { [ "$1" = "$2" ] || { echo "'$1' is not '$2'" && return 1; }; }
prints() { # expected, host, shell command
    is "$(covey run --host "$2" -C / sh -c "$3")" "$1"
}
fields_arrive() {
    covey start --as first --hosts "$work/fields" >"$work/said" 2>&1 || { cat "$work/said" && return 1; }
    within 10 are_up 4 && is "$(field slow speed)" 500 && is "$(field other speed)" 77 &&
        is "$(field first speed)" 77 && is "$(field bound speed)" 77 || return 1
    field first addr | grep -q ':4010[0-9]$' && field other addr | grep -q ':4010[0-9]$' || return 1
    field bound addr | grep -q '^127.0.0.9:' || { field bound addr && return 1; }
    # shellcheck disable=SC2016 # for the shell of the task
    prints "own two words first" slow 'echo $A $B ${C:--}' && prints "all two words first" first 'echo $A $B ${C:--}' &&
        prints /var slow 'readlink /proc/$PPID/cwd' && prints /usr first 'readlink /proc/$PPID/cwd'
}
later_is_added() {
    covey add --hosts "$work/fields" later && is "$(field later speed)" 3 && within 10 are_up 5
}
not_in_arguments() { # what the environment says is no argument of any process
    local found
    found=$(grep -lsa '[t]wo words' /proc/[0-9]*/cmdline | grep -v "/$$/")
    [ -z "$found" ] || { echo "$found" && return 1; }
}
expect "fields reach the daemons" fields_arrive
expect "a host for later is added when it is named" later_is_added
expect "the environment stands in no list of processes" not_in_arguments
covey halt 2>/dev/null
expect "covey.conf chooses launcher, template, user and port" launcher_of_conf

# ---- every host file ------------------------------------------------------------------------------

prepare() { # example -> what a machine with Covey installed at another place would have
    sed "s|/usr/local/bin/coveyd|$BUILD/coveyd|; s|/usr/local/share/covey|$PWD/conf|" "conf/hosts/$1" >"$work/$1"
}
names_called() { # example: whom the launcher calls
    sed 's/#.*//; s/"[^"]*"//g; /^ *&/d; /^ *\*/d; /^ *$/d' "conf/hosts/$1" |
        awk '{ name = $1; for (i = 2; i <= NF; i++) if ($i ~ /^(hostname|ip)=/) { sub(/.*=/, "", $i); name = $i } print name }'
}

local_example() {
    prepare local
    covey start --as first --hosts "$work/local" >"$work/said" 2>&1 || { cat "$work/said" && return 1; }
    within 10 are_up 4 && is "$(field fast speed)" 2000 && prints 1 slow 'echo $OMP_NUM_THREADS' && covey halt
}
if ip -brief address | grep -qv '^lo '; then
    expect "a VM starts from conf/hosts/local" local_example
else
    skip "a VM starts from conf/hosts/local" "there is no network interface"
fi

stand_in() { # program, awk program that prints the host (first line) and the command (the rest)
    cat >"$work/bin/$1" <<TEXT
#!/bin/bash
echo "$1 \$*" >>"$work/calls"
$2
exec "$lab" exec --name "$LAB" "\$host" "\$@"
TEXT
    chmod +x "$work/bin/$1"
}
# ssh [-o X | -l USER | -p PORT]... HOST COMMAND
stand_in ssh 'while getopts o:l:p:TxaS: _; do :; done; shift $((OPTIND - 1)); [ "$1" = -- ] && shift; host=$1; shift'
stand_in podman 'host=$5; shift 5'
stand_in srun 'host=$7; shift 7'

in_lab() { # example
    local status=1
    prepare "$1"
    { echo "switch s1" && echo "host console s1"; names_called "$1" | sed 's/.*/host & s1/'; } >"$work/topology"
    rm -f "$work/calls"
    "$lab" up "$work/topology" || return 1
    up=1
    "$lab" exec console covey start --hosts "$work/$1" >"$work/said" 2>&1 &&
        [ "$("$lab" exec console covey hosts --json | grep -c '"state": "up"')" = "$(($(names_called "$1" | wc -l) + 1))" ] &&
        "$lab" exec console covey run --each true && status=0
    [ $status = 0 ] || cat "$work/said"
    "$lab" exec console covey halt
    "$lab" down
    up=
    return $status
}

if [ "$(id -u)" != 0 ] || ! unshare --net --uts true 2>/dev/null; then
    skip "host files of other machines" "needs root and network namespaces"
    finish
fi
for file in conf/hosts/*; do
    name=${file##*/}
    [ "$name" = local ] || expect "a VM starts from $file" in_lab "$name"
done
ssh_is_called_as_told() {
    in_lab workstations && grep -q -- '-l covey -p 2222 .*carl.lab.example' "$work/calls" || { cat "$work/calls" && return 1; }
}
expect "user, port and hostname reach ssh" ssh_is_called_as_told
finish
