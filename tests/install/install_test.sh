#!/bin/bash
# What `make install` leaves is complete: names, links, headers, pkg-config, the README's program.
# timeout: 180
set -u
cd "$(dirname "$0")/../.."
. tests/report.sh
BUILD=${BUILD:-$PWD/build}
read -ra compiler <<<"${CC:-cc}"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
prefix=$work/usr

expect "make install" make --no-print-directory install BUILD="$BUILD" PREFIX="$prefix" RAW_GROUP=65534 >"$work/log" 2>&1 ||
    cat "$work/log"

# ---- what is there ----

is_link_to() { [ "$(readlink "$1")" = "$2" ]; }
version=$(sed -n 's/^#define COVEY_VERSION "\(.*\)"/\1/p' lib/covey/base.h)
soname=libcovey.so.${version%%.*}
for file in bin/covey bin/coveyd include/covey.h include/covey/team.h lib/libcovey.a "lib/libcovey.so.$version" \
    libexec/covey/covey-{sniff,probe,measure,launch,offer,raw,domain-worker} lib/pkgconfig/covey.pc \
    include/covey_domain.h include/covey_domain/base.h lib/libcovey_domain.a "lib/libcovey_domain.so.$version" \
    lib/pkgconfig/covey-domain.pc share/man/man3/covey_intro.3 share/bash-completion/completions/covey \
    share/zsh/site-functions/_covey share/fish/vendor_completions.d/covey.fish lib/systemd/user/covey@.service; do
    expect "$file is installed" test -s "$prefix/$file"
done
# where it cannot be set the installation says so
has_capability() {
    PATH=$PATH:/usr/sbin:/sbin getcap "$raw" | grep -q 'cap_net_raw=ep' ||
        grep -q "covey-raw has no CAP_NET_RAW, .*: setcap cap_net_raw+ep $raw" "$work/log"
}
raw=$prefix/libexec/covey/covey-raw
expect "covey-raw has its capability" has_capability
# root's installation is for the members of a group, and for nobody else; if there is none it says so
executed_by() { # MODE and GROUP, FILE
    [ "$(stat -c '%a %g' "$2")" = "$1" ] || { stat "$2" && false; }
}
installs_without_group() {
    make --no-print-directory install BUILD="$BUILD" DESTDIR="$work/staged" RAW_GROUP=no-such-group >"$work/log2" 2>&1 &&
        grep -q "covey-raw is root's alone, .* there is no group no-such-group" "$work/log2" &&
        executed_by "750 0" "$work/staged/usr/local/libexec/covey/covey-raw"
}
if [ "$(id -u)" = 0 ]; then
    expect "the group that is named may execute it" executed_by "750 65534" "$raw"
    expect "without a group root alone may" installs_without_group
else
    expect "who installs it may execute it" executed_by "750 $(id -g)" "$raw"
fi
# covey-sniff has none of its own: it may inherit one
may_inherit() {
    ! PATH=$PATH:/usr/sbin:/sbin getcap "$raw" | grep -q cap_net_raw ||
        PATH=$PATH:/usr/sbin:/sbin getcap "$prefix/libexec/covey/covey-sniff" | grep 'cap_net_raw=ei$'
}
none_but_these() {
    [ "$(PATH=$PATH:/usr/sbin:/sbin getcap -r "$prefix" | grep -cvE '/(covey-raw|covey-sniff) ')" = 0 ]
}
expect "covey-sniff may inherit it" may_inherit
expect "no other program has any" none_but_these
sniffs() { "$prefix/bin/covey" sniff -c 1 tests/fuzz/corpus/sniff/pingpong.pcap | grep udp; }
expect "covey finds the programs that are installed for it" sniffs
examines() { "$prefix/bin/coveyd" --examine --local </dev/null | grep '^@ready'; }
expect "coveyd finds them, too" examines
tell_what_they_are() {
    local program
    for program in "$prefix"/libexec/covey/covey-{sniff,probe,measure,launch,offer,raw}; do
        [[ "$("$program" --version)" = "${program##*/} $version (protocol "*")" ]] &&
            "$program" --help | grep -q "^usage: ${program##*/}" || return
    done
}
expect "each says what it is" tell_what_they_are
worker_tells() { [ "$("$prefix/libexec/covey/covey-domain-worker" --version)" = "covey-domain-worker $version" ]; }
expect "the workers of solvers do, too" worker_tells
expect "a link for the loader" is_link_to "$prefix/lib/$soname" "libcovey.so.$version"
expect "a link for the linker" is_link_to "$prefix/lib/libcovey.so" "$soname"
has_soname() { objdump -p "$prefix/lib/libcovey.so" | grep -q "SONAME *$soname\$"; }
expect "libcovey.so has its soname" has_soname

# ---- who has build/ or bin/ in PATH gets no other program for one of the system's ----

shadowing() { # folder...: programs there that the system has, too
    local program
    for program in $(find "$@" -maxdepth 1 -type f -perm /111 -printf '%f\n'); do
        PATH=/usr/local/bin:/usr/bin:/bin command -v "$program"
    done
}
shadows_nothing() { [ -z "$(shadowing "$@" | grep -v /covey)" ] || { shadowing "$@" && false; }; }
expect "build/ and bin/ hide no program" shadows_nothing "$BUILD" "$prefix/bin"

