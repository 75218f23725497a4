package luau_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/hukilau/hukilau/go/pkg/luau"
)

func newState(t testing.TB, o luau.Options) *luau.State {
	t.Helper()
	o.Malloc = o.Malloc || onMalloc
	s, err := luau.New(o)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, s.Close()) })
	return s
}

// needsImage skips a test of images where VMs have none.
func needsImage(t *testing.T) {
	if onMalloc {
		t.Skip("a VM with memory from malloc has no image")
	}
}

func TestDo(t *testing.T) {
	s := newState(t, luau.Options{})
	got, err := s.Do(context.Background(), "=t", "return 1 + 2, 'a\\0b', {1,2,3}, {a={true}}, 5i, vector.create(1,2,3), {}", 1)
	require.NoError(t, err)
	require.Equal(t, []any{3.0, "a\x00b", []any{1.0, 2.0, 3.0}, map[string]any{"a": []any{true}}, luau.Integer(5), luau.Vector{1, 2, 3}, map[string]any{}}, got)
}

func TestRuntimeErrorHasPlaceAndFrames(t *testing.T) {
	s := newState(t, luau.Options{})
	_, err := s.Do(context.Background(), "@dir/x.luau", "local function f()\n error('boom')\nend\nf()")
	var e *luau.Error
	require.ErrorAs(t, err, &e)
	require.Equal(t, luau.CodeRuntime, e.Code)
	require.Equal(t, "boom", e.Message)
	require.Equal(t, 2, e.Line)
	require.Equal(t, "dir/x.luau:2: boom", e.Error())
	require.Contains(t, e.Traceback(), "dir/x.luau:4")
}

func TestHostFunction(t *testing.T) {
	s := newState(t, luau.Options{})
	add := luau.Func{Name: "add", Do: func(c *luau.Call) error {
		a, err := c.Number(0)
		if err != nil {
			return err
		}
		b, err := c.Number(1)
		if err != nil {
			return err
		}
		return c.ReturnNumber(a + b)
	}}
	require.NoError(t, s.SetGlobal("add", add))
	got, err := s.Do(context.Background(), "=t", "return add(1,2), pcall(add, 1, {})")
	require.NoError(t, err)
	require.Equal(t, 3.0, got[0])
	require.Equal(t, false, got[1])
	require.Equal(t, map[string]any{"code": "invalid_argument", "message": "add: argument 2 must be a number, got table"}, got[2])
}

func TestDeadlineEndsEndlessLoop(t *testing.T) {
	s := newState(t, luau.Options{})
	ctx, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
	defer cancel()
	_, err := s.Do(ctx, "=t", "while true do pcall(function() while true do end end) end")
	require.ErrorIs(t, err, context.DeadlineExceeded)
	require.True(t, errors.Is(err, &luau.Error{Code: luau.CodeTimeout}))
}

func BenchmarkHostCall(b *testing.B) {
	s := newState(b, luau.Options{})
	f := luau.Func{Name: "f", Do: func(c *luau.Call) error {
		x, err := c.Number(0)
		if err != nil {
			return err
		}
		return c.ReturnNumber(x + 1)
	}}
	require.NoError(b, s.SetGlobal("f", f))
	code, err := luau.Compile("=b", "local n = ... for i = 1, n do f(i) end", luau.CompileOptions{})
	require.NoError(b, err)
	fn, err := s.Load(code, "=b", luau.LoadOptions{})
	require.NoError(b, err)
	b.ResetTimer()
	_, err = fn.Call(context.Background(), b.N)
	require.NoError(b, err)
}

