package mcpserver_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/hukilau/hukilau/go/internal/tooldef"
	"github.com/hukilau/hukilau/go/internal/toolhost"
)

// native is a tool that is a Go function.
func native(run func(context.Context, toolhost.Calling) (tooldef.Output, error)) func(*tooldef.Tool) {
	return func(made *tooldef.Tool) {
		made.Source = ""
		made.Native = func(ctx context.Context, _ any) (tooldef.Output, error) {
			calling, _ := toolhost.CallingOf(ctx)
			return run(ctx, calling)
		}
	}
}

// A result that has lines is one event all the same.
func TestResultsOfSeveralLines(t *testing.T) {
	f := serving(t, tool(t, "lines", "", native(func(ctx context.Context, c toolhost.Calling) (tooldef.Output, error) {
		err := c.Sink().Progress(ctx, 1, 0, "")
		return tooldef.Output{JSON: []byte("1"), MCP: []byte("{\r\n\"content\":\r[\n\n{\"type\":\"text\",\"text\":\"a\"}]}")}, err
	})))
	w := f.web(t)
	w.greet("2025-11-25", "{}")
	_, messages := w.post(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"lines","_meta":{"progressToken":1}}}`)
	require.Len(t, messages, 2)
	require.Equal(t, "a", messages[1].at("result.content.0.text"))
	p := f.greeted(t, "2025-11-25", "{}")
	p.send(callOf("1", "lines", "{}"))
	m, _ := p.answer()
	require.Equal(t, "a", m.at("result.content.0.text"))
}

// Nothing comes after the answer: the connection is that of the next request by then.
func TestNothingIsToldAfterTheAnswer(t *testing.T) {
	var sink toolhost.Sink
	f := serving(t, tool(t, "leaks", "", native(func(_ context.Context, c toolhost.Calling) (tooldef.Output, error) {
		sink = c.Sink()
		return tooldef.Output{JSON: []byte(`"done"`)}, nil
	})))
	w := f.web(t)
	w.greet("2025-11-25", form)
	body := `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"leaks","_meta":{"progressToken":1}}}`
	answer := httptest.NewRecorder()
	f.server.HTTP().ServeHTTP(answer, w.request(context.Background(), http.MethodPost, body))
	require.Contains(t, answer.Body.String(), "done")
	before := answer.Body.String()
	require.Error(t, sink.Progress(context.Background(), 1, 2, "late"))
	_, err := sink.(toolhost.Elicitor).Elicit(context.Background(), "late", []byte(`{"type":"object","properties":{}}`))
	require.Error(t, err)
	require.Equal(t, before, answer.Body.String())
}
