#!/bin/bash
# kubernetes_test.sh - share/kubernetes/job.yaml: what it asks Kubernetes for, and its command, run for real on this machine with
# what Kubernetes would give to each pod. Kubernetes itself is not here. What else coveyd --dial promises, too.
set -u
cd "$(dirname "$0")/../.." || exit 1
manifest=$PWD/share/kubernetes/job.yaml
# shellcheck source=tests/local_vm.sh
. tests/local_vm.sh
unset COVEY_VM COVEY_HOSTS JOB_COMPLETION_INDEX
for variable in $(compgen -e | grep -E '^(SLURM|PBS_|LSB_|PE_|JOB_ID)'); do unset "$variable"; done
pods=()
clean_up() {
    local pid
    for pid in "${pods[@]}"; do kill "$pid" 2>/dev/null; done
    for pid in $(daemons); do kill "$pid" 2>/dev/null; done
    rm -rf "$dir"
}
trap 'case $BASHPID in $$) clean_up ;; esac' EXIT
python=$(for p in python3 /usr/bin/python3; do "$p" -c 'import yaml' 2>/dev/null && echo $p && break; done)
[ -n "$python" ] || { skip kubernetes "python3-yaml is not installed"; finish; }

# Prints what is wrong, and the words of the command, one a line, into $dir/words.
fields() {
    "$python" - "$manifest" "$dir/words" <<'END'
import stat, sys, yaml
service, job = yaml.safe_load_all(open(sys.argv[1]))
wrong = []
def must(what, true):
    if not true: wrong.append(what)
must("kinds", (service["apiVersion"], service["kind"]) == ("v1", "Service") and (job["apiVersion"], job["kind"]) == ("batch/v1", "Job"))
spec, pod = job["spec"], job["spec"]["template"]["spec"]
name = job["metadata"]["name"]
must("indexed", spec["completionMode"] == "Indexed")
must("all at once", spec["completions"] == spec["parallelism"])
must("no pod is started again", spec["backoffLimit"] == 0 and pod["restartPolicy"] == "Never")
must("a headless service", service["spec"]["clusterIP"] == "None" and service["spec"]["publishNotReadyAddresses"] is True)
must("it selects the job's pods", service["spec"]["selector"] == {"job-name": name})
must("subdomain", pod["subdomain"] == service["metadata"]["name"])
box, = pod["containers"]
words = box["command"]
value = lambda option: words[words.index(option) + 1]
must("words are text", all(isinstance(w, str) for w in words))
must("the leader's name", value("--leader") == f"{name}-0.{pod['subdomain']}")
must("as many hosts", value("--hosts") == str(spec["completions"]))
must("the port", service["spec"]["ports"][0]["port"] == 7153)
mount, = box["volumeMounts"]
volume, = pod["volumes"]
must("the key is mounted", mount["name"] == volume["name"] and mount["readOnly"] is True)
must("as a file of the secret", value("--key") == mount["mountPath"] + "/key" and volume["secret"]["secretName"] == "covey-key")
must("its mode", volume["secret"]["defaultMode"] == 0o400)
open(sys.argv[2], "w").write("\n".join(words))
print(*wrong, sep="\n")
sys.exit(bool(wrong))
END
}
expect "what the manifest asks for" fields

port=$((20000 + $$ % 12000)) # below those that the system gives to others
printf '%064d\n' 7 >"$dir/key"
chmod 400 "$dir/key"
# The command of the manifest, where the name of pod 0 and the key's file are those of this machine; pod 0 is reached at a
# port that others do not use. What is run is more than the name of the machine.
mapfile -t words <"$dir/words"
for i in "${!words[@]}"; do
    case ${words[i]} in
    covey-0.covey) words[i]=localhost ;;
    /etc/covey/key) words[i]=$dir/key ;;
    hostname) words[i]=sh && words+=(-c 'echo "on $0 of $COVEY_SOCKET"' pod) ;;
    --dial) words[i]="--dial" && at=$i ;;
    esac
