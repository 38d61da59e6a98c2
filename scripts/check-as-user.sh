#!/bin/bash
# check-as-user.sh [SUITE...] - runs, as root, suites as an ordinary user does who has no privilege.
#
# The user, covey-check, is in no file of this machine: /etc/passwd and /etc/group have him in a mount
# namespace of this script's own. His checkout is a copy of this one with what is built, in a folder of
# mode 700. Without SUITEs he runs those whose outcome may depend on who runs them: what starts daemons,
# tasks and programs, asks for limits and files of the system, or is told apart there by being root; not
# engines, what messages and calls do once all are up, how fast that is, and what reads the sources or
# follows the guides. What his suites print goes to $BUILD/test-logs-user. The last line and the
# exit status are those of make check.
set -u
cd "$(dirname "$0")/.." || exit 1
BUILD=${BUILD:-build}

say() { # why not
    echo "check-as-user.sh: $1" >&2
    exit 1
}
[ "$(id -u)" = 0 ] || say "an ordinary user runs make check; this needs root"
if [ "${1:-}" != --inside ]; then
    if ! unshare --mount true 2>/dev/null; then
        echo "skipped: all suites as an ordinary user: mount namespaces are not allowed here"
        echo "0 passed, 0 failed, 1 skipped"
        exit 0
    fi
    exec unshare --mount --propagation private bash "$PWD/scripts/check-as-user.sh" --inside "$@"
fi
shift

uid=61999 name=covey-check
while getent passwd $uid >/dev/null; do uid=$((uid + 1)); done
scratch=$(mktemp -d "${TMPDIR:-/tmp}/covey-user.XXXXXX") || exit 1
trap 'umount /etc/passwd /etc/group 2>/dev/null; rm -rf "$scratch"' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM
chmod 711 "$scratch"
home=$scratch/home
(umask 077 && mkdir -p "$home/covey")
{ cat /etc/passwd && echo "$name:x:$uid:$uid::$home:/bin/bash"; } >"$scratch/passwd"
{ cat /etc/group && echo "$name:x:$uid:"; } >"$scratch/group"
chmod 644 "$scratch/passwd" "$scratch/group"
mount --bind "$scratch/passwd" /etc/passwd && mount --bind "$scratch/group" /etc/group || say "cannot add a user"

{ git ls-files -z && find "$BUILD" -path "$BUILD/test-logs*" -prune -o ! -type d -print0; } |
    tar -c --null --no-recursion -T - | tar -x -C "$home/covey" || say "cannot copy the checkout"
chown -R $uid:$uid "$home"

suites=$*
[ -n "$suites" ] || suites=$(cd "$home/covey" && {
    ls tests/{apps,attack,daemon,fault,install,lab,mpi,pvm3,ssh,tool}/*_test.{sh,c} tests/unit/lib/link/*_test.c
    grep -rlE 'id -u|getuid|needs root' tests/{chaos,conformance}
} 2>/dev/null | grep -E '_test[.](sh|c)$')
setpriv --reuid $uid --regid $uid --clear-groups env -i PATH="$PATH" LANG="${LANG:-C.UTF-8}" HOME="$home" \
    USER=$name LOGNAME=$name ${CHECK_JOBS:+CHECK_JOBS="$CHECK_JOBS"} \
    make --no-print-directory -C "$home/covey" BUILD="$BUILD" SUITES="$(echo $suites)" check </dev/null
status=$?
rm -rf "$BUILD/test-logs-user"
cp -r "$home/covey/$BUILD/test-logs" "$BUILD/test-logs-user"
exit $status
