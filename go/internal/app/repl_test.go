package app

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/hukilau/hukilau/go/pkg/hostmod"
)

func newTestSession(t *testing.T, timeout time.Duration) *Session {
	t.Helper()
	var out bytes.Buffer
	s, err := NewSession(Settings{Stdout: &out, Stderr: &out, Timeout: timeout, Grants: hostmod.Grants{All: true}})
	require.NoError(t, err)
	t.Cleanup(s.Close)
	return s
}

func input(text string) Input {
	in, _ := Read(text)
	return in
}

func enter(t *testing.T, s *Session, text string) string {
	t.Helper()
	renewed, err := s.Run(context.Background(), input(text))
	require.NoError(t, err, text)
	require.False(t, renewed)
	out := s.script.Stdout.(*bytes.Buffer)
	defer out.Reset()
	return out.String()
}

func TestIncomplete(t *testing.T) {
	for text, want := range map[string]bool{
		"": false, "x = 1": false, "1 + 2": false, "function f()": true, "function f()\nend": false, "f(": true, "{ 1,": true,
		"1 +": true, "x = [[ a": true, "x = [==[ a ]]": true, "--[[ a": true, "x = 'a": false, "x = = 1": false, "end": false,
		"if x then": true, "if x then else": true, "error('got <eof>')": false, "'[[": false,
	} {
		_, whole := Read(text)
		require.Equal(t, !want, whole, "%q", text)
	}
}

func TestSessionShowsValues(t *testing.T) {
	s := newTestSession(t, 0)
	for _, c := range [][2]string{
		{"1 + 1", "2\n"}, {"_ * 2", "4\n"}, {"x = 3", ""}, {"_", "4\n"}, {"1, nil, 'a\\n'", "1\nnil\n\"a\\n\"\n"},
		{"{}", "{}\n"}, {"{1, {b = true}, ['a b'] = 2}", "{\n  1,\n  {\n    b = true,\n  },\n  [\"a b\"] = 2,\n}\n"},
		{"t = {}; t.t = t", ""}, {"t", "{\n  t = <cycle>,\n}\n"},
		{"setmetatable({}, {__tostring = function() error('called') end, __len = function() error('called') end})", "{}\n"},
		{"next = nil; type = nil; string = nil", ""}, {"{1}", "{\n  1,\n}\n"},
	} {
		require.Equal(t, c[1], enter(t, s, c[0]), c[0])
	}
}

func TestSessionShowsWhatJSONHas(t *testing.T) {
	s := newTestSession(t, 0)
	enter(t, s, `json = require("json"); long = json.decode("123456789012345678901234567890")`)
	for _, c := range [][2]string{
		{"json.null", "null\n"}, {"_ == json.null", "true\n"}, {"nil, json.null, 1", "nil\nnull\n1\n"},
		{"long", "123456789012345678901234567890\n"}, {"rawequal(_, long) or _ == long", "true\n"},
		{"{ json.null, long, a = json.null }", "{\n  null,\n  123456789012345678901234567890,\n  a = null,\n}\n"},
		{`json.decode("[9007199254740993, null]")`, "{\n  9007199254740993,\n  null,\n}\n"},
	} {
		require.Equal(t, c[1], enter(t, s, c[0]), c[0])
	}
	require.Less(t, len(enter(t, s, `json.decode(string.rep("7", 100000))`)), 3000)
}

func TestAdvice(t *testing.T) {
	s := newTestSession(t, 0)
	require.Contains(t, s.Advice("exit"), "Ctrl-D")
	require.Contains(t, s.Advice(" quit()\n"), "Ctrl-D")
	require.Contains(t, s.Advice("help"), "luau doc")
	for _, text := range []string{"exit(1)", "print(exit)", "x = exit", "", "exits"} {
		require.Empty(t, s.Advice(text), text)
	}
	enter(t, s, "exit = false")
	require.Empty(t, s.Advice("exit"))
	require.NotEmpty(t, s.Advice("quit"))
}

func TestShownValuesAreBounded(t *testing.T) {
	s := newTestSession(t, 0)
	for _, text := range []string{
		"table.create(1000000, 'x')", "string.rep('x', 10000000)",
		"(function() local t = {} for i = 1, 100000 do t = {t} end return t end)()",
		"(function() local t = {} for i = 1, 100 do t[i] = t end local u = {} for i = 1, 100 do u[i] = table.clone(t) end return u end)()",
	} {
		shown := enter(t, s, text)
		require.NotEmpty(t, shown)
		require.Less(t, len(shown), 100_000, text)
	}
}

