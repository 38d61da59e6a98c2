#!/bin/bash
# slurm_test.sh - jobs of Slurm: a real slurmctld and four slurmd on this machine, as an ordinary user.
# timeout: 300
#
# TEST=text runs only the stories whose names contain the text.
set -u
cd "$(dirname "$0")/../.." || exit 1
# shellcheck source=tests/report.sh
. tests/report.sh
BUILD=$(realpath "${BUILD:-build}")
# shellcheck source=tests/batch/slurm.sh
. tests/batch/slurm.sh
missing=$(slurm_missing)
if [ -n "$missing" ]; then
    skip "jobs of Slurm" "$missing"
    finish
fi
# Slurm's daemons want a user that the system knows; root's would be no test.
if [ "$(id -u)" = 0 ]; then
    user=nobody
    if ! setpriv --reuid $user --regid "$(id -g $user)" --clear-groups test -x "$BUILD/covey" -a -r tests/report.sh; then
        skip "jobs of Slurm" "user $user cannot read $BUILD"
        finish
    fi
    exec setpriv --reuid $user --regid "$(id -g $user)" --clear-groups env -u XDG_RUNTIME_DIR BUILD="$BUILD" bash "$0" "$@"
fi

dir=$(mktemp -d "${TMPDIR:-/tmp}/covey-slurm.XXXXXX") || exit 1
export HOME=$dir XDG_RUNTIME_DIR=$dir/run XDG_CONFIG_HOME=$dir/config PATH=$BUILD:$PATH:$BUILD/apps
unset COVEY_SOCKET COVEY_TASK COVEY_VM COVEY_ROUTE COVEYD COVEY_HOSTS
mkdir -m 700 "$dir/run"
trap 'case $BASHPID in $$) slurm_down; rm -rf "$dir" ;; esac' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

# ---- helpers ----

story() { # name, function
    case $1 in *"${TEST:-}"*) ;; *) return ;; esac
    if (cd "$dir" && "$2") >"$dir/said" 2>&1 </dev/null; then
        ok "$1"
    else
        bad "$1"
        sed 's/^/    /' "$dir/said"
    fi
}

covey_processes() { # pids of daemons and consoles of the suite
    local pid
    for pid in $(grep -lszxF "XDG_RUNTIME_DIR=$dir/run" /proc/[0-9]*/environ 2>/dev/null | cut -d/ -f3); do
        case $(readlink "/proc/$pid/exe") in "$BUILD"/covey*) echo "$pid" ;; esac
    done
}
none_left() { [ -z "$(covey_processes)$(squeue -h)" ] && [ -z "$(ls "$dir/run/covey" 2>/dev/null)" ]; }
job_ended() { [ -z "$(squeue -h -j "$1" 2>/dev/null)" ]; } # job
script() { # name; its lines from standard input: a script of sbatch, whose output goes to NAME.out
    { echo '#!/bin/bash' && cat; } >"$dir/$1"
    chmod 755 "$dir/$1"
}
submit() { # options and script; $job becomes its number
    job=$(sbatch --parsable -o "$dir/%x.out" "$@")
}

# ---- stories ----

one_line() {
    local begun=$EPOCHREALTIME
    srun -N4 covey with --each -- true || return 1
    echo "srun, a VM of four hosts and its end took $(((${EPOCHREALTIME/./} - ${begun/./}) / 1000)) ms"
    srun -N4 covey with -- matmul --check >out || return 1
    cat out
    grep -q 'passed' out && grep -q '^ *4 ' out && within 10 none_left
}

# The program runs once, in a VM of the hosts of the step; each host has its own environment of Slurm's.
hosts_of_the_step() {
    srun -N2 covey with --each -- sh -c 'echo $SLURMD_NODENAME' >out || return 1
    [ "$(sort out | xargs)" = "n1 n2" ] || { cat out; return 1; }
    srun -N4 -n8 covey with -- sh -c 'echo once; covey hosts' >out || return 1
    cat out
    [ "$(grep -c once out)" = 1 ] && [ "$(grep -c ' up ' out)" = 4 ] && within 10 none_left
}

its_status() {
    srun -N4 covey with -- sh -c 'exit 7'
    [ $? = 7 ] || return 1
    srun -N4 --kill-on-bad-exit=1 covey with -- sh -c 'exit 7'
    [ $? = 7 ] || return 1
    srun -N2 covey with -- "$dir/no-such-program"
    [ $? = 127 ] && within 10 none_left
}

# What srun reads in its environment is about the user's steps, not about ours.
odd_variables() {
    SLURM_LABELIO=1 SLURM_MEM_PER_NODE=10 SLURM_STDOUTMODE="$dir/wrong" SLURM_CPU_BIND=rank SLURM_EXPORT_ENV=ALL \
        salloc -N3 covey with --each -- sh -c 'echo on $SLURMD_NODENAME' >out || return 1
    cat out
    [ "$(grep -c 'on n' out wrong 2>/dev/null | awk -F: '{ n += $2 } END { print n }')" = 3 ]
}

