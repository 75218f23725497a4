# Hukilau's build. `make` alone lists the targets.
#
#   third_party/luau/luau.mk   Luau and simdjson: sources, flags, objects
#   luau/hukilau.mk            our C++ wrapper: objects, static archive, tests
#   rust/check/check.mk        the type checker's process
#   bench/bench.mk             what make bench compares with
#   tools/                     what is too long for a recipe

VERSION := 0.1.0
PREFIX ?= /usr/local
JOBS ?= $(shell nproc)
SCRIPT ?= examples/hello/main.luau
FUZZTIME ?= 30s
STATICCHECK := honnef.co/go/tools/cmd/staticcheck@v0.8.2

SHELL := bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
MAKEFLAGS += --no-builtin-rules --no-print-directory

.PHONY: FORCE
FORCE:

# $(call record,file,text[,command]): rewrites the file only when the text changed, after running the
# command, so what depends on the file is rebuilt exactly then.
same = $(and $(findstring x$(strip $1)x,x$(strip $2)x),$(findstring x$(strip $2)x,x$(strip $1)x))
record = $(if $(call same,$(file <$1),$2),,$(shell mkdir -p $(dir $1) && $(or $3,true))$(file >$1,$(strip $2)))

# These goals need neither compilers nor sources.
ifneq ($(filter-out help clean uninstall,$(or $(MAKECMDGOALS),help)),)
ifneq ($(words $(CURDIR)),1)
$(error make cannot build in a folder with spaces in its path: $(CURDIR))
endif
ifneq ($(shell tools/check-tools go g++:$(CXX) gcc:$(CC) ar cargo rustc git >&2 || echo missing),)
$(error install what is named above, then run make again)
endif
include third_party/luau/luau.mk
include luau/hukilau.mk
include rust/check/check.mk
include bench/bench.mk
endif

##@ Everyday

help: ## list the targets
	@awk -f tools/help.awk $(firstword $(MAKEFILE_LIST))

build: lib checker ## build/bin/luau and the programs that it needs, and build/lib/libhukilau.a, release
	@HUKILAU_LDFLAGS="-s -w -X=main.version=$(VERSION) -X=main.commit=$$(tools/commit)" \
		tools/go build -trimpath -o build/bin/ ./go/cmd/...

lib: ## only the native library, release
	@$(MAKE) -s -j$(JOBS) build/lib/libhukilau.id

checker: ## only build/bin/luau-check, the type checker
	@$(MAKE) -s -j$(JOBS) build/bin/luau-check

run: build ## run a script: SCRIPT=path ARGS='...' (default examples/hello)
	@build/bin/luau $(SCRIPT) $(ARGS)

clean: ## remove build/ (the sources stay in cargo's cache)
	rm -rf build

##@ Tests

# One after the other: their outputs stay readable and two cores are not fought over.
test: ## every test on the release build
	@for part in test-native test-library test-go test-luau test-install; do $(MAKE) $$part; done

test-native: lib ## C and C++ tests of the wrapper
	@$(MAKE) -s -j$(JOBS) $(NATIVE_TESTS:%=build/test/%)
	@tools/run-programs $(NATIVE_TESTS:%=build/test/%)

test-library: lib ## the release library carries none of Luau's asserts
	@tools/check-asserts absent build/lib/libhukilau.a

# The official tests of JSON Schema, read by go/internal/schema.
SCHEMA_TESTS := build/deps/json-schema-tests
$(SCHEMA_TESTS): tools/fetch-schema-tests
	@tools/fetch-schema-tests $@ && touch $@

# Documents of others, read by go/internal/gateway/openapi.
OPENAPI_DOCUMENTS := build/deps/openapi
$(OPENAPI_DOCUMENTS): tools/fetch-openapi-documents
	@tools/fetch-openapi-documents $@ && touch $@

test-go: build $(PEERS_DIR) $(SCHEMA_TESTS) $(OPENAPI_DOCUMENTS) ## go test ./...
	@tools/check-tools curl # of documents
	tools/go test -timeout 15m ./...

test-luau: build ## the suites in tests/luau: each by itself, interpreted, and all by luau test, as native code
	@tools/run-suites tests/luau build/bin/luau
	@build/bin/luau test --native --shuffle 1 tests/luau

test-install: build ## a program in another module, against what make install puts down
	@tools/test-install

test-mcp: build ## the official MCP conformance suite, reference clients and servers (Node and Python; fetched once)
	@tools/test-mcp

test-sanitize: test-native-san test-go-san test-race ## C, C++ and Go tests under ASan and UBSan with Luau's asserts, and -race

lib-san:
	@$(MAKE) -s -j$(JOBS) build/san/lib/libhukilau.id