// killed runs an input that the time limit ends where Luau cannot break off.
const killed = "table.sort({1, 2, 3}, function() while true do end end)"

func TestKilledInputLosesTheVM(t *testing.T) {
	s := newTestSession(t, 200*time.Millisecond)
	enter(t, s, "a = 1")
	renewed, err := s.Run(context.Background(), input(killed))
	require.ErrorIs(t, err, context.DeadlineExceeded)
	require.True(t, renewed)
	require.Equal(t, "nil\n", enter(t, s, "a"))
	renewed, err = s.Run(context.Background(), input("error('oops')"))
	require.ErrorContains(t, err, "oops")
	require.False(t, renewed)
	require.Contains(t, Report(err, false), "| error('oops')")
	require.Equal(t, "2\n", enter(t, s, "2"))
}

func TestInterruptedInputKeepsTheSession(t *testing.T) {
	s := newTestSession(t, 0)
	enter(t, s, `a, time, async = 1, require("time"), require("async")`)
	for _, text := range []string{
		"while true do end", "while true do pcall(function() while true do end end) end", "time.sleep(1000)",
		"async.await(async.spawn(time.sleep, 1000))", "async.spawn(function() while true do time.sleep(0) end end) return 1",
		"f = function(n) if n > 0 then return f(n - 1) end while true do end end coroutine.wrap(f)(100)",
		"do " + strings.Repeat("x = 1; ", 100_000) + "end while true do end", // maybe while it compiles
	} {
		cause := errors.New("enough")
		ctx, cancel := context.WithCancelCause(context.Background())
		timer := time.AfterFunc(30*time.Millisecond, func() { cancel(cause) })
		renewed, err := s.Run(ctx, input(text))
		timer.Stop()
		cancel(nil)
		require.ErrorIs(t, err, cause, text)
		require.False(t, renewed, text)
		s.script.Stdout.(*bytes.Buffer).Reset()
		require.Equal(t, "1\n\"slept\"\n", enter(t, s, "a, time.sleep(0.001) or 'slept'"))
	}
}

// An input that the time limit ends is no different.
func TestTimedOutInputKeepsTheSession(t *testing.T) {
	s := newTestSession(t, 200*time.Millisecond)
	enter(t, s, "a = 1")
	renewed, err := s.Run(context.Background(), input("while true do end"))
	require.ErrorIs(t, err, ErrTimeout)
	require.False(t, renewed)
	require.Equal(t, "1\n", enter(t, s, "a"))
}

func TestTasksEndWithTheirInput(t *testing.T) {
	s := newTestSession(t, 0)
	require.Equal(t, "task\n\"main\"\n", enter(t, s, `require("async").spawn(function() __native.sleep(0.01) print("task") end) return "main"`))
}

func TestComplete(t *testing.T) {
	s := newTestSession(t, 0)
	enter(t, s, `alpha = setmetatable({own = 1}, {__index = {inherited = 2}})
		trap = setmetatable({}, {__index = function() error("called") end})`)
	for text, want := range map[string][]string{
		"print(alp": {"print(alpha"}, "alpha.": {"alpha.inherited", "alpha.own"}, "alpha:o": {"alpha:own"}, "trap.x": nil,
		"string.rev": {"string.reverse"}, "loc": {"local"}, "x = whi": {"x = while"}, "alpha.own.": nil,
	} {
		require.Equal(t, want, s.Complete(text), text)
	}
}

func TestHistoryIsBoundedAndPrivate(t *testing.T) {
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	require.Empty(t, ReadHistory())
	require.NoError(t, WriteHistory(strings.Repeat("old\n", 3000)+"new\n"))
	kept := ReadHistory()
	require.Equal(t, historyLines, strings.Count(kept, "\n"))
	require.True(t, strings.HasSuffix(kept, "\nnew\n"))
	require.NoError(t, checkPrivate())
}

func checkPrivate() error {
	path, err := historyPath()
	if err != nil {
		return err
	}
	info, err := os.Stat(path)
	if err == nil && info.Mode().Perm() != 0o600 {
		err = fmt.Errorf("mode %v", info.Mode())
	}
	return err
}
