# servers.sh - to be sourced by a suite: OpenSSH servers of its own, and a client that knows them.
#
# Everything lies in $dir/ssh: keys, configurations, logs. Neither the system's sshd nor anybody's
# ~/.ssh is touched, and only the key made here opens the servers made here. $COVEY_SSH becomes
# the client with its own configuration, $dir/ssh/config, to which alias() adds hosts.
sshd=$(PATH=$PATH:/usr/sbin:/sbin command -v sshd)
servers=() # pids

servers_prepare() {
    mkdir -m 700 "$dir/ssh" || return 1
    ssh-keygen -q -t ed25519 -N '' -C test -f "$dir/ssh/user" &&
        ssh-keygen -q -t ed25519 -N '' -C test -f "$dir/ssh/host" &&
        ssh-keygen -q -t ed25519 -N '' -C test -f "$dir/ssh/other" || return 1
    cp "$dir/ssh/user.pub" "$dir/ssh/authorized"
    : >"$dir/ssh/known"
    # The client's default key exchange takes a tenth of a second of a processor each time, and where
    # processors are slow or busy, 32 at once do not get through in time; how long that takes is no
    # matter of Covey's.
    cat >"$dir/ssh/config" <<END
Host *
    KexAlgorithms curve25519-sha256
    User $(id -un)
    IdentityFile $dir/ssh/user
    IdentitiesOnly yes
    UserKnownHostsFile $dir/ssh/known
    GlobalKnownHostsFile /dev/null
    HashKnownHosts no
END
    export COVEY_SSH="ssh -F $dir/ssh/config"
    unset SSH_AUTH_SOCK
    # where sshd run by root locks itself up before it knows who calls
    [ "$(id -u)" != 0 ] || [ -d /run/sshd ] || mkdir -m 755 /run/sshd
}

# Adds a host to the client's configuration; its key is known as $dir/ssh/KEY.pub, or unknown: -
alias() { # NAME ADDRESS PORT KEY
    {
        printf 'Host %s\n    HostName %s\n    Port %s\n    HostKeyAlias %s\n' "$1" "$2" "$3" "${1//\*/}"
        cat "$dir/ssh/config"
    } >"$dir/ssh/config.new"
    mv "$dir/ssh/config.new" "$dir/ssh/config"
    [ "$4" = - ] || echo "${1//\*/} $(cut -d' ' -f1,2 "$dir/ssh/$4.pub")" >>"$dir/ssh/known"
}

# Writes the configuration of a server: what all have, then the lines of standard input. The first
# value counts, but for those in a Match block.
server_configure() { # NAME
    {
        cat <<END
HostKey $dir/ssh/host
AuthorizedKeysFile $dir/ssh/authorized
PidFile none
UsePAM no
StrictModes no
PermitRootLogin yes
KbdInteractiveAuthentication no
PasswordAuthentication no
PrintMotd no
END
        cat
    } >"$dir/ssh/$1.conf"
}

# sshd has the user's own login shell run this: what a user with that login shell would get.
shell() { # SHELL [HOME [PATH [VARIABLE...]]]
    printf 'ForceCommand exec env -u SHLVL HOME=%s PATH=%s %s %s -c "$SSH_ORIGINAL_COMMAND"\n' \
        "${2:-$dir}" "${3:-$dir/bin:/usr/bin:/bin}" "${*:4}" "$1"
}

# Starts a server, after the words (if any) that bring it to where it is to run.
server_start() { # NAME [COMMAND...]
    local name=$1 _
    shift
    : >"$dir/ssh/$name.log"
    "$@" "$sshd" -D -e -f "$dir/ssh/$name.conf" >"$dir/ssh/$name.log" 2>&1 </dev/null &
    servers+=($!)
    for _ in {1..100}; do
        grep -q 'Server listening' "$dir/ssh/$name.log" && return 0
        kill -0 $! 2>/dev/null || break
        sleep 0.1
    done
    cat "$dir/ssh/$name.log"
    return 1
}

servers_stop() {
    [ ${#servers[@]} -eq 0 ] || kill -CONT "${servers[@]}" 2>/dev/null
    [ ${#servers[@]} -eq 0 ] || kill -TERM "${servers[@]}" 2>/dev/null
    wait "${servers[@]}" 2>/dev/null
    servers=()
}

free_ports() { # N: so many ports in a row that nobody listens on
    local first port
    while :; do
        first=$((20000 + RANDOM % 12000))
        for ((port = first; port < first + $1; port++)); do
            (: <"/dev/tcp/127.0.0.1/$port") 2>/dev/null && continue 2
        done
        echo "$first"
        return
    done
}

told() { # host, regular expression: the one line about it in $dir/err
    local line
    line=$(grep "^covey: $1: " "$dir/err")
    [ "$(echo "$line" | wc -l)" = 1 ] && [ ${#line} -le 330 ] && [[ $line =~ $2 ]] && return 0
    echo "of $1 was said: $line"
    return 1
}
