package hostapp

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/hukilau/hukilau/go/internal/store"
)

func TestBoundsOfTheStoreAreConfigured(t *testing.T) {
	inFolder(t, map[string]string{
		"tools/a.yaml": yaml("a", "", `return string.rep("x", 10000)`),
		"tools/grow.yaml": yaml("grow", "", `
    ctx.state.text = string.rep("x", 30000)
    local _, e = pcall(ctx.save_state)
    assert(string.find(e.message, "ctx.state: the state of all callers and sessions would have 30", 1, true), e.message)
    ctx.state.text = "short"
    return e.code`),
		"hukilau.toml": "[state]\nmax_size = \"20 KiB\"\nmax_kept = \"3 KiB\"\n[log]\nmax_size = \"50 KiB\"\n",
	})
	h := hostOf(t, Options{})
	for range 30 {
		require.Len(t, result(t, h, "a", ""), 10002)
	}
	require.NoError(t, h.Store.Log.Flush(t.Context()))
	list, err := h.Store.Log.List(t.Context(), store.Filter{})
	require.NoError(t, err)
	require.LessOrEqual(t, len(list), 5)
	for _, key := range []string{"1", "2"} {
		if _, err = h.Store.Idempotency.Begin(t.Context(), store.NewRequestID("a", "a", key), ""); key == "1" {
			require.NoError(t, err)
		}
	}
	require.Equal(t, store.CodeFull, store.CodeOf(err))
	require.Equal(t, `"limit"`, result(t, h, "grow", ""))
}
