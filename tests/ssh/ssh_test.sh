#!/bin/bash
# ssh_test.sh - the ssh launcher against real OpenSSH servers on this machine.
# timeout: 180
#
# One sshd listens on many ports; on each the far side is another one: another login shell, another
# PATH, another way to refuse. The coordinator's coveyd is a copy that is moved away once it runs,
# so that "the same path as here" leads nowhere and the PATH there decides. What fails, fails in
# a `covey add` of several hosts at once, which must end within 30 s.
# TEST=text runs only the stories whose names contain the text.
set -u
cd "$(dirname "$0")/../.." || exit 1
# shellcheck source=tests/report.sh
. tests/report.sh
BUILD=$(realpath "${BUILD:-build}")
dir=$(mktemp -d "${TMPDIR:-/tmp}/covey-ssh-test.XXXXXX")
# shellcheck source=tests/ssh/servers.sh
. tests/ssh/servers.sh
export XDG_RUNTIME_DIR=$dir/run XDG_CONFIG_HOME=$dir/config COVEY_VM=ssh$$
export COVEY_SSH_TEST=$$ # marks every process that is started
unset COVEY_SOCKET COVEY_ROUTE COVEYD
mkdir -m 700 "$dir/run"

cleanup() {
    covey halt 2>/dev/null
    covey --vm "$COVEY_VM-late" halt 2>/dev/null
    servers_stop
    local left
    left="$(our_daemons) $(ours sleep) $(ours ssh)"
    # shellcheck disable=SC2086
    [ -z "${left//[[:space:]]/}" ] || kill -KILL $left
    rm -rf "$dir"
}
trap cleanup EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

# ---- helpers ----

covey() { "$BUILD/covey" "$@"; }

until_so() { within 20 "$@"; }

ours() { # executable: the pids of ours that run it; those that ssh started carry the mark by SetEnv
    local pid
    grep -lszE "^COVEY_SSH_TEST=$$\$" /proc/[0-9]*/environ 2>/dev/null | cut -d/ -f3 |
        while read -r pid; do
            case $(readlink "/proc/$pid/exe") in *"/$1" | *"/$1 (deleted)") echo "$pid" ;; esac
        done
}
our_daemons() { ours coveyd; }
no_client() { [ -z "$(ours ssh)" ]; }
none_left() { no_client && [ -z "$(our_daemons)" ]; }

up_hosts() { [ "$(covey hosts | grep -cw up)" -eq "$1" ]; }

add() { # arguments: `covey add`, its words in $dir/out and $dir/err, its seconds in $took
    local begun=$EPOCHREALTIME status
    covey add "$@" >"$dir/out" 2>"$dir/err" </dev/null
    status=$?
    took=$(((${EPOCHREALTIME/./} - ${begun/./}) / 1000000))
    cat "$dir/out" "$dir/err"
    echo "took $took s"
    return $status
}

