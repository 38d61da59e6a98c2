# Covey: `make help` lists the targets. Everything that is built goes below $(BUILD).
#
# Sources are found by wildcards: a new file in a room (proto/ROOM/, lib/ROOM/, daemon/ROOM/,
# tools/ROOM/) or in apps/NAME/, a new room, a new man page or a new test needs no change here.

PREFIX ?= /usr/local
DESTDIR ?=
BINDIR ?= $(PREFIX)/bin
LIBDIR ?= $(PREFIX)/lib
LIBEXECDIR ?= $(PREFIX)/libexec
PVM3DIR ?= $(LIBDIR)/covey/pvm3
INCLUDEDIR ?= $(PREFIX)/include
DATADIR ?= $(PREFIX)/share
MANDIR ?= $(DATADIR)/man
SYSTEMDUSERDIR ?= $(PREFIX)/lib/systemd/user
BASHCOMPDIR ?= $(DATADIR)/bash-completion/completions
ZSHCOMPDIR ?= $(DATADIR)/zsh/site-functions
FISHCOMPDIR ?= $(DATADIR)/fish/vendor_completions.d

BUILD ?= build
CC ?= cc
CXX ?= g++
OBJCOPY ?= objcopy
VERSION := $(shell sed -n 's/^\#define COVEY_VERSION "\(.*\)"/\1/p' lib/covey/base.h)
SOVERSION := $(firstword $(subst ., ,$(VERSION)))

WARNINGS := -Wall -Wextra -Wconversion -Wshadow -Wstrict-prototypes -Wmissing-prototypes
CFLAGS ?= -O2 -g
COMMON_CFLAGS := -std=c17 -D_GNU_SOURCE -D_FILE_OFFSET_BITS=64 $(WARNINGS) -I. -Ilib
ALL_CFLAGS := $(COMMON_CFLAGS) $(CFLAGS) $(SANITIZE) -fPIC -fno-semantic-interposition -MMD -MP
ALL_LDFLAGS := $(LDFLAGS) $(SANITIZE)

# what programs include: covey.h and the headers by subject that it is made of
PUBLIC_H := lib/covey.h $(wildcard lib/covey/*.h)
# cipher/ loads a library, which an engine must not: a room of its own that goes wherever proto goes
PROTO_SRC := $(wildcard proto/*/*.c cipher/*.c)
LIB_SRC := $(filter-out lib/pvm3/% lib/python/% lib/fortran/% lib/r/%,$(wildcard lib/*/*.c))
# libcovey_domain: solvers on covey.h alone, a room each; its header is covey_domain/ROOM.h. ROOM/libs names
# what it links besides, and ROOM/needs the header of that: without it the room is left out.
DOMAIN_ROOMS_ALL := $(patsubst lib/domain/%/,%,$(sort $(dir $(wildcard lib/domain/*/*.c))))
has_needs = $(if $(wildcard $(1)/needs),$(shell printf '\043include <stdio.h>\n\043include <%s>\n' \
	$$(cat $(1)/needs) | $(CC) -E -x c - >/dev/null 2>&1 && echo yes),yes)
DOMAIN_ROOMS := $(foreach r,$(DOMAIN_ROOMS_ALL),$(if $(call has_needs,lib/domain/$(r)),$(r)))
DOMAIN_MISSING := $(filter-out $(DOMAIN_ROOMS),$(DOMAIN_ROOMS_ALL))
DOMAIN_H := lib/domain/covey_domain.h $(wildcard lib/domain/covey_domain/*.h)
DOMAIN_SRC := $(wildcard $(DOMAIN_ROOMS:%=lib/domain/%/*.c))
DAEMON_SRC := $(wildcard daemon/*/*.c)
# programs beside coveyd: covey_NAME.c in these rooms is the main file of covey-NAME
HELPER_SRC := $(wildcard tools/wire/*.c tools/probe/*.c tools/launch/*.c tools/raw/*.c)
HELPER_MAINS := $(foreach f,$(HELPER_SRC),$(if $(filter covey_%,$(notdir $(f))),$(f)))
helper_name = $(subst _,-,$(basename $(notdir $(1))))
HELPERS := $(foreach m,$(HELPER_MAINS),$(BUILD)/$(call helper_name,$(m)))
# what the console asks of the solvers, which are not linked to it
SOLVERS_SRC := $(wildcard tools/solvers/*.c)
TOOLS_SRC := $(filter-out $(HELPER_SRC) $(SOLVERS_SRC),$(wildcard tools/*/*.c))
BENCH_SRC := $(wildcard tools/bench/tasks/*.c) tools/bench/bench_plan.c tools/bench/exchange_pattern.c
# apps/NAME/needs is such a header, too
APP_NAMES_ALL := $(patsubst apps/%/,%,$(sort $(dir $(wildcard apps/*/*.c))))
APP_NAMES := $(foreach a,$(APP_NAMES_ALL),$(if $(call has_needs,apps/$(a)),$(a)))
APP_MISSING := $(filter-out $(APP_NAMES),$(APP_NAMES_ALL))
# what of lib/ the daemon shares: the sockets and rings that both ends need
DAEMON_LIB_SRC := $(wildcard lib/link/*.c)
# what of daemon/ those programs share
HELPER_LIB_SRC := $(filter-out $(HELPER_MAINS),$(HELPER_SRC)) $(wildcard daemon/base/*.c daemon/process/*.c daemon/link/*.c lib/link/packet_ring.c) \
	daemon/launch/launcher.c daemon/launch/launchspec.c daemon/launch/ticket.c

# The package for Python: an extension by cffi and the sources of lib/python/covey. It is left out where no python3
# has cffi and numpy; PYTHON names one.
PYTHON ?= $(shell for p in python3 /usr/bin/python3; do \
	$$p -c 'import cffi, numpy, pycparser, sysconfig; open(sysconfig.get_path("include") + "/Python.h")' 2>/dev/null && echo $$p && break; done)
PYTHON_SRC := $(wildcard lib/python/covey/*.py lib/python/covey/*/*.py lib/python/covey/py.typed)
PYTHON_QUICK := $(if $(PYTHON),$(shell $(PYTHON) -c 'import sys; print("_quick" if sys.version_info >= (3, 11) else "")'))
PYTHON_MODULES := _covey$(if $(DOMAIN_ROOMS), _domain) $(PYTHON_QUICK)
PYTHONDIR ?= $(if $(PYTHON),$(shell $(PYTHON) -c 'import sys; v = sys.version_info; p = sys.argv[1]; \
	print(p + ("/lib/python3" if p == "/usr" else f"/lib/python{v[0]}.{v[1]}") + "/dist-packages")' $(PREFIX)))

# What covey.h declares is read by Python's pycparser; of that the modules for Fortran and the header for C++ are made.
# Each is left out where its compiler, or that reader, is missing.
DECLARING ?= $(shell for p in python3 /usr/bin/python3; do $$p -B -c 'import pycparser' 2>/dev/null && echo $$p && break; done)
GFORTRAN ?= $(shell command -v gfortran)
HAS_FORTRAN := $(and $(DECLARING),$(GFORTRAN),yes)
HAS_CXX := $(if $(DECLARING),yes)

# The package for R: left out where there is no R, which knows nothing of sanitizers either.
R ?= $(shell command -v R)
HAS_R := $(if $(SANITIZE),,$(R))
RDIR ?= $(LIBDIR)/R/site-library

objects = $(patsubst %.c,$(BUILD)/obj/%.o,$(filter %.c,$(1)))

# covey-sniff alone captures, with libpcap
DAEMON_LIBS := -lev -lsodium -linih -lpthread -lm
HELPER_LIBS := $(DAEMON_LIBS) -lpcap
LIB_LIBS := -lsodium -lpthread -lm
DOMAIN_LIBS := $(shell cat /dev/null $(wildcard $(DOMAIN_ROOMS:%=lib/domain/%/libs))) -lpthread -lm
TOOLS_LIBS := -ledit -lncurses -ljansson -lzstd -lm

# V=1 shows the commands, otherwise one line says what is made
Q := $(if $(filter 1,$(V)),,@)
say = $(if $(Q),@printf '%-8s %s\n' $(1) $@)

define newline


endef

.DEFAULT_GOAL := all
.DELETE_ON_ERROR:
.SECONDARY:
MAKEFLAGS += --no-builtin-rules

