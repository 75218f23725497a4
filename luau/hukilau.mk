# Our C++ wrapper: its objects, the one static archive (wrapper, Luau and simdjson together), its tests.
#
# build/lib/libhukilau.a            release
# build/san/lib/libhukilau.a        ASan, UBSan, Luau's asserts
# build/test/<name>, build/san/test/<name>   one program for each luau/tests/*_test.{cpp,c}

HUKILAU_SOURCES := $(wildcard luau/src/*.cpp luau/src/*/*.cpp)
HUKILAU_HEADERS := $(wildcard luau/include/*.h)
NATIVE_TESTS := $(patsubst luau/tests/%,%,$(basename $(wildcard luau/tests/*_test.cpp luau/tests/*_test.c)))
ifneq ($(words $(NATIVE_TESTS)),$(words $(sort $(NATIVE_TESTS))))
$(error two files in luau/tests differ only in .c and .cpp: rename one, each becomes a program of that name)
endif

# Only CI turns warnings into errors: a newer compiler's new warning must not stop a user's build.
WERROR := $(if $(CI),-Werror)
# Luau's and simdjson's headers are system headers here, so the warnings stay about the wrapper; -MD
# instead of -MMD follows them all the same.
hukilau_flags = $(LUAU_CXXFLAGS_$(1)) -Wall -Wextra -Iluau/include -Iluau/src \
	-isystem $(SIMDJSON_SRC) $(LUAU_INCLUDES:-I%=-isystem %) '-DHK_LUAU_VERSION="$(LUAU_VERSION)"'

LIB_DIR_release := build/lib
LIB_DIR_san := build/san/lib
TEST_DIR_release := build/test
TEST_DIR_san := build/san/test

LINK_HUKILAU := -lhukilau

define hukilau_rules
$(call record,build/obj/$(1)/hukilau.flags,$(CXX) $(call hukilau_flags,$(1)))
HUKILAU_OBJECTS_$(1) := $(patsubst luau/src/%.cpp,build/obj/$(1)/hukilau/%.o,$(HUKILAU_SOURCES))
$$(call record,build/obj/$(1)/objects,$$(LUAU_OBJECTS_$(1)) $$(HUKILAU_OBJECTS_$(1)))

build/obj/$(1)/hukilau/%.o: luau/src/%.cpp build/obj/$(1)/hukilau.flags
	@mkdir -p $$(@D)
	@echo "  [$(1)] luau/src/$$*.cpp"
	@$(CXX) $(call hukilau_flags,$(1)) $(WERROR) -MD -MP -c $$< -o $$@

# The list of objects is a prerequisite: a deleted source must leave the archive. "q" and not "r",
# because members may share a file name.
$(LIB_DIR_$(1))/libhukilau.a: $$(LUAU_OBJECTS_$(1)) $$(HUKILAU_OBJECTS_$(1)) build/obj/$(1)/objects
	@mkdir -p $$(@D)
	@echo "  [$(1)] $$@"
	@rm -f $$@ && ar qcs $$@ @build/obj/$(1)/objects

# Go does not look into archives or at headers outside a package, so tools/go tells it this digest.
$(LIB_DIR_$(1))/libhukilau.id: $(LIB_DIR_$(1))/libhukilau.a
	@sha256sum $$< | cut -c1-16 >$$@

$(TEST_DIR_$(1))/obj/%.o: luau/tests/%.cpp build/obj/$(1)/hukilau.flags
	@mkdir -p $$(@D)
	@$(CXX) $(call hukilau_flags,$(1)) $(WERROR) -MD -MP -Iluau/tests -c $$< -o $$@

# Strict C11 and our header alone: what a host in C, Rust or Python sees.
$(TEST_DIR_$(1))/obj/%.o: luau/tests/%.c build/obj/$(1)/hukilau.flags
	@mkdir -p $$(@D)
	@$(CC) -std=c11 -O1 -g -Wall -Wextra -Wpedantic $(WERROR) $(if $(filter san,$(1)),$(SANITIZERS)) \
		-MMD -MP -Iluau/include -Iluau/tests -c $$< -o $$@

$(TEST_DIR_$(1))/%_test: $(TEST_DIR_$(1))/obj/%_test.o $(LIB_DIR_$(1))/libhukilau.a
	@echo "  [$(1)] $$@"
	@$(CXX) $(if $(filter san,$(1)),$(SANITIZERS)) $$(filter %.o,$$^) -o $$@ -L$(LIB_DIR_$(1)) $$(LINK_HUKILAU) -lm -lpthread -ldl

# Flags live all over Luau, also where no program asks for the code.
$(TEST_DIR_$(1))/flags_test: LINK_HUKILAU := -Wl,--whole-archive -lhukilau -Wl,--no-whole-archive

# Two files compiled on purpose with another ABI: the check must find them out.
$(TEST_DIR_$(1))/abi_test: $(TEST_DIR_$(1))/obj/wrong_stack_abi.o $(TEST_DIR_$(1))/obj/wrong_vector_abi.o

.SECONDARY: $(NATIVE_TESTS:%=$(TEST_DIR_$(1))/obj/%.o)
-include $$(LUAU_OBJECTS_$(1):.o=.d) $$(HUKILAU_OBJECTS_$(1):.o=.d) $(NATIVE_TESTS:%=$(TEST_DIR_$(1))/obj/%.d)
endef
$(foreach config,release san,$(eval $(call hukilau_rules,$(config))))
