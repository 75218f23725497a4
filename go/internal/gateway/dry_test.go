package gateway_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/hukilau/hukilau/go/internal/config"
	"github.com/hukilau/hukilau/go/internal/gateway"
	"github.com/hukilau/hukilau/go/internal/toolhost"
)

// rehearse runs a script without calling anything.
func (f *fixture) rehearse(script string, answers map[string]any) (string, []gateway.DryCall) {
	f.t.Helper()
	ctx := gateway.WithFakes(f.t.Context(), answers)
	answer, failed := f.host.Call(ctx, toolhost.Request{Tool: "execute_script", Value: map[string]any{"script": script}, Caller: bob})
	if failed != nil {
		return failed.Message, gateway.DryCalls(ctx)
	}
	var all told
	require.NoError(f.t, json.Unmarshal(answer.JSON, &all))
	return string(all.Result), gateway.DryCalls(ctx)
}

func TestDryRunsCallNothing(t *testing.T) {
	s, api := server(t, "s", "one", "pay", "never"), pets(t)
	s.source.Functions[0].Result = tree(t, `{"type":"object","properties":{"id":{"type":"integer"},"tags":{"type":"array","items":{"type":"string"}}},"required":["id","tags"]}`)
	f := newFixture(t, gateway.Options{Policy: []config.Rule{
		{Match: []config.Pattern{"s.pay"}, Action: config.Approve}, {Match: []config.Pattern{"s.never"}, Action: config.Deny},
	}}, s, api)

	result, calls := f.rehearse(`local r = sdk.s.one{ n = 1 } sdk.s.pay{ n = r.id } return type(r.id) .. #r.tags`, nil)
	require.Contains(t, result, "number")
	require.Len(t, calls, 2)
	require.Equal(t, gateway.DryCall{Function: "s.one", Args: map[string]any{"n": float64(1)}}, calls[0])
	require.Equal(t, "approve", calls[1].Policy)

	result, calls = f.rehearse(`return { sdk.s.one{}.id, sdk.s.one{}.id, sdk.s.one{}.id, sdk.pets.list_pets()[1].name, #sdk.s.pay{} }`, map[string]any{
		"s.one":          map[string]any{"answers": []any{map[string]any{"id": float64(1)}, map[string]any{"id": float64(2)}}},
		"pets.list_pets": []any{map[string]any{"name": "Rex"}},
		"s.pay":          "four",
	})
	require.Equal(t, `[1,2,2,"Rex",4]`, result)
	require.Len(t, calls, 5)

	result, _ = f.rehearse(`local ok, e = pcall(sdk.s.one) return { ok, e.message }`, map[string]any{"s.one": map[string]any{"error": "no"}})
	require.Equal(t, `[false,"no"]`, result)
	result, calls = f.rehearse(`return sdk.s.never{}`, nil)
	require.Contains(t, result, "does not allow")
	require.Empty(t, calls)
	result, calls = f.rehearse(`return sdk.s.one{ n = "x" }`, nil)
	require.Contains(t, result, "n must be an integer", "arguments are checked as ever")
	require.Empty(t, calls)
	result, calls = f.rehearse(`return s.one({}):await() ~= nil and call_tool("s.one") ~= nil`, nil)
	require.Equal(t, "true", result)
	require.Len(t, calls, 2)

	require.Empty(t, s.seen())
	require.Empty(t, api.seen())
	require.Equal(t, toolhost.NeedsApproval, f.fails(`return sdk.s.pay{}`).Code, "and the next run is a real one")
}
