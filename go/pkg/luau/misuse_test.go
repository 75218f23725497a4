package luau_test

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/hukilau/hukilau/go/pkg/luau"
)

var background = context.Background()

// load compiles and loads source.
func load(t testing.TB, s *luau.State, source string) *luau.Function {
	t.Helper()
	code, err := luau.Compile("=test", source, luau.CompileOptions{})
	require.NoError(t, err)
	f, err := s.Load(code, "=test", luau.LoadOptions{})
	require.NoError(t, err)
	return f
}

// run calls source and gives its results.
func run(t testing.TB, s *luau.State, source string, args ...any) []any {
	t.Helper()
	out, err := s.Do(background, "=test", source, args...)
	require.NoError(t, err)
	return out
}

// define makes a Go function a global.
func define(t testing.TB, s *luau.State, name string, do func(*luau.Call) error) {
	t.Helper()
	require.NoError(t, s.SetGlobal(name, luau.Func{Name: name, Do: do}))
}

func requireCode(t testing.TB, code luau.Code, err error) {
	t.Helper()
	require.Error(t, err)
	require.Equal(t, code, luau.CodeOf(err), err.Error())
}

func TestUseAfterClose(t *testing.T) {
	s, err := luau.New(luau.Options{})
	require.NoError(t, err)
	f := load(t, s, "return print")
	out := run(t, s, "return print, coroutine.create(print)")
	_, pending := s.Start(load(t, s, "return 'text'"), luau.StartOptions{})
	run1, err := s.Begin(luau.Limits{})
	require.NoError(t, err)
	require.NoError(t, s.Close())
	require.NoError(t, s.Close(), "closing twice is nothing")

	uses := map[string]func() error{
		"call":      func() error { _, err := f.Call(background); return err },
		"call into": func() error { return f.CallInto(background, nil) },
		"call keep": func() error { _, err := f.CallKeep(background); return err },
		"do":        func() error { _, err := s.Do(background, "=x", ""); return err },
		"result":    func() error { _, err := out[0].(*luau.Function).Call(background); return err },
		"thread":    func() error { _, _, err := out[1].(*luau.Thread).Resume(background); return err },
		"start":     func() error { _, o := s.Start(f, luau.StartOptions{}); return o.Err },
		"resume":    func() error { return s.Resume(1, luau.ResumeOptions{}).Err },
		"global":    func() error { _, err := s.Global("x"); return err },
		"set":       func() error { return s.SetGlobal("x", 1) },
		"set path":  func() error { return s.SetPath([]string{"x"}, 1) },
		"begin":     func() error { _, err := s.Begin(luau.Limits{}); return err },
		"save":      s.Save,
		"reset":     s.Reset,
		"collect":   s.Collect,
		"stats":     func() error { _, err := s.Stats(); return err },
		"caller":    func() error { _, _, err := s.Caller(); return err },
	}
	for name, use := range uses {
		t.Run(name, func(t *testing.T) { requireCode(t, luau.CodeClosed, use()) })
	}
	_, err = pending.Values.All()
	require.Error(t, err, "values of a closed State are memory that is gone")
	s.Kill(run1, nil)
	s.BreakOff()
	s.Drop(1)
	require.False(t, s.Charge(1))
	s.Uncharge(1)
	f.Release()
	f.Release()
}

func TestForeignAndNilValues(t *testing.T) {
	mine, other := newState(t, luau.Options{}), newState(t, luau.Options{})
	f := load(t, other, "return 1")
	thread, err := other.NewThread(f)
	require.NoError(t, err)
	var none *luau.Function
	released := load(t, mine, "return 1")
	released.Release()
	for name, v := range map[string]any{
		"foreign function": f, "foreign thread": thread, "nil function": none, "nil thread": (*luau.Thread)(nil),
		"nil table": (*luau.Table)(nil), "nil object": (*luau.Object)(nil), "nil func": (*luau.Func)(nil),
		"func without do": luau.Func{Name: "x"}, "released": released, "zero": &luau.Function{},
		"inside": map[string]any{"a": []any{f}}, "chan": make(chan int), "plain func": func() {},
	} {
		t.Run(name, func(t *testing.T) {
			require.Error(t, mine.SetGlobal("x", v))
			_, err := load(t, mine, "return 1").Call(background, v)
			require.Error(t, err)
		})
	}
	_, err = none.Call(background)
	requireCode(t, luau.CodeInvalid, err)
	_, err = (&luau.Function{}).Call(background)
	requireCode(t, luau.CodeInvalid, err)
	_, out := mine.Start(f, luau.StartOptions{})
	requireCode(t, luau.CodeInvalid, out.Err)
	_, err = mine.Load(nil, "=x", luau.LoadOptions{})
	requireCode(t, luau.CodeInvalid, err)
	var nobody *luau.State
	_, err = nobody.Global("x")
	requireCode(t, luau.CodeInvalid, err)
	requireCode(t, luau.CodeInvalid, mine.SetPath(nil, 1))
	require.EqualError(t, mine.SetGlobal("config", map[string]any{"list": []any{1, make(chan int)}}),
		"config.list[2]: cannot convert a Go chan int to Luau")
}

