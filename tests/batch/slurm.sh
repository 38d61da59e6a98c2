# slurm.sh - to be sourced by a suite that has $dir: a Slurm of its own, with four nodes n1 to n4 on this machine, all of
# it run by the user who calls: no munge, no systemd, no privilege. What it needs lies in $dir/slurm.
#
#   slurm_missing     what is not installed, or nothing
#   slurm_up          starts it, and waits until its nodes are idle
#   slurm_down        ends its daemons and what they have left, by their process ids
PATH=$PATH:/usr/sbin:/sbin

slurm_missing() {
    local program
    for program in slurmctld slurmd srun sbatch salloc scancel scontrol squeue sinfo; do
        command -v $program >/dev/null || { echo "$program is not installed" && return; }
    done
}

# Six ports that are free, below those that the kernel gives away by itself.
slurm_ports() {
    local try at
    for ((try = 0; try < 100; try++)); do
        port=$((12000 + (($$ + try * 7) % 2500) * 8))
        for ((at = port; at < port + 6; at++)); do
            (exec 3<>"/dev/tcp/127.0.0.1/$at") 2>/dev/null && continue 2
        done
        return 0
    done
    return 1
}

slurm_configure() {
    local user host port
    user=$(id -un) host=$(hostname)
    slurm_ports || return 1
    mkdir -p "$dir/slurm/state" || return 1
    cat >"$SLURM_CONF" <<END
ClusterName=t
SlurmctldHost=$host(127.0.0.1)
AuthType=auth/none
CredType=cred/none
SlurmUser=$user
SlurmdUser=$user
SlurmctldPort=$port
ProctrackType=proctrack/pgid
TaskPlugin=task/none
SelectType=select/linear
SwitchType=switch/none
MpiDefault=none
ReturnToService=2
KillWait=5
SlurmdParameters=config_overrides
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
StateSaveLocation=$dir/slurm/state
SlurmdSpoolDir=$dir/slurm/spool.%n
SlurmctldPidFile=$dir/slurm/ctld.pid
SlurmdPidFile=$dir/slurm/slurmd.%n.pid
SlurmctldLogFile=$dir/slurm/ctld.log
SlurmdLogFile=$dir/slurm/slurmd.%n.log
NodeName=n[1-4] NodeHostname=$host NodeAddr=127.0.0.1 Port=[$((port + 1))-$((port + 4))] CPUs=2 RealMemory=1000
PartitionName=p Default=yes Nodes=ALL State=UP OverSubscribe=FORCE:4
END
    # on machines with both kinds of control groups it does not find out by itself
    printf '%s\n' CgroupPlugin=cgroup/v1 CgroupMountpoint=/sys/fs/cgroup IgnoreSystemd=yes >"$dir/slurm/cgroup.conf"
}

slurm_idle() { [ "$(sinfo -h -o '%D %t')" = "4 idle" ]; }

slurm_up() {
    export SLURM_CONF=$dir/slurm/slurm.conf
    local node
    slurm_configure && slurmctld -c || return 1
    for node in n1 n2 n3 n4; do
        slurmd -N $node -f "$SLURM_CONF" || return 1
    done
    within 15 slurm_idle
}

# All that has this Slurm's configuration in its environment or was called with it, but the suite itself.
slurm_processes() {
    local pid
    for pid in $(grep -lsF "$SLURM_CONF" /proc/[0-9]*/environ /proc/[0-9]*/cmdline 2>/dev/null | cut -d/ -f3 | sort -u); do
        case $(cat "/proc/$pid/comm" 2>/dev/null) in slurm* | srun | coveyd | covey*) echo "$pid" ;; esac
    done
}

slurm_gone() { [ -z "$(slurm_processes)" ]; }

slurm_down() {
    local pids
    pids=$(cat "$dir"/slurm/*.pid 2>/dev/null)
    # shellcheck disable=SC2086
    [ -z "$pids" ] || kill $pids 2>/dev/null
    for _ in 1 2 3 4 5 6 7 8 9 10; do
        slurm_gone && return
        sleep 0.2
    done
    # shellcheck disable=SC2046
    kill -KILL $(slurm_processes) 2>/dev/null
}
