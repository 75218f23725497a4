package typecheck_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/hukilau/hukilau/go/internal/checktest"
	"github.com/hukilau/hukilau/go/internal/typecheck"
)

func check(t testing.TB, c *typecheck.Checker, source string) []typecheck.Finding {
	t.Helper()
	findings, err := c.Check(context.Background(), typecheck.Request{Source: source, Definitions: definitions})
	require.NoError(t, err)
	return findings
}

func requireWorks(t testing.TB, c *typecheck.Checker) {
	t.Helper()
	source := fmt.Sprintf("return sdk.github.pong() -- %d", time.Now().UnixNano())
	require.Equal(t, "sdk.github: function 'pong' does not exist, did you mean 'ping'?", check(t, c, source)[0].Text())
}

func failureCode(t testing.TB, err error) string {
	t.Helper()
	var f *typecheck.Failure
	require.ErrorAs(t, err, &f)
	return f.ErrorCode()
}

func TestAKilledProcessCostsNothing(t *testing.T) {
	c, seen := checker(t, typecheck.Options{})
	requireWorks(t, c)
	seen.last().Kill()
	_, err := c.Check(context.Background(), typecheck.Request{Source: "return 2", Definitions: definitions})
	require.Equal(t, "crash", failureCode(t, err))
	require.Len(t, seen.warned(), 1)
	requireWorks(t, c)
	require.Equal(t, 2, seen.count())
}

// A process that ends in the middle of a check: here it waits for a module.
func TestAProcessKilledInACheck(t *testing.T) {
	c, seen := checker(t, typecheck.Options{})
	requireWorks(t, c)
	_, err := c.Check(context.Background(), typecheck.Request{
		Source: `return require("x")`, Definitions: definitions,
		Modules: typecheck.Modules{Resolve: func(_, _ string) (string, string, error) {
			seen.last().Kill()
			return "x", "return 1", nil
		}},
	})
	require.Equal(t, "crash", failureCode(t, err))
	requireWorks(t, c)
}

// refined takes the checker minutes.
func refined() string {
	var types, ifs strings.Builder
	for i := range 900 {
		fmt.Fprintf(&types, " | { tag: \"t%d\", v%d: number }", i, i)
		fmt.Fprintf(&ifs, "if a.tag == \"t%d\" then print(a.v%d) end\n", i, i)
	}
	return "local a: " + types.String()[3:] + " = nil :: any\n" + ifs.String()
}

func TestAScriptThatTakesTooLong(t *testing.T) {
	c, seen := checker(t, typecheck.Options{Time: 300 * time.Millisecond})
	_, err := c.Check(context.Background(), typecheck.Request{Source: refined(), Definitions: definitions})
	require.Equal(t, "timeout", failureCode(t, err))
	_, again := c.Check(context.Background(), typecheck.Request{Source: refined(), Definitions: definitions})
	require.Same(t, err, again, "it is not tried again")
	require.Equal(t, 1, seen.count())
}

// A process that answers nothing any more is ended from outside.
func TestAProcessThatHangs(t *testing.T) {
	c, seen := checker(t, typecheck.Options{Time: 10 * time.Millisecond, LoadTime: time.Minute})
	_, err := c.Check(context.Background(), typecheck.Request{Source: "return 1", Definitions: definitions})
	if err != nil { // a slow machine
		require.Equal(t, "timeout", failureCode(t, err))
	}
	stop(t, seen.last())
	_, err = c.Check(context.Background(), typecheck.Request{Source: "return 2", Definitions: definitions})
	require.Equal(t, "timeout", failureCode(t, err))
	require.Len(t, seen.warned(), 1)
}

// stop halts a process, all its threads.
func stop(t *testing.T, p *checktest.Process) {
	t.Helper()
	require.NoError(t, p.Cmd.Process.Signal(syscall.SIGSTOP))
	require.Eventually(t, func() bool {
		threads, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/stat", p.Cmd.Process.Pid))
		require.NoError(t, err)
		for _, thread := range threads {
			text, err := os.ReadFile(thread)
			if err != nil || !strings.Contains(string(text), ") T ") {
				return false
			}
		}
		return len(threads) > 0
	}, time.Minute, time.Millisecond)
}

// long makes the checker need much memory.
func long(lines int) string {
	var b strings.Builder
	for i := range lines {
		fmt.Fprintf(&b, "x.a%d = x.b%d\n", i, i)
	}
	return b.String()
}