func TestValuesEndWithTheNextUse(t *testing.T) {
	s := newState(t, luau.Options{})
	_, out := s.Start(load(t, s, "return 'a', {1, 2}"), luau.StartOptions{})
	require.Equal(t, 2, out.Values.Len())
	got, err := out.Values.All()
	require.NoError(t, err)
	require.Equal(t, []any{"a", []any{1.0, 2.0}}, got)
	run(t, s, "return 'something else'")
	_, err = out.Values.All()
	requireCode(t, luau.CodeInvalid, err)
	requireCode(t, luau.CodeInvalid, out.Values.Scan(new(string), new([]int)))

	var kept luau.Values
	var call *luau.Call
	define(t, s, "keep", func(c *luau.Call) error {
		call, kept = c, c.Args()
		_, err := s.Do(background, "=n", "return keep2(1)")
		if err != nil {
			return err
		}
		got, err := kept.All()
		require.NoError(t, err, "arguments stay while the function runs, whatever it does")
		return c.Return(got...)
	})
	define(t, s, "keep2", func(c *luau.Call) error { return c.Return("inner") })
	require.Equal(t, []any{"x", 7.0}, run(t, s, "return keep('x', 7)"))
	_, err = kept.All()
	requireCode(t, luau.CodeInvalid, err)
	require.Zero(t, call.Len())
	require.False(t, call.CanWait())
}

func TestPanicsAreCaughtErrors(t *testing.T) {
	s := newState(t, luau.Options{})
	cause := errors.New("the cause")
	for name, p := range map[string]func(){
		"error":  func() { panic(cause) },
		"string": func() { panic("text") },
		"int":    func() { panic(42) },
		"nil":    func() { panic(nil) }, //nolint:govet // on purpose
		"runtime": func() {
			list := make([]int, 1)
			list[len(list)] = 1
		},
		"nil dereference": func() {
			var c *luau.Call
			c.Len()
		},
		"panicking error": func() { panic(badError{}) },
	} {
		t.Run(name, func(t *testing.T) {
			define(t, s, "f", func(c *luau.Call) error { p(); return c.Return("success") })
			out := run(t, s, "local ok, e = pcall(f) return ok, e.code, tostring(e)")
			require.Equal(t, []any{false, "panic"}, out[:2])
			require.Contains(t, out[2], "f: panic: ")
			_, err := s.Do(background, "=t", "return f()")
			requireCode(t, luau.CodePanic, err)
		})
	}
}

type badError struct{}

func (badError) Error() string { panic("from Error") }

func TestErrorMethodsThatPanic(t *testing.T) {
	s := newState(t, luau.Options{})
	define(t, s, "f", func(*luau.Call) error { return badError{} })
	require.Equal(t, []any{false, "panic"}, run(t, s, "local ok, e = pcall(f) return ok, e.code"))
}

func TestPanicInOutputEndsTheRun(t *testing.T) {
	s := newState(t, luau.Options{Output: func([]byte) { panic("no disk") }})
	_, err := s.Do(background, "=t", "print('x')")
	requireCode(t, luau.CodePanic, err)
	require.True(t, luau.IsKilled(err))
}

// A host function that ends its goroutine takes the C frames of the run with it. The State must not
// be used any more, and says so.
func TestGoexitInHostFunction(t *testing.T) {
	for _, o := range []luau.Options{{}, {Malloc: true}} {
		s, err := luau.New(o)
		require.NoError(t, err)
		define(t, s, "exit", func(*luau.Call) error { runtime.Goexit(); return nil })
		define(t, s, "nest", func(c *luau.Call) error { _, err := s.Do(background, "=n", "exit()"); return err })
		ended := make(chan bool)
		go func() {
			defer close(ended)
			_, _ = s.Do(background, "=t", "pcall(nest)")
			ended <- true
		}()
		_, returned := <-ended
		require.False(t, returned)
		_, err = s.Do(background, "=t", "return 1")
		requireCode(t, luau.CodeInvalid, err)
		require.ErrorContains(t, err, "ended its goroutine")
		requireCode(t, luau.CodeInvalid, s.Reset())
		require.NoError(t, s.Close())
		requireCode(t, luau.CodeClosed, s.Collect())
	}
}

// The same with the testing package, in a process of its own: the test there fails, and nothing else.
func TestFailNowInHostFunction(t *testing.T) {
	if os.Getenv("LUAU_TEST_FAIL_NOW") != "" {
		s := newState(t, luau.Options{})
		define(t, s, "check", func(*luau.Call) error { t.FailNow(); return nil })
		_, _ = s.Do(background, "=t", "pcall(check)")
		t.Error("not reached")
		return
	}
	cmd := exec.Command(os.Args[0], "-test.run=^TestFailNowInHostFunction$", "-test.v")
	cmd.Env = append(os.Environ(), "LUAU_TEST_FAIL_NOW=1")
	out, err := cmd.CombinedOutput()
	var exit *exec.ExitError
	require.ErrorAs(t, err, &exit)
	require.Equal(t, 1, exit.ExitCode(), string(out))
	require.Contains(t, string(out), "--- FAIL: TestFailNowInHostFunction")
	require.NotContains(t, string(out), "not reached")
	require.NotContains(t, strings.ToLower(string(out)), "fatal error")
}

