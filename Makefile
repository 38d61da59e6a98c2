# Covey: `make help` lists the targets. Everything that is built goes below $(BUILD).

PREFIX ?= /usr/local
DESTDIR ?=
BUILD ?= build
CC ?= cc
VERSION := 0.1.0
SOVERSION := 0

WARNINGS := -Wall -Wextra -Wconversion -Wshadow -Wstrict-prototypes -Wmissing-prototypes
CFLAGS ?= -O2 -g
ALL_CFLAGS := -std=c17 -D_GNU_SOURCE $(WARNINGS) $(CFLAGS) $(SANITIZE) -fvisibility=hidden -fPIC \
	-MMD -MP -I. -Ilib
ALL_LDFLAGS := $(LDFLAGS) $(SANITIZE)

PROTO_SRC := $(wildcard proto/*.c)
LIB_SRC := $(wildcard lib/*.c)
DAEMON_SRC := $(wildcard daemon/*.c)
TOOLS_SRC := $(wildcard tools/*.c)
APP_NAMES := $(notdir $(patsubst %/,%,$(wildcard apps/*/)))
# what of lib/ the daemon shares: the sockets and rings that both ends need
DAEMON_LIB_SRC := lib/stream.c

objects = $(patsubst %.c,$(BUILD)/obj/%.o,$(1))

DAEMON_LIBS := -lev -lsodium
LIB_LIBS := -lsodium -lpthread
TOOLS_LIBS := -ledit -ljansson

.PHONY: all
all: lib daemon tools apps

.PHONY: lib daemon tools apps
lib: $(BUILD)/libcovey.a $(BUILD)/libcovey.so
daemon: $(BUILD)/coveyd
tools: $(BUILD)/covey
apps: $(APP_NAMES:%=$(BUILD)/%)

$(BUILD)/obj/%.o: %.c
	@mkdir -p $(@D)
	$(CC) $(ALL_CFLAGS) -c -o $@ $<

$(BUILD)/libcovey.a: $(call objects,$(LIB_SRC) $(PROTO_SRC))
	@rm -f $@
	$(AR) rcs $@ $^

$(BUILD)/libcovey.so: $(call objects,$(LIB_SRC) $(PROTO_SRC))
	$(CC) $(ALL_LDFLAGS) -shared -Wl,-soname,libcovey.so.$(SOVERSION) -o $@ $^ $(LIB_LIBS)
	ln -sf libcovey.so $(BUILD)/libcovey.so.$(SOVERSION)

$(BUILD)/coveyd: $(call objects,$(DAEMON_SRC) $(DAEMON_LIB_SRC) $(PROTO_SRC))
	$(CC) $(ALL_LDFLAGS) -o $@ $^ $(DAEMON_LIBS)

$(BUILD)/covey: $(call objects,$(TOOLS_SRC)) $(BUILD)/libcovey.a
	$(CC) $(ALL_LDFLAGS) -o $@ $^ $(LIB_LIBS) $(TOOLS_LIBS)

# one folder below apps/ a program; apps/NAME/libs names what it links besides libcovey
define app_rule
$$(BUILD)/$(1): $$(call objects,$$(wildcard apps/$(1)/*.c) $$(wildcard apps/*.c)) $$(BUILD)/libcovey.a
	$$(CC) $$(ALL_LDFLAGS) -o $$@ $$^ $$(LIB_LIBS) $$(shell cat apps/$(1)/libs 2>/dev/null)
endef
$(foreach a,$(APP_NAMES),$(eval $(call app_rule,$(a))))

# A unit or simulator test links only the files that its first line names:
#   /* links: proto/window.c proto/cursor.c */
UNIT_TESTS := $(patsubst tests/%.c,%,$(wildcard tests/unit/*_test.c tests/sim/*_test.c))
links = $(shell sed -n '1s|^/\* links: *\(.*\) \*/$$|\1|p' $(1))

define test_rule
$$(BUILD)/tests/$(1): $$(call objects,tests/$(1).c $$(call links,tests/$(1).c))
	@mkdir -p $$(@D)
	$$(CC) $$(ALL_LDFLAGS) -o $$@ $$^ -lcunit -lsodium -lpthread -lm
endef
$(foreach t,$(UNIT_TESTS),$(eval $(call test_rule,$(t))))

.PHONY: tests
tests: $(UNIT_TESTS:%=$(BUILD)/tests/%)

.PHONY: clean
clean:
	rm -rf build

-include $(shell find $(BUILD)/obj -name '*.d' 2>/dev/null)