test-native-san: lib-san
	@tools/check-asserts present build/san/lib/libhukilau.a
	@$(MAKE) -s -j$(JOBS) $(NATIVE_TESTS:%=build/san/test/%)
	@tools/sanitized tools/run-programs $(NATIVE_TESTS:%=build/san/test/%)

test-go-san: lib-san checker $(PEERS_DIR) $(SCHEMA_TESTS)
	HUKILAU_LIB=build/san/lib CGO_LDFLAGS='$(SANITIZERS)' \
		tools/sanitized tools/go test -short -asan -tags hukilau_san -timeout 30m $$(tools/packages-with-c)
	HUKILAU_LIB=build/san/lib CGO_LDFLAGS='$(SANITIZERS)' \
		tools/sanitized tools/go test -short -asan -tags hukilau_san,hukilau_malloc -timeout 30m $(ON_MALLOC)

# What runs scripts does so once more with VMs on malloc: in an arena a sanitizer sees less.
ON_MALLOC := ./go/pkg/luau ./go/internal/engine ./tests/conformance

# Pages of the guide run the same code as the transcripts do, and take longer than all else.
test-race: lib checker $(PEERS_DIR) $(SCHEMA_TESTS) $(OPENAPI_DOCUMENTS)
	tools/go test -short -race -timeout 30m $$(tools/go list ./... | grep -v /internal/doctest$$)

fuzz: lib ## each Fuzz test in turn: FUZZTIME=30s
	@tools/fuzz-each $(FUZZTIME)

soak: lib ## 100,000 invocations with errors, timeouts, kills and cancels mixed
	@tools/require-test 'TestSoak' go
	tools/go test -tags soak -run '^TestSoak' -count=1 -v -timeout 2h ./go/...

lint: lib ## gofmt, go vet, staticcheck, clang-format, rustfmt, shell syntax
	@tools/check-tools clang-format
	@tools/lint $(STATICCHECK)

format: ## gofmt, clang-format and rustfmt, in place
	@tools/check-tools clang-format
	gofmt -w $$(git ls-files '*.go')
	clang-format -i $$(git ls-files 'luau/*.cpp' 'luau/*.c' 'luau/*.h' 'rust/*.cpp' 'rust/*.h' 'bench/*.cpp' 'bench/*.h')
	rustfmt --edition 2024 --config-path rust/check/rustfmt.toml $$(git ls-files 'rust/*.rs')

docs: lib ## write docs/reference from the sources
	@tools/go run ./go/internal/docgen docs/reference

##@ Measuring

bench: bench-tools ## the table of budgets, each beside its peer (BENCH_ONCE=1: each once)
	@build/bench/bench $(if $(BENCH_ONCE),-once) $(BENCH_ARGS)

bench-peers: bench-tools peers ## the same with gopher-lua, mlua, lune and the official luau, built first
	@build/bench/bench -peers $(if $(BENCH_ONCE),-once) $(BENCH_ARGS)

bench-tools: build $(OPENAPI_DOCUMENTS)
	@$(MAKE) -s build/bench/bare build/bench/bare-go
	@tools/go build -o build/bench/bench ./go/internal/bench

peers: $(PEERS_DIR)
	@tools/check-tools cmake
	@tools/build-peers $(JOBS)

##@ Installing

install: build ## binary, static library, header, pkg-config file, licences: PREFIX=/usr/local DESTDIR=
	install -D -m 755 -t '$(DESTDIR)$(PREFIX)/bin' build/bin/*
	install -D -m 644 -t '$(DESTDIR)$(PREFIX)/lib' build/lib/libhukilau.a
	install -D -m 644 -t '$(DESTDIR)$(PREFIX)/include' luau/include/*.h
	install -d '$(DESTDIR)$(PREFIX)/lib/pkgconfig'
	sed -e 's|@PREFIX@|$(PREFIX)|' -e 's|@VERSION@|$(VERSION)|' luau/hukilau.pc.in \
		>'$(DESTDIR)$(PREFIX)/lib/pkgconfig/hukilau.pc'
	@tools/licences '$(DESTDIR)$(PREFIX)/share/doc/hukilau/licences' '$(LUAU_SRC)' '$(SIMDJSON_SRC)'

uninstall: ## remove what install put down, same PREFIX and DESTDIR
	cd '$(DESTDIR)$(PREFIX)' && rm -f bin/luau bin/luau-host bin/luau-gateway bin/luau-supervise bin/luau-check \
		lib/libhukilau.a include/hukilau.h lib/pkgconfig/hukilau.pc
	rm -rf '$(DESTDIR)$(PREFIX)/share/doc/hukilau'

.PHONY: help build lib checker run clean test test-native test-library test-go test-luau test-install test-mcp \
	test-sanitize lib-san test-native-san test-go-san test-race fuzz soak lint format docs bench bench-peers \
	bench-tools peers install uninstall
