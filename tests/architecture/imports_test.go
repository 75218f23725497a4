// Package architecture holds the tree to the import rules of ARCHITECTURE.md: imports point one
// way, and what is dangerous stays where it is allowed.
package architecture

import (
	"go/build"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const module = "github.com/hukilau/hukilau/"

type layer struct {
	name    string
	pattern string
	inside  bool // its packages may import each other
}

// layers from the bottom up. A package may import packages of layers below its own, and of its own
// where `inside` says so. The first pattern that matches decides.
var layers = []layer{
	{"capi", `^go/internal/capi$`, false},
	{"pkg/luau", `^go/pkg/luau$`, false},
	{"spelling", `^go/internal/spelling$`, false},
	{"yamltree", `^go/internal/yamltree$`, false},
	{"values", `^go/internal/(jsonvalue|size|tomltext)$`, false},
	{"units", `^go/internal/(schema|units|redact)$`, false},
	{"config", `^go/internal/config$`, false},
	{"libraries", `^libs$|^go/internal/(module|luaudoc|visible)$`, false},
	{"pkg/hostmod", `^go/pkg/hostmod$`, false},
	{"registry", `^go/internal/registry$`, false},
	{"module tests", `^go/internal/modtest$`, false},
	{"host modules", `^go/internal/hostmods/\w+mod$`, false},
	{"builtin", `^go/internal/hostmods/builtin$`, false},
	{"typecheck", `^go/internal/typecheck$`, false},
	{"engine", `^go/internal/engine$`, false},
	{"store", `^go/internal/store$`, false},
	{"music", `^go/internal/music$`, false},
	{"models", `^go/internal/models(/|$)`, true},
	{"tooldef", `^go/internal/tooldef(/|$)`, true},
	{"agent", `^go/internal/agent(/|$)`, true},
	{"recording", `^go/internal/recording$`, false},
	{"toolhost", `^go/internal/toolhost$`, false},
	{"services", `^go/internal/(server|mcpserver|gateway|plan|kb)(/|$)`, true},
	{"app", `^go/internal/(host)?app(/|$)`, true},
	{"public tool host", `^go/pkg/toolhost$`, false},
	{"cli", `^go/internal/cli/(exit|runflags|program|versions)$`, true},
	{"host flags", `^go/internal/hostcli/(hostflags|hostprint)$`, true},
	{"verbs", `^go/internal/(cli|hostcli)/\w+cmd$`, false},
	{"command line", `^go/internal/(cli|hostcli)$`, false},
	{"main packages", `^go/cmd/internal/`, true},
	{"main", `^go/cmd/|^go/internal/docgen$`, false},
	{"tests", `^(tests|go/internal/(bench|benchmarks?|doctest|servertest|mcptest|checktest))(/|$)`, true},
}

// Pairs of layers that may not meet although one is below the other.
var apart = []struct{ from, to, why string }{
	{"engine", "host modules", "the engine knows host modules by package hostmod only"},
	{"engine", "builtin", "which modules there are is the program's choice"},
	{"host modules", "capi", "only package luau stands on capi"},
	{"engine", "capi", "only package luau stands on capi"},
	{"services", "capi", "only package luau stands on capi"},
	{"app", "capi", "only package luau stands on capi"},
	{"verbs", "capi", "only package luau stands on capi"},
	{"host modules", "libraries", "a host module is given what it needs"},
	{"verbs", "engine", "app stands between the command line and the engine"},
	{"verbs", "host modules", "app stands between the command line and host modules"},
}

// What only some packages may import.
var guarded = []struct{ path, allowed, why string }{
	{"C", `^go/internal/capi$`, "cgo stays in capi"},
	{"unsafe", `^go/internal/capi$`, "unsafe stays in capi"},
	{"os", `^go/(cmd/|internal/docgen$|internal/(host)?app$|internal/module$|internal/store$|internal/music$|internal/hostmods/fsmod$|internal/gateway/(supervise(/supervisor)?|upstream/oauth)$)`, "only main and app touch the process, and the supervisor of upstream servers is one; logins are kept in files; the module resolver and fs work on files, the store's file is made for its owner alone, and songs are opened within their folder without waiting"},
	{"os/signal", `^go/(cmd/|internal/gateway/supervise(/supervisor)?$)`, "signals belong to main, and in the supervisor's process it is that"},
	{"os/exec", `^go/(cmd/|internal/gateway/supervise(/supervisor)?$)`, "only main starts programs, and the supervisor those of upstream servers"},
	{"syscall", `^go/(cmd/|internal/(app|module|music|gateway/supervise(/supervisor)?)$|internal/hostmods/(http|fs)mod$)`, "system calls: signals, FIFOs, sockets before they connect"},
	{"net/http", `^go/internal/(hostmods/httpmod|models|recording|server|mcpserver|gateway|agent|(host)?app)(/|$)|^go/pkg/toolhost$`, "servers and models stay out of the small binary"},
	{"github.com/spf13/cobra", `^go/internal/((cli|hostcli)(/|$)|docgen$)`, "the command line stays in cli"},
	{"log", `^go/cmd/`, "log/slog, or an error; main silences what libraries write there"},
}

type pkg struct {
	path    string // within the module
	imports []string
}

func packages(t *testing.T) []pkg {
	t.Helper()
	root, err := filepath.Abs("../..")
	require.NoError(t, err)
	var list []pkg
	for _, top := range []string{"go", "libs", "tests"} {
		require.NoError(t, filepath.WalkDir(filepath.Join(root, top), func(path string, entry os.DirEntry, err error) error {
			if err != nil || !entry.IsDir() {
				return err
			}
			if entry.Name() == "testdata" {
				return filepath.SkipDir
			}
			context := build.Default
			context.CgoEnabled = true
			found, err := context.ImportDir(path, 0)
			if _, none := err.(*build.NoGoError); none {
				return nil
			}
			if err != nil {
				return err
			}
			name, err := filepath.Rel(root, path)
			list = append(list, pkg{filepath.ToSlash(name), found.Imports})
			return err
		}))
	}
	return list
}

func layerOf(path string) int {
	return slices.IndexFunc(layers, func(l layer) bool { return regexp.MustCompile(l.pattern).MatchString(path) })
}

func TestImportsPointOneWay(t *testing.T) {
	for _, p := range packages(t) {
		from := layerOf(p.path)
		if from < 0 {
			t.Errorf("%s belongs to no layer: give it one in tests/architecture", p.path)
			continue
		}
		for _, path := range p.imports {
			name, ours := strings.CutPrefix(path, module)
			if !ours {
				continue
			}
			to := layerOf(name)
			switch {
			case to > from, to == from && !layers[from].inside:
				t.Errorf("%s (%s) imports %s (%s): imports point down only", p.path, layers[from].name, name, layers[to].name)
			default:
				requireNotApart(t, p.path, name, layers[from].name, layers[to].name)
			}
		}
	}
}

func requireNotApart(t *testing.T, path, imported, from, to string) {
	t.Helper()
	for _, rule := range apart {
		if rule.from == from && rule.to == to {
			t.Errorf("%s imports %s: %s", path, imported, rule.why)
		}
	}
}

func TestGuardedImports(t *testing.T) {
	for _, p := range packages(t) {
		if strings.HasPrefix(p.path, "tests/") || layers[max(0, layerOf(p.path))].name == "tests" {
			continue
		}
		for _, rule := range guarded {
			if slices.Contains(p.imports, rule.path) && !regexp.MustCompile(rule.allowed).MatchString(p.path) {
				t.Errorf("%s imports %s: %s", p.path, rule.path, rule.why)
			}
		}
	}
}

// The rules are about packages that exist; a rule about none would hold nothing.
func TestRulesSeeTheTree(t *testing.T) {
	seen := map[string]bool{}
	for _, p := range packages(t) {
		if i := layerOf(p.path); i >= 0 {
			seen[layers[i].name] = true
		}
	}
	for _, name := range []string{"capi", "pkg/luau", "libraries", "pkg/hostmod", "host modules", "builtin", "engine", "app", "cli", "verbs", "command line", "main"} {
		require.True(t, seen[name], "no package in layer %s", name)
	}
	imports := func(path string) []string {
		for _, p := range packages(t) {
			if p.path == path {
				return p.imports
			}
		}
		return nil
	}
	require.Contains(t, imports("go/internal/capi"), "C")
	require.Contains(t, imports("go/pkg/luau"), module+"go/internal/capi")
}

// Files stay readable: see STYLE, "Size".
func TestFilesAreNotTooLong(t *testing.T) {
	const most = 800
	for _, top := range []string{"go", "luau", "libs", "rust", "tests", "tools"} {
		require.NoError(t, filepath.WalkDir(filepath.Join("../..", top), func(path string, entry os.DirEntry, err error) error {
			if err != nil || entry.IsDir() || !slices.Contains([]string{".go", ".cpp", ".h", ".c", ".luau", ".rs"}, filepath.Ext(path)) {
				return err
			}
			text, err := os.ReadFile(path)
			if lines := strings.Count(string(text), "\n"); lines > most {
				t.Errorf("%s has %d lines, more than %d", path, lines, most)
			}
			return err
		}))
	}
}
