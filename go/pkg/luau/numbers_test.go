package luau_test

import (
	"context"
	"math"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/hukilau/hukilau/go/pkg/luau"
)

// Lists of numbers cross in a short form of their own; nothing of it shows.
func TestListsOfNumbers(t *testing.T) {
	s := newState(t, luau.Options{})
	require.NoError(t, s.SetGlobal("json", luau.Native("json")))
	for text, list := range map[string]any{
		"[]":                []float64{},
		"[1,2.5]":           []float64{1, 2.5},
		"[3]":               []any{3.0},
		"[1,\"x\",2]":       []any{1.0, "x", 2.0},
		"[1,null]":          []any{1.0, nil},
		"[null,1]":          []any{nil, 1.0},
		"[[1,2],[],[true]]": []any{[]any{1.0, 2.0}, []any{}, []any{true}},
	} {
		got, err := s.Do(context.Background(), "=t", "local t = ... return json.encode(t), t, { inner = t }", list)
		require.NoError(t, err)
		require.Equal(t, text, got[0])
		back, err := s.Do(context.Background(), "=t", "local t = ... return json.encode(t)", got[1])
		require.NoError(t, err)
		require.Equal(t, text, back[0], "there and back")
		require.Equal(t, got[1], got[2].(map[string]any)["inner"])
	}
	got, err := s.Do(context.Background(), "=t", "local t = ... table.clear(t) return json.encode(t)", []float64{1, 2})
	require.NoError(t, err)
	require.Equal(t, []any{"[]"}, got, "an array that a script emptied is still an array")
}

func TestTablesThatLookLikeLists(t *testing.T) {
	s := newState(t, luau.Options{})
	got, err := s.Do(context.Background(), "=t",
		"local holes = table.create(8, 1) holes[5] = nil local mixed = {1, 2} mixed.x = 3 return {1, 2, 0/0 ~= 0/0}, holes, mixed, {1, 2, nil}")
	require.NoError(t, err)
	require.Equal(t, []any{1.0, 2.0, true}, got[0])
	require.Equal(t, map[any]any{1.0: 1.0, 2.0: 2.0, "x": 3.0}, got[2])
	require.Equal(t, []any{1.0, 2.0}, got[3])
	holes, ok := got[1].(map[any]any)
	if !ok {
		require.Len(t, got[1], 8) // the length of a table with a hole may be either border
		return
	}
	require.NotContains(t, holes, 5.0)
	require.Equal(t, 1.0, holes[8.0])
}

func TestScanReusesRoomForNumbers(t *testing.T) {
	s := newState(t, luau.Options{})
	ctx := context.Background()
	out, err := s.Do(ctx, "=t", "return function(n) local t = table.create(n) for i = 1, n do t[i] = -i end return t end")
	require.NoError(t, err)
	f := out[0].(*luau.Function)
	var list []float64
	require.NoError(t, f.CallInto(ctx, []any{&list}, 3))
	require.Equal(t, []float64{-1, -2, -3}, list)
	first := &list[0]
	require.NoError(t, f.CallInto(ctx, []any{&list}, 2))
	require.Equal(t, []float64{-1, -2}, list)
	require.Same(t, first, &list[0])
	require.NoError(t, f.CallInto(ctx, []any{&list}, 100))
	require.Len(t, list, 100)
	require.NoError(t, f.CallInto(ctx, []any{&list}, 0))
	require.Empty(t, list)
}

// Small texts share room: what one is must not change when others come.
func TestTextsOfOneCrossingStayApart(t *testing.T) {
	s := newState(t, luau.Options{})
	got, err := s.Do(context.Background(), "=t", `local t = {}
		for i = 1, 3000 do t["key" .. i] = string.rep(tostring(i), i % 700) end
		return t, "", "a\0b"`)
	require.NoError(t, err)
	m := got[0].(map[string]any)
	require.Len(t, m, 3000)
	for i := 1; i <= 3000; i++ {
		require.Equal(t, strings.Repeat(strconv.Itoa(i), i%700), m["key"+strconv.Itoa(i)])
	}
	require.Equal(t, []any{"", "a\x00b"}, got[1:])
}

func TestKeysThatNoTableHas(t *testing.T) {
	s := newState(t, luau.Options{})
	err := s.SetGlobal("t", map[float64]any{math.NaN(): 1})
	require.ErrorContains(t, err, "NaN")
	require.NoError(t, s.SetGlobal("t", map[any]any{1: "one", 2.5: "half", true: "yes"}))
	got, err := s.Do(context.Background(), "=t", "return t[1], t[2.5], t[true]")
	require.NoError(t, err)
	require.Equal(t, []any{"one", "half", "yes"}, got)
}