by_sbatch() {
    script by-hand <<'END'
covey start && covey run --each -- sh -c 'echo $COVEY_VM on $SLURMD_NODENAME' && matmul --check
covey halt
END
    submit -N4 by-hand && within 20 job_ended "$job" && cat by-hand.out || return 1
    [ "$(grep -c "^job-$job on n[1-4]\$" by-hand.out)" = 4 ] && [ "$(grep -c ' joined ' by-hand.out)" = 4 ] &&
        grep -q passed by-hand.out && within 10 none_left
}

# The engine starts hosts that are named, too.
named_hosts() {
    script by-name <<'END'
covey start n3 n2 && covey remove n2 && covey add n2 n4
covey hosts
covey halt
END
    submit -N4 by-name && within 20 job_ended "$job" && cat by-name.out || return 1
    [ "$(grep -c ' up ' by-name.out)" = 4 ] && within 10 none_left
}

# salloc gives a shell on the machine that it is called on, which is no node here.
by_salloc() {
    salloc -N4 bash -c 'covey start && covey hosts; covey halt' >out || return 1
    cat out
    [ "$(grep -c ' up ' out)" = 5 ] && [ "$(grep -c ' withheld' out)" = 1 ] || return 1
    salloc -N4 bash -c 'covey start --quiet && covey run --each -- sh -c "echo on \$SLURMD_NODENAME" && covey run -n 8 -- sh -c "echo on \$SLURMD_NODENAME"
        covey halt' >out || return 1
    sort out | uniq -c
    [ "$(grep -c '^on n[1-4]$' out)" = 12 ] && [ "$(sort -u out | grep -c .)" = 4 ] || return 1
    salloc -N4 covey with -- covey hosts >out || return 1
    cat out
    [ "$(grep -c ' up ' out)" = 4 ] && within 10 none_left
}

two_jobs() {
    local first
    script two <<'END'
covey start && echo up >>"$1"
until [ "$(wc -l <"$1")" = 2 ]; do sleep 0.1; done
covey hosts
srun --overlap -N2 covey with -- covey hosts
covey halt
END
    submit -N2 -w n1,n2 -o "$dir/first.out" two "$dir/meet" && first=$job &&
        submit -N2 -w n1,n2 -o "$dir/second.out" two "$dir/meet" &&
        within 20 job_ended "$first" && within 20 job_ended "$job" || return 1
    cat first.out second.out
    [ "$(grep -c ' up ' first.out)" = 4 ] && [ "$(grep -c ' up ' second.out)" = 4 ] && within 10 none_left
}

# Nobody who reads lists of processes, or the environment, gets a key: it has 64 hex digits there. What the suite's own
# environment has of such digits (a digest, the id of a commit) was there before.
no_key() {
    local found
    script secret <<'END'
for e in $(grep -lszxF "XDG_RUNTIME_DIR=$XDG_RUNTIME_DIR" /proc/[0-9]*/environ); do
    cat "${e%environ}cmdline" "$e"
done 2>/dev/null | tr '\0' '\n' >"$1"
END
    srun -N4 covey with -- "$dir/secret" "$dir/seen" && grep -q -- --attached seen || return 1
    found=$(grep -E '[0-9a-f]{40}' seen | grep -vxFf <(env))
    [ -z "$found" ] || { echo "$found"; return 1; }
}

waiting_job() { # the options of srun: a job that waits until it is ended; $pid, and its number is in $dir/job
    rm -f job
    # shellcheck disable=SC2016
    srun "$@" covey with -- sh -c 'echo $SLURM_JOB_ID >job.new; mv job.new job; exec sleep 600' &
    pid=$!
    within 20 test -s job
}

cancelled() {
    waiting_job -N4 && scancel "$(cat job)" || return 1
    wait $pid
    [ $? != 0 ] && within 20 none_left
}

leader_killed() {
    local leader
    waiting_job -N4 || return 1
    leader=$(for p in $(covey_processes); do
        tr '\0' '\n' <"/proc/$p/environ" | grep -qx SLURM_PROCID=0 && ps -o pid=,args= -p "$p"
    done | awk '/ with / { print $1; exit }')
    echo "leader $leader"
    kill -KILL "$leader" || return 1
    wait $pid
    [ $? != 0 ] && within 20 none_left
}

# A node with all that runs on it, in a job that is to survive it.
node_dies() {
    script survivor <<'END'
: >there
until covey hosts | grep -q 'n3 .*down'; do sleep 0.1; done
covey hosts
matmul --check
END
    rm -f there
    srun -N4 --no-kill covey with -- "$dir/survivor" >out &
    pid=$!
    within 20 test -e there || return 1
    # shellcheck disable=SC2046
    kill -KILL "$(cat slurm/slurmd.n3.pid)" $(for p in $(covey_processes) $(slurm_processes); do
        tr '\0' '\n' <"/proc/$p/environ" 2>/dev/null | grep -qx SLURMD_NODENAME=n3 && echo "$p"
    done)
    wait $pid
    echo "srun ended with $?"
    cat out
    grep -q passed out && within 20 no_daemons
}
no_daemons() { [ -z "$(covey_processes)" ]; }