func TestAScriptThatNeedsTooMuchMemory(t *testing.T) {
	c, seen := checker(t, typecheck.Options{Memory: 128 << 20})
	requireWorks(t, c)
	_, err := c.Check(context.Background(), typecheck.Request{Source: long(150_000), Definitions: definitions})
	require.Equal(t, "memory", failureCode(t, err))
	require.Len(t, seen.warned(), 1)
	requireWorks(t, c)
	_, err = c.Check(context.Background(), typecheck.Request{Source: strings.Repeat(" ", typecheck.MaxSource+1)})
	require.Equal(t, "too_large", failureCode(t, err))
}

// What is written to make a checker fall: each is answered, or costs no more than its process.
func TestHostileScripts(t *testing.T) {
	c, _ := checker(t, typecheck.Options{Time: 5 * time.Second})
	times := func(n int, each func(i int) string) string {
		var b strings.Builder
		for i := range n {
			b.WriteString(each(i))
		}
		return b.String()
	}
	same := func(text string) func(int) string { return func(int) string { return text } }
	for name, source := range map[string]string{
		"parentheses": "return " + times(5000, same("(")) + "1" + times(5000, same(")")),
		"tables":      "return " + times(5000, same("{")) + times(5000, same("}")),
		"types":       "type T = " + times(3000, same("{")) + "number" + times(3000, same("}")),
		"concat":      `return "x"` + times(20000, same(` .. "x"`)),
		"functions":   "return " + times(1000, same("function() return ")) + "1" + times(1000, same(" end")),
		"growing":     "type A0 = {x: number}\n" + times(40, func(i int) string { return fmt.Sprintf("type A%d = {a: A%d, b: A%d}\n", i+1, i, i) }) + "local v: A40 = {} return v.a.a",
		"unions":      "type U0 = 'a'\n" + times(60, func(i int) string { return fmt.Sprintf("type U%d = U%d | {k%d: U%d}\n", i+1, i, i, i) }) + "local v: U60 = nil :: any local w: U59 = v",
		"big union":   "type U = 'v'" + times(20000, func(i int) string { return fmt.Sprintf(" | 'v%d'", i) }),
		"generic":     "local function p(a, b) return {a=a, b=b, c=function(x) return a(b(x)) end} end\nlocal x0 = p\n" + times(100, func(i int) string { return fmt.Sprintf("local x%d = p(x%d, x%d)\n", i+1, i, i) }),
		"recursive":   "local function f(x) return f({x}) end return f(1)",
		"self":        "local t = {} t.t = t t.f = function(self) return self.f(self).t.f end return t.f(t).t.f(t)",
		"errors":      times(20000, func(i int) string { return fmt.Sprintf("undefined%d()\n", i) }),
		"bytes":       "\x00\xff\xfe return '\x00'",
		"type code":   "type function f(t) while true do end end\nlocal x: f<number> = 1",
		"cyclic":      "type A = B type B = A local x: A = 1",
		"long name":   "return " + times(100_000, same("x")) + "()",
		"long key":    "return sdk.github[\"" + times(100_000, same("x")) + "\"]()",
	} {
		findings, err := c.Check(context.Background(), typecheck.Request{Source: source, Definitions: definitions})
		if err != nil {
			failureCode(t, err)
		}
		for _, f := range findings {
			require.Less(t, len(f.Text()), 1000, name)
		}
		require.LessOrEqual(t, len(findings), 50, name)
	}
	requireWorks(t, c)
}

func TestManyAtOnce(t *testing.T) {
	c, seen := checker(t, typecheck.Options{})
	var group sync.WaitGroup
	for i := range 200 {
		group.Add(1)
		go func() {
			defer group.Done()
			ctx, cancel := context.WithCancel(context.Background())
			if i%10 == 9 {
				cancel()
			}
			defer cancel()
			findings, err := c.Check(ctx, typecheck.Request{
				Source: fmt.Sprintf("return sdk.files.raed{ path = '%d' }", i/2), Definitions: definitions,
			})
			if errors.Is(err, context.Canceled) && i%10 == 9 {
				return
			}
			if err != nil || len(findings) != 1 || findings[0].Kind != typecheck.UnknownFunction {
				t.Errorf("%d: %v %v", i, findings, err)
			}
		}()
	}
	group.Wait()
	require.Equal(t, 1, seen.count())
}