func benchResult(b *testing.B, source string) {
	s := newState(b, luau.Options{})
	code, err := luau.Compile("=b", source, luau.CompileOptions{})
	require.NoError(b, err)
	fn, err := s.Load(code, "=b", luau.LoadOptions{})
	require.NoError(b, err)
	out, err := fn.Call(context.Background())
	require.NoError(b, err)
	get := out[0].(*luau.Function)
	b.ReportAllocs()
	b.ResetTimer()
	for range b.N {
		if _, err := get.Call(context.Background()); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkMapToGo(b *testing.B) {
	benchResult(b, "local m = {} for i = 1, 1000 do m['key'..i] = i end return function() return m end")
}

func BenchmarkNumbersToGo(b *testing.B) {
	benchResult(b, "local m = {} for i = 1, 1000 do m[i] = i end return function() return m end")
}

func BenchmarkCallOnly(b *testing.B) { benchResult(b, "return function() end") }

func benchArg(b *testing.B, v any) {
	s := newState(b, luau.Options{})
	code, err := luau.Compile("=b", "", luau.CompileOptions{})
	require.NoError(b, err)
	fn, err := s.Load(code, "=b", luau.LoadOptions{})
	require.NoError(b, err)
	b.ReportAllocs()
	b.ResetTimer()
	for range b.N {
		if _, err := fn.Call(context.Background(), v); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkMapFromGo(b *testing.B) {
	m := map[string]any{}
	for i := range 1000 {
		m["key"+string(rune('a'+i%26))+time.Duration(i).String()] = float64(i)
	}
	benchArg(b, m)
}

func BenchmarkFloatsFromGo(b *testing.B) { benchArg(b, make([]float64, 1000)) }

// Luau's compiler takes minutes for this, and nothing can stop it.
func TestCompileRefusesWhatTakesMinutes(t *testing.T) {
	block := strings.Repeat("local a = {1, 2, 3} a[1] = a[2] + a[3] do end ", 80_000)
	for name, source := range map[string]string{
		"one block": block, "in a function": "return function() " + block + " end",
		"nested": strings.Repeat("local a = {} do ", 900) + strings.Repeat("local a = {} ", 100_000) + strings.Repeat(" end ", 900),
	} {
		started := time.Now()
		_, err := luau.Compile("=t", source, luau.CompileOptions{})
		require.ErrorContains(t, err, "Too many local variables in one function", name)
		require.Less(t, time.Since(started), 20*time.Second, name)
	}
	for name, source := range map[string]string{
		"many blocks":    strings.Repeat("do local a = {1, 2, 3} a[1] = a[2] + a[3] end ", 20_000),
		"many functions": strings.Repeat("f = function(a) local b = {a} return b[1] end ", 20_000),
		"large":          strings.Repeat("local a = {} ", 200) + strings.Repeat("a[1] = 1 ", 20_000),
	} {
		_, err := luau.Compile("=t", source, luau.CompileOptions{})
		require.NoError(t, err, name)
	}
}

// What host functions charge is in the peak as it is in the use.
func TestPeakCountsCharges(t *testing.T) {
	s := newState(t, luau.Options{})
	const charged = 10 << 20
	require.True(t, s.Charge(charged))
	stats, err := s.Stats()
	require.NoError(t, err)
	require.GreaterOrEqual(t, stats.MemoryPeak, stats.MemoryUsed)
	if onMalloc {
		return // its peak is not kept
	}

	_, err = s.Do(context.Background(), "=t", "return {}")
	require.NoError(t, err)
	s.Uncharge(charged)
	stats, err = s.Stats()
	require.NoError(t, err)
	require.Less(t, stats.MemoryUsed, uint64(charged))
	require.Greater(t, stats.MemoryPeak, uint64(charged))
}

// Without Save there is no way back, and every error on the way says so.
func TestResetWithoutSave(t *testing.T) {
	needsImage(t)
	s := newState(t, luau.Options{})
	const needed = "the State has no saved image to go back to: call Save once, when it is set up and before its first run"
	require.EqualError(t, s.Reset(), needed)
	requireCode(t, luau.CodeInvalid, s.Reset())
	_, out := s.Start(load(t, s, "return 1"), luau.StartOptions{Reset: true})
	require.EqualError(t, out.Err, needed)
	require.Equal(t, []any{1.0}, run(t, s, "return 1"), "it goes on")

	ctx, cancel := context.WithTimeout(background, 20*time.Millisecond)
	defer cancel()
	_, err := s.Do(ctx, "=loop", "while true do end")
	require.True(t, luau.IsKilled(err))
	_, err = s.Do(background, "=after", "return 1")
	require.ErrorContains(t, err, "only Close is possible, as Save was not called before that run")
	require.EqualError(t, s.Reset(), needed)
	require.Error(t, s.Save(), "it is too late")

	saved := newState(t, luau.Options{})
	require.NoError(t, saved.Save())
	ctx, cancel = context.WithTimeout(background, 20*time.Millisecond)
	defer cancel()
	_, err = saved.Do(ctx, "=loop", "while true do end")
	require.True(t, luau.IsKilled(err))
	_, err = saved.Do(background, "=after", "return 1")
	require.ErrorContains(t, err, "only Reset and Close are possible")
	require.NoError(t, saved.Reset())
	require.Equal(t, []any{1.0}, run(t, saved, "return 1"))
}
