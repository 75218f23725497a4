# Where Luau and simdjson come from, and how they are compiled.
#
# Cargo fetches the pinned crates and is used for nothing else. `make LUAU_SRC=dir` compiles a Luau
# checkout instead, with the same flags. Two configurations: release, and san (ASan, UBSan and
# Luau's own asserts).
#
# Gives: LUAU_CXXFLAGS_<config>, LUAU_INCLUDES, SIMDJSON_SRC, ANALYZER_SRC, LUAU_VERSION, LUAU_OBJECTS_<config>.

include third_party/luau/abi.mk

# Written by the first build: the folders into which cargo unpacked the crates.
CRATES_MK := build/deps/crates.mk
include $(CRATES_MK)

# A cargo cache that was emptied or moved since then is filled again.
ifeq ($(and $(wildcard $(CRATE_luau0_src)/luau/VM),$(wildcard $(CRATE_simdjson_sys)/vendor),$(wildcard $(CRATE_luau_analyzer_sys)/luau)),)
$(CRATES_MK): FORCE
endif

$(CRATES_MK): third_party/luau/Cargo.toml third_party/luau/Cargo.lock tools/locate-crates
	@mkdir -p $(@D)
	@tools/locate-crates third_party/luau luau0-src simdjson-sys luau-analyzer-sys >$@.new && mv $@.new $@

# The Luau repository that holds the type checker, the conformance scripts and the official command line.
ANALYZER_SRC := $(CRATE_luau_analyzer_sys)/luau
PEERS_DIR := build/deps/luau-repository
$(PEERS_DIR): $(CRATES_MK)
	@ln -sfn '$(ANALYZER_SRC)' $@ && touch -h $@

LUAU_SRC ?= $(CRATE_luau0_src)/luau
SIMDJSON_SRC ?= $(CRATE_simdjson_sys)/vendor/simdjson

# "0.745" for the crate 0.23.0+luau745; a checkout is asked for its tag.
LUAU_VERSION := $(if $(findstring $(CRATE_luau0_src),$(LUAU_SRC)),0.$(lastword $(subst +luau, ,$(LUAU_SRC:/luau=))),$(or \
	$(shell git -C '$(LUAU_SRC)' describe --tags 2>/dev/null),unknown))

LUAU_PARTS := Ast Bytecode CodeGen Common Compiler Config Custom Inliner Require VM
LUAU_SOURCES := $(foreach part,$(LUAU_PARTS),$(wildcard $(LUAU_SRC)/$(part)/src/*.cpp))
ifneq ($(origin LUAU_SRC),file)
ifeq ($(filter %/lvmexecute.cpp,$(LUAU_SOURCES)),)
$(error LUAU_SRC=$(LUAU_SRC) is not a Luau checkout: it has no VM/src/lvmexecute.cpp)
endif
endif

LUAU_INCLUDES := $(addprefix -I,$(foreach part,$(LUAU_PARTS),$(wildcard $(LUAU_SRC)/$(part)/include)) \
	$(LUAU_SRC)/VM/src $(LUAU_SRC)/Bytecode/src)

SANITIZERS := -fsanitize=address,undefined
base_flags := -std=c++17 -fPIC -fno-math-errno $(LUAU_ABI)
# Without NDEBUG a release carries Luau's asserts: 1.2 to 1.8 times slower.
LUAU_CXXFLAGS_release := $(base_flags) -O2 -DNDEBUG
# Luau shifts negative masks to the left, which C++20 defines and every compiler does.
LUAU_CXXFLAGS_san := $(base_flags) -O1 -g -fno-omit-frame-pointer $(SANITIZERS) \
	-fno-sanitize=shift-base -fno-sanitize-recover=undefined -DLUAU_ENABLE_ASSERT

# Rules for one configuration $(1). The flags file is rewritten when compiler, flags or source folder
# change; cargo dates every unpacked file to 2006, so dates alone would keep stale objects. The .d files
# go with it: they name the sources of before, which may be gone.
define luau_rules
$(call record,build/obj/$(1)/luau.flags,$(CXX) $(LUAU_CXXFLAGS_$(1)) $(LUAU_SRC) $(SIMDJSON_SRC),find build/obj/$(1) -name '*.d' -delete)
LUAU_OBJECTS_$(1) := $(patsubst $(LUAU_SRC)/%.cpp,build/obj/$(1)/luau/%.o,$(LUAU_SOURCES)) build/obj/$(1)/simdjson.o

build/obj/$(1)/luau/%.o: $(LUAU_SRC)/%.cpp build/obj/$(1)/luau.flags
	@mkdir -p $$(@D)
	@echo "  [$(1)] luau/$$*.cpp"
	@$(CXX) $(LUAU_CXXFLAGS_$(1)) -w -MMD -MP $(LUAU_INCLUDES) -c $$< -o $$@

build/obj/$(1)/simdjson.o: $(SIMDJSON_SRC)/simdjson.cpp build/obj/$(1)/luau.flags
	@mkdir -p $$(@D)
	@echo "  [$(1)] simdjson.cpp"
	@$(CXX) $(LUAU_CXXFLAGS_$(1)) -w -MMD -MP -c $$< -o $$@
endef
$(foreach config,release san,$(eval $(call luau_rules,$(config))))
