# What make bench compares with. The program that measures and prints the table is go/internal/bench.
#
# build/bench/bare      a bare C++ driver over the same static library
# build/bench/bare-go   a bare call from C into Go
# build/peers           what tools/build-peers builds, for make bench-peers: the official luau, gopher-lua, mlua, and
#                       lune 0.11.1 (Luau 0.740), with whose JSON ours is compared in bench/peers/lune

BARE_SOURCES := $(wildcard bench/bare/*.cpp)
bare_flags = $(LUAU_CXXFLAGS_release) -Wall -Wextra $(LUAU_INCLUDES:-I%=-isystem %)

build/bench/bare: $(BARE_SOURCES) $(wildcard bench/bare/*.h) build/lib/libhukilau.a build/obj/release/luau.flags
	@mkdir -p $(@D)
	@echo "  [release] $@"
	@$(CXX) $(bare_flags) $(BARE_SOURCES) -o $@ -Lbuild/lib -lhukilau -lm -lpthread -ldl

build/bench/bare-go: bench/bare/go/main.go bench/bare/go/go.mod
	@mkdir -p $(@D)
	@echo "  [release] $@"
	@go build -C bench/bare/go -o $(CURDIR)/$@ .