done
words=("${words[@]:0:at+1}" --port "$port" "${words[@]:at+1}")
pod() { # index, words...: as Kubernetes would; the machine's name is the pod's there
    local index=$1
    shift
    JOB_COMPLETION_INDEX=$index "$1" "$2" --name "covey-$index" "${@:3}" >"$dir/pod$index" 2>&1 &
    pods[index]=$!
}
ends() { wait "${pods[$1]}"; local status=$?; pods[$1]=; [ $status = "$2" ] || { echo "    pod $1: $status"; sed 's/^/    /' "$dir/pod$1"; return 1; }; }
none_left() { [ -z "$(daemons)" ] && [ -z "$(ls -d /tmp/covey-dial.*/door 2>/dev/null | while read -r door; do [ -O "$door" ] && ss -xl 2>/dev/null | grep -F "$door"; done)" ]; }

# The guests are there first, in vain; the leader comes when two of them have tried.
job() {
    pod 1 "${words[@]}"
    pod 3 "${words[@]}"
    pod 2 "${words[@]}"
    within 10 test -e "$dir/pod2"
    pod 0 "${words[@]}"
    ends 0 0 && ends 1 0 && ends 2 0 && ends 3 0 || return 1
    sed 's/^/    /' "$dir/pod0"
    [ "$(grep -c '^on pod of ' "$dir/pod0")" = 4 ] && [ "$(grep -o 'covey-[0-9].sock' "$dir/pod0" | sort -u | wc -l)" = 3 ] && within 10 none_left
}
expect "its command on four pods: the program runs on each, and all end well" job

dial=(coveyd --dial --port "$port" --leader localhost --key "$dir/key")
failing() {
    pod 0 "${dial[@]}" --hosts 3 -- covey with --each -- sh -c 'exit 6'
    pod 1 "${dial[@]}" --hosts 3 -- true
    pod 2 "${dial[@]}" --hosts 3 -- true
    ends 0 6 && ends 1 0 && ends 2 0 && within 10 none_left
}
expect "the program's status is that of pod 0" failing

killed() { # what Kubernetes does with a job that is deleted
    pod 0 "${dial[@]}" --hosts 2 -- covey with -- sh -c 'echo up; sleep 100'
    pod 1 "${dial[@]}" --hosts 2 -- true
    within 20 grep -q up "$dir/pod0" || return 1
    kill "${pods[0]}"
    ends 0 143 && ends 1 0 && within 10 none_left
}
expect "SIGTERM to pod 0 ends the virtual machine" killed