# ---- which names leave the library: those that covey.h declares, and no other ----

scripts/public-names.sh lib/covey.h lib/covey/*.h >"$work/declared"
nm -D --defined-only "$prefix/lib/libcovey.so" | awk '$2 != "A" { print $3 }' | sed 's/@.*//' |
    sort -u >"$work/shared"
nm -g --defined-only "$prefix/lib/libcovey.a" 2>/dev/null | awk 'NF == 3 { print $3 }' |
    sort -u >"$work/static"
expect "libcovey.so exports what covey.h declares, no more" diff "$work/declared" "$work/shared"
expect "libcovey.a exports what covey.h declares, no more" diff "$work/declared" "$work/static"
only_covey() { ! grep -v '^covey_' "$1"; }
scripts/public-names.sh lib/domain/covey_domain/*.h >"$work/declared"
nm -D --defined-only "$prefix/lib/libcovey_domain.so" | awk '$2 != "A" { print $3 }' | sed 's/@.*//' |
    sort -u >"$work/domain"
# a room whose library is missing here is left out
expect "libcovey_domain.so exports nothing that covey_domain.h does not declare" test -z "$(comm -13 "$work/declared" "$work/domain")"
expect "it has what all domain libraries share" grep -qx covey_domain_error_text "$work/domain"
expect "every exported name begins with covey_" only_covey "$work/shared"

# ---- covey.h in other languages ----

echo '#include <covey.h>
int main(void) { return covey_strerror(0) == NULL; }' >"$work/use.c"
cp "$work/use.c" "$work/use.cc"
pc() { PKG_CONFIG_PATH=$prefix/lib/pkgconfig pkg-config "$@" covey; }
strict="-Wall -Wextra -Wconversion -pedantic -Werror"
# shellcheck disable=SC2046,SC2086
{
    expect "covey.h is C99" "${compiler[@]}" -std=c99 $strict $(pc --cflags) -c "$work/use.c" -o "$work/use.o"
    if command -v g++ >/dev/null; then
        expect "covey.h is C++11" g++ -std=c++11 $strict $(pc --cflags) "$work/use.cc" \
            -o "$work/use++" $(pc --libs)
    else
        skip "covey.h is C++" "g++ is not installed"
    fi
    expect "a program links libcovey.a by pkg-config --static" "${compiler[@]}" "$work/use.c" \
        -o "$work/static-use" \
        $(pc --cflags) -Wl,-Bstatic -L"$prefix/lib" -lcovey -Wl,-Bdynamic \
        $(pc --libs --static | tr ' ' '\n' | grep -v -e -lcovey)
    expect "it runs" "$work/static-use"
}

# ---- what is made of it for Fortran and C++, where their compilers and pycparser are ----

echo '#include <covey.hpp>
int main() { return covey::strerror(0) == nullptr || covey::join().value_or(covey::vm()); }' >"$work/use.cpp"
echo 'program use
  use covey
  implicit none
  if (len(covey_strerror(0)) == 0) error stop
end program use' >"$work/use.f90"
fortran_pc() { PKG_CONFIG_PATH=$prefix/lib/pkgconfig pkg-config "$@" covey-fortran; }
# shellcheck disable=SC2046
{
    if [ -e "$prefix/include/covey.hpp" ] && command -v g++ >/dev/null; then
        expect "covey.hpp is C++17, and pkg-config links it" g++ -std=c++17 -Wall -Wextra -Wconversion -pedantic -Werror \
            $(pc --cflags) "$work/use.cpp" -o "$work/use-cxx" $(pc --libs)
        expect "a program with it runs" "$work/use-cxx"
        expect "covey.hpp needs no exceptions" g++ -std=c++17 -fno-exceptions $(pc --cflags) -fsyntax-only "$work/use.cpp"
    else
        skip "covey.hpp" "it was not made, or g++ is not installed"
    fi
    if [ -e "$prefix/lib/libcovey_fortran.so" ]; then
        expect "module covey is Fortran 2018, and pkg-config links it" gfortran -std=f2018 -Wall -Wextra -Werror \
            "$work/use.f90" -o "$work/use-fortran" $(fortran_pc --cflags --libs)
        expect "a program with it runs" "$work/use-fortran"
    else
        skip "module covey" "it was not built"
    fi
}

echo '#include <covey_domain.h>
int main(void) { return covey_domain_error_text() == NULL; }' >"$work/domain.c"
cp "$work/domain.c" "$work/domain.cc"
domain_pc() { PKG_CONFIG_PATH=$prefix/lib/pkgconfig pkg-config "$@" covey-domain; }
# shellcheck disable=SC2046,SC2086
expect "covey_domain.h is C99, and pkg-config links it" "${compiler[@]}" -std=c99 $strict "$work/domain.c" \
    -o "$work/domain-use" $(domain_pc --cflags --libs)
