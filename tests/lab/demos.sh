# shellcheck shell=bash
# demos.sh - sourced by what runs the demos in a lab: their BLAS, their sizes, and the figures that they print.

# Prints what is to be preloaded for --blas: a library, "textbook": textbook.c, made below DIR, or nothing.
blas_preload() { # LIBRARY|textbook|'' DIR
    local here library=$1 complaint
    here=$(dirname "${BASH_SOURCE[0]}")
    if [ "$library" = textbook ]; then
        library=$2/textbook.so
        ${CC:-cc} -std=c17 -O2 -shared -fPIC -I"$here/../.." -o "$library" "$here/textbook.c" || return
    fi
    complaint=$(LD_PRELOAD=$library env true 2>&1)
    [ -z "$complaint" ] || { echo "$(basename "$0"): --blas $1: it cannot be preloaded" >&2 && return 1; }
    echo "$library"
}

# Takes the value of --size into a table of what each demo computes; fails when there is no such demo.
size_take() { # TABLE DEMO=N
    local -n table=$1
    [[ $2 == *=?* && -v table[${2%%=*}] ]] && table[${2%%=*}]=${2#*=}
}

# A top-level number of the JSON that a demo prints, as it stands: two blanks deep.
figure() { # KEY FILE
    sed -n 's/^  "'"$1"'": \(-\{0,1\}[0-9][0-9.eE+-]*\),\{0,1\}$/\1/p' "$2"
}

# Whether one run was predicted; says so if not.
is_predicted() { # FILE
    grep -q '^  "predicted": {' "$1" && return
    echo "$(basename "$0"): no prediction: $COVEY_CALIBRATION lacks a host or what it computes" >&2
    return 1
}

# Of one run after the other, a line for each number of hosts: hosts, then total, computation,
# communication and idle seconds as measured (means) and as predicted.
figures_of() { # FILE
    awk '
        function number() { sub(/.*: /, ""); sub(/,$/, ""); return $0 + 0 }
        /^  "hosts":/ { hosts = number(); if (!(hosts in runs)) order[++n] = hosts; runs[hosts]++; inside = 0 }
        /^  "predicted":/ { inside = 1; next }
        /^  [}]/ { inside = 0 }
        /^ +"(total|computation|communication|idle)_s":/ {
            key = $1; gsub(/[":]/, "", key)
            if ($0 ~ /^    "/ && inside) predicted[hosts, key] = number()
            else if ($0 ~ /^  "/) measured[hosts, key] += number()
        }
        END {
            split("total_s computation_s communication_s idle_s", keys, " ")
            for (i = 1; i <= n; i++) {
                printf "%d", order[i]
                for (k = 1; k <= 4; k++) printf " %.4f", measured[order[i], keys[k]] / runs[order[i]]
                for (k = 1; k <= 4; k++) printf " %.4f", predicted[order[i], keys[k]]
                printf "\n"
            }
        }' "$1"
}
