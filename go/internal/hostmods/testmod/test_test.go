package testmod_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/hukilau/hukilau/go/internal/hostmods/testmod"
	"github.com/hukilau/hukilau/go/internal/modtest"
)

func TestReport(t *testing.T) {
	var got []testmod.Result
	var begun []string
	var pending []bool
	m := &testmod.Module{
		Options: testmod.Options{Filter: "x", Shuffle: true, Seed: 7},
		Report:  func(r testmod.Result) { got = append(got, r) },
		Begin:   func(name string) { begun = append(begun, name) },
		Pending: func(is bool) { pending = append(pending, is) },
	}
	vm := modtest.New(t, m, testmod.Stub)
	out := vm.Run(t, `
		local test = __native.test
		test.begin("a > b")
		test.report("a > b", "failed", 0.5, "no", "x:1")
		test.pending(true)
		test.report("c", "passed", 0)
		test.pending(false)
		return test.filter, test.seed, pcall(test.report, "d", "maybe", 0)`)
	require.Equal(t, []testmod.Result{
		{Name: "a > b", Status: testmod.Failed, Seconds: 0.5, Message: "no", Trace: "x:1"},
		{Name: "c", Status: testmod.Passed},
	}, got)
	require.Equal(t, []string{"a > b"}, begun)
	require.Equal(t, []bool{true, false}, pending)
	require.Equal(t, []any{"x", 7.0, false}, out[:3])
	require.Equal(t, `test.report: argument 2 must be "passed", "failed" or "skipped"`, out[3].(map[string]any)["message"])
}

func TestNobodyNeedHearOfBeginnings(t *testing.T) {
	vm := modtest.New(t, &testmod.Module{Options: testmod.Options{Shuffle: true}, Report: func(testmod.Result) {}}, testmod.Stub)
	require.Equal(t, []any{true}, vm.Run(t, `return (pcall(__native.test.begin, "a"))`))
	require.Equal(t, []any{true}, vm.Run(t, `return (pcall(__native.test.pending, true))`))
	require.Equal(t, []any{false}, vm.Run(t, `return (pcall(__native.test.begin, {}))`))
}