##@ Building
PVM3_SCRIPTS := $(notdir $(wildcard lib/pvm3/bin/*))
PVM3_PROGRAMS := $(BUILD)/pvm3/pvm $(PVM3_SCRIPTS:%=$(BUILD)/pvm3/%)
PVM3_ARCH := $(shell lib/pvm3/bin/pvmgetarch)
PVM3_CONF := $(patsubst lib/pvm3/conf/arch.%,$(BUILD)/pvm3/conf/$(PVM3_ARCH).%,$(wildcard lib/pvm3/conf/arch.*))
.PHONY: all lib domain pvm3 daemon tools apps wireshark python fortran cxx r
all: lib domain pvm3 daemon tools apps wireshark python fortran cxx r ## build everything that is installed
lib: $(BUILD)/libcovey.a $(BUILD)/libcovey.so ## build the task library alone
domain: $(BUILD)/libcovey_domain.a $(BUILD)/libcovey_domain.so $(BUILD)/covey-domain-worker ## build the library of solvers alone
	$(foreach r,$(DOMAIN_MISSING),@echo "libcovey_domain goes without $(r): $$(cat lib/domain/$(r)/needs) is not found"$(newline)	)
pvm3: $(foreach l,libpvm3 libgpvm3 libfpvm3,$(BUILD)/pvm3/$(l).so $(BUILD)/pvm3/$(l).a) $(PVM3_PROGRAMS) $(PVM3_CONF) $(BUILD)/pvm3/include ## build what programs of PVM 3 need alone
daemon: $(BUILD)/coveyd $(HELPERS) ## build coveyd alone, and the programs beside it
tools: $(BUILD)/covey $(BUILD)/covey-bench $(BUILD)/covey-solvers ## build the console alone, the tasks of covey bench, and what knows the solvers
apps: $(APP_NAMES:%=$(BUILD)/apps/%) ## build the demo programs alone
	$(foreach a,$(APP_MISSING),@echo "apps go without $(a): $$(cat apps/$(a)/needs) is not found"$(newline)	)
python: $(if $(PYTHON),$(BUILD)/covey-map $(PYTHON_MODULES:%=$(BUILD)/python/covey/%.abi3.so) $(PYTHON_SRC:lib/python/%=$(BUILD)/python/%)) ## build the package for Python alone: PYTHONPATH=build/python
	$(if $(PYTHON),,@echo "Python goes without Covey: python3-dev, python3-cffi or python3-numpy is not found")
fortran: $(if $(HAS_FORTRAN),$(BUILD)/libcovey_fortran.a $(BUILD)/libcovey_fortran.so) ## build the modules for Fortran alone
	$(if $(HAS_FORTRAN),,@echo "Fortran goes without Covey: gfortran or python3-pycparser is not found")
cxx: $(if $(HAS_CXX),$(BUILD)/cxx/covey.hpp) ## make the header for C++ alone
	$(if $(HAS_CXX),,@echo "C++ goes with covey.h alone: python3-pycparser is not found")
r: $(if $(HAS_R),$(BUILD)/r/covey/DESCRIPTION) ## build the package for R alone: R_LIBS=build/r
	$(if $(HAS_R),,@echo "R goes without Covey: R is not found")
wireshark: $(BUILD)/covey.lua ## make the dissector for Wireshark alone

$(BUILD)/obj/%.o: %.c | $(BUILD)/deps.ok
	@mkdir -p $(@D)
	$(call say,cc)
	$(Q)$(CC) $(ALL_CFLAGS) -c -o $@ $<

# a missing package is named at once, not by the first header that is not found
$(BUILD)/deps.ok: scripts/deps.sh
	@mkdir -p $(@D)
	@scripts/deps.sh require build
	@touch $@

# what the compiler does not see that this one embeds
TEMPLATES := $(wildcard lib/schedule/template/*.c)
$(BUILD)/obj/lib/schedule/schedule_code.o: $(TEMPLATES)
$(BUILD)/obj/tools/trace/to_html.o: tools/trace/page/page.html
$(BUILD)/obj/tools/web/web_server.o: tools/web/page/page.html
$(BUILD)/obj/tools/console/cmd_completion.o: $(wildcard share/completion/*)

# loops over the elements of arrays: several at once
$(BUILD)/obj/lib/collective/op.o $(call objects,$(addprefix lib/domain/,grid/sum.c grid/field.c poisson/kernel.c poisson/transfer.c)): ALL_CFLAGS += -O3

# The names that these headers declare are the only ones that leave the library: the shared library by
# a version script, the static one as a single object in which all others are local.
$(BUILD)/covey.names: $(PUBLIC_H) scripts/public-names.sh
	@mkdir -p $(@D)
	@scripts/public-names.sh $(PUBLIC_H) >$@

$(BUILD)/covey.map: $(BUILD)/covey.names
	@{ echo "COVEY_$(SOVERSION) {"; echo "global:"; sed 's/$$/;/' $<; echo "local: *;"; echo "};"; } >$@

# proto/http is for servers alone, and proto/class for the console
LIB_OBJ := $(call objects,$(LIB_SRC) $(filter-out proto/http/% proto/class/%,$(PROTO_SRC)))

$(BUILD)/libcovey.a: $(LIB_OBJ) $(BUILD)/covey.names
	$(call say,ar)
	$(Q)$(CC) -r -nostdlib -o $(BUILD)/covey.o $(LIB_OBJ)
	$(Q)$(OBJCOPY) --keep-global-symbols=$(BUILD)/covey.names $(BUILD)/covey.o
	@rm -f $@
	$(Q)$(AR) rcs $@ $(BUILD)/covey.o

$(BUILD)/libcovey.so.$(VERSION): $(LIB_OBJ) $(BUILD)/covey.map
	$(call say,ld)
	$(Q)$(CC) $(ALL_LDFLAGS) -shared -Wl,-soname,libcovey.so.$(SOVERSION) \
		-Wl,--version-script=$(BUILD)/covey.map -o $@ $(LIB_OBJ) $(LIB_LIBS)

$(BUILD)/libcovey.so: $(BUILD)/libcovey.so.$(VERSION)
	@ln -sf libcovey.so.$(VERSION) $(BUILD)/libcovey.so.$(SOVERSION)
	@ln -sf libcovey.so.$(SOVERSION) $@

# The same for the solvers, whose names are those that their headers declare. A package that was installed
# since the last build brings rooms that this library then has, too.
.PHONY: always
always:
$(BUILD)/domain.rooms: always
	@mkdir -p $(@D)
	@echo $(DOMAIN_ROOMS) | cmp -s - $@ || echo $(DOMAIN_ROOMS) >$@

$(BUILD)/domain.names: $(DOMAIN_H) scripts/public-names.sh $(BUILD)/domain.rooms
	@mkdir -p $(@D)
	@scripts/public-names.sh $(wildcard $(DOMAIN_ROOMS:%=lib/domain/covey_domain/%.h)) >$@

$(BUILD)/domain.map: $(BUILD)/domain.names
	@{ echo "COVEY_DOMAIN_$(SOVERSION) {"; echo "global:"; sed 's/$$/;/' $<; echo "local: *;"; echo "};"; } >$@

# to libcovey beside it
DOMAIN_RPATH ?= -Wl,-rpath,'$$ORIGIN'
DOMAIN_OBJ := $(call objects,$(DOMAIN_SRC))

$(BUILD)/libcovey_domain.a: $(DOMAIN_OBJ) $(BUILD)/domain.names
	$(call say,ar)
	$(Q)$(CC) -r -nostdlib -o $(BUILD)/covey_domain.o $(DOMAIN_OBJ)
	$(Q)$(OBJCOPY) --keep-global-symbols=$(BUILD)/domain.names $(BUILD)/covey_domain.o
	@rm -f $@
	$(Q)$(AR) rcs $@ $(BUILD)/covey_domain.o

$(BUILD)/libcovey_domain.so.$(VERSION): $(DOMAIN_OBJ) $(BUILD)/domain.map $(BUILD)/libcovey.so
	$(call say,ld)
	$(Q)$(CC) $(ALL_LDFLAGS) -shared -Wl,-soname,libcovey_domain.so.$(SOVERSION) \
		$(DOMAIN_RPATH) -Wl,--version-script=$(BUILD)/domain.map -o $@ $(DOMAIN_OBJ) $(BUILD)/libcovey.so $(DOMAIN_LIBS)

$(BUILD)/libcovey_domain.so: $(BUILD)/libcovey_domain.so.$(VERSION)
	@ln -sf libcovey_domain.so.$(VERSION) $(BUILD)/libcovey_domain.so.$(SOVERSION)
	@ln -sf libcovey_domain.so.$(SOVERSION) $@

# what those solvers start that a sequential program calls; it needs nothing of them where it runs
$(BUILD)/covey-domain-worker: $(call objects,lib/domain/door/worker/covey_domain_worker.c) $(BUILD)/libcovey_domain.a $(BUILD)/libcovey.a
	$(call say,ld)
	$(Q)$(CC) $(ALL_LDFLAGS) -o $@ $^ $(DOMAIN_LIBS) $(LIB_LIBS)
$(BUILD)/obj/lib/domain/door/worker/%.o: ALL_CFLAGS += -Ilib/domain

# Programs of PVM 3 find these by PVM's own sonames, in a folder of their own beside that of libcovey.
# Names that PVM's libraries export are the only ones that leave them, without a version as there.
PVM3_VERSION := 3.4.6
PVM3_SOVERSION := 3
# libcovey is above it, as built and as installed
PVM3_RPATH = '$$ORIGIN:$$ORIGIN/..:$$ORIGIN/../../..'
libgpvm3_src := $(wildcard lib/pvm3/groups/*.c)
libfpvm3_src := $(wildcard lib/pvm3/fortran/*.c)
pvm_src := $(wildcard lib/pvm3/console/*.c)
libpvm3_src := $(filter-out $(libgpvm3_src) $(libfpvm3_src) $(pvm_src),$(wildcard lib/pvm3/*/*.c))
libpvm3_names := pvm* lpvmerr
libgpvm3_names := pvm_* Pvm*
libfpvm3_names := pvm*_
libpvm3_needs := $(BUILD)/libcovey.so
libgpvm3_needs := $(BUILD)/pvm3/libpvm3.so $(BUILD)/libcovey.so
libfpvm3_needs := $(BUILD)/pvm3/libgpvm3.so $(libgpvm3_needs)
$(BUILD)/obj/lib/pvm3/%.o $(BUILD)/obj/tests/pvm3/%.o $(BUILD)/obj/tests/fuzz/pvm_fuzz.o: ALL_CFLAGS += -Ilib/pvm3/include

