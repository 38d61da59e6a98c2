#!/bin/bash
# deps.sh require|install GROUP... - what Covey needs from the system, by group: build, domain, python, languages, r, test, doc,
# lint, deb, package, bench, mpi, rivals, batch, containers, and s390x, arm64, armhf: what compiles and runs programs for these.
#
# `require` ends with an error that lists what is missing. `install` installs it by apt-get and says
# so before it does; both say nothing when everything is there. A package counts as there when what
# it is needed for is found: a header by the compiler, a program in PATH.
set -u

build_needs='
libc6-dev           stdio.h
libev-dev           ev.h
libsodium-dev       sodium.h
libssl-dev          openssl/evp.h
libinih-dev         ini.h
libpcap-dev         pcap/pcap.h
libzstd-dev         zstd.h
libjansson-dev      jansson.h
libedit-dev         histedit.h
libncurses-dev      curses.h
libpng-dev          png.h
libopenblas-dev     cblas-openblas.h
binutils            objcopy
'
# faster than libssl, where there is such a processor
if [ "$(dpkg --print-architecture 2>/dev/null)" = amd64 ]; then
    build_needs+='libipsec-mb-dev     intel-ipsec-mb.h
'
fi
# what single rooms of lib/domain need, each of which is left out where it is missing
domain_needs='
libfftw3-dev        fftw3.h
liblapacke-dev      lapacke.h
'
# the package for Python, which is left out where one of these is missing
python_needs='
python3-dev         /usr/bin/python3-config
python3-cffi        /usr/lib/python3/dist-packages/cffi
python3-numpy       /usr/lib/python3/dist-packages/numpy
python3-cloudpickle /usr/lib/python3/dist-packages/cloudpickle
'
# the modules for Fortran and the header for C++, which are left out likewise
languages_needs='
python3-pycparser   /usr/lib/python3/dist-packages/pycparser
gfortran            gfortran
'
# the package for R, which is left out likewise
r_needs='
r-base-core         R
'
test_needs='
libcunit1-dev       CUnit/CUnit.h
g++                 g++
pkg-config          pkg-config
universal-ctags     ctags
mandoc              mandoc
man-db              man
procps              ps
tmux                tmux
iproute2            ip
nftables            nft
ethtool             ethtool
libcap2-bin         setcap
openssh-client      ssh
openssh-server      sshd
tcsh                tcsh
lua5.4              lua5.4
lowdown             lowdown
jq                  jq
python3-yaml        /usr/lib/python3/dist-packages/yaml
'
# guides and manual pages as HTML; lowdown, for it gives headings the names that links to them use
doc_needs='
lowdown             lowdown
mandoc              mandoc
'
# Debian packages; and what examines them, and a Debian to install them in
deb_needs='
debhelper           dh
dpkg-dev            dpkg-buildpackage
xz-utils            xz
'
package_needs='
lintian             lintian
mmdebstrap          mmdebstrap
'
lint_needs='
clang               clang
clang-tidy          clang-tidy
clang-format        clang-format
'
# what Covey is compared with; it is measured alone without them
bench_needs='
pvm                 pvmd
pvm-dev             pvm3.h
'
# as well, and what the generated MPI_Alltoall is tested with; each is skipped where it is not installed
mpi_needs='
openmpi-bin         mpirun.openmpi
libopenmpi-dev      mpicc.openmpi
python3-mpi4py      /usr/lib/python3/dist-packages/mpi4py
mpich               mpirun.mpich
libmpich-dev        mpicc.mpich
gnuplot-nox         gnuplot
'
# what solvers are compared with
rivals_needs='
libfftw3-mpi-dev    /usr/include/fftw3-mpi.f03
hpcc                hpcc
petsc-dev           /usr/lib/petsc
libscalapack-openmpi2.2 /usr/share/doc/libscalapack-openmpi2.2
libscalapack-mpich2.2 /usr/share/doc/libscalapack-mpich2.2
'
# a batch engine in whose jobs Covey is tested: its daemons are no matter of course on a machine, and the suite is
# skipped where they are not installed
batch_needs='
slurmctld           slurmctld
slurmd              slurmd
slurm-client        srun
slurm-wlm-basic-plugins /usr/share/doc/slurm-wlm-basic-plugins
'
# tasks and hosts that are containers; likewise
containers_needs='
podman              podman
crun                crun
'
cross_needs() { # the architecture's name in Debian, to the compiler, to qemu
    echo "gcc-$2  $2-gcc"
    echo "libc6-dev-$1-cross  /usr/$2/lib/libc.so"
    echo "qemu-user  qemu-$3"
}
groups="build, domain, python, languages, r, test, doc, lint, deb, package, bench, mpi, rivals, batch, containers, s390x, arm64 or armhf"
read -ra compiler <<<"${CC:-cc}" # it may have a launcher before it, and options: ccache gcc -m32
PATH=$PATH:/usr/sbin:/sbin

