#!/bin/bash
# engines_test.sh - jobs of PBS, LSF and Grid Engine, by stand-ins for the programs that start something on a host of the
# job; the engines themselves are not there. covey with outside of any job, too.
#
# A stand-in runs its command on this machine. It gives what the engine's program gives: pbs_tmrsh no standard input.
set -u
cd "$(dirname "$0")/../.." || exit 1
# shellcheck source=tests/local_vm.sh
. tests/local_vm.sh
unset COVEY_VM COVEY_HOSTS
for variable in $(compgen -e | grep -E '^(SLURM|PBS_|LSB_|PE_|JOB_ID)'); do unset "$variable"; done
trap 'case $BASHPID in $$) for vm in "$dir"/run/covey/*; do covey --vm "${vm##*/}" halt >/dev/null 2>&1; done; rm -rf "$dir" ;; esac' EXIT
PATH=$PATH:$BUILD/apps
own=$(hostname)
own=${own%%.*}

stand_in() { # program, the words that it makes of its own: $host, and the command as arguments
    cat >"$dir/bin/$1" <<END
#!/bin/bash
echo "$1 \$*" >>"$dir/called"
$2
END
    chmod 755 "$dir/bin/$1"
}
mkdir "$dir/bin"
# shellcheck disable=SC2016
stand_in pbs_tmrsh 'shift; exec "$@" </dev/null'
# shellcheck disable=SC2016
stand_in blaunch 'shift; exec "$@"'
# shellcheck disable=SC2016
stand_in qrsh '[ "$1" = -inherit ] || exit 1; shift 2; exec /bin/sh -c "$*"'
printf '%s\n' "$own" "$own" b1 b1 b2 >"$dir/list"

none_left() { [ -z "$(daemons)" ] && [ -z "$(ls "$dir/run/covey" 2>/dev/null)" ]; }

# Its hosts are those of the list; the name of the VM is the job's, and no key is among the arguments of a stand-in.
job_of() { # program, environment...
    local program=$1
    shift
    rm -f "$dir/called"
    env PATH="$dir/bin:$PATH" "$@" bash -c "covey start --loopback && covey hosts && covey run --each -- sh -c 'echo in \$COVEY_VM'
        covey halt" >"$dir/out" 2>&1
    cat "$dir/out" "$dir/called"
    [ "$(grep -c ' up ' "$dir/out")" = 3 ] && [ "$(grep -c '^in job-4[.0]*$' "$dir/out")" = 3 ] &&
        grep -q "^$own .* coordinator" "$dir/out" && [ "$(grep -c "^$program " "$dir/called")" = 2 ] || return 1
    # a ticket has public keys of 64 digits, the line with the key is longer
    ! grep -qE '[0-9a-f]{65}' "$dir/called" && within 10 none_left
}

with_in() { # program, environment...: one command does all
    local program=$1
    shift
    rm -f "$dir/called"
    env PATH="$dir/bin:$PATH" "$@" covey with -- sh -c 'covey hosts; exit 3' >"$dir/out" 2>&1
    [ $? = 3 ] && [ "$(grep -c ' up ' "$dir/out")" = 3 ] && [ "$(grep -c "^$program " "$dir/called")" = 2 ] && within 10 none_left
}

pbs=(PBS_JOBID=4 PBS_NODEFILE="$dir/list")
lsf=(LSB_JOBID=4 LSB_JOBINDEX=0 LSB_DJOB_HOSTFILE="$dir/list")
grid=(JOB_ID=4 PE_HOSTFILE="$dir/list")
for test in job_of with_in; do
    expect "PBS: $test" $test pbs_tmrsh "${pbs[@]}"
    expect "LSF: $test" $test blaunch "${lsf[@]}"
    expect "Grid Engine: $test" $test qrsh "${grid[@]}"
done

# ---- hosts from elsewhere ----

printf '%s\n' "$own" "b1 launcher=local" "b2 launcher=local" >"$dir/hosts"
of_variable() { [ "$(COVEY_HOSTS=$1 covey with -- covey hosts | grep -c ' up ')" = "$2" ]; } # value, hosts
refused() { # value of COVEY_HOSTS
    ! COVEY_HOSTS=$1 covey with -- true 2>"$dir/err" && grep -q 'COVEY_HOSTS: must be' "$dir/err"
}
expect "COVEY_HOSTS is a host file" of_variable "$dir/hosts" 3
expect "COVEY_HOSTS has names" of_variable "$own" 1
expect "COVEY_HOSTS that makes no sense is refused" refused "a b"

# ---- a VM for one program ----

here() { [ "$(covey with -n 8 sh -c 'echo here' | grep -cx here)" = 8 ]; }
on_virtual_hosts() { covey with --local 2 matmul --check | grep passed; }
its_status() { covey with -n 2 -- sh -c 'exit 5' 2>/dev/null; [ $? = 5 ]; }
its_input() { [ "$(seq 100 | covey with -- sort -n | tail -n 1)" = 100 ]; }
# a host that cannot be started: the program does not run
lacks_a_host() {
    printf '%s\n' "b1 template='false {command}'" >"$dir/lacking"
    covey with --hosts "$dir/lacking" -- touch "$dir/ran" 2>"$dir/err"
    [ $? = 1 ] && [ ! -e "$dir/ran" ] && grep -q 'b1: did not join' "$dir/err" && within 10 none_left
}
bad_words() {
    ! covey with 2>"$dir/err" && grep -q 'no program is named' "$dir/err" &&
        ! covey with --local 1 --hosts x true 2>"$dir/err" && grep -q 'does not go with' "$dir/err"
}
waiting() { # signal: a VM whose leader gets it
    rm -f "$dir/there"
    covey with --local 3 -- sh -c ': >"$1"; exec sleep 600' sh "$dir/there" >/dev/null 2>&1 &
    within 20 test -e "$dir/there" && kill "-$1" $! && ! wait $! && within 20 none_left
}
expect "covey with: a VM of this machine" here
expect "covey with: virtual hosts" on_virtual_hosts
expect "covey with: the status of the program" its_status
expect "covey with: standard input" its_input
expect "covey with: a host that does not join is an error" lacks_a_host
expect "covey with: words that make no sense" bad_words
expect "covey with: SIGTERM ends all" waiting TERM
expect "covey with: SIGKILL ends all" waiting KILL
expect "nothing is left" within 10 none_left
finish