define pvm3_rule
$$(BUILD)/pvm3/$(1).map: Makefile
	@mkdir -p $$(@D)
	@echo "{ global: $$($(1)_names:%=%;) local: *; };" >$$@

$$(BUILD)/pvm3/$(1).so.$$(PVM3_VERSION): $$(call objects,$$($(1)_src)) $$(BUILD)/pvm3/$(1).map $$($(1)_needs)
	$$(call say,ld)
	$$(Q)$$(CC) $$(ALL_LDFLAGS) -shared -Wl,-soname,$(1).so.$$(PVM3_SOVERSION) -Wl,-rpath,$$(PVM3_RPATH) \
		-Wl,--version-script=$$(BUILD)/pvm3/$(1).map -o $$@ $$(filter %.o,$$^) $$($(1)_needs)

$$(BUILD)/pvm3/$(1).so: $$(BUILD)/pvm3/$(1).so.$$(PVM3_VERSION)
	@ln -sf $(1).so.$$(PVM3_VERSION) $$(BUILD)/pvm3/$(1).so.$$(PVM3_SOVERSION)
	@ln -sf $(1).so.$$(PVM3_SOVERSION) $$@

$$(BUILD)/pvm3/$(1).a: $$(call objects,$$($(1)_src))
	@mkdir -p $$(@D)
	$$(call say,ar)
	$$(Q)$$(CC) -r -nostdlib -o $$(BUILD)/pvm3/$(1).o $$^
	$$(Q)$$(OBJCOPY) --wildcard $$($(1)_names:%=--keep-global-symbol='%') $$(BUILD)/pvm3/$(1).o
	@rm -f $$@
	$$(Q)$$(AR) rcs $$@ $$(BUILD)/pvm3/$(1).o
endef
$(foreach l,libpvm3 libgpvm3 libfpvm3,$(eval $(call pvm3_rule,$(l))))

# PVM's programs beside them: the console, and what PVM's scripts call.
$(BUILD)/pvm3/pvm: $(call objects,$(pvm_src)) $(BUILD)/pvm3/libpvm3.so
	$(call say,ld)
	$(Q)$(CC) $(ALL_LDFLAGS) -o $@ $(filter %.o,$^) -Wl,-rpath,$(PVM3_RPATH) $(BUILD)/pvm3/libpvm3.so \
		-Wl,-rpath-link,$(BUILD)

$(PVM3_SCRIPTS:%=$(BUILD)/pvm3/%): $(BUILD)/pvm3/%: lib/pvm3/bin/%
	@mkdir -p $(@D)
	@install -m 755 $< $@

$(BUILD)/pvm3/conf/$(PVM3_ARCH).%: lib/pvm3/conf/arch.%
	@mkdir -p $(@D)
	@sed 's/@ARCH@/$(PVM3_ARCH)/' $< >$@

# with these links the folder is a $PVM_ROOT as it was built
$(BUILD)/pvm3/include:
	@mkdir -p $(@D)
	@for link in bin lib $(PVM3_ARCH); do ln -sfn . $(@D)/$$link || exit; done
	@ln -sfnr lib/pvm3/include $@

# Python's extensions: what the headers declare goes through cffi, which makes their sources. As built and as
# installed the libraries lie above them.
PYTHON_INCLUDE = $(shell $(PYTHON) -c 'import sysconfig; print(sysconfig.get_path("include"))')
PYTHON_RPATH := -Wl,-rpath,'$$ORIGIN/../..:$$ORIGIN/../../..'
DOMAIN_ROOM_H := $(DOMAIN_ROOMS:%=lib/domain/covey_domain/%.h)
$(BUILD)/python/_covey.json: $(PUBLIC_H) lib/python/fast.h scripts/declarations.py $(BUILD)/covey.names
	@mkdir -p $(@D)
	$(call say,python)
	$(Q)scripts/public-names.sh lib/python/fast.h | cat $(BUILD)/covey.names - >$(@D)/covey.names
	$(Q)CC="$(CC)" $(PYTHON) scripts/declarations.py -I lib --names $(@D)/covey.names lib/covey.h lib/python/fast.h >$@

$(BUILD)/python/_domain.json: $(DOMAIN_H) $(BUILD)/python/_covey.json $(BUILD)/domain.names
	$(call say,python)
	$(Q)CC="$(CC)" $(PYTHON) scripts/declarations.py -I lib -I lib/domain --base $(BUILD)/python/_covey.json \
		--names $(BUILD)/domain.names $(wildcard $(DOMAIN_ROOM_H)) >$@

$(BUILD)/python/_covey.c: $(BUILD)/python/_covey.json lib/python/extension.py
	$(Q)$(PYTHON) lib/python/extension.py $@ covey._covey lib/python/fast.h $<
$(BUILD)/python/_domain.c: $(BUILD)/python/_domain.json lib/python/extension.py
	$(Q)$(PYTHON) lib/python/extension.py $@ covey._domain "$(wildcard $(DOMAIN_ROOM_H))" $< covey._covey $(BUILD)/python/_covey.json

$(BUILD)/python/covey/_covey.abi3.so: $(call objects,lib/python/fast.c) $(BUILD)/libcovey.so
$(BUILD)/python/covey/_domain.abi3.so: $(BUILD)/libcovey_domain.so $(BUILD)/libcovey.so
$(BUILD)/python/covey/_quick.abi3.so: $(BUILD)/libcovey.so
$(BUILD)/python/_quick.c: lib/python/quick.c
	@mkdir -p $(@D)
	@cp $< $@
$(BUILD)/python/covey/%.abi3.so: $(BUILD)/python/%.c
	@mkdir -p $(@D)
	$(call say,ld)
	$(Q)$(CC) -D_GNU_SOURCE -I. -Ilib -Ilib/domain -I$(PYTHON_INCLUDE) $(CFLAGS) $(SANITIZE) -w -fPIC $(ALL_LDFLAGS) \
		-shared $(PYTHON_RPATH) -o $@ $(filter %.c %.o %.so,$^)

# what the console runs for covey map
covey_map = printf '\043!/bin/sh\nPYTHONPATH=%s$${PYTHONPATH:+:$$PYTHONPATH} exec %s -m covey map "$$@"\n' $(1) $(PYTHON)
$(BUILD)/covey-map: Makefile
	@mkdir -p $(@D)
	@$(call covey_map,$(abspath $(BUILD))/python) >$@ && chmod 755 $@

# links, so that what is edited counts at once
$(BUILD)/python/covey/%: lib/python/covey/%
	@mkdir -p $(@D)
	@ln -sfnr $< $@

# What covey.h declares, and what is made of it for other languages.
$(BUILD)/covey.json: $(PUBLIC_H) scripts/declarations.py $(BUILD)/covey.names
	$(call say,json)
	$(Q)CC="$(CC)" $(DECLARING) -B scripts/declarations.py -I lib --names $(BUILD)/covey.names lib/covey.h >$@

$(BUILD)/cxx/covey.hpp: $(BUILD)/covey.json lib/cxx/covey.hpp.in scripts/cxx.py scripts/calls.py
	@mkdir -p $(@D)
	$(call say,c++)
	$(Q)$(DECLARING) -B scripts/cxx.py $< lib/cxx/covey.hpp.in $@

# A module needs the .mod files of those before it: all are compiled in one rule, in their order.
FORTRAN_FLAGS := -std=f2018 -Wall -Wextra -O2 -g -fPIC $(SANITIZE)
FORTRAN_MODULES := covey_types covey_texts covey_c covey
$(BUILD)/fortran/covey.ok: $(BUILD)/covey.json lib/fortran/texts.f90 lib/fortran/arrays.h scripts/fortran.py scripts/fortran_arrays.py scripts/calls.py
	@mkdir -p $(@D)
	$(call say,fortran)
	$(Q)$(DECLARING) -B scripts/fortran.py $< $(@D)
	$(Q)cp lib/fortran/texts.f90 $(@D)/covey_texts.f90
	$(Q)cd $(@D) && for m in $(FORTRAN_MODULES); do $(GFORTRAN) $(FORTRAN_FLAGS) -c $$m.f90 || exit; done
	$(Q)$(CC) $(ALL_CFLAGS) -c -o $(@D)/arrays_calls.o $(@D)/arrays_calls.c
	@touch $@
FORTRAN_OBJ := $(FORTRAN_MODULES:%=$(BUILD)/fortran/%.o) $(BUILD)/fortran/arrays_calls.o
$(FORTRAN_OBJ): $(BUILD)/fortran/covey.ok ;

$(BUILD)/libcovey_fortran.a: $(FORTRAN_OBJ) $(call objects,lib/fortran/arrays.c)
	$(call say,ar)
	@rm -f $@
	$(Q)$(AR) rcs $@ $^