// Who gives up does not wait for the check that is under way.
func TestTheContextEndsAWait(t *testing.T) {
	c, _ := checker(t, typecheck.Options{})
	inside, free := make(chan struct{}), make(chan struct{})
	first := make(chan error, 1)
	ctx, cancel := context.WithCancelCause(context.Background())
	go func() {
		_, err := c.Check(ctx, typecheck.Request{
			Source: `return require("x")`, Modules: typecheck.Modules{Resolve: func(_, _ string) (string, string, error) {
				close(inside)
				<-free
				return "x", "return 1", nil
			}},
		})
		first <- err
	}()
	<-inside
	second, stop := context.WithCancelCause(context.Background())
	gone := errors.New("gone")
	time.AfterFunc(10*time.Millisecond, func() { stop(gone) })
	_, err := c.Check(second, typecheck.Request{Source: "return 1"})
	require.ErrorIs(t, err, gone)
	cancel(gone)
	require.ErrorIs(t, <-first, gone)
	close(free)
	requireWorks(t, c)
}

// Who sends scripts that take long does not hold up all others.
func TestPatience(t *testing.T) {
	c, _ := checker(t, typecheck.Options{Patience: time.Millisecond})
	inside, free := make(chan struct{}), make(chan struct{})
	first := make(chan error, 1)
	go func() {
		_, err := c.Check(context.Background(), typecheck.Request{
			Source: `return require("x")`, Modules: typecheck.Modules{Resolve: func(_, _ string) (string, string, error) {
				close(inside)
				<-free
				return "x", "return 1", nil
			}},
		})
		first <- err
	}()
	<-inside
	_, err := c.Check(context.Background(), typecheck.Request{Source: "return 1"})
	require.Equal(t, "busy", failureCode(t, err))
	close(free)
	require.NoError(t, <-first)
	require.Eventually(t, func() bool { // it is not remembered
		_, err := c.Check(context.Background(), typecheck.Request{Source: "return 1"})
		return err == nil
	}, time.Minute, time.Millisecond)
}

func TestCloseEndsWhatIsUnderWay(t *testing.T) {
	c, _ := checker(t, typecheck.Options{Time: time.Hour})
	requireWorks(t, c)
	done := make(chan error, 1)
	inside := make(chan struct{})
	go func() {
		_, err := c.Check(context.Background(), typecheck.Request{
			Source: `local _ = require("x")` + "\n" + refined(), Modules: typecheck.Modules{Resolve: func(_, _ string) (string, string, error) {
				close(inside)
				return "x", "return 1", nil
			}},
		})
		done <- err
	}()
	<-inside
	c.Close()
	require.ErrorIs(t, <-done, typecheck.ErrClosed)
	_, err := c.Check(context.Background(), typecheck.Request{Source: "return 1"})
	require.ErrorIs(t, err, typecheck.ErrClosed)
}

func TestAbsent(t *testing.T) {
	warned := 0
	c := typecheck.New(typecheck.Options{
		Start: func([]string) (typecheck.Process, error) { return nil, typecheck.ErrAbsent },
		Warn:  func(string) { warned++ },
	})
	defer c.Close()
	for range 3 {
		_, err := c.Check(context.Background(), typecheck.Request{Source: "return 1"})
		require.ErrorIs(t, err, typecheck.ErrAbsent)
	}
	require.Equal(t, 1, warned)
}

func TestAnIdleProcessEnds(t *testing.T) {
	c, seen := checker(t, typecheck.Options{Idle: time.Millisecond})
	requireWorks(t, c)
	p := seen.last()
	require.Eventually(t, func() bool { return p.Cmd.Process.Signal(syscall.Signal(0)) != nil }, time.Minute, time.Millisecond)
	requireWorks(t, c)
	require.Equal(t, 2, seen.count())
	require.Empty(t, seen.warned())
}

func TestFindingsAreRemembered(t *testing.T) {
	c, seen := checker(t, typecheck.Options{Idle: -1})
	findings := check(t, c, "return foo()")
	require.Len(t, findings, 1)
	findings[0].Message = "changed by a caller"
	seen.last().Kill() // another check would fail
	require.Equal(t, "function 'foo' does not exist", check(t, c, "return foo()")[0].Message)
	_, err := c.Check(context.Background(), typecheck.Request{Source: "return foo()", Definitions: definitions, Mode: typecheck.Nonstrict})
	require.Equal(t, "crash", failureCode(t, err), "another mode is another check")
}

