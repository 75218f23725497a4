// Package conformance runs Luau's own test scripts through the binding. The scripts come with the
// pinned crate luau-analyzer-sys and are never part of this tree; baseline.txt says what is
// expected of each.
package conformance

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/hukilau/hukilau/go/pkg/luau"
)

const scriptsDir = "../../build/deps/luau-repository/tests/conformance"

// patience is far more than any script needs: a hang must fail here and not in go test's own time limit.
const patience = 30 * time.Second

// mode is one way to run a script.
type mode struct {
	native bool
	level  luau.Optimization
}

func (m mode) String() string {
	name := "interpreter"
	if m.native {
		name = "native"
	}
	return fmt.Sprintf("%s-O%d", name, m.level-luau.OptimizeNone)
}

func modes() []mode {
	var list []mode
	for _, level := range []luau.Optimization{luau.OptimizeNone, luau.OptimizeSafe, luau.OptimizeFull} {
		list = append(list, mode{false, level})
		if luau.NativeSupported() {
			list = append(list, mode{true, level})
		}
	}
	return list
}

// outcome is what came of one run.
type outcome struct {
	err     error
	printed string
}

// changing matches what differs between two runs of the same script: addresses, times, the effect of random numbers.
var changing = regexp.MustCompile(`0x[0-9a-f]+|[0-9]+\.[0-9]+ sec|[0-9]+ comparisons`)

// memoryLimits are for scripts that mean to run out of memory, or need much.
var memoryLimits = map[string]int64{"pcall.luau": 14 << 20, "buffers.luau": 3 << 30, "calls.luau": 3 << 30}

// yields says how often a script yields to its host on purpose.
var yields = map[string]int{"ndebug_upvalues.luau": 1}

// run runs a script in a State of its own. Only the result "OK" is a success.
func run(t *testing.T, name, source string, m mode) outcome {
	t.Helper()
	var printed strings.Builder
	s, err := luau.New(luau.Options{
		NoNative:    !m.native,
		Malloc:      onMalloc,
		MemoryLimit: memoryLimits[name],
		Output:      func(text []byte) { printed.Write(text) },
	})
	require.NoError(t, err)
	defer func() { require.NoError(t, s.Close()) }()
	for name, f := range globals() {
		require.NoError(t, s.SetGlobal(name, f))
	}
	if smallStack {
		require.NoError(t, s.SetGlobal("limitedstack", true))
	}
	err = runIn(s, name, source, m)
	return outcome{err, changing.ReplaceAllString(printed.String(), "…")}
}

func runIn(s *luau.State, name, source string, m mode) error {
	code, err := luau.Compile("="+name, source, luau.CompileOptions{Optimization: m.level})
	if err != nil {
		return err
	}
	f, err := s.Load(code, "="+name, luau.LoadOptions{Native: m.native})
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	run, err := s.Begin(luau.Limits{})
	if err != nil {
		return err
	}
	stop := context.AfterFunc(ctx, func() { s.Kill(run, context.Cause(ctx)) })
	defer stop()
	id, out := s.Start(f, luau.StartOptions{})
	defer s.Drop(id)
	for range yields[name] {
		if out.Status != luau.StatusYielded {
			return fmt.Errorf("status %d where the script should yield", out.Status)
		}
		out = s.Resume(id, luau.ResumeOptions{})
	}
	if out.Err != nil {
		return out.Err
	}
	if out.Status != luau.StatusDone {
		return fmt.Errorf("the script stopped with status %d instead of ending", out.Status)
	}
	results, err := out.Values.All()
	if err == nil && (len(results) != 1 || results[0] != "OK") {
		err = fmt.Errorf("the script returned %v instead of OK", results)
	}
	return err
}

// scripts reads them all. The crate carries them with CRLF line ends, Luau's repository with LF.
func scripts(t *testing.T) map[string]string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(scriptsDir, "*.luau"))
	require.NoError(t, err)
	require.NotEmpty(t, files, "Luau's scripts are missing: run make build/deps/luau-repository")
	list := map[string]string{}
	for _, file := range files {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		list[filepath.Base(file)] = strings.ReplaceAll(string(text), "\r\n", "\n")
	}
	return list
}

func TestConformance(t *testing.T) {
	expected, err := parseBaseline(baselineText)
	require.NoError(t, err)
	sources := scripts(t)
	for name := range expected {
		require.Contains(t, sources, name, "baseline.txt lists a script that Luau does not have")
	}
	for name, source := range sources {
		t.Run(name, func(t *testing.T) {
			e := expected[name]
			if e == nil {
				e = &expectation{}
				t.Errorf("%s is not in baseline.txt: add it", name)
			}
			check(t, name, source, e)
		})
	}
}

func check(t *testing.T, name, source string, e *expectation) {
	text := without(source, e.cuts)
	interpreted := ""
	for _, m := range modes() {
		got := run(t, name, text, m)
		if !m.native {
			interpreted = got.printed
		} else if e.fails == "" && got.printed != interpreted {
			t.Errorf("%v prints something else than the interpreter: %s", m, difference(interpreted, got.printed))
		}
		switch {
		case e.fails == "" && got.err != nil:
			t.Errorf("%v: %v", m, describe(got.err))
		case e.fails != "" && got.err == nil:
			t.Errorf("%v: passes, though baseline.txt says that it cannot: %s", m, e.fails)
		}
	}
	checkCuts(t, name, source, e)
}

// difference gives the first lines that are not the same.
func difference(want, got string) string {
	wanted, given := strings.Split(want, "\n"), strings.Split(got, "\n")
	for i := range wanted {
		if i >= len(given) || wanted[i] != given[i] {
			return fmt.Sprintf("line %d is %.100q, not %.100q", i+1, strings.Join(given[min(i, len(given)):min(i+1, len(given))], ""), wanted[i])
		}
	}
	return fmt.Sprintf("%d lines more", len(given)-len(wanted))
}

// checkCuts says that each cut is needed: without it, the script fails. With a small stack the scripts
// skip some of what was cut, so there it says nothing.
func checkCuts(t *testing.T, name, source string, e *expectation) {
	if smallStack {
		return
	}
	for i, c := range e.cuts {
		others := append(append([]cut{}, e.cuts[:i]...), e.cuts[i+1:]...)
		if got := run(t, name, without(source, others), mode{level: luau.OptimizeSafe}); got.err == nil {
			t.Errorf("the cut of lines %v is not needed: %s", c, c.reason)
		}
	}
}

func describe(err error) string {
	var e *luau.Error
	if errors.As(err, &e) {
		return fmt.Sprintf("%s: %v\n%s", e.Code, err, e.Traceback())
	}
	return err.Error()
}
