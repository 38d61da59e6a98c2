#!/bin/bash
# service_test.sh - covey start --service, with a systemctl that does what systemd does with the unit: it gives
# coveyd the options of the unit's file and a socket, and waits for its READY=1.
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/local_vm.sh
perl -MSocket -e 1 2>/dev/null || { echo "perl is not installed"; exit 77; }

mkdir "$dir/bin"
cat >"$dir/bin/manager" <<'END'
#!/usr/bin/perl
# manager SOCKET COMMAND...: what the command says there goes to standard output, until the command has ended
use Socket;
my $path = shift;
my $in;
socket($in, AF_UNIX, SOCK_DGRAM, 0) && bind($in, pack_sockaddr_un($path)) or die "$path: $!";
$SIG{CHLD} = sub { };
$| = 1;
my $pid = fork();
$ENV{NOTIFY_SOCKET} = $path;
$pid or exec(@ARGV) or exit 127;
my $bits = '';
vec($bits, fileno($in), 1) = 1;
do {
    $ended = waitpid($pid, 1) == $pid; # WNOHANG; what is said before the end is read below
    while (select($r = $bits, undef, undef, $ended ? 0 : 0.05) > 0) {
        recv($in, $words, 4096, 0);
        print "$words\n";
    }
} until $ended;
print "ended\n";
unlink $path;
END
cat >"$dir/bin/systemctl" <<END
#!/bin/bash
echo "\$*" >>"$dir/asked"
[ "\$1" = --user ] && [ ! -e "$dir/no-systemd" ] || exit 1
vm=\${3#covey@} && vm=\${vm%.service}
[ "\$2" = start ] || exit 0
options=\$(sed -n 's/^COVEYD_OPTIONS=//p' "$dir/config/covey/\$vm.service") || exit
command=\$(sed -n -e "s|@BINDIR@|$BUILD|" -e "s/%i/\$vm/" -e 's/^ExecStart=//p' "share/systemd/covey@.service")
: >"$dir/said.\$\$"
ln -sf said.\$\$ "$dir/said"
"$dir/bin/manager" "$dir/notify.\$\$" \${command/\\\$COVEYD_OPTIONS/\$options} >"$dir/said.\$\$" 2>"$dir/journal" &
while kill -0 \$! 2>/dev/null && ! grep -qE '^(READY=1|ended)' "$dir/said"; do sleep 0.05; done
grep -q ^READY=1 "$dir/said"
END
chmod +x "$dir/bin/manager" "$dir/bin/systemctl"
PATH=$dir/bin:$PATH

fails() { # words, arguments of start: one line that has them, and no daemon
    local words=$1
    shift
    ! covey start --service "$@" >"$dir/out" 2>"$dir/err" && [ "$(wc -l <"$dir/err")" = 1 ] &&
        grep -q -- "$words" "$dir/err" && within 15 eval '[ -z "$(daemons)" ]' || { cat "$dir/err" && return 1; }
}
starts() {
    covey start --service --as first --loopback --fail-timeout 7 || { cat "$dir/journal" && return 1; }
    covey hosts | grep -q '^first .* up ' && tr '\0' ' ' <"/proc/$(daemons)/cmdline" >"$dir/line" && cat "$dir/line" &&
        grep -q -- "--vm $COVEY_VM --foreground --name first --fail-timeout 7 --loopback" "$dir/line"
}
asked() { [ "$(tr '\n' ' ' <"$dir/asked")" = "--user show-environment --user start covey@$COVEY_VM.service --user enable covey@$COVEY_VM.service " ] || { cat "$dir/asked" && return 1; }; }
no_socket_in_tasks() { [ -z "$(covey run -n 1 sh -c 'echo $NOTIFY_SOCKET')" ]; }
again() { covey start --service 2>&1 | grep -q "VM $COVEY_VM runs here already"; }
tells() { # text, in the end
    within 15 grep -q "^$1" "$dir/said" || { cat "$dir/said" && return 1; }
}
halts() { covey halt && tells STOPPING=1 && tells ended; }
more_hosts() {
    covey start --service --as first --loopback --launcher exec --template '{command}' h1 >"$dir/out" 2>&1
    cat "$dir/out"
    grep -q '^h1 joined' "$dir/out" && covey halt
}
ended_by_manager() {
    covey start --service --as first --loopback >/dev/null && kill -TERM "$(daemons)" && tells STOPPING=1 && tells ended
}

expect "the daemon is systemd's, with the options of the command line" starts
expect "it is asked to keep it" asked
expect "tasks get none of systemd's socket" no_socket_in_tasks
expect "a second one is refused" again
expect "covey halt ends it, which systemd is told" halts
expect "hosts are added to it" more_hosts
expect "systemd may end it" ended_by_manager
expect "virtual hosts are none of a service" fails "--local goes not with --service" --local 2
expect "nor is a VM whose name systemd has not" fails "a service has letters" --name 'a b'
expect "nor an option that the unit's file cannot have" fails "may have no blank" --fail-timeout '7 s'
expect "what systemd cannot start is told" fails "systemd did not start it; see: journalctl --user -u covey@$COVEY_VM" --fail-timeout none
kept() { grep -qx 'COVEYD_OPTIONS=--name first --loopback' "$dir/config/covey/$COVEY_VM.service" && [ "$(ls "$dir/config/covey")" = "$COVEY_VM.service" ]; }
expect "and the options of the one before stay" kept
touch "$dir/no-systemd"
expect "without a systemd it says so" fails "no systemd answers systemctl --user here"
no_systemctl() {
    ! PATH=$dir/none "$BUILD/covey" start --service 2>"$dir/err" && grep -q "this machine has no systemctl" "$dir/err"
}
expect "without systemctl, too" no_systemctl

# a socket that is not there, or none: the daemon starts all the same
alone() {
    NOTIFY_SOCKET=$1 coveyd --local --foreground 2>"$dir/log" &
    local pid=$!
    within 15 covey hosts && covey halt && wait $pid
}
expect "a socket that does not answer does not matter" alone "$dir/none"
expect "but it is in the log" grep -q "the service manager cannot be notified: No such file" "$dir/log"
expect "nor does a name that is none of a socket" alone tcp:1
finish