func TestDefinitions(t *testing.T) {
	c, seen := checker(t, typecheck.Options{Sets: 2})
	for i := range 10 {
		d := typecheck.NewDefinitions(fmt.Sprintf("declare f%d: () -> number", i%5))
		findings, err := c.Check(context.Background(), typecheck.Request{Source: fmt.Sprintf("return f%d() -- %d", i%5, i), Definitions: d})
		require.NoError(t, err)
		require.Empty(t, findings)
		findings, err = c.Check(context.Background(), typecheck.Request{Source: fmt.Sprintf("return f%d() -- %d", (i+1)%5, i), Definitions: d})
		require.NoError(t, err)
		require.Len(t, findings, 1, "sets do not mix")
	}
	require.Equal(t, 1, seen.count())
	for _, text := range []string{"declare x:", "declare x: Nowhere", "}"} {
		for range 2 {
			_, err := c.Check(context.Background(), typecheck.Request{Source: "return 1", Definitions: typecheck.NewDefinitions(text)})
			require.Equal(t, "definitions", failureCode(t, err))
			require.Contains(t, err.Error(), "line 1: ")
		}
	}
	requireWorks(t, c)
}

// Definitions may be long where scripts may not.
func TestLongDefinitions(t *testing.T) {
	c, _ := checker(t, typecheck.Options{})
	var functions, values strings.Builder
	for i := range 3000 {
		fmt.Fprintf(&functions, "f%d: (args: { id: number, kind: Kind? }) -> { name: string, next: { id: number }? },\n", i)
		fmt.Fprintf(&values, " | \"v%d\"", i)
	}
	d := typecheck.NewDefinitions("type Kind = " + values.String()[3:] + "\ndeclare sdk: { api: {\n" + functions.String() + "} }\n")
	findings, err := c.Check(context.Background(), typecheck.Request{Source: `
local x = sdk.api.f2999{ id = 1, kind = "v2998" }
return x.nme, sdk.api.f17{ id = 1, kind = "w" }, sdk.api.f3001{}
`, Definitions: d})
	require.NoError(t, err)
	require.Len(t, findings, 3)
	require.Equal(t, "x: field 'nme' does not exist, did you mean 'name'?", findings[0].Text())
	require.Equal(t, typecheck.TypeMismatch, findings[1].Kind)
	require.Contains(t, findings[2].Text(), "sdk.api: function 'f3001' does not exist, did you mean 'f")
}

func TestModules(t *testing.T) {
	c, _ := checker(t, typecheck.Options{})
	sources := map[string]string{
		"shapes": "--!strict\nlocal shapes = {}\nfunction shapes.area(side: number): number return side * side end\nreturn shapes",
		"twice":  "local shapes = require('shapes')\nreturn { area = function(n: number) return shapes.area(n) end }",
		"loop":   "local a = require('loop2') return a",
		"loop2":  "local a = require('loop') return a",
		"broken": "return {",
	}
	asked := []string{}
	modules := typecheck.Modules{ID: "1", Resolve: func(from, name string) (string, string, error) {
		asked = append(asked, from+">"+name)
		source, ok := sources[name]
		if !ok {
			return "", "", errors.New("it is nowhere")
		}
		return name, source, nil
	}}
	ask := func(source string) string {
		findings, err := c.Check(context.Background(), typecheck.Request{Chunk: "main", Source: source, Modules: modules})
		require.NoError(t, err)
		return says(findings)
	}
	require.Equal(t, "nothing\n", ask("return require('twice').area(2)"))
	require.Equal(t, []string{"main>twice", "twice>shapes"}, asked)
	require.Equal(t, "1:26 warning unknown_function: require(...): function 'aera' does not exist, did you mean 'area'?\n", ask("return require('shapes').aera(2)"))
	require.Equal(t, "1:8 warning unknown_module: module 'nowhere' was not found: it is nowhere\n", ask("return require('nowhere')"))
	require.Equal(t, "nothing\n", ask("return require('broken')"), "what is wrong with a module is not said of who requires it")
	require.Equal(t, "nothing\n", ask("return require('loop')"))
	sources["=@embedded/shapes"] = sources["shapes"]
	require.Contains(t, ask("return require('=@embedded/shapes').aera(2)"), "1:37 error unknown_function", "the SDK is as it is")
	modules.ID, sources["shapes"] = "2", "return { area = function(side: string) return 1 end }"
	require.Contains(t, ask("return require('shapes').area(2)"), "wants string, got number")
}

// The process is for one parent: what it cannot read ends it.
func TestGarbage(t *testing.T) {
	for _, input := range []string{"garbage\n", "{}\n", `{"op":"check"}` + "\n", "[" + strings.Repeat("[", 100_000) + "\n"} {
		p, err := checktest.Launch(nil)
		require.NoError(t, err)
		_, err = p.Write([]byte(input))
		require.NoError(t, err)
		code, said := p.Wait()
		require.Equal(t, 1, code, input)
		require.Contains(t, said, "luau-check: ")
	}
}