$(BUILD)/libcovey_fortran.so.$(VERSION): $(FORTRAN_OBJ) $(call objects,lib/fortran/arrays.c) $(BUILD)/libcovey.so
	$(call say,ld)
	$(Q)$(GFORTRAN) $(LDFLAGS) $(SANITIZE) -shared -Wl,-soname,libcovey_fortran.so.$(SOVERSION) -Wl,-rpath,'$$ORIGIN' \
		-o $@ $^

$(BUILD)/libcovey_fortran.so: $(BUILD)/libcovey_fortran.so.$(VERSION)
	@ln -sf libcovey_fortran.so.$(VERSION) $(BUILD)/libcovey_fortran.so.$(SOVERSION)
	@ln -sf libcovey_fortran.so.$(SOVERSION) $@

# R compiles a package in its own folder: a copy. As built and as installed it finds libcovey from where it lies.
$(BUILD)/r/covey/DESCRIPTION: lib/r/DESCRIPTION lib/r/NAMESPACE lib/r/R/cluster.R lib/r/glue.c $(PUBLIC_H) $(BUILD)/libcovey.so
	@rm -rf $(BUILD)/r && mkdir -p $(BUILD)/r/source/src
	$(call say,R)
	$(Q)cp -r lib/r/NAMESPACE lib/r/R $(BUILD)/r/source && cp lib/r/glue.c $(BUILD)/r/source/src
	$(Q)sed 's/^Version: .*/Version: $(VERSION)/' lib/r/DESCRIPTION >$(BUILD)/r/source/DESCRIPTION
	$(Q)printf '%s\n' 'PKG_CPPFLAGS = -I$(abspath lib)' "PKG_LIBS = -L$(abspath $(BUILD)) -lcovey '-Wl,-rpath,\$$\$$ORIGIN/../../..' '-Wl,-rpath,\$$\$$ORIGIN/../../../..'" \
		>$(BUILD)/r/source/src/Makevars
	$(Q)MAKEFLAGS= $(R) CMD INSTALL --no-docs --no-test-load --library=$(BUILD)/r $(BUILD)/r/source >$(BUILD)/r/said 2>&1 || { cat $(BUILD)/r/said >&2; exit 1; }
	@rm -rf $(BUILD)/r/source

# COVEYD: one that is built, which is taken with the programs beside it
ifdef COVEYD
.PHONY: $(BUILD)/coveyd $(HELPERS)
$(BUILD)/coveyd $(HELPERS):
	@mkdir -p $(@D)
	@ln -f $(dir $(COVEYD))$(@F) $@
else
$(BUILD)/coveyd: $(call objects,$(DAEMON_SRC) $(DAEMON_LIB_SRC) $(filter-out proto/class/%,$(PROTO_SRC)))
	$(call say,ld)
	$(Q)$(CC) $(ALL_LDFLAGS) -o $@ $^ $(DAEMON_LIBS)

# of the archive and of the libraries each takes what it uses
$(BUILD)/helpers.a: $(call objects,$(HELPER_LIB_SRC) $(PROTO_SRC))
	$(call say,ar)
	@rm -f $@
	$(Q)$(AR) qcs $@ $^

define helper_rule
$$(BUILD)/$(call helper_name,$(1)): $$(call objects,$(1)) $$(BUILD)/helpers.a
	$$(call say,ld)
	$$(Q)$$(CC) $$(ALL_LDFLAGS) -o $$@ $$^ -Wl,--as-needed $$(HELPER_LIBS)
endef
$(foreach m,$(HELPER_MAINS),$(eval $(call helper_rule,$(m))))
endif

