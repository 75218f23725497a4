# build/bin/luau-check, the type checker's process: Luau's own analysis (the repository that third_party/luau
# pins, about 0.720) and rust/check/native in one archive, and the Rust program over it.
#
# The crate could build itself; then Luau's asserts would be in, as in every build without NDEBUG, and a change of one
# file of ours would compile all of it again.

CHECK_PROGRAM := build/bin/luau-check
CHECK_LIB := build/obj/check/libluaucheck.a
CHECK_LUAU := $(ANALYZER_SRC)

# VM, bytecode and compiler are for type functions, which the analysis runs.
CHECK_PARTS := Analysis Ast Bytecode Common Compiler Config VM
# For editors and for looking into the solver.
CHECK_UNUSED := Autocomplete AutocompleteCore FragmentAutocomplete AstJsonEncoder ToDot IostreamHelpers
CHECK_SOURCES := $(filter-out $(CHECK_UNUSED:%=$(CHECK_LUAU)/Analysis/src/%.cpp), \
	$(foreach part,$(CHECK_PARTS),$(wildcard $(CHECK_LUAU)/$(part)/src/*.cpp)))
CHECK_NATIVE := $(wildcard rust/check/native/*.cpp)
CHECK_INCLUDES := $(foreach part,$(CHECK_PARTS),$(CHECK_LUAU)/$(part)/include)
check_flags := -std=c++17 -O2 -DNDEBUG -fPIC -ffunction-sections -fdata-sections
CHECK_OBJECTS := $(CHECK_SOURCES:$(CHECK_LUAU)/%.cpp=build/obj/check/luau/%.o) \
	$(CHECK_NATIVE:rust/check/native/%.cpp=build/obj/check/native/%.o)

$(call record,build/obj/check/flags,$(CXX) $(check_flags) $(CHECK_LUAU),find build/obj/check -name '*.d' -delete)
$(call record,build/obj/check/objects,$(CHECK_OBJECTS))

build/obj/check/luau/%.o: $(CHECK_LUAU)/%.cpp build/obj/check/flags
	@mkdir -p $(@D)
	@echo "  [check] luau/$*.cpp"
	@$(CXX) $(check_flags) -w -MMD -MP $(addprefix -I,$(CHECK_INCLUDES) $(CHECK_LUAU)/VM/src) -c $< -o $@

build/obj/check/native/%.o: rust/check/native/%.cpp build/obj/check/flags
	@mkdir -p $(@D)
	@echo "  [check] rust/check/native/$*.cpp"
	@$(CXX) $(check_flags) -Wall -Wextra $(WERROR) -MD -MP $(addprefix -isystem ,$(CHECK_INCLUDES)) -c $< -o $@

$(CHECK_LIB): $(CHECK_OBJECTS) build/obj/check/objects
	@echo "  [check] $@"
	@rm -f $@ && ar qcs $@ @build/obj/check/objects

$(CHECK_PROGRAM): $(CHECK_LIB) rust/check/Cargo.toml rust/check/Cargo.lock rust/check/build.rs $(wildcard rust/check/src/*.rs)
	@mkdir -p $(@D)
	@echo "  [check] $@"
	@HUKILAU_CHECK_LIB=$(CURDIR)/$(CHECK_LIB) cargo build --quiet --release --locked \
		--manifest-path rust/check/Cargo.toml --target-dir build/obj/check/cargo
	@cp build/obj/check/cargo/release/luau-check $@.new && mv $@.new $@

-include $(CHECK_OBJECTS:.o=.d)
