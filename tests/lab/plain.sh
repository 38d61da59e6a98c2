#!/bin/bash
# plain.sh HOST COMMAND [ARG...] - runs a command on a host of the lab $LAB, where coveyd uses no raw
# Ethernet if the host is one of $LAB_PLAIN. vm.sh --plain starts daemons so.
here=$(cd "$(dirname "$0")" && pwd)
case " $LAB_PLAIN " in *" $1 "*) export XDG_CONFIG_HOME=$here/plain ;; esac
exec "$here/lab" exec --name "$LAB" "$@"