story() { # name, function
    case $1 in *"${TEST:-}"*) ;; *) return ;; esac
    if "$2" >"$dir/said" 2>&1 </dev/null; then
        ok "$1"
        grep -E '^(took [1-9]|dropped)' "$dir/said"
    else
        bad "$1"
        sed 's/^/    /' "$dir/said"
        tail -n 12 "$dir"/run/covey/*/first*.log 2>/dev/null
    fi
}

skip_story() {
    case $1 in *"${TEST:-}"*) skip "$1" "$2" ;; esac
}

# ---- the far sides ----

# Each kind of far side is a host by that name, and a port at which sshd does what its lines say.
kinds=() shells=()
kind() { # NAME, lines for sshd on standard input
    kinds+=("$1")
    {
        echo "Match LocalPort $((port + ${#kinds[@]}))"
        cat
    } >>"$dir/kinds"
    alias "$1" 127.0.0.1 $((port + ${#kinds[@]})) host
}

# What a far side has in its environment.
environment() {
    echo "SetEnv COVEY_SSH_TEST=$$ XDG_RUNTIME_DIR=$dir/run XDG_CONFIG_HOME=$dir/config" \
        "COVEY_TEST_SUITE=${COVEY_TEST_SUITE:-}"
}

home() { # NAME: a home with the .bashrc of standard input
    mkdir "$dir/$1" && cat >"$dir/$1/.bashrc"
}

command_in() { # FOLDER NAME, the lines of a shell script on standard input
    mkdir -p "$dir/$1"
    {
        echo '#!/bin/sh'
        cat
    } >"$dir/$1/$2"
    chmod 755 "$dir/$1/$2"
}

program() { # NAME: a coveyd of a folder of its own
    command_in "$1" coveyd
}

# What somebody may have in his configuration for a host, for when he calls it by hand.
surprising() {
    cat <<END
Host surprises
    ControlMaster auto
    ControlPersist yes
    ControlPath $dir/ssh/master
    LocalForward $((port + 59)) 127.0.0.1:$((port + 59))
    LocalForward 127.0.0.1:$port 127.0.0.1:$port
    ExitOnForwardFailure yes
    RemoteCommand echo a command of its own
    PermitLocalCommand yes
    LocalCommand echo ok 1; touch $dir/surprise
    RequestTTY force
    ForwardAgent yes
    VisualHostKey yes
    LogLevel QUIET
    ConnectTimeout 600
    StrictHostKeyChecking accept-new
END
}

far_sides() {
    port=$(free_ports 60) || return 1
    kind plain < <(shell bash)
    kind second < <(shell bash)
    local name
    for name in tcsh fish zsh ksh dash; do
        command -v $name >/dev/null || continue
        shells+=("$name")
        kind "$name" < <(shell "$name")
    done
    home greets <<'END'
echo 'Welcome to greets!'; echo 'ok 1'; echo 'Permission denied (publickey).' >&2
echo "Today's motto: covey: none: Host key verification failed."; printf 'and no newline'
END
    kind greets < <(shell bash "$dir/greets")
    home reads <<'END'
printf 'Terminal type? '; read -r terminal; read -r more; echo "[$terminal$more]"
END
    kind reads < <(shell bash "$dir/reads")
    home lingers <<<"sleep 1000 & echo \$! >$dir/lingering"
    kind lingers < <(shell bash "$dir/lingers")

    kind none < <(shell sh "$dir" /usr/bin:/bin)
    program old <<'END'
[ "$1" = --version ] && echo "coveyd 0.0.9 (protocol 1)" && exit
cat >"$0.got"; echo "ok 2"
END
    program older <<<'echo "coveyd 0.0.8"'
    program newer <<<'echo "coveyd 7.0.1 (protocol 9)"'
    program broken <<<'echo "coveyd: libsodium.so.23: cannot open shared object file" >&2; exit 127'
    program hangs <<<'exec sleep 1000'
    program lost <<<'[ "$1" = --version ] && exec '"$dir/bin/coveyd"' --version; kill -KILL $$'
    program full <<END
[ "\$1" = --version ] && exec $dir/bin/coveyd --version
echo "coveyd: cannot write /run/user/7/covey: No space left on device" >&2; exit 1
END
    for name in old older newer broken hangs lost full; do
        kind $name < <(shell sh "$dir" "$dir/$name:/usr/bin:/bin")
    done
    command_in logind busctl <<<'echo "b true"'
    command_in logind id <<<'[ "$1" = -un ] && echo somebody || echo 1000'
    command_in logind loginctl <<<'echo Linger=no'
    kind logind < <(shell sh "$dir" "$dir/logind:$dir/bin:/usr/bin:/bin" XDG_SESSION_ID=7)
    command_in stays loginctl <<<'[ "$*" = "show-user somebody -p Linger" ] && echo Linger=yes'
    command_in stays systemd-run <<<"[ \"\$*\" = \"--user --scope -q -- $dir/bin/coveyd --join\" ] && touch $dir/scope && shift 4 && exec \"\$@\""
    kind stays < <(shell sh "$dir" "$dir/stays:$dir/logind:$dir/bin:/usr/bin:/bin" XDG_SESSION_ID=7)
    kind surprises < <(shell bash)
    surprising >"$dir/ssh/config.new" && cat "$dir/ssh/config" >>"$dir/ssh/config.new" &&
        mv "$dir/ssh/config.new" "$dir/ssh/config"

    kind changed </dev/null
    kind unknown </dev/null
    sed -i '/^\(changed\|unknown\) /d' "$dir/ssh/known"
    echo "changed $(cut -d' ' -f1,2 "$dir/ssh/other.pub")" >>"$dir/ssh/known"
    kind password <<<$'PubkeyAuthentication no\nPasswordAuthentication yes'
    kind nokey <<<'AuthorizedKeysFile none'
    kind nologin <<<'ForceCommand /usr/sbin/nologin'
    kind noshell < <(shell /no/such/shell)
    kind silent <<<'ForceCommand exec sleep 1000'
    alias refused 127.0.0.1 $((port + 59)) host
    alias unnamed no-such-host.invalid 22 host
    alias stopped 127.0.0.1 "$port" host
}

servers_up() {
    servers_prepare && far_sides || return 1
    # the ports of kinds; a server listens on 16 at most
    local i
    for ((i = 1; i <= ${#kinds[@]}; i += 16)); do
        server_configure "kinds$i" < <(
            seq -f "ListenAddress 127.0.0.1:%.0f" $((port + i)) $((port + i + 15))
            echo "MaxStartups 100"
            cat "$dir/kinds"
            echo "Match all"
            environment
        )
        server_start "kinds$i" || return 1
    done
    # `stopped` accepts calls and never speaks
    server_configure stopped <<<"ListenAddress 127.0.0.1:$port"
    server_start stopped || return 1
    kill -STOP "${servers[-1]}"
}

# When the job of the first host is over, in seconds since 1970: an hour is far beyond the suite.
until=$(($(date +%s) + 3600))
vm_up() {
    mkdir -p "$dir/here" "$dir/bin" "$dir/config/covey" &&
        cp "$BUILD/coveyd" "$dir/here/coveyd" && ln "$dir/here/coveyd" "$dir/bin/coveyd" || return 1
    printf '[daemon]\naddress = 127.0.0.1\n' >"$dir/config/covey/covey.conf"
    COVEYD=$dir/here/coveyd COVEY_UNTIL=$until covey start --as first >/dev/null || return 1
    mv "$dir/here/coveyd" "$dir/here/away"
}

# ---- stories ----

adds_and_removes() {
    add plain second || return 1
    grep -q '^plain joined (127.0.0.1:' "$dir/out" && grep -q '^second joined' "$dir/out" && up_hosts 3 || return 1
    until_so no_client || return 1
    [ "$(covey run --host plain sh -c 'echo $COVEY_UNTIL')" = "$until" ] && [ "$(covey hosts | grep -Ec ' 0:[0-5][0-9]:[0-9]+$')" = 3 ] || return 1
    [ "$(covey run --host plain,second sh -c 'echo far')" = $'far\nfar' ] || return 1
    covey remove plain second && up_hosts 1
}

# A session of its own, nothing but its own files, no terminal; and the ssh session is over.
outlives_ssh() {
    local pid
    add plain || return 1
    until_so no_client || return 1
    pid=$(for pid in $(our_daemons); do
        [ "$(readlink "/proc/$pid/fd/2")" = "$XDG_RUNTIME_DIR/covey/$COVEY_VM/plain.log" ] && echo "$pid"
    done)
    [ -n "$pid" ] || return 1
    [ "$(readlink "/proc/$pid/fd/0")" = /dev/null ] && [ "$(readlink "/proc/$pid/fd/1")" = /dev/null ] || return 1
    find "/proc/$pid/fd" -lname 'pipe:*' | grep . && return 1
    [ "$(ps -o sid= -p "$pid")" -ne "$(ps -o sid= -p "${servers[0]}")" ] || return 1
    [ "$(ps -o tty= -p "$pid")" = "?" ] || return 1
    tr '\0' '\n' <"/proc/$pid/cmdline" | grep -qE '[0-9a-f]{64}' && return 1 # no key in sight
    covey remove plain
}

strange_shells() {
    add "${shells[@]}" greets reads || return 1
    up_hosts $((${#shells[@]} + 3)) && covey remove "${shells[@]}" greets reads
}

# A new master would stay behind, a forwarded port is taken; but accepting new keys is his to say.
surprising_configuration() {
    sed -i '/^surprises /d' "$dir/ssh/known"
    add surprises || return 1
    until_so no_client && [ ! -e "$dir/surprise" ] && [ ! -e "$dir/ssh/master" ] || return 1
    grep '^surprises ' "$dir/ssh/known" && covey remove surprises
}

master_connection() {
    ssh -F "$dir/ssh/config" -o ControlMaster=yes -o ControlPath="$dir/ssh/master" -o RemoteCommand=none \
        -o ClearAllForwardings=yes -o RequestTTY=no -fN surprises || return 1
    local calls status
    calls=$(cat "$dir"/ssh/kinds*.log | grep -c 'Accepted publickey')
    add surprises
    status=$?
    [ "$calls" = "$(cat "$dir"/ssh/kinds*.log | grep -c 'Accepted publickey')" ] || status=1
    ssh -F "$dir/ssh/config" -O exit surprises
    covey remove surprises && [ $status = 0 ]
}

systemd_session() {
    add stays && [ -e "$dir/scope" ] && covey remove stays
}

lingering_session() {
    add lingers || return 1
    until_so no_client || return 1
    kill "$(cat "$dir/lingering")"
    up_hosts 2 && covey remove lingers
}

configured_path() {
    add plain --coveyd "$dir/bin/coveyd" || return 1
    covey remove plain || return 1
    ln -sfn "$dir/bin/coveyd" "$dir/bin/it's a coveyd"
    add plain --coveyd "$dir/bin/it's a coveyd" --cwd "$dir" || return 1
    [ "$(covey run --host plain --cwd "$dir" pwd)" = "$dir" ] && covey remove plain || return 1
    add plain --coveyd /no/such/coveyd && return 1
    told plain 'there is no coveyd; tried: /no/such/coveyd; install it' || return 1
    : >"$dir/bin/data"
    add plain --coveyd "$dir/bin/data" && return 1
    told plain "tried: $dir/bin/data \(it cannot be executed\)" || return 1
    add plain --coveyd "~/no/coveyd" && return 1
    told plain "tried: /.*/no/coveyd; install it" && up_hosts 1
}

