# language_examples.sh - to be sourced by a suite: compiles the small programs of share/examples/LANGUAGE and compares what
# they print with what those in Python do.
. tests/language_vm.sh

# The lines of an example, in any order, as extended regular expressions.
says() { # name
    local i
    case $1 in
    hello) for i in 0 1 2 3; do echo "hello from task $i of 4 on h[0-3]: my items are \\[$i, $((i + 4)), $((i + 8))\\]"; done ;;
    master_worker) echo '20 results, their sum is 2470' ;;
    ring) echo 'round the ring came \[0, 1, 2, 3\]' ;;
    pipeline) echo 'out of the pipeline came \[15, 31, 47, 63, 79, 95, 111, 127\]' ;;
    scatter_gather) echo 'squares: \[0, 1, 4, 9, 16, 25, 36, 49, 64, 81, 100, 121\]' ;;
    reduce) echo 'pi is about 3\.141592654' ;;
    barrier) echo 'all had come before the first one left: True' ;;
    race) printf '%s\n' 'without a lock: [0-9]+ of 20' 'with a lock: 20 of 20' ;;
    bag) echo '20 results, the last is 361' ;;
    pingpong) for i in 8 1024 131072 1048576; do echo " *$i bytes: +[0-9.]+ us, +[0-9.]+ MB/s"; done ;;
    heat) echo 'each eighth point: \[94\.96, 56\.94, 28\.25, 11\.4, 3\.69, 0\.95, 0\.19, 0\.03\]' ;;
    deadlock)
        for i in 0 1 2 3; do echo "task $i waited in vain for task $(((i + 3) % 4))"; done
        echo 'with sendrecv\(\) task 0 got 3'
        ;;
    esac
}

prints_what_it_should() { # name, program
    local pattern count=0
    covey run -n 4 "$2" >"$dir/printed" 2>&1 </dev/null || { cat "$dir/printed" && return 1; }
    while IFS= read -r pattern; do
        count=$((count + 1))
        grep -qxE "$pattern" "$dir/printed" || { echo "no line: $pattern" && cat "$dir/printed" && return 1; }
    done < <(says "$1")
    [ "$count" -gt 0 ] || return
    [ "$(wc -l <"$dir/printed")" = "$count" ] || { cat "$dir/printed" && return 1; }
}

# Each of them, and the same ones as in Python. `libraries` is what they link.
examples() { # folder, ending, compiler...: given FILE -o PROGRAM
    local file name
    ! sanitized "$BUILD/libcovey.so" || { echo "skipped: a user's compiler knows nothing of the sanitizer that Covey is built with" && exit 77; }
    expect "there are as many as in Python" [ "$(basename -s "$2" "$1"/*"$2" | sort)" = \
        "$(basename -s .py lib/python/covey/examples/*.py | grep -v __init__ | sort)" ]
    covey start --local 4 >"$dir/started" || bad "a virtual machine of four hosts starts"
    for file in "$1"/*"$2"; do
        name=$(basename -s "$2" "$file")
        expect "$name is compiled without a warning" "${@:3}" "$file" -o "$dir/$name" -L"$BUILD" "${libraries[@]}" \
            -Wl,-rpath,"$BUILD" && expect "$name prints what it should" prints_what_it_should "$name" "$dir/$name"
    done
}
