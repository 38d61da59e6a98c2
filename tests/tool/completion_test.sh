#!/bin/bash
# completion_test.sh - what `covey completion words` answers, and shells in a terminal where Tab is typed.
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/local_vm.sh

words_are() { # expected, words...: candidates without their help
    local expected=$1 found
    shift
    found=$(covey completion words "$@" 2>&1 | cut -f 1 | tr '\n' ' ')
    [ "$found" = "$expected " ] || { echo "$*: '$found' is not '$expected '" && return 1; }
}
nothing() { [ -z "$(covey completion words "$@" 2>&1)" ]; } # words...

# ---- without a VM ----

all_commands() {
    covey help | awk '/^  [a-z]+ / { print $1 }' | sort >"$dir/commands"
    covey completion words '' | cut -f 1 | sort | diff "$dir/commands" -
}
every_option() { # of every command, as its help lists them
    local command
    while read -r command; do
        covey help "$command" | grep -oE '^  (-., |    )--[a-z-]+' | grep -oE -- '--.*' | sort >"$dir/options"
        covey completion words "$command" -- | cut -f 1 | sort | diff "$dir/options" - || return
    done <"$dir/commands"
}
helped() { covey completion words ha | grep -qx $'halt\tend the virtual machine: all tasks, then all daemons'; }
expect "all commands" all_commands
expect "each with its options" every_option
expect "with their help" helped
expect "global options" words_are "--help --version --vm" --
expect "words that are operands" words_are "start stop /" trace st
expect "the value of an option" words_are "--route=tcp" run --route=t
expect "or behind it" words_are exec start --launcher e
expect "names of files are the shell's" words_are / start --hosts ''
expect "and what a program that is run gets" words_are / run --tasks 2 matmul --s
expect "no VM is no error" nothing kill ''
expect "nor is a command that is none" nothing nonsense ''

refuses() { # words, arguments
    local words=$1
    shift
    ! covey completion "$@" >"$dir/out" 2>"$dir/err" && [ ! -s "$dir/out" ] && [ "$(wc -l <"$dir/err")" = 1 ] &&
        grep -q -- "$words" "$dir/err"
}
expect "an unknown shell is refused" refuses "tcsh: must be bash, zsh or fish" tcsh
expect "and none at all" refuses "one shell is needed"

# ---- with one ----

covey start --local 3 >/dev/null || bad "a VM"
covey run -n 1 --host h1 sleep 1000 >/dev/null 2>&1 &
running() { covey ps | grep -q sleep; }
within 15 running
tid=$(covey ps | awk '/sleep/ { print $1 }')
expect "hosts" within 15 words_are "h0 h1 h2" remove h
expect "in a list" within 15 words_are "h0,h0 h0,h1 h0,h2" run --host h0,
expect "of the VM that is named" nothing --vm "$COVEY_VM-other" remove h
expect "tasks" within 15 words_are "$tid" kill ''
expect "virtual machines" words_are "$COVEY_VM" --vm ''

# who types is not kept waiting by a daemon that is stopped
stopped() {
    local pid status=0
    pid=$(daemon_pid h0)
    kill -STOP "$pid"
    timeout 60 covey completion words remove h >"$dir/out" 2>&1 || status=$?
    kill -CONT "$pid"
    [ $status = 1 ] && [ ! -s "$dir/out" ]
}
expect "a daemon that does not answer is not waited for" stopped

# ---- Tab in shells ----

terminal() { tmux -S "$dir/tmux.$shell" -f /dev/null "$@"; }
shows() { terminal capture-pane -p | grep -qE -- "$1"; }
# Typed again where Tab found nothing: on a slow machine the VM may not answer in the second that it has.
becomes() { # what is typed, the line that Tab makes of it
    local _
    for _ in 1 2 3 4 5 6 7 8; do
        terminal send-keys C-u
        terminal send-keys -l "$1"
        terminal send-keys Tab
        within 1 shows "> $2 *\$" && return
    done
    terminal capture-pane -p
    return 1
}
lists() { # what is typed, a regular expression of the list below it
    local _
    for _ in 1 2 3 4 5 6 7 8; do
        terminal send-keys C-u
        terminal send-keys -l "$1"
        terminal send-keys Tab Tab
        within 1 shows "$2" && terminal send-keys C-c && return # a list in which is chosen
    done
    terminal capture-pane -p
    return 1
}
start_of() { # shell -> its command, with a prompt that ends in "> " and the script loaded
    case $1 in
    bash) printf '%s\n' "PS1='> '" >"$dir/bashrc" && echo "bash --noprofile --rcfile $dir/bashrc" ;;
    zsh) printf '%s\n' "PS1='> '" 'unsetopt promptsp' 'autoload -Uz compinit && compinit -D' \
        >"$dir/.zshrc" && echo "ZDOTDIR=$dir zsh -d" ;;
    fish) echo "HOME=$dir fish --no-config -C 'function fish_prompt; echo \"> \"; end; function fish_greeting; end'" ;;
    esac
}
in_shell() { # load the script, and complete
    terminal send-keys -l "$1"
    terminal send-keys Enter
    terminal send-keys -l "echo loa''ded"
    terminal send-keys Enter
    within 60 shows '^loaded' || { terminal capture-pane -p && return 1; }
    terminal send-keys -l clear
    terminal send-keys Enter
    becomes "covey hal" "covey halt" && becomes "covey hosts --pe" "covey hosts --peers" &&
        becomes "covey kill t" "covey kill $tid" && becomes "covey run --host h2,h0 --rou" "covey run --host h2,h0 --route" &&
        becomes "covey run --route=tc" "covey run --route=tcp" &&
        becomes "covey schedule $dir/a-topo" "covey schedule $dir/a-topology" &&
        lists "covey remove h" 'h0.*h1.*h2'
}
touch "$dir/a-topology"
for shell in bash zsh fish; do
    if ! command -v $shell >/dev/null || ! command -v tmux >/dev/null; then
        skip "Tab in $shell" "$shell or tmux is not installed"
        continue
    fi
    load="source <(covey completion $shell)"
    [ $shell = fish ] && load="covey completion fish | source"
    LC_ALL=C.UTF-8 TERM=screen terminal new-session -d -x 100 -y 24 "$(start_of $shell)"
    expect "Tab in $shell" in_shell "$load"
    terminal kill-server
done
finish
