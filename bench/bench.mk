# What make bench compares with: a bare C++ driver over the same static library.
#
# build/bench/bare; the program that measures and prints the table is go/internal/bench.

BARE_SOURCES := $(wildcard bench/bare/*.cpp)
bare_flags = $(LUAU_CXXFLAGS_release) -Wall -Wextra $(LUAU_INCLUDES:-I%=-isystem %)

build/bench/bare: $(BARE_SOURCES) $(wildcard bench/bare/*.h) build/lib/libhukilau.a build/obj/release/luau.flags
	@mkdir -p $(@D)
	@echo "  [release] $@"
	@$(CXX) $(bare_flags) $(BARE_SOURCES) -o $@ -Lbuild/lib -lhukilau -lm -lpthread -ldl