func TestConcurrentUseIsAnError(t *testing.T) {
	s := newState(t, luau.Options{})
	ctx, cancel := context.WithCancel(background)
	started := make(chan struct{})
	define(t, s, "started", func(c *luau.Call) error { close(started); return nil })
	done := make(chan error)
	go func() {
		_, err := s.Do(ctx, "=t", "started() while true do end")
		done <- err
	}()
	<-started
	_, err := s.Global("x")
	requireCode(t, luau.CodeBusy, err)
	requireCode(t, luau.CodeBusy, s.Close())
	cancel()
	require.ErrorIs(t, <-done, context.Canceled)
}

// A goroutine that a host function left behind cannot reach the State while the script goes on.
func TestGoroutineLeftBehind(t *testing.T) {
	s := newState(t, luau.Options{})
	errs := make(chan error, 100)
	stop, left := make(chan struct{}), make(chan struct{})
	define(t, s, "leave", func(c *luau.Call) error {
		go func() {
			defer close(left)
			for {
				select {
				case <-stop:
					return
				default:
				}
				if _, err := s.Do(background, "=left", "return 1"); err != nil {
					select {
					case errs <- err:
					default:
					}
				}
			}
		}()
		return nil
	})
	run(t, s, "leave() local x = 0 for i = 1, 1e6 do x += i end")
	close(stop)
	<-left // when the script was quicker, it may still be using the State
	for len(errs) > 0 {
		requireCode(t, luau.CodeBusy, <-errs)
	}
}

func TestManagementInsideHostFunction(t *testing.T) {
	needsImage(t)
	s := newState(t, luau.Options{})
	require.NoError(t, s.Save())
	for name, use := range map[string]func() error{
		"close": s.Close, "save": s.Save, "reset": s.Reset,
		"begin": func() error { _, err := s.Begin(luau.Limits{}); return err },
		"start with reset": func() error {
			_, out := s.Start(load(t, s, ""), luau.StartOptions{Reset: true})
			return out.Err
		},
	} {
		t.Run(name, func(t *testing.T) {
			var inside error
			define(t, s, "f", func(*luau.Call) error { inside = use(); return nil })
			run(t, s, "f()")
			require.Error(t, inside)
			require.Equal(t, []any{3.0}, run(t, s, "return 1 + 2"))
		})
	}
}

func TestKillOfTheWrongRun(t *testing.T) {
	s := newState(t, luau.Options{})
	first, err := s.Begin(luau.Limits{})
	require.NoError(t, err)
	s.Kill(0, nil)
	second, err := s.Begin(luau.Limits{})
	require.NoError(t, err)
	s.Kill(first, nil)
	run(t, s, "for i = 1, 1e5 do end")
	s.Kill(second, errors.New("why"))
	_, err = s.Do(background, "=t", "while true do end")
	requireCode(t, luau.CodeCancelled, err)
	require.True(t, luau.IsKilled(err))
	require.ErrorIs(t, err, context.Canceled)
}

func TestAfterAnEndOnlyResetHelps(t *testing.T) {
	needsImage(t)
	s := newState(t, luau.Options{})
	require.NoError(t, s.Save())
	ctx, cancel := context.WithTimeout(background, 20*time.Millisecond)
	defer cancel()
	_, err := s.Do(ctx, "=t", "while true do end")
	require.ErrorIs(t, err, context.DeadlineExceeded)
	_, err = s.Do(background, "=t", "return 1")
	requireCode(t, luau.CodeInvalid, err)
	require.ErrorContains(t, err, "the time limit was reached")
	require.NotErrorIs(t, err, context.DeadlineExceeded, "this call had no deadline")
	require.NoError(t, s.Reset())
	require.Equal(t, []any{1.0}, run(t, s, "return 1"))

	over, cancelled := context.WithCancel(background)
	cancelled()
	_, err = s.Do(over, "=t", "return 1")
	require.ErrorIs(t, err, context.Canceled)
	require.False(t, luau.IsKilled(err), "nothing ran")
	require.Equal(t, []any{2.0}, run(t, s, "return 2"))
}

// What nobody closes is found by the garbage collector, also when the State and its functions hold
// each other.
func TestForgottenStateIsFreed(t *testing.T) {
	freed := make(chan struct{})
	func() {
		s, err := luau.New(luau.Options{})
		require.NoError(t, err)
		define(t, s, "self", func(c *luau.Call) error { return s.SetGlobal("x", 1) })
		run(t, s, "self()")
		runtime.AddCleanup(s, func(c chan struct{}) { close(c) }, freed)
	}()
	for range 100 {
		runtime.GC()
		select {
		case <-freed:
			return
		case <-time.After(10 * time.Millisecond):
		}
	}
	t.Fatal("a State that nobody holds stays for ever")
}