# the cursor and the form of records are in libcovey, where their names are nobody else's
$(BUILD)/covey: $(call objects,$(TOOLS_SRC) proto/wire/cursor.c proto/trace/trace_pack.c $(wildcard proto/http/*.c proto/class/*.c)) $(BUILD)/libcovey.a
	$(call say,ld)
	$(Q)$(CC) $(ALL_LDFLAGS) -o $@ $^ $(LIB_LIBS) $(TOOLS_LIBS)

$(BUILD)/covey-solvers: $(call objects,$(SOLVERS_SRC)) $(BUILD)/libcovey_domain.a $(BUILD)/libcovey.a
	$(call say,ld)
	$(Q)$(CC) $(ALL_LDFLAGS) -o $@ $^ $(DOMAIN_LIBS) $(LIB_LIBS)

$(BUILD)/covey-bench: $(call objects,$(BENCH_SRC)) $(BUILD)/libcovey.a
	$(call say,ld)
	$(Q)$(CC) $(ALL_LDFLAGS) -o $@ $^ $(LIB_LIBS)

# the tables of the wire become Lua by the C preprocessor: no kind is written down twice
$(BUILD)/covey.lua: share/wireshark/kinds.h share/wireshark/dissector.lua $(wildcard proto/*/*.h)
	@mkdir -p $(@D)
	$(call say,lua)
	$(Q){ echo "-- Made by make wireshark of the tables in proto/ and of share/wireshark/dissector.lua." && \
		$(CC) -E -P $(COMMON_CFLAGS) -x c share/wireshark/kinds.h | sed '1,/^LUA/d' && \
		cat share/wireshark/dissector.lua; } >$@

# one folder below apps/ a program; apps/NAME/libs names what it links besides libcovey: libcovey-domain is the
# library of solvers with all that it needs. They are not beside covey: who has that folder in PATH would get another
# sort than the system's.
define app_rule
apps/$(1)_libs := $$(shell cat apps/$(1)/libs 2>/dev/null)
$$(BUILD)/apps/$(1): $$(call objects,$$(wildcard apps/$(1)/*.c) $$(wildcard apps/*.c)) $$(BUILD)/libcovey.a \
		$$(if $$(filter libcovey-domain,$$(apps/$(1)_libs)),$$(BUILD)/libcovey_domain.a)
	@mkdir -p $$(@D)
	@rm -f $$(BUILD)/$(1) # where it was once
	$$(call say,ld)
	$$(Q)$$(CC) $$(ALL_LDFLAGS) -o $$@ $$(filter %.o,$$^) $$(call link_libs,libcovey $$(apps/$(1)_libs))
endef
$(foreach a,$(APP_NAMES),$(eval $(call app_rule,$(a))))

# ---- Tests ---------------------------------------------------------------------------------

# A source below tests/ whose first line is
#   /* links: proto/window/*.c proto/wire/cursor.c -lfoo */
# is a program of its own that links these files and libraries, CUnit and tests/unit/runner.c, and
# nothing else. The word libcovey stands for the whole static library, libcovey-sources for its files.
# libcovey-domain is the static library of the solvers with all that it needs.
# tests/conformance/ROOM.c, ROOM_*.c and tests/bench/ROOM_*.c go with lib/domain/ROOM.
TEST_SRC := $(filter-out $(DOMAIN_MISSING:%=tests/conformance/%.c) $(wildcard $(DOMAIN_MISSING:%=tests/conformance/%_*.c)) $(wildcard $(DOMAIN_MISSING:%=tests/bench/%_*.c)),$(wildcard tests/*/*.c tests/unit/*/*.c tests/unit/*/*/*.c))
LINKED := $(shell grep -lsE '^/\* links:.*\*/$$' /dev/null $(TEST_SRC))
TEST_PROGRAMS := $(patsubst %.c,%,$(filter-out tests/fuzz/%,$(LINKED)))
FUZZERS := $(patsubst %.c,%,$(filter tests/fuzz/%_fuzz.c,$(LINKED)))
links = $(foreach w,$(shell sed -n '1s|^/\* links:\(.*\)\*/$$|\1|p' $(1)),$(if $(filter libcovey-sources,$(w)),$(LIB_SRC) $(PROTO_SRC),$(or $(wildcard $(w)),$(w))))
link_libs = $(if $(filter libcovey-domain,$(1)),$(BUILD)/libcovey_domain.a $(BUILD)/libcovey.a $(DOMAIN_LIBS) $(LIB_LIBS)) \
	$(if $(filter libcovey,$(1)),$(BUILD)/libcovey.a $(LIB_LIBS)) $(filter -l%,$(1))

define test_rule
$(1)_links := $$(call links,$(1).c)
$$(BUILD)/$(1): $$(call objects,$(1).c tests/unit/runner.c $$($(1)_links)) \
		$$(if $$(filter libcovey libcovey-domain,$$($(1)_links)),$$(BUILD)/libcovey.a) \
		$$(if $$(filter libcovey-domain,$$($(1)_links)),$$(BUILD)/libcovey_domain.a) | $$(BUILD)/test-deps.ok
	@mkdir -p $$(@D)
	$$(call say,ld)
	$$(Q)$$(CC) $$(ALL_LDFLAGS) -o $$@ $$(filter %.o,$$^) $$(call link_libs,$$($(1)_links)) \
		-lcunit -lsodium -lpthread -lm
endef
$(foreach t,$(TEST_PROGRAMS),$(eval $(call test_rule,$(t))))

# Programs in Fortran and C++, which call covey.h by these languages' own modules and header.
FORTRAN_TESTS := $(if $(HAS_FORTRAN),$(patsubst %.f90,%,$(filter-out tests/fortran/report.f90,$(wildcard tests/fortran/*.f90))))
CXX_TESTS := $(if $(and $(HAS_CXX),$(shell command -v $(CXX))),$(patsubst %.cpp,%,$(wildcard tests/cxx/*.cpp)))
FORTRAN_TEST_FLAGS := -std=f2018 -Wall -Wextra -Werror -O0 -g $(SANITIZE) -I $(BUILD)/fortran -J $(BUILD)/tests/fortran
$(BUILD)/tests/fortran/report.o: tests/fortran/report.f90 $(BUILD)/fortran/covey.ok
	@mkdir -p $(@D)
	$(call say,fortran)
	$(Q)$(GFORTRAN) $(FORTRAN_TEST_FLAGS) -c -o $@ $<
$(FORTRAN_TESTS:%=$(BUILD)/%.o): $(BUILD)/%.o: %.f90 $(BUILD)/tests/fortran/report.o $(BUILD)/fortran/covey.ok
	$(call say,fortran)
	$(Q)$(GFORTRAN) $(FORTRAN_TEST_FLAGS) -c -o $@ $<
$(FORTRAN_TESTS:%=$(BUILD)/%): $(BUILD)/%: $(BUILD)/%.o $(BUILD)/tests/fortran/report.o $(BUILD)/libcovey_fortran.a $(BUILD)/libcovey.a
	$(call say,ld)
	$(Q)$(GFORTRAN) $(LDFLAGS) $(SANITIZE) -o $@ $^ $(LIB_LIBS)

CXX_FLAGS := -std=c++17 -D_GNU_SOURCE -Wall -Wextra -Werror -g -O0 $(SANITIZE) -I$(BUILD)/cxx -Ilib
$(CXX_TESTS:%=$(BUILD)/%.o): $(BUILD)/%.o: %.cpp $(BUILD)/cxx/covey.hpp $(wildcard tests/cxx/*.hpp)
	@mkdir -p $(@D)
	$(call say,c++)
	$(Q)$(CXX) $(CXX_FLAGS) -c -o $@ $<
$(CXX_TESTS:%=$(BUILD)/%): $(BUILD)/%: $(BUILD)/%.o $(BUILD)/libcovey.a
	$(call say,ld)
	$(Q)$(CXX) $(LDFLAGS) $(SANITIZE) -o $@ $^ $(LIB_LIBS)

# Programs of PVM 3, which run with our libraries and with PVM's own by library path alone.
PVM3_TESTS := $(patsubst %.c,%,$(wildcard tests/pvm3/*.c))
define pvm3_test_rule
$$(BUILD)/$(1): $$(call objects,$(1).c) $$(libgpvm3_needs) $$(BUILD)/pvm3/libgpvm3.so
	@mkdir -p $$(@D)
	$$(call say,ld)
	$$(Q)$$(CC) $$(ALL_LDFLAGS) -o $$@ $$(filter %.o,$$^) -L$$(BUILD)/pvm3 -lgpvm3 -lpvm3 \
		-Wl,--as-needed -L$$(BUILD) -lcovey -Wl,-rpath-link,$$(BUILD)/pvm3:$$(BUILD)
endef
$(foreach t,$(PVM3_TESTS),$(eval $(call pvm3_test_rule,$(t))))

# in `make check` a fuzzer only replays its seeds; `make fuzz` builds it with libFuzzer and searches
define replay_rule
$$(BUILD)/$(1): $$(call objects,$(1).c tests/fuzz/replay.c $$(call links,$(1).c))
	@mkdir -p $$(@D)
	$$(call say,ld)
	$$(Q)$$(CC) $$(ALL_LDFLAGS) -o $$@ $$^ $$(filter -l%,$$(call links,$(1).c)) -lsodium -lpthread -lm
endef
$(foreach f,$(FUZZERS),$(eval $(call replay_rule,$(f))))

$(BUILD)/obj/tests/%.o: | $(BUILD)/test-deps.ok
$(BUILD)/test-deps.ok: scripts/deps.sh
	@mkdir -p $(@D)
	@scripts/deps.sh require test
	@touch $@

# A test program waits or calls what it tests; only these compute themselves. Without optimization the
# others are compiled in a third of the time.
COMPUTING_TESTS := tests/sim/% tests/conformance/% tests/lab/% tests/bench/% \
	tests/unit/lib/link/% tests/unit/proto/exchange/% tests/unit/proto/schedule/%
$(call objects,$(filter-out $(COMPUTING_TESTS),$(TEST_SRC))): ALL_CFLAGS += -O0

COMPILED_SUITES := $(filter %_test.c,$(TEST_PROGRAMS:%=%.c)) $(FUZZERS:%=%.c)
# those of tests/portable need programs of another architecture: make check-portable
SHELL_SUITES := $(filter-out tests/portable/%,$(wildcard tests/*/*_test.sh))
# SUITE names some as make check prints them; a name that is none ends make, which says those near it
ifdef SUITE
NAMED_SUITES := $(shell set -f; scripts/suites.sh $(SUITE))
$(if $(filter-out 0,$(.SHELLSTATUS)),$(error SUITE names one that is none))
SUITES ?= $(NAMED_SUITES)
else
SUITES ?= $(COMPILED_SUITES) $(SHELL_SUITES)
endif

# a newcomer types no -j: then all processors build
JOBS = $(if $(findstring jobserver,$(MAKEFLAGS)),,-j$(shell nproc))

##@ Running and testing
.PHONY: demo check quick suites tests
demo: ## install what is missing, build, run the three demos on four virtual hosts
	@scripts/deps.sh install build
	@scripts/deps.sh install domain python || echo "Going on without what is missing."
	@$(MAKE) --no-print-directory $(JOBS) all
	@BUILD=$(BUILD) scripts/demo.sh

check: ## install what tests need, build, run every suite (SUITE="unit.window sim.vm" for some)
	@scripts/deps.sh install build test
	@scripts/deps.sh install domain python languages r || echo "Going on without what is missing."
	@$(MAKE) --no-print-directory $(JOBS) suites

quick: ## build and run in under a minute what is quick: engines alone and one virtual machine
	@scripts/deps.sh require build
	@scripts/deps.sh require test
	@$(MAKE) --no-print-directory $(JOBS) SUITES="$$(echo $$(scripts/suites.sh --quick))" suites

# suites that are programs alone need no other programs
suites: $(if $(filter-out tests/unit/% tests/sim/% tests/fuzz/%,$(SUITES)),all tests,$(SUITES:%.c=$(BUILD)/%))
	@BUILD=$(BUILD) SANITIZE="$(SANITIZE)" scripts/check.sh $(SUITES)

tests: $(TEST_PROGRAMS:%=$(BUILD)/%) $(FUZZERS:%=$(BUILD)/%) $(PVM3_TESTS:%=$(BUILD)/%) $(FORTRAN_TESTS:%=$(BUILD)/%) $(CXX_TESTS:%=$(BUILD)/%) $(call objects,$(TEMPLATES)) ## build the test programs without running them

# A suite that reads SOAK has a long form: thousands of kills, millions of datagrams. Its time is
# CHECK_TIMEOUT_FACTOR as long.
SOAK_SUITES := $(shell grep -lws SOAK $(COMPILED_SUITES) $(SHELL_SUITES) /dev/null)
soak: ## run the long form of the suites that have one (SUITE="..." for some)
	@scripts/deps.sh install build test
	@SOAK=1 $(MAKE) --no-print-directory $(JOBS) CHECK_TIMEOUT_FACTOR=30 \
		SUITES="$(if $(SUITE)$(filter-out file,$(origin SUITES)),$(SUITES),$(SOAK_SUITES))" suites

.PHONY: check-portable print-portable-suites
check-portable: ## test on big-endian and 32-bit processors under qemu (ARCHS="s390x arm64 armhf")
	@scripts/deps.sh install build test
	@$(MAKE) --no-print-directory $(JOBS) all $(BUILD)/tests/portable/exchange
	@BUILD=$(BUILD) scripts/check-portable.sh $(ARCHS)
print-portable-suites:
	@echo $(filter tests/unit/% tests/sim/% tests/fuzz/%,$(COMPILED_SUITES))

.PHONY: bench bench-programs fuzz asan tsan cover soak
# PVM's side of the comparison, where Debian's pvm-dev is installed; without it Covey is measured alone.
PVM_LOAD := $(if $(wildcard /usr/include/pvm3.h),$(BUILD)/tests/bench/pvm_load)
BENCHES := $(filter tests/bench/%_bench,$(TEST_PROGRAMS))
bench-programs: all $(BENCHES:%=$(BUILD)/%) $(BUILD)/tests/bench/covey_load $(PVM_LOAD)
bench: ## compare with PVM 3 in a lab of two hosts, as root (scripts/bench.sh --only PART for less)
	@scripts/deps.sh install build test
	@scripts/deps.sh install bench || echo "Going on without PVM."
	@$(MAKE) --no-print-directory $(JOBS) bench-programs
	@for bench in $(BENCHES:%=$(BUILD)/%); do $$bench || exit; done
	@BUILD=$(BUILD) scripts/bench.sh
	@[ ! -x "$(PVM_LOAD)" ] || BUILD=$(BUILD) scripts/bench.sh --drop-in --rounds 3

$(BUILD)/tests/bench/pvm_load: $(call objects,tests/bench/pvm_load.c tests/bench/load.c)
	@mkdir -p $(@D)
	$(call say,ld)
	$(Q)$(CC) $(ALL_LDFLAGS) -o $@ $^ -lgpvm3 -lpvm3

# Beside Open MPI and MPICH where they are installed.
.PHONY: bench-bag
bench-bag: all ## measure bags of work beside GNU parallel and an MPI master with workers
	@BUILD=$(BUILD) tests/bench/bag.sh

.PHONY: bench-trace
bench-trace: all $(BUILD)/tests/bench/trace_load $(BUILD)/tests/bench/trace_page ## measure what a trace costs: a ring of 8 tasks and a demo, without and with it; and its page in Chromium
	@BUILD=$(BUILD) tests/bench/trace.sh
	@! command -v chromium >/dev/null || BUILD=$(BUILD) tests/bench/trace_page.sh

.PHONY: bench-web
bench-web: all $(BUILD)/tests/tool/browse $(BUILD)/tests/tool/web_serve ## measure the live page: bytes a second of 100 hosts, and what an hour takes in Chromium
	@BUILD=$(BUILD) tests/bench/web.sh

.PHONY: bench-causes
bench-causes: all $(BUILD)/tests/tool/traced ## count how often covey trace --why names first what was made to be wrong, in labs as root (RUNS=3 CAUSES="link lock" for less)
	@BUILD=$(BUILD) tests/bench/trace_causes.sh

.PHONY: bench-libraries
bench-libraries: all $(BUILD)/tests/bench/choice_times ## measure the solvers: what is chosen beside all algorithms, under load, beside rivals; as root (PARTS="choice load rivals")
	@BUILD=$(BUILD) tests/bench/libraries.sh $(PARTS)

.PHONY: bench-ether
bench-ether: ## measure raw Ethernet beside tcp and udp in labs, as root
	@scripts/deps.sh install build test
	@$(MAKE) --no-print-directory $(JOBS) all
	@BUILD=$(BUILD) tests/bench/ether.sh

# OpenBLAS's oldest kernels: with its newest a fifth of a core is as fast as a whole workstation of the paper
.PHONY: bench-demos
bench-demos: ## measure the demos on 1, 2, 4 and 8 hosts by udp, tcp and raw Ethernet, draw it, as root (OUT=folder)
	@scripts/deps.sh install build test
	@$(MAKE) --no-print-directory $(JOBS) all
	@BUILD=$(BUILD) OPENBLAS_CORETYPE=PRESCOTT tests/lab/speedup.sh --size mandel=800x600 --size matmul=2400 \
		--size sort=1M --runs 3 --out $(or $(OUT),$(BUILD)/bench-demos)

.PHONY: bench-services
bench-services: all $(BUILD)/tests/bench/services_load ## measure services over raw Ethernet and over UDP in a lab, as root
	@BUILD=$(BUILD) tests/bench/ether.sh services

.PHONY: bench-ways
bench-ways: $(BUILD)/tests/bench/packet_ways ## measure the ways that Linux has for raw frames, without Covey, in a lab, as root
	@BUILD=$(BUILD) tests/bench/ether.sh ways

# programs of an MPI, each with every one that is installed: name, sources and headers, libraries
define mpi_rule
$$(BUILD)/tests/bench/$(1).%: $(2)
	@mkdir -p $$(@D)
	$$(call say,mpicc)
	$$(Q)mpicc.$$* $$(COMMON_CFLAGS) -O2 -o $$@ $$(filter %.c,$$^) $(3) -lm
endef

.PHONY: bench-alltoall bench-alltoall-programs
MPIS := $(foreach m,openmpi mpich,$(if $(wildcard /usr/bin/mpicc.$(m)),$(m)))
bench-alltoall-programs: all $(BUILD)/tests/bench/alltoall_covey $(MPIS:%=$(BUILD)/tests/bench/alltoall.%) $(BUILD)/tests/bench/patience.so
bench-alltoall: ## compare all-to-all with Open MPI and MPICH in labs, draw it (ROUNDS=1 SIZES="8 64" NETWORKS=c for less)
	@scripts/deps.sh install build
	@scripts/deps.sh install mpi || echo "Going on without what is missing."
	@$(MAKE) --no-print-directory $(JOBS) bench-alltoall-programs
	@BUILD=$(BUILD) tests/bench/alltoall.sh

$(eval $(call mpi_rule,alltoall,tests/bench/alltoall_mpi.c tests/bench/ranks_mpi.c tests/bench/alltoall_load.c tests/bench/alltoall_load.h tests/bench/ranks.h))

# The same for communication behind computation.
.PHONY: bench-overlap bench-overlap-programs
bench-overlap-programs: all $(MPIS:%=$(BUILD)/tests/bench/overlap.%)
bench-overlap: ## measure what a task hides of its communication, beside Open MPI and MPICH, in a lab of two hosts
	@scripts/deps.sh install build
	@scripts/deps.sh install mpi || echo "Going on without what is missing."
	@$(MAKE) --no-print-directory $(JOBS) bench-overlap-programs
	@BUILD=$(BUILD) tests/bench/overlap.sh

$(eval $(call mpi_rule,overlap,tests/bench/overlap_mpi.c tools/bench/tasks/work.h))

# And for calls one by one.
.PHONY: bench-mpi bench-mpi-programs
bench-mpi-programs: all $(BUILD)/tests/bench/beside_covey $(MPIS:%=$(BUILD)/tests/bench/beside.%)
bench-mpi: ## compare messages and collective calls with Open MPI and MPICH, as root on several hosts, too (ROUNDS=1 HOSTS=1 TASKS="2 4" for less)
	@scripts/deps.sh install build
	@scripts/deps.sh install mpi || echo "Going on without what is missing."
	@$(MAKE) --no-print-directory $(JOBS) bench-mpi-programs
	@BUILD=$(BUILD) tests/bench/beside.sh

$(eval $(call mpi_rule,beside,tests/bench/beside_mpi.c tests/bench/ranks_mpi.c tests/bench/beside_load.c tests/bench/beside_load.h tests/bench/ranks.h))

# And for both in Python, by mpi4py.
.PHONY: bench-python bench-python-programs
bench-python-programs: all $(BUILD)/tests/bench/beside_covey
bench-python: ## compare the package for Python with C and with mpi4py on Open MPI (ROUNDS=1 TASKS=2 WORKERS= for less)
	@scripts/deps.sh install build python
	@scripts/deps.sh install mpi || echo "Going on without what is missing."
	@$(MAKE) --no-print-directory $(JOBS) bench-python-programs
	@BUILD=$(BUILD) tests/bench/python.sh

# Poisson's equation beside PETSc, which Debian builds with Open MPI.
.PHONY: bench-poisson bench-poisson-programs
PETSC := $(if $(wildcard /usr/bin/mpicc.openmpi),$(shell pkg-config --exists petsc 2>/dev/null && echo $(BUILD)/tests/bench/poisson_petsc))
bench-poisson-programs: all $(BUILD)/tests/bench/poisson_covey $(PETSC)
bench-poisson: ## solve Poisson's equation beside PETSc, where it is installed (N=64 TASKS="1 2" for less)
	@scripts/deps.sh install build
	@$(MAKE) --no-print-directory $(JOBS) bench-poisson-programs
	@BUILD=$(BUILD) tests/bench/poisson.sh

$(BUILD)/tests/bench/poisson_petsc: tests/bench/poisson_petsc.c
	@mkdir -p $(@D)
	$(call say,mpicc)
	$(Q)mpicc.openmpi $(COMMON_CFLAGS) -O2 $$(pkg-config --cflags petsc) -o $@ $< $$(pkg-config --libs petsc) -lm

# Solvers beside others: FFTW's MPI of Debian is Open MPI's, ScaLAPACK is there for both.
.PHONY: bench-rivals bench-rivals-programs
FFTW_MPI := $(if $(and $(wildcard /usr/include/fftw3-mpi.h),$(filter openmpi,$(MPIS))),$(BUILD)/tests/bench/fourier.openmpi)
SCALAPACK := $(foreach m,$(MPIS),$(if $(wildcard /usr/lib/*/libscalapack-$(m).so.2.2),$(BUILD)/tests/bench/factor.$(m)))
bench-rivals-programs: all bench-poisson-programs $(if $(filter fourier,$(DOMAIN_ROOMS)),$(BUILD)/tests/bench/fourier_covey) \
	$(if $(filter dense,$(DOMAIN_ROOMS)),$(BUILD)/tests/bench/dense_factor_times $(BUILD)/tests/bench/dgemm_peak $(BUILD)/tests/bench/dense_covey) $(FFTW_MPI) $(SCALAPACK) $(BUILD)/tests/bench/patience.so
bench-rivals: ## measure the solvers beside HPL, ScaLAPACK, FFTW-MPI and PETSc, in labs as root (PARTS="linpack lab-fourier" TASKS=2 for less)
	@scripts/deps.sh install build
	@scripts/deps.sh install domain mpi rivals || echo "Going on without what is missing."
	@$(MAKE) --no-print-directory $(JOBS) bench-rivals-programs
	@BUILD=$(BUILD) tests/bench/libraries_rivals.sh

$(eval $(call mpi_rule,factor,tests/bench/factor_scalapack.c,-l:libscalapack-$$*.so.2.2 -lopenblas))
$(eval $(call mpi_rule,fourier,tests/bench/fourier_mpi.c,-lfftw3_mpi -lfftw3))

$(BUILD)/tests/bench/patience.so: tests/bench/patience.c
	@mkdir -p $(@D)
	$(call say,cc)
	$(Q)$(CC) $(COMMON_CFLAGS) -O2 -shared -fPIC -o $@ $< -ldl

FUZZ_SECONDS ?= 10
fuzz: $(FUZZERS:tests/fuzz/%=$(BUILD)/libfuzzer/%) ## search with each fuzzer for FUZZ_SECONDS (default 10)
	@BUILD=$(BUILD) scripts/fuzz.sh $(FUZZ_SECONDS) $(^F)

# the sources of a fuzzer are few: they are compiled anew, all in one command
define fuzz_rule
$$(BUILD)/libfuzzer/$(notdir $(1)): $(1).c $$(filter %.c,$$(call links,$(1).c)) $$(wildcard cipher/*.h proto/*/*.h lib/*/*.h) $$(PUBLIC_H)
	@scripts/deps.sh require lint
	@mkdir -p $$(@D)
	$$(call say,clang)
	$$(Q)clang $$(COMMON_CFLAGS) -Ilib/pvm3/include -O1 -g -fsanitize=fuzzer,address,undefined -fno-sanitize-recover=all \
		-o $$@ $$(filter %.c,$$^) $$(filter -l%,$$(call links,$(1).c)) -lsodium -lpthread -lm
endef
$(foreach f,$(FUZZERS),$(eval $(call fuzz_rule,$(f))))

# The suites of other builds: those of tests/install, tests/hygiene and tests/doc do not depend on the build.
RUN_SUITES = $(filter-out tests/install/% tests/hygiene/% tests/doc/%,$(SUITES))
ASAN_FLAGS := -fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer
ASAN_CFLAGS ?= -O1 -g
ASAN = BUILD=$(BUILD)/asan SANITIZE="$(ASAN_FLAGS)" CFLAGS="$(ASAN_CFLAGS)"
asan: ## build with the address and undefined-behaviour sanitizers and run the suites
	@$(MAKE) --no-print-directory $(JOBS) $(ASAN) CHECK_TIMEOUT_FACTOR=5 SUITES="$(RUN_SUITES)" suites

# The engines of the simulator have no threads. coveyd has none either, and the thread sanitizer takes
# vfork() for fork(), so that no child could say why it did not execute: it is taken as it is.
tsan: $(BUILD)/coveyd $(HELPERS) ## build with the thread sanitizer and run the suites
	@$(MAKE) --no-print-directory $(JOBS) BUILD=$(BUILD)/tsan COVEYD=$< SANITIZE="-fsanitize=thread" CFLAGS="-O1 -g" \
		CHECK_TIMEOUT_FACTOR=5 SUITES="$(filter-out tests/sim/%,$(RUN_SUITES))" suites

cover: ## run the suites in a build that counts lines and print how many each file reaches
	@$(MAKE) --no-print-directory $(JOBS) BUILD=$(BUILD)/cover CFLAGS="-O0 -g --coverage -fprofile-update=atomic" \
		LDFLAGS=--coverage CHECK_TIMEOUT_FACTOR=3 SUITES="$(RUN_SUITES)" suites
	@scripts/cover.sh $(BUILD)/cover

export CHECK_TIMEOUT_FACTOR

##@ Looking at the source
.PHONY: lint format format-check layers metrics
ALL_C := $(TEMPLATES) $(wildcard cipher/*.c proto/*/*.c lib/*/*.c lib/pvm3/*/*.c lib/domain/*/*.c lib/domain/door/worker/*.c daemon/*/*.c tools/*/*.c tools/bench/tasks/*.c apps/*.c apps/*/*.c share/lessons/*.c) $(TEST_SRC)
ALL_C_DIRS = $(sort $(dir $(ALL_C)) lib/pvm3/include/ lib/domain/ lib/domain/covey_domain/)
ALL_CXX := $(wildcard tests/cxx/*.cpp tests/cxx/*.hpp share/examples/cxx/*.cpp)
ALL_H = $(filter-out %/fpvm3.h,$(PUBLIC_H) $(wildcard $(ALL_C_DIRS:%=%*.h)))

# what needs other headers than ours
FOREIGN_C := lib/fortran/arrays.c $(wildcard share/lessons/*.c) lib/r/glue.c lib/python/quick.c $(if $(PVM_LOAD),,tests/bench/pvm_load.c) $(wildcard $(DOMAIN_MISSING:%=lib/domain/%/*.c) $(APP_MISSING:%=apps/%/*.c)) tests/bench/alltoall_mpi.c tests/bench/bag_mpi.c tests/bench/beside_mpi.c tests/bench/factor_scalapack.c tests/bench/fourier_mpi.c tests/bench/overlap_mpi.c tests/bench/ranks_mpi.c tests/bench/poisson_petsc.c $(wildcard tests/mpi/*.c)
LINTED = $(filter-out $(FOREIGN_C),$(ALL_C))
lint: ## run clang-tidy on what changed since it was last clean, two files at once
	@scripts/deps.sh require lint
	@$(MAKE) --no-print-directory -k -j2 $(LINTED:%.c=$(BUILD)/lint/%.ok)

# MPI decides how many parameters a template has
$(TEMPLATES:%.c=$(BUILD)/lint/%.ok): TIDY_FLAGS = --checks=-readability-function-size
$(BUILD)/lint/%.ok: %.c $(BUILD)/obj/%.o .clang-tidy
	@mkdir -p $(@D)
	@echo clang-tidy $<
	@clang-tidy --quiet $(TIDY_FLAGS) $< -- $(COMMON_CFLAGS) 2>/dev/null
	@touch $@

format: ## lay out all sources by .clang-format
	clang-format -i $(ALL_C) $(ALL_H) $(ALL_CXX)

format-check: ## say which sources .clang-format would change
	@clang-format --dry-run -Werror $(ALL_C) $(ALL_H) $(ALL_CXX)

layers: ## check which room uses which, by includes and by what is built, and where system interfaces stand
	@BUILD=$(BUILD) scripts/layers.sh && echo "the layers hold"

metrics: ## print how long the functions are
	@scripts/metrics.sh

##@ Installing
MAN_PAGES := $(wildcard $(foreach n,1 3 5 7 8,$(addsuffix /*.$(n),lib/* lib/domain/* daemon/* tools/* apps apps/* conf)))
EXAMPLE_FILES := $(wildcard share/examples/*/*)
# programs to copy, to read and to change: C and Python side by side
LESSONS := $(wildcard share/lessons/*) $(filter-out %/__init__.py,$(wildcard lib/python/covey/examples/*.py))
LESSONSDIR := $(DATADIR)/covey/lessons
CONF_FILES := $(shell find conf -type f ! -name '*.5' 2>/dev/null)

# in a folder that the loader does not know a program must be told where its library lies
RPATH := $(if $(filter /usr/lib /usr/local/lib,$(LIBDIR)),,-Wl,-rpath,$${libdir} )
# Raw Ethernet needs a capability. covey-raw has it, and who may execute that, the members of its group, has the route
# ether; all else works without. covey-sniff may inherit the capability: only root, and who is given it, may watch the wire.
RAW_GROUP ?= covey
RAW := $(LIBEXECDIR)/covey/covey-raw
SETCAP := PATH=$$PATH:/usr/sbin:/sbin setcap
NO_CAPABILITY := echo "covey-raw has no CAP_NET_RAW, and ordinary users no route ether; as root: setcap cap_net_raw+ep $(RAW)"
NO_GROUP := echo "covey-raw is root's alone, and ordinary users have no route ether: there is no group $(RAW_GROUP), see covey-raw(8)"
LDCONFIG := PATH=$$PATH:/usr/sbin:/sbin ldconfig

.PHONY: install uninstall
install: all ## install below PREFIX (default /usr/local), staged in DESTDIR
	install -d $(addprefix $(DESTDIR),$(BINDIR) $(LIBDIR)/pkgconfig $(LIBEXECDIR)/covey $(INCLUDEDIR)/covey $(INCLUDEDIR)/covey_domain $(MANDIR))
	install -m 755 $(wildcard $(BUILD)/coveyd $(BUILD)/covey) $(DESTDIR)$(BINDIR)
	install -m 755 $(BUILD)/covey-bench $(BUILD)/covey-solvers $(BUILD)/covey-domain-worker $(filter-out %/covey-raw,$(HELPERS)) $(APP_NAMES:%=$(BUILD)/apps/%) \
		$(DESTDIR)$(LIBEXECDIR)/covey
	install -m 750 $(BUILD)/covey-raw $(DESTDIR)$(LIBEXECDIR)/covey
	@[ "$$(id -u)" != 0 ] || chgrp $(RAW_GROUP) $(DESTDIR)$(RAW) 2>/dev/null || $(NO_GROUP)
	@$(SETCAP) cap_net_raw+ep $(DESTDIR)$(RAW) 2>/dev/null || $(NO_CAPABILITY)
	@$(SETCAP) cap_net_raw+ei $(DESTDIR)$(LIBEXECDIR)/covey/covey-sniff 2>/dev/null || true
	install -m 644 lib/covey.h $(DESTDIR)$(INCLUDEDIR)
	install -m 644 $(filter lib/covey/%,$(PUBLIC_H)) $(DESTDIR)$(INCLUDEDIR)/covey
	install -m 644 lib/domain/covey_domain.h $(DESTDIR)$(INCLUDEDIR)
	install -m 644 $(filter lib/domain/covey_domain/%,$(DOMAIN_H)) $(DESTDIR)$(INCLUDEDIR)/covey_domain
	for l in libcovey libcovey_domain $(if $(HAS_FORTRAN),libcovey_fortran); do install -m 644 $(BUILD)/$$l.a $(DESTDIR)$(LIBDIR) && \
		install -m 755 $(BUILD)/$$l.so.$(VERSION) $(DESTDIR)$(LIBDIR) && \
		ln -sf $$l.so.$(VERSION) $(DESTDIR)$(LIBDIR)/$$l.so.$(SOVERSION) && \
		ln -sf $$l.so.$(SOVERSION) $(DESTDIR)$(LIBDIR)/$$l.so || exit; done
	$(if $(HAS_CXX),install -m 644 $(BUILD)/cxx/covey.hpp $(DESTDIR)$(INCLUDEDIR))
	$(if $(HAS_FORTRAN),install -d $(DESTDIR)$(INCLUDEDIR)/covey_fortran && \
		install -m 644 $(FORTRAN_MODULES:%=$(BUILD)/fortran/%.mod) $(DESTDIR)$(INCLUDEDIR)/covey_fortran)
	for p in covey covey-domain $(if $(HAS_FORTRAN),covey-fortran); do sed -e 's|@PREFIX@|$(PREFIX)|; s|@LIBDIR@|$(LIBDIR)|; s|@INCLUDEDIR@|$(INCLUDEDIR)|' \
		-e 's|@RPATH@|$(RPATH)|; s|@DOMAIN_LIBS_PRIVATE@|$(DOMAIN_LIBS)|' \
		-e 's|@VERSION@|$(VERSION)|; s|@LIBS_PRIVATE@|$(LIB_LIBS)|; s|@LESSONSDIR@|$(LESSONSDIR)|' $$p.pc.in \
		>$(DESTDIR)$(LIBDIR)/pkgconfig/$$p.pc || exit; done
	scripts/install-man.sh $(DESTDIR)$(MANDIR) $(MAN_PAGES)
	for file in $(CONF_FILES:conf/%=%); do \
		install -D -m 644 conf/$$file $(DESTDIR)$(DATADIR)/covey/$$file || exit; done
	for file in $(EXAMPLE_FILES:share/%=%); do \
		install -D -m 644 share/$$file $(DESTDIR)$(DATADIR)/covey/$$file || exit; done
	install -D -m 644 $(BUILD)/covey.lua $(DESTDIR)$(DATADIR)/covey/covey.lua
	install -d $(DESTDIR)$(LESSONSDIR)
	install -m 644 $(LESSONS) $(DESTDIR)$(LESSONSDIR)
	install -d $(DESTDIR)$(SYSTEMDUSERDIR)
	sed 's|@BINDIR@|$(BINDIR)|' share/systemd/covey@.service >$(DESTDIR)$(SYSTEMDUSERDIR)/covey@.service
	install -D -m 644 share/completion/covey.bash $(DESTDIR)$(BASHCOMPDIR)/covey
	install -D -m 644 share/completion/covey.zsh $(DESTDIR)$(ZSHCOMPDIR)/_covey
	install -D -m 644 share/completion/covey.fish $(DESTDIR)$(FISHCOMPDIR)/covey.fish
	install -d $(addprefix $(DESTDIR)$(PVM3DIR)/,bin conf include lib)
	install -m 644 lib/pvm3/include/*.h $(DESTDIR)$(PVM3DIR)/include
	install -m 644 $(PVM3_CONF) $(DESTDIR)$(PVM3DIR)/conf
	install -m 755 $(PVM3_PROGRAMS) $(DESTDIR)$(PVM3DIR)/lib
	$(if $(HAS_R),install -d $(DESTDIR)$(RDIR) && cp -r $(BUILD)/r/covey $(DESTDIR)$(RDIR))
	$(if $(PYTHON),install -d $(DESTDIR)$(PYTHONDIR)/covey && \
		for file in $(PYTHON_SRC:lib/python/%=%); do install -D -m 644 lib/python/$$file $(DESTDIR)$(PYTHONDIR)/$$file || exit; done && \
		install -m 644 $(PYTHON_MODULES:%=$(BUILD)/python/covey/%.abi3.so) $(DESTDIR)$(PYTHONDIR)/covey && \
		$(call covey_map,$(PYTHONDIR)) >$(DESTDIR)$(LIBEXECDIR)/covey/covey-map && chmod 755 $(DESTDIR)$(LIBEXECDIR)/covey/covey-map)
	for l in libpvm3 libgpvm3 libfpvm3; do install -m 644 $(BUILD)/pvm3/$$l.a $(DESTDIR)$(PVM3DIR)/lib && \
		install -m 755 $(BUILD)/pvm3/$$l.so.$(PVM3_VERSION) $(DESTDIR)$(PVM3DIR)/lib && \
		ln -sf $$l.so.$(PVM3_VERSION) $(DESTDIR)$(PVM3DIR)/lib/$$l.so.$(PVM3_SOVERSION) && \
		ln -sf $$l.so.$(PVM3_SOVERSION) $(DESTDIR)$(PVM3DIR)/lib/$$l.so || exit; done
	for p in $(notdir $(PVM3_PROGRAMS)); do ln -sf ../lib/$$p $(DESTDIR)$(PVM3DIR)/bin/$$p || exit; done
	for d in bin lib; do ln -sfn . $(DESTDIR)$(PVM3DIR)/$$d/$(PVM3_ARCH) || exit; done
	@[ -n "$(DESTDIR)" ] || $(LDCONFIG) 2>/dev/null || true # as root: the loader's list of libraries

.PHONY: doc
doc: ## make guides and manual pages into HTML, in $(BUILD)/doc/html/index.html
	@scripts/deps.sh install doc
	@doc/make-html.sh $(BUILD)/doc/html $(MAN_PAGES)
	@echo "$(BUILD)/doc/html/index.html"

# what an installation into an empty folder makes is what is removed
uninstall: ## remove what install put there (same PREFIX and DESTDIR)
	@rm -rf $(BUILD)/uninstall
	@$(MAKE) --no-print-directory install DESTDIR=$(abspath $(BUILD))/uninstall >/dev/null
	cd $(BUILD)/uninstall && find . ! -type d | cut -c2- | while read -r f; do rm -f "$(DESTDIR)$$f"; done
	$(if $(PYTHON),rm -rf $(addsuffix __pycache__,$(sort $(dir $(PYTHON_SRC:lib/python/%=$(DESTDIR)$(PYTHONDIR)/%)))) # what Python made of its modules)
	find $(addprefix $(DESTDIR),$(LIBEXECDIR)/covey $(INCLUDEDIR)/covey $(INCLUDEDIR)/covey_domain $(if $(HAS_FORTRAN),$(INCLUDEDIR)/covey_fortran) $(DATADIR)/covey $(PVM3DIR) $(if $(PYTHON),$(PYTHONDIR)/covey) $(if $(HAS_R),$(RDIR)/covey)) -depth -type d -empty -delete
	@rm -rf $(BUILD)/uninstall

.PHONY: dist deb check-package
dist: ## write the sources as $(BUILD)/covey-VERSION.tar.xz, the same bytes for the same commit
	@scripts/dist.sh $(VERSION) $(BUILD)

# from the archive, so that the sources that are packed are those that are built
DEB := $(BUILD)/deb
deb: dist ## build Debian packages of that archive, in $(BUILD)/deb
	@scripts/deps.sh require build domain doc deb
	@rm -rf $(DEB) && mkdir -p $(DEB)
	@tar -xf $(BUILD)/covey-$(VERSION).tar.xz -C $(DEB)
	cd $(DEB)/covey-$(VERSION) && env -u MAKEFLAGS -u MAKELEVEL -u MFLAGS -u BUILD DEB_BUILD_OPTIONS="parallel=$$(nproc) $(DEB_BUILD_OPTIONS)" dpkg-buildpackage -us -uc

check-package: ## build Debian packages, examine them by lintian, install, try and purge them in a Debian of their own, as root
	@scripts/deps.sh install build domain doc deb package
	@BUILD=$(BUILD) tests/install/package.sh

##@ Cleaning up
.PHONY: clean
clean: ## remove everything that was built
	rm -rf build

.PHONY: help
help: ## list the targets
	@awk -F ':.*## ' '/^##@/ { printf "\n%s\n", substr($$0, 5) } \
		/^[a-z][a-z-]*:.*## / { printf "  %-14s %s\n", $$1, $$2 }' Makefile

ifneq ($(filter-out help clean,$(or $(MAKECMDGOALS),all)),)
-include $(shell find $(BUILD)/obj -name '*.d' 2>/dev/null)
endif
