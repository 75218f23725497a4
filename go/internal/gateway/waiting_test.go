package gateway_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/hukilau/hukilau/go/internal/gateway"
	"github.com/hukilau/hukilau/go/internal/gateway/catalog"
	"github.com/hukilau/hukilau/go/internal/gateway/openapi"
)

// unknown is a server that is not known until somebody has waited for it.
type unknown struct {
	*fake
	known  atomic.Bool
	waited atomic.Int32
}

func (l *unknown) Source() *catalog.Source {
	if l.known.Load() {
		return l.fake.Source()
	}
	return nil
}

func (l *unknown) Status() gateway.Status {
	if l.known.Load() {
		return gateway.Status{State: gateway.Healthy}
	}
	return gateway.Status{State: gateway.Connecting}
}

func (l *unknown) Ready(context.Context) error {
	l.waited.Add(1)
	l.known.Store(true)
	return nil
}

// At the start a call waits for the sources that it is about, and for no other one.
func TestCallsWaitForSources(t *testing.T) {
	for tool, args := range map[string]map[string]any{
		"execute_script": {"script": `return sdk.first.one{ n = 1 }`}, "get_function_docs": {"name": "first.one"}, "list_functions": {"api": "first"},
		"tool-details": {"luaServerName": "first", "luaToolName": "one"}, "execute": {"script": `result(first.one():await())`},
	} {
		t.Run(tool, func(t *testing.T) {
			first, second := &unknown{fake: server(t, "first", "one")}, &unknown{fake: server(t, "second", "one")}
			f := newFixture(t, gateway.Options{Face: "both", Upstreams: []gateway.Upstream{first, second}})
			text, failed := f.call(tool, args)
			require.Nil(t, failed)
			require.NotEmpty(t, text)
			require.EqualValues(t, 1, first.waited.Load())
			require.Zero(t, second.waited.Load())
		})
	}
	both := []gateway.Upstream{&unknown{fake: server(t, "first", "one")}, &unknown{fake: server(t, "second", "one")}}
	f := newFixture(t, gateway.Options{Upstreams: both})
	text, failed := f.call("search_docs", map[string]any{"query": "one"})
	require.Nil(t, failed)
	require.Contains(t, text, "sdk.first.one")
	require.Contains(t, text, "sdk.second.one")
}

// A document that could not be read is tried again.
func TestDocumentsAreTriedAgain(t *testing.T) {
	tries := 0
	a := gateway.OpenAPISource(openapi.Config{Name: "shop", Spec: "shop.json"}, openapi.Options{ReadFile: func(string, string) ([]byte, error) {
		if tries++; tries == 1 {
			return nil, errors.New("it is being written")
		}
		return []byte(`{"openapi":"3.1.0","info":{"title":"Shop","version":"1"},"servers":[{"url":"http://127.0.0.1"}],"paths":{"/items":{"get":{"operationId":"listItems"}}}}`), nil
	}}, "", 0, nil)
	t.Cleanup(a.Close)
	ctx, stop := context.WithTimeout(t.Context(), patience)
	defer stop()
	require.ErrorContains(t, a.Ready(ctx), "it is being written")
	require.Equal(t, gateway.Unhealthy, a.Status().State)
	eventually(t, func() bool { return a.Status().State == gateway.Healthy })
	require.Len(t, a.Source().Functions, 1)
}
