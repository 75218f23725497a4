package luau_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/hukilau/hukilau/go/pkg/luau"
)

type brokenError struct{ part string }

func (e *brokenError) Error() string { return "broken: " + e.part }

// What a host function returns is what the caller of the script finds, however it came out.
func TestErrorsLeadBackToTheHost(t *testing.T) {
	s, err := luau.New(luau.Options{})
	require.NoError(t, err)
	defer s.Close()
	ctx := context.Background()
	for name, f := range map[string]any{
		"eof":     func() error { return io.EOF },
		"wrapped": func() error { return fmt.Errorf("reading: %w", io.EOF) },
		"typed":   func() error { return &brokenError{"wheel"} },
		"panics":  func() error { panic(io.EOF) },
		"apply": func(ctx context.Context, f *luau.Function) error {
			_, err := f.Call(ctx)
			return err
		},
		"comment": func(ctx context.Context, f *luau.Function) error {
			_, err := f.Call(ctx)
			return fmt.Errorf("calling back: %w", err)
		},
	} {
		require.NoError(t, s.SetGlobal(name, luau.FuncOf(name, f)))
	}
	for _, source := range []string{
		"eof()", "wrapped()", "panics()", "local ok, e = pcall(eof) error(e)",
		"coroutine.wrap(eof)()", "apply(eof)", "comment(eof)", "apply(function() apply(wrapped) end)",
		"xpcall(eof, function(e) last = e end) error(last)",
	} {
		_, err := s.Do(ctx, "=x", source)
		require.ErrorIs(t, err, io.EOF, source)
	}
	_, err = s.Do(ctx, "=x", "typed()")
	var broken *brokenError
	require.ErrorAs(t, err, &broken)
	require.Equal(t, "wheel", broken.part)

	// An error of the script's own leads nowhere.
	for _, source := range []string{"error('x')", "error({message = 'EOF'})", "pcall(eof) error('EOF')"} {
		_, err := s.Do(ctx, "=x", source)
		require.NotErrorIs(t, err, io.EOF, source)
	}
	// Nor does the host's number show.
	out, err := s.Do(ctx, "=x", "local ok, e = pcall(eof) local keys = 0 for k in e do keys += 1 end return keys, e[''], e.code, e.message")
	require.NoError(t, err)
	require.Equal(t, []any{2.0, nil, "host", "EOF"}, out)
}

// An error that Go wrapped on its way through keeps the words of both.
func TestWrappedErrorOfACallback(t *testing.T) {
	s, err := luau.New(luau.Options{})
	require.NoError(t, err)
	defer s.Close()
	comment := func(ctx context.Context, f *luau.Function) error {
		_, err := f.Call(ctx)
		return fmt.Errorf("calling back: %w", err)
	}
	require.NoError(t, s.SetGlobal("comment", luau.FuncOf("comment", comment)))
	for source, want := range map[string]string{
		"error('no')":                         "calling back: t:1: no|runtime|nil",
		"error({code = 'E', n = 1})":          `calling back: t:1: the error value {code = "E", n = 1}|E|1`,
		"error({message = 'no', code = 'E'})": "calling back: t:1: no|E|nil",
	} {
		out, err := s.Do(context.Background(), "=t",
			"local ok, e = pcall(comment, function() "+source+" end) return e.message .. '|' .. e.code .. '|' .. tostring(e.n)")
		require.NoError(t, err)
		require.Equal(t, []any{want}, out, source)
	}
}

// A host function that passes on the error of a callback does not double the frames.
func TestFramesOfACallback(t *testing.T) {
	s, err := luau.New(luau.Options{})
	require.NoError(t, err)
	defer s.Close()
	apply := func(ctx context.Context, f *luau.Function) error {
		_, err := f.Call(ctx)
		return err
	}
	require.NoError(t, s.SetGlobal("apply", luau.FuncOf("apply", apply)))
	_, err = s.Do(context.Background(), "=x", `local function cb()
	error('in cb')
end
local function inner() apply(cb) end
local function outer()
	apply(inner)
end
outer()`)
	var e *luau.Error
	require.ErrorAs(t, err, &e)
	require.Equal(t, "x:2: in cb", e.Error())
	require.Equal(t, strings.Join([]string{
		"[C] in error", "x:2 in cb", "[C] in apply", "x:4 in inner", "[C] in apply", "x:6 in outer", "x:8", "",
	}, "\n"), e.Traceback())
}

// Whoever debugs an endless loop wants to know where it is.
func TestEndedRunsSayWhere(t *testing.T) {
	s, err := luau.New(luau.Options{})
	require.NoError(t, err)
	defer s.Close()
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Millisecond)
	defer cancel()
	_, err = s.Do(ctx, "@loop.luau", `local function spin()
	while true do end
end
coroutine.wrap(function()
	pcall(spin)
end)()`)
	var e *luau.Error
	require.ErrorAs(t, err, &e)
	require.ErrorIs(t, err, context.DeadlineExceeded)
	require.Equal(t, "loop.luau:2: the time limit was reached", e.Error())
	require.Contains(t, e.Traceback(), "loop.luau:2 in spin\n[C] in pcall\nloop.luau:5\n")
	require.Contains(t, e.Traceback(), "loop.luau:6\n")
}

func TestChunkNamesWithoutAMark(t *testing.T) {
	s, err := luau.New(luau.Options{})
	require.NoError(t, err)
	defer s.Close()
	for _, source := range []string{"error('x')", "local x = = 1", "local x = nil + 1"} {
		_, err := s.Do(context.Background(), "my.luau", source)
		require.ErrorContains(t, err, "my.luau:1: ")
		require.NotContains(t, err.Error(), "string")
		require.Equal(t, 1, strings.Count(err.Error(), "my.luau"), err.Error())
	}
}

func TestPlaceOfAnErrorInsideOfAWrap(t *testing.T) {
	s, err := luau.New(luau.Options{})
	require.NoError(t, err)
	defer s.Close()
	_, err = s.Do(context.Background(), "=w", "local f = coroutine.wrap(function() error('boom') end)\n\nf()")
	require.EqualError(t, err, "w:1: boom")
	require.False(t, errors.Is(err, io.EOF))
}