expect "a program with it runs" "$work/domain-use"
if command -v g++ >/dev/null; then
    # shellcheck disable=SC2046,SC2086
    expect "covey_domain.h is C++11" g++ -std=c++11 $strict $(domain_pc --cflags) -c "$work/domain.cc" -o "$work/domain.o"
fi

# ---- each header of it alone, and all in one another's company ----

includes_all() { # covey.h has every header that is installed
    local header
    for header in "$prefix"/include/covey/*.h; do
        grep -q "^#include \"covey/${header##*/}\"" "$prefix/include/covey.h" || { echo "$header" && return 1; }
    done
}
expect "covey.h includes all of covey/" includes_all
# shellcheck disable=SC2046,SC2086
stand_alone() { # compiler...: covey/NAME.h needs no other header before it
    local header
    for header in "$prefix"/include/covey/*.h "$prefix"/include/covey_domain/*.h; do
        echo "#include <${header#"$prefix"/include/}>" | "$@" $strict $(pc --cflags) -fsyntax-only - || return
    done
}
expect "each header of covey/ is C99 alone" stand_alone "${compiler[@]}" -std=c99 -x c
if command -v g++ >/dev/null; then
    expect "each header of covey/ is C++11 alone" stand_alone g++ -std=c++11 -x c++
fi
short_enough() { ! wc -l "$prefix"/include/covey/*.h "$prefix"/include/covey_domain/*.h | awk '$2 != "total" && $1 > 250' | grep .; }
expect "each header of covey/ can be read in one sitting: at most 250 lines" short_enough

# ---- the README's program, as a reader would type it ----

export PATH=$prefix/bin:$PATH COVEY_VM=tutorial.$$
sed -n '/^```c$/,/^```$/p' README.md | sed '/^```/d' >"$work/pi.c"
# shellcheck disable=SC2046,SC2086
# of the first Python that has what the package needs, away from the sources
python=$(for p in python3 /usr/bin/python3; do "$p" -c 'import cffi, numpy' 2>/dev/null && command -v "$p" && break; done)
imported() { # it says where it is
    (cd / && PYTHONPATH=$(echo "$prefix"/lib/python3*/dist-packages) "$python" -c '
import covey, covey._domain, covey.demos.sort, covey.examples
assert covey.__version__ == "'"$version"'" and covey.__file__.startswith("'"$prefix"'/")
from covey._start import console_path
assert console_path() == "'"$prefix"'/bin/covey", console_path()')
}
if [ -z "$python" ] || [ ! -e "$BUILD/python/covey/_covey.abi3.so" ]; then
    skip "the package for Python" "Covey was built without it"
elif nm -D "$BUILD/python/covey/_covey.abi3.so" | grep -q __asan_init; then
    skip "the package for Python" "it is built with a sanitizer"
else
    expect "the package for Python is found, with its libraries and the console" imported
    expect "covey map is what is installed" grep -q "$prefix" "$prefix/libexec/covey/covey-map"
fi

expect "the README's program compiles" "${compiler[@]}" $strict "$work/pi.c" -o "$work/pi" $(pc --cflags --libs)

runs_on_four_hosts() {
    covey start --local 4 || return
    (cd "$work" && timeout 300 ./pi) >"$work/out" 2>&1
    local status=$?
    cat "$work/out"
    covey halt && [ $status -eq 0 ] && grep -q '^pi is about 3.141592654, from 4 hosts$' "$work/out"
}
expect "the README's program runs on four hosts" runs_on_four_hosts

# ---- an ordinary user, whose coveyd with its capability hides from all his other processes ----

as_nobody() { # COMMAND, with the installation in PATH
    timeout 120 setpriv --reuid 65534 --regid 65534 --clear-groups env -u COVEYD -C "$work/nobody" \
        HOME="$work/nobody" XDG_RUNTIME_DIR="$work/nobody/run" COVEY_VM="ordinary.$$" sh -c "$1"
}
of_an_ordinary_user() {
    setcap cap_net_raw+ep "$prefix/bin/coveyd"
    chmod 755 "$work" && mkdir "$work/nobody" && mkdir -m 700 "$work/nobody/run" || return
    printf '#!/bin/sh\neval "$3 --local"\n' >"$work/nobody/my-start"
    chmod 755 "$work/nobody/my-start" && chown -R 65534:65534 "$work/nobody"
    as_nobody 'covey start --local 1 && covey doctor; covey add --template "exec \"\$COVEYD\" --offer ./my-start {host} run {command}" h7; covey halt' \
        >"$work/out" 2>&1
    cat "$work/out"
    grep -q '^h7 joined' "$work/out" && ! grep 'cannot be examined' "$work/out"
}
if [ "$(id -u)" = 0 ] && getcap "$raw" | grep -q cap_net_raw; then
    expect "an ordinary user's daemon is examined, and offers are made by it" of_an_ordinary_user
else
    skip "an ordinary user's daemon" "no root, or no capabilities of files"
fi

# ---- and away again ----

uninstalled() {
    make --no-print-directory uninstall BUILD="$BUILD" PREFIX="$prefix" >"$work/log" 2>&1 || return
    ! find "$prefix" ! -type d | grep .
}
expect "make uninstall removes every file" uninstalled
finish