says() { # pod, status, text: the one line
    ends "$1" "$2" && [ "$(wc -l <"$dir/pod$1")" = 1 ] && grep -qF -- "$3" "$dir/pod$1" || { cat "$dir/pod$1"; return 1; }
}
alone() { pod 0 "${dial[@]}" --hosts 3 --wait 1 -- true && says 0 1 "covey-dial: 1 of 3 hosts came within 1 s"; }
expect "pods that do not come: pod 0 waits so long and no longer" alone
in_vain() { pod 1 "${dial[@]}" --hosts 3 --wait 1 -- true && says 1 1 "covey-dial: localhost, port $port, did not take this host in within 1 s: "; }
expect "a leader that does not come, likewise" in_vain
other_key() {
    printf '%064d\n' 8 >"$dir/other" && chmod 400 "$dir/other"
    pod 0 "${dial[@]}" --hosts 2 --wait 3 -- true
    pod 1 "${dial[@]}" --key "$dir/other" --hosts 2 --wait 2 -- true
    says 1 1 "it has another key, or has its hosts" && ends 0 1 && grep -q "one that does not know the key was refused" "$dir/pod0" &&
        grep -q "1 of 2 hosts came within 3 s" "$dir/pod0"
}
expect "a host with another key is refused, and is told" other_key
hostile() { # connections that say nothing, or anything, keep nobody out
    pod 0 "${dial[@]}" --hosts 2 -- covey with --each -- true
    within 10 eval "exec 4<>/dev/tcp/localhost/$port" || return 1
    local fd fds=()
    for _ in $(seq 80); do exec {fd}<>"/dev/tcp/localhost/$port" && fds+=("$fd"); done 2>/dev/null
    head -c 4000 /dev/zero >&4 2>/dev/null
    pod 1 "${dial[@]}" --hosts 2 -- true
    ends 0 0 && ends 1 0
    local status=$?
    exec 4>&-
    for fd in "${fds[@]}"; do exec {fd}>&-; done
    return $status
}
expect "connections that prove nothing keep nobody out" hostile
refusals() { # nobody fills the leader's log
    pod 0 "${dial[@]}" --hosts 2 -- covey with --each -- true
    within 10 eval "exec 4<>/dev/tcp/localhost/$port" || return 1
    for _ in $(seq 20); do head -c 128 /dev/zero >&4; head -c 40 <&4 >"$dir/greeting"; exec 4>&-; exec 4<>"/dev/tcp/localhost/$port"; done 2>/dev/null
    exec 4>&-
    pod 1 "${dial[@]}" --hosts 2 -- true
    ends 0 0 && ends 1 0 && [ "$(wc -c <"$dir/greeting")" = 33 ] && [ "$(grep -c "does not know the key" "$dir/pod0")" = 1 ]
}
expect "twenty that do not know the key are one line of the log" refusals
guess=$BUILD/tests/tool/class_guess
attack() { # mode, words...: in the background, until its input ends
    coproc "$guess" "$@"
    attacker=$COPROC_PID to_attacker=${COPROC[1]}
    read -r -u "${COPROC[0]}" _
}
end_attacker() {
    eval "exec ${to_attacker}>&-"
    wait "$attacker" 2>/dev/null
}
storm() {
    pod 0 "${dial[@]}" --hosts 3 -- covey with --each -- true
    within 10 eval "exec 4<>/dev/tcp/localhost/$port" || return 1
    exec 4>&-
    attack storm "127.0.0.1:$port" 127.0.0.9
    pod 1 "${dial[@]}" --hosts 3 -- true
    pod 2 "${dial[@]}" --hosts 3 -- true
    ends 0 0 && ends 1 0 && ends 2 0
    local status=$?
    end_attacker
    return $status
}
expect "nor does one who connects as fast as he can" storm
miser() { # a leader that is none, and says a byte now and then: for a minute, if it were waited for
    attack miser "$port"
    JOB_COMPLETION_INDEX=1 timeout 40 "${dial[@]}" --hosts 2 --wait 2 -- true >"$dir/pod1" 2>&1
    local status=$?
    end_attacker
    [ $status = 1 ] && grep -qF "did not take this host in within 2 s" "$dir/pod1"
}
expect "a leader that says a byte now and then is not waited for" miser
secret() { # what others on the machine can see while it runs
    od -An -v -N32 -tx1 /dev/urandom | tr -d " \n" >"$dir/random" && chmod 400 "$dir/random" || return 1
    pod 0 "${dial[@]}" --key "$dir/random" --hosts 2 -- covey with -- sh -c 'echo up; read -r _ <"$0"' "$dir/go"
    pod 1 "${dial[@]}" --key "$dir/random" --hosts 2 -- true
    within 20 grep -q up "$dir/pod0" || return 1
    local pid seen=0 bad=0 key
    key=$(cat "$dir/random")
    for pid in $(grep -lszxF "XDG_RUNTIME_DIR=$XDG_RUNTIME_DIR" /proc/[0-9]*/environ 2>/dev/null | cut -d/ -f3); do
        seen=$((seen + 1))
        cat "/proc/$pid/cmdline" "/proc/$pid/environ" 2>/dev/null | grep -aqiF "$key" && bad=$((bad + 1))
    done
    [ -z "$(find /tmp/covey-dial.* -maxdepth 0 -user "$(id -u)" -perm /077 2>/dev/null)" ] || bad=$((bad + 1))
    echo >"$dir/go"
    ends 0 0 && ends 1 0 && [ $seen -ge 4 ] && [ $bad = 0 ]
}
mkfifo "$dir/go"
expect "the key is in no arguments and no environment, the folder of the leader closed to others" secret
open_key() { chmod 444 "$dir/other" && pod 1 "${dial[@]}" --key "$dir/other" --hosts 2 -- true && says 1 1 "others may read it; its mode should be 0400"; }
expect "a key that others may read is refused" open_key
no_key() { echo 12 >"$dir/short" && chmod 400 "$dir/short" && pod 1 "${dial[@]}" --key "$dir/short" --hosts 2 -- true && says 1 1 "must be 64 hexadecimal digits"; }
expect "a key that is none is refused" no_key
beyond() { pod 4 "${dial[@]}" --hosts 4 -- true && says 4 1 "--index 4: must be a number in 0 .. 3"; }
expect "a pod beyond the number of hosts is refused" beyond
missing() { pod 1 "${dial[@]}" --hosts && says 1 1 "--hosts: it needs a value"; }
expect "an option without its value" missing
finish
