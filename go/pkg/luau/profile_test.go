package luau_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/hukilau/hukilau/go/pkg/luau"
)

// profiled runs source with a function `look` that lets the watcher run, so that a sample is due when it
// returns: almost surely.
func profiled(t *testing.T, source string, args ...any) (*luau.Profile, error) {
	t.Helper()
	s := newState(t, luau.Options{})
	look := luau.Func{Name: "look", Do: func(*luau.Call) error {
		time.Sleep(2 * time.Millisecond)
		return nil
	}}
	require.NoError(t, s.SetGlobal("look", look))
	require.NoError(t, s.StartProfile(luau.ProfileOptions{Every: 200 * time.Microsecond}))
	_, err := s.Do(context.Background(), "@dir/test.luau", source, args...)
	p, stopped := s.StopProfile()
	require.NoError(t, stopped)
	checkProfile(t, p)
	return p, err
}

// checkProfile holds what is true of every profile, and of its file.
func checkProfile(t *testing.T, p *luau.Profile) {
	t.Helper()
	samples, sum := 0, time.Duration(0)
	for i, s := range p.Stacks {
		require.Less(t, s.Parent, i)
		require.Less(t, s.Frame, len(p.Frames))
		samples += s.Samples
		sum += s.Time
	}
	require.Equal(t, p.Samples, samples)
	require.Equal(t, p.Time, sum)
	file := speedscopeFile(t, p)
	require.Equal(t, "https://www.speedscope.app/file-format-schema.json", file.Schema)
	require.Len(t, file.Profiles, 2)
	for _, view := range file.Profiles {
		require.Equal(t, "sampled", view.Type)
		require.Equal(t, "nanoseconds", view.Unit)
		require.Len(t, view.Weights, len(view.Samples))
		var all time.Duration
		for i, stack := range view.Samples {
			require.NotEmpty(t, stack)
			require.Positive(t, view.Weights[i])
			all += view.Weights[i]
			for _, frame := range stack {
				require.Less(t, frame, len(file.Shared.Frames))
				require.GreaterOrEqual(t, frame, 0)
			}
		}
		require.Equal(t, p.Time, all)
		require.Equal(t, all, view.EndValue-view.StartValue)
	}
	for _, frame := range file.Shared.Frames {
		require.NotEmpty(t, frame.Name)
	}
}

type speedscope struct {
	Schema string `json:"$schema"`
	Name   string
	Shared struct {
		Frames []struct {
			Name, File string
			Line       int
		}
	}
	Profiles []struct {
		Type, Name, Unit     string
		StartValue, EndValue time.Duration
		Samples              [][]int
		Weights              []time.Duration
	}
}

func speedscopeFile(t *testing.T, p *luau.Profile) speedscope {
	t.Helper()
	var out bytes.Buffer
	require.NoError(t, p.WriteSpeedscope(&out, `a "name"`))
	var file speedscope
	require.NoError(t, json.Unmarshal(out.Bytes(), &file))
	require.Equal(t, `a "name"`, file.Name)
	return file
}

// timeOf adds up the time of all stacks in which a function of that name is.
func timeOf(p *luau.Profile, name string) time.Duration {
	inside := make([]bool, len(p.Stacks))
	var sum time.Duration
	for i, s := range p.Stacks {
		inside[i] = p.Frames[s.Frame].Function == name || s.Parent >= 0 && inside[s.Parent]
		if inside[i] {
			sum += s.Time
		}
	}
	return sum
}

// hot has three times cold's work. No two rounds are alike, so that a machine's clock ticks keep no step
// with them.
const shares = `
local function spin(n) local x = 0 for i = 1, n do x += i % 7 end return x end
local function hot(n) return spin(3 * n) + 0 end
local function cold(n) return spin(n) + 0 end
for i = 1, ... do hot(math.random(1, 40000)) cold(math.random(1, 40000)) end`

func TestProfileShowsShares(t *testing.T) {
	// As long as it takes until there are so many samples that chance decides nothing.
	for rounds := 200; ; rounds *= 2 {
		p, err := profiled(t, shares, rounds)
		require.NoError(t, err)
		if p.Samples < 150 && rounds < 100_000 {
			continue
		}
		hot, cold := timeOf(p, "hot"), timeOf(p, "cold")
		t.Logf("%d samples: hot %s, cold %s of %s", p.Samples, hot, cold, p.Time)
		require.Greater(t, hot, cold+cold/4)
		require.Positive(t, cold)
		require.Greater(t, timeOf(p, "spin"), p.Time/2)
		require.Zero(t, p.Lost)
		return
	}
}