needs_of() { # groups -> their lines
    local group
    for group; do
        case $group in
        build) echo "$build_needs" ;;
        domain) echo "$domain_needs" ;;
        python) echo "$python_needs" ;;
        languages) echo "$languages_needs" ;;
        r) echo "$r_needs" ;;
        test) echo "$test_needs" ;;
        doc) echo "$doc_needs" ;;
        lint) echo "$lint_needs" ;;
        deb) echo "$deb_needs" ;;
        package) echo "$package_needs" ;;
        bench) echo "$bench_needs" ;;
        mpi) echo "$mpi_needs" ;;
        rivals) echo "$rivals_needs" ;;
        batch) echo "$batch_needs" ;;
        containers) echo "$containers_needs" ;;
        s390x) cross_needs s390x s390x-linux-gnu s390x ;;
        arm64) cross_needs arm64 aarch64-linux-gnu aarch64 ;;
        armhf) cross_needs armhf arm-linux-gnueabihf arm ;;
        *)
            echo "deps.sh: there is no group '$group' ($groups)" >&2
            return 2
            ;;
        esac
    done | sed '/^$/d'
}

headers_found() { # headers: does the compiler find all of them?
    printf '#include <%s>\n' "$@" | "${compiler[@]}" -E -x c - >/dev/null 2>&1
}

found() { # one header, path or program
    case $1 in
    *.h) headers_found stdio.h "$1" || { [ "$1" != stdio.h ] && headers_found "$1"; } ;;
    /*) compgen -G "$1" >/dev/null ;;
    *) command -v "$1" >/dev/null ;;
    esac
}

missing_packages() { # groups
    local package probe headers=() lines
    lines=$(needs_of "$@") || return
    while read -r package probe; do
        case $probe in *.h) headers+=("$probe") ;; esac
    done <<<"$lines"
    # one run of the compiler when all headers are there, which is the common case
    local all_headers=no
    headers_found "${headers[@]}" && all_headers=yes
    while read -r package probe; do
        case $probe in *.h) [ $all_headers = yes ] && continue ;; esac
        found "$probe" || echo "$package"
    done <<<"$lines"
}

fail() {
    echo "$@" >&2
    exit 1
}

require_compiler() {
    command -v "${compiler[0]}" >/dev/null ||
        fail "Covey needs a C compiler; '${compiler[0]}' is not found (set CC=...)."
}

install_packages() {
    local as_root=() 
    command -v apt-get >/dev/null ||
        fail "Covey needs the libraries and programs of these Debian packages: $*. This system has" \
            "no apt-get: please install them by its own means."
    if [ "$(id -u)" -ne 0 ]; then
        command -v sudo >/dev/null ||
            fail "Covey needs these Debian packages: $*. You are not root and there is no sudo:" \
                "please have them installed by: apt-get install $*"
        as_root=(sudo)
    fi
    echo "Covey needs these Debian packages: $*; installing with ${as_root[*]:+sudo }apt-get."
    case " $* " in
    *" openssh-server "*)
        echo "openssh-server is for tests alone, which run it as their own. Debian starts the system's ssh" \
            "server with it, too; systemctl disable --now ssh ends that."
        ;;
    esac
    as_root+=(env DEBIAN_FRONTEND=noninteractive)
    "${as_root[@]}" apt-get -q update || echo "apt-get update failed; trying with what is known." >&2
    "${as_root[@]}" apt-get -q -y install --no-install-recommends "$@" ||
        fail "apt-get could not install: $*. Its own words stand above."
}

action=${1:-}
shift
require_compiler
missing=$(missing_packages "$@") || exit
missing=$(echo $missing)
[ -z "$missing" ] && exit 0
case $action in
require)
    fail "Covey needs these Debian packages: $missing. \`make demo\` and \`make check\` install" \
        "them; or: apt-get install $missing"
    ;;
install)
    # shellcheck disable=SC2086
    install_packages $missing
    missing=$(missing_packages "$@")
    [ -z "$missing" ] || fail "Still not found after the installation: $(echo $missing)"
    ;;
*)
    fail "deps.sh: '$action' is not require or install"
    ;;
esac