# All of what can go wrong, at once; meanwhile one host joins.
all_errors() {
    local all=(none old older newer broken lost full logind changed unknown password nokey
        nologin noshell refused unnamed stopped)
    local i at_once=6 batch # a machine of two processors that is slow, and busy with other suites, logs in no more in 30 s
    for ((i = 0; i < ${#all[@]}; i += at_once)); do
        batch=("${all[@]:i:at_once}")
        [ $i -gt 0 ] || batch+=(plain)
        add "${batch[@]}" && return 1
        [ "$took" -le 31 ] || return 1
        cat "$dir/err" >>"$dir/all.err"
        cat "$dir/out" >>"$dir/all.out"
    done
    mv "$dir/all.err" "$dir/err" && mv "$dir/all.out" "$dir/out" || return 1
    grep -q '^plain joined' "$dir/out" && up_hosts 2 || return 1
    [ "$(wc -l <"$dir/err")" = ${#all[@]} ] && [ "$(wc -l <"$dir/out")" = 1 ] || return 1
    until_so no_client || return 1
    local failures=0
    told none "there is no coveyd; tried: $dir/here/coveyd, coveyd in PATH=/usr/bin:/bin; install it" || failures=1
    told old "old has coveyd 0.0.9 \(protocol 1\), this VM runs $version; there it is $dir/old/coveyd" || failures=1
    told older "older has coveyd 0.0.8, this VM runs $version" || failures=1
    told newer "newer has coveyd 7.0.1 \(protocol 9\), this VM runs $version" || failures=1
    told broken "$dir/broken/coveyd is not coveyd, or cannot run there: it says: coveyd: libsodium" || failures=1
    told lost "the launcher ended with status [0-9]+ and said nothing" || failures=1
    told full "coveyd: cannot write .*: No space left on device" || failures=1
    told logind "KillUserProcesses=yes.*loginctl enable-linger" || failures=1
    told changed "Host key for changed has changed .*ssh-keygen -R" || failures=1
    told unknown "(No .* host key is known for|Host key verification failed).*check the key" || failures=1
    told password "Permission denied \(password\); it wants a password" || failures=1
    told nokey "Permission denied \(publickey\); .*ssh-copy-id" || failures=1
    told nologin "account is currently not available" || failures=1
    told noshell "/no/such/shell.*(No such file|not found)" || failures=1
    told refused "connect to host 127.0.0.1 port [0-9]*: Connection refused; does sshd run there" || failures=1
    told unnamed "Could not resolve hostname no-such-host.invalid" || failures=1
    told stopped "timed out.*is it up" || failures=1
    [ ! -s "$dir/old/coveyd.got" ] || { echo "the old coveyd was sent the key" && failures=1; }
    covey remove plain && [ $failures = 0 ]
}

# Those who never answer take all the time there is: they are called at the beginning, by a VM of its
# own, and asked for at the end.
call_the_silent() {
    local begun=$SECONDS
    COVEY_SSH_TEST=late$$ COVEYD=$dir/bin/coveyd covey start --name "$COVEY_VM-late" --as first-late --coveyd coveyd silent hangs \
        >"$dir/late.out" 2>"$dir/late.err" </dev/null
    echo $((SECONDS - begun)) >"$dir/late.took"
    covey --vm "$COVEY_VM-late" halt
}

gives_up_the_silent() {
    wait "$late"
    cp "$dir/late.err" "$dir/err"
    cat "$dir/err"
    echo "took $(cat "$dir/late.took") s"
    told hangs "timed out after 29 s: its shell has not found coveyd" &&
        told silent "timed out after 29 s: no shell answered" &&
        [ "$(cat "$dir/late.took")" -le $((30 + ${CHECK_TIMEOUT_FACTOR:-1})) ] # the slower, the longer it takes to start
}

# The server has too many callers: it drops connections, and they come again.
MANY=8 # twice as many as the server lets in: each is some forty processes, of ssh and of shells
many_at_once() {
    local names=() i
    server_configure busy < <(
        printf 'ListenAddress 127.0.0.1:%s\nMaxStartups 4:60:10\n' $((port + 58))
        environment
        shell bash
    )
    server_start busy || return 1
    alias 'many*' 127.0.0.1 $((port + 58)) -
    for ((i = 1; i <= MANY; i++)); do names+=("many$i"); done
    echo "many $(cut -d' ' -f1,2 "$dir/ssh/host.pub")" >>"$dir/ssh/known"
    add "${names[@]}" || return 1
    [ "$took" -le 31 ] && up_hosts $((MANY + 1)) || return 1
    echo "dropped: $(grep -c 'drop connection' "$dir/ssh/busy.log")"
    [ "$(covey run --each hostname | wc -l)" = $((MANY + 1)) ] && covey remove "${names[@]}"
}

# A console that goes gives up what it asked for.
interrupted_add() {
    local job
    env --default-signal=INT "$BUILD/covey" add stopped silent hangs &
    job=$!
    until_so some_clients 3 || return 1
    kill -INT $job
    wait $job
    within 8 no_client || return 1
    until_so up_hosts 1 && add plain && covey remove plain
}
some_clients() { [ "$(ours ssh | wc -l)" -ge "$1" ]; }

interrupted_start() {
    local job status
    COVEYD=$dir/bin/coveyd env --default-signal=INT "$BUILD/covey" start --name "$COVEY_VM-2" --as first2 stopped silent &
    job=$!
    until_so some_clients 2 || return 1
    kill -INT $job
    wait $job
    status=$?
    [ $status = 130 ] && within 8 no_client
}

ssh_is_missing() {
    mkdir "$dir/nossh"
    COVEYD=$dir/bin/coveyd COVEY_SSH=$dir/nossh/ssh "$BUILD/covey" start --name "$COVEY_VM-3" --as first3 plain >"$dir/out" 2>"$dir/err" &&
        return 1
    covey --vm "$COVEY_VM-3" halt
    cat "$dir/err"
    told plain 'ssh: not found; install the OpenSSH client'
}

ends() {
    # what far sides that hang were made of: a session without a terminal does not end with its ssh
    local hanging
    hanging=$(ours sleep)
    # shellcheck disable=SC2086
    [ -z "$hanging" ] || kill $hanging
    covey halt && until_so none_left && [ -z "$(find "$dir/run" -mindepth 1)" ]
}

version=$("$BUILD/coveyd" --version)
version=${version#coveyd }
version=${version//(/\\(}
version=${version//)/\\)}
if [ -z "$sshd" ]; then
    skip "the ssh launcher" "there is no sshd here"
    finish
fi
servers_up && vm_up || { bad "servers and a VM to call them" "see above" && finish; }

call_the_silent &
late=$!
story "hosts are added by ssh, run tasks, and go" adds_and_removes
story "the daemon outlives ssh, and nothing of it is kept" outlives_ssh
story "login shells (${shells[*]}); start files that greet and read" strange_shells
story "a configuration made for people" surprising_configuration
story "a master connection that exists is used" master_connection
story "a session that systemd would end" systemd_session
story "a session that something holds open ends nevertheless" lingering_session
story "the path of coveyd there: as told, or what was tried" configured_path
story "what goes wrong is told, in one line, within 30 s" all_errors
story "$MANY hosts at once, and a server that lets in few" many_at_once
story "ssh is missing here" ssh_is_missing
story "Ctrl-C during add leaves no ssh" interrupted_add
story "Ctrl-C during start leaves no ssh" interrupted_start
story "who never answers is given up within 30 s" gives_up_the_silent
story "nothing is left" ends
finish
