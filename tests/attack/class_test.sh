#!/bin/bash
# class_test.sh - what somebody on the network does to a class of which he does not know the code, by real sockets: he does
# not get in, and keeps neither students out nor the class from closing.
# timeout: 240
set -u
cd "$(dirname "$0")/../.." || exit 1
# shellcheck source=tests/local_vm.sh
. tests/local_vm.sh
guess=$BUILD/tests/tool/class_guess
port=$((20000 + $$ % 10000))
attacker=
first= second=

end_attacker() { # it ends with its input
    [ -n "$attacker" ] || return 0
    eval "exec ${to_attacker}>&-"
    wait "$attacker" 2>/dev/null
    attacker=
}
attack() { # mode, words...: in the background, until end_attacker; sets $number to what it says first
    coproc "$guess" "$@"
    attacker=$COPROC_PID to_attacker=${COPROC[1]} of_attacker=${COPROC[0]}
    read -r -u "$of_attacker" _ number
}
trap 'case $BASHPID in $$) end_attacker; covey halt >/dev/null 2>&1; rm -rf "$dir" ;; esac' EXIT

as() { # student, command...: with a runtime directory of its own, as another user would have
    mkdir -p -m 700 "$dir/$1"
    XDG_RUNTIME_DIR=$dir/$1 timeout 100 "${@:2}"
}
says() { # status, pattern of a line that is said, command or function...
    "${@:3}" >"$dir/out" 2>&1 </dev/null
    [ "$?" = "$1" ] && grep -qE -- "$2" "$dir/out" || { tail -n 5 "$dir/out" && false; }
}
code_of() { covey class | sed -n 's/^code //p'; }
tcp_of() { covey class | sed -n 's/.*TCP port \([0-9]*\);.*/\1/p'; }
no_try_lost() { ! covey class | grep 'wrong tries'; }
joins() { says 0 "$1 joined" as "$1" covey join --code "$(code_of)" --port "$port" --as "$1"; }

# ---- before there is a code ---------------------------------------------------------------------

covey start --loopback --as desk
attack twin $port 2
expect "a class opens" says 0 '^code [A-Z]+-[0-9]{4}$' covey class open --port $port
read -r -t 5 -u "$of_attacker" _ first
read -r -t 5 -u "$of_attacker" _ second
chosen=$("$guess" label "$(code_of)")
echo "labels: another class had just chosen $first and $second, this one has $chosen"
expect "two labels that another class chooses at the same moment are given up" test -n "$second"
expect "for one that it has not" test "$chosen" != "label $first" -a "$chosen" != "label $second"
end_attacker
attack twin $port 64
expect "whoever has all labels keeps no class from opening" says 0 '^code [A-Z]+-[0-9]{4}$' covey class open
end_attacker

# ---- guesses ------------------------------------------------------------------------------------

where=127.0.0.1:$(tcp_of)
expect "no share, the neutral element least of all, is answered by one" \
    says 0 '^answered 0$' "$guess" points "$where" "$(code_of)"
expect "nor is it a try" no_try_lost
attack mirror 0
expect "who sends back what the student says is no class" \
    says 1 'does not know the code' as alma covey join --code "$(code_of)" --at "127.0.0.1:$number"
end_attacker
expect "100 wrong codes that are proved at the same moment: three are compared" \
    says 0 '^wrong 3 void 97 other 0$' "$guess" race "$where" "$(code_of)" 100
expect "and one code is void" says 0 'wrong tries of this code: 0 of 3; codes void: 1 of 10' covey class
expect "another one opens the class" says 0 '^code ' covey class open

# ---- places -------------------------------------------------------------------------------------

attack drip "$where" 200
expect "200 connections that say a byte now and then keep nobody out" joins berta
end_attacker
attack flood $port
expect "nor does one who broadcasts questions, and what are none, as fast as he can" joins dora
end_attacker
attack storm "$where" 127.0.0.9
expect "nor does one who connects as fast as he can" joins clara
expect "nobody lost a try" no_try_lost
expect "the class can be closed meanwhile" says 0 'the class is closed' covey class close
no_class() { covey class 2>&1 | grep -q 'has no class'; }
expect "and ends" within 10 no_class
end_attacker
finish