# A job whose time ends before its 10,000 items do, and a second one that goes on. The first one's end is set
# to the second, for Slurm's limits are of minutes; a newer Slurm's variable has the end as it was before.
each_once() { # file, number: so many results, each once, each right
    awk -v n="$2" '$2 != $1 * $1 || seen[$1]++ { bad = 1 } END { exit bad || NR != n || length(seen) != n }' "$1"
}
wall_time() {
    local first
    rm -f left.bag squares
    script wall <<'END'
unset SLURM_JOB_END_TIME
[ "$1" = 0 ] || scontrol update jobid="$SLURM_JOB_ID" EndTime="$(date -d "+$1 seconds" +%FT%T)"
covey start --quiet && covey hosts
[ ! -e left.bag ] || covey bag load left.bag
covey run "$ITEMS" 10000 8000 squares
status=$?
echo "the program ended with $status"
[ $status != 75 ] || covey bag save items left.bag
covey halt
END
    export ITEMS=$BUILD/tests/batch/items
    submit -N4 wall 9 && within 30 job_ended "$job" && cat wall.out || return 1
    grep -q 'ended with 75' wall.out && [ "$(grep -c ' 0:00:0[0-9]$' wall.out)" = 4 ] &&
        grep -q 'items are left' wall.out && [ -s left.bag ] || return 1
    first=$(wc -l <squares)
    echo "the first job has $first results"
    [ "$first" -gt 0 ] && [ "$first" -lt 10000 ] || return 1
    submit -N4 wall 0 && within 40 job_ended "$job" && cat wall.out || return 1
    grep -q 'ended with 0' wall.out && each_once squares 10000 && within 10 none_left
}

# The engine ends what it started on a node, as it does for a job that is to have the node: here of the worker's, and of
# the one that holds a copy of the bag.
preempted() {
    rm -f squares
    script preempt <<'END'
covey start --quiet && covey run "$ITEMS" 1500 8000 squares
echo "the program ended with $?"
covey hosts
covey halt
END
    export ITEMS=$BUILD/tests/batch/items
    submit -N4 preempt && within 20 grep -qs . squares || return 1
    # shellcheck disable=SC2046
    kill -TERM $(for p in $(covey_processes); do
        [ "$(cat "/proc/$p/comm")" = coveyd ] && tr '\0' '\n' <"/proc/$p/environ" 2>/dev/null | grep -qx SLURMD_NODENAME=n2 && echo "$p"
    done) || return 1
    within 40 job_ended "$job" && cat preempt.out || return 1
    grep -q 'ended with 0' preempt.out && each_once squares 1500 && within 10 none_left
}

# The script is warned: the time of the hosts is over at once, and what is left goes into a file, with which another job
# goes on. The warning is the signal that the job has asked for.
warned() { # command that has the script warned; $job is its job
    local first
    rm -f left.bag squares
    script whole <<'END'
#SBATCH --signal=B:USR1@60
covey start --quiet
[ ! -e left.bag ] || covey bag load left.bag || exit
covey run "$ITEMS" 30000 "$1" squares &
program=$!
trap 'covey drain --all' USR1
wait $program
status=$?
[ $status -le 128 ] || { wait $program; status=$?; }
echo "the program ended with $status"
[ $status != 75 ] || covey bag save items left.bag
covey halt
END
    export ITEMS=$BUILD/tests/batch/items
    submit -N4 whole 8000 && within 20 grep -qs . squares && "$@" && within 50 job_ended "$job" && cat whole.out || return 1
    grep -q 'ended with 75' whole.out && grep -q 'items are left' whole.out && [ -s left.bag ] || return 1
    first=$(wc -l <squares)
    echo "the first job has $first results"
    [ "$first" -lt 30000 ] && submit -N4 whole 100 && within 60 job_ended "$job" && cat whole.out || return 1
    grep -q 'ended with 0' whole.out && each_once squares 30000 && within 10 none_left
}
by_hand() { scancel --batch --signal=USR1 "$job"; }
warned_by_hand() { warned by_hand; }

slurm_up >"$dir/said" 2>&1 || {
    skip "jobs of Slurm" "Slurm does not run here: $(tail -qn 1 "$dir/said" "$dir"/slurm/*.log | xargs -d '\n' | cut -c1-300)"
    finish
}
story "srun covey with: a VM of the hosts of the step, for one program" one_line
story "the hosts are those of the step, and the program runs once" hosts_of_the_step
story "the exit status is that of the program" its_status
story "variables of srun for other steps change nothing" odd_variables
story "covey start in sbatch: the hosts of the job, and its name" by_sbatch
story "covey start and covey add with names of a job's hosts" named_hosts
story "covey start and covey with in salloc" by_salloc
story "two jobs on the same nodes do not meet" two_jobs
story "the key is in no argument and no variable" no_key
story "a job that is cancelled leaves nothing" cancelled
story "a leader that is killed takes the VM with it" leader_killed
story "the time of a job ends with a bag of 10,000 items, which a second job goes on with" wall_time
story "a node whose daemon the engine ends loses no item" preempted
story "a job that is warned saves its bag, and another one goes on with it" warned_by_hand
story "a job survives a node" node_dies
finish