func TestProfileNames(t *testing.T) {
	p, err := profiled(t, "local function outer()\n\tcoroutine.wrap(function() look() look() end)()\nend\nfor _ = 1, 20 do outer() end\ntable.sort({2, 1}, function(a, b) look() return a < b end)")
	require.NoError(t, err)
	names := map[string]luau.ProfileFrame{}
	for _, f := range p.Frames {
		if names[f.String()].Line != 2 { // on a slow machine a sample falls on the function's end, too
			names[f.String()] = f
		}
	}
	for _, want := range []string{"main chunk (dir/test.luau:1)", "outer (dir/test.luau:1)", "anonymous function (dir/test.luau:2)", "look (host)"} {
		require.Contains(t, names, want)
	}
	require.Equal(t, 2, names["outer (dir/test.luau:1)"].Line)
	require.Equal(t, "@dir/test.luau", names["outer (dir/test.luau:1)"].Chunk)
	require.Positive(t, timeOf(p, "look"))
}

func TestProfileOfManyShapes(t *testing.T) {
	for name, c := range map[string]struct{ source, fails, seen string }{
		"deep recursion":     {"local function f(n) if n == 0 then look() return 0 end return f(n - 1) + 1 end for _ = 1, 5 do f(15000) end", "", "(frames left out)"},
		"endless recursion":  {"local function f(n) return f(n - 1) + 1 end local ok = pcall(f, 100000) look() assert(ok)", "assertion failed", "look"},
		"10,000 functions":   {"local t = table.create(10000) for i = 1, 10000 do t[i] = function() return i end end local x = 0 for _ = 1, 20 do for i = 1, 10000 do x += t[i]() end end look()", "", "look"},
		"chain of threads":   {"local function nest(n) if n == 0 then look() return end coroutine.wrap(nest)(n - 1) end for _ = 1, 5 do nest(100) end", "", "nest"},
		"error":              {"local function f() look() error('no') end f()", "no", "f"},
		"long library calls": {"local t = {} for i = 1, 200000 do t[i] = -i end look() table.sort(t)", "", "look"},
	} {
		t.Run(name, func(t *testing.T) {
			p, err := profiled(t, c.source)
			for range 100 {
				if timeOf(p, c.seen) > 0 {
					break
				}
				p, err = profiled(t, c.source)
			}
			if c.fails != "" {
				require.ErrorContains(t, err, c.fails)
			} else {
				require.NoError(t, err)
			}
			require.Positive(t, timeOf(p, c.seen))
			for i := range p.Stacks {
				depth := 0
				for at := i; at >= 0; at = p.Stacks[at].Parent {
					depth++
				}
				require.LessOrEqual(t, depth, 202)
			}
		})
	}
}

func TestProfileOfAnEndedRun(t *testing.T) {
	s := newState(t, luau.Options{})
	require.NoError(t, s.StartProfile(luau.ProfileOptions{}))
	ctx, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
	defer cancel()
	_, err := s.Do(ctx, "=loop", "local function spin() while true do end end spin()")
	require.ErrorIs(t, err, context.DeadlineExceeded)
	p, err := s.StopProfile()
	require.NoError(t, err)
	checkProfile(t, p)
	require.Positive(t, p.Time)
	_, err = s.StopProfile()
	require.ErrorContains(t, err, "StopProfile without StartProfile")
	require.ErrorContains(t, s.StartProfile(luau.ProfileOptions{Every: -1}), "negative")
	require.NoError(t, s.StartProfile(luau.ProfileOptions{}))
	require.NoError(t, s.Close()) // ends the watcher: goleak looks
	_, err = s.StopProfile()
	require.Error(t, err)
}

func TestProfileThatCannotBeWritten(t *testing.T) {
	p, err := profiled(t, "look()")
	require.NoError(t, err)
	full := errors.New("full")
	require.ErrorIs(t, p.WriteSpeedscope(failing{full}, "x"), full)
}

type failing struct{ err error }

func (f failing) Write([]byte) (int, error) { return 0, f.err }
