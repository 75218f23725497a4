package toolhost_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/hukilau/hukilau/go/internal/jsonvalue"
	"github.com/hukilau/hukilau/go/internal/store"
	"github.com/hukilau/hukilau/go/internal/tooldef"
	"github.com/hukilau/hukilau/go/internal/toolhost"
)

// native is a tool that is a Go function.
func native(t *testing.T, name string, run tooldef.Native) *tooldef.Tool {
	made := tool(t, name, "")
	made.Native = run
	return made
}

func TestNativeTool(t *testing.T) {
	h := newHost(t, toolhost.Options{}, native(t, "twice", func(ctx context.Context, args any) (tooldef.Output, error) {
		calling, ok := toolhost.CallingOf(ctx)
		require.True(t, ok)
		require.Equal(t, "bob", calling.Caller().Name)
		n := args.(map[string]any)["n"].(float64)
		text, err := jsonvalue.Encode(2 * n)
		return tooldef.Output{JSON: text, Value: 2 * n, MCP: []byte(`{"content":[]}`)}, err
	}))
	answer, failed := h.Call(t.Context(), toolhost.Request{Tool: "twice", Args: []byte(`{"n":4}`), Caller: toolhost.Caller{Name: "bob"}})
	require.Nil(t, failed)
	require.Equal(t, []any{"8", 8.0, `{"content":[]}`}, []any{string(answer.JSON), answer.Value, string(answer.MCP)})
}

func TestNativeToolsFailAsOthersDo(t *testing.T) {
	fails := map[string]tooldef.Native{
		"refuses": func(context.Context, any) (tooldef.Output, error) {
			return tooldef.Output{}, &toolhost.Error{Code: toolhost.Upstream, Message: "it is away", Detail: "away"}
		},
		"breaks": func(context.Context, any) (tooldef.Output, error) { return tooldef.Output{}, errors.New("broken") },
		"panics": func(context.Context, any) (tooldef.Output, error) { panic("oh") },
		"hangs": func(ctx context.Context, _ any) (tooldef.Output, error) {
			<-ctx.Done()
			return tooldef.Output{}, context.Cause(ctx)
		},
		"long": func(context.Context, any) (tooldef.Output, error) {
			return tooldef.Output{JSON: make([]byte, 100)}, nil
		},
	}
	var tools []*tooldef.Tool
	for name, run := range fails {
		made := native(t, name, run)
		made.Timeout = 20 * time.Millisecond
		if name != "hangs" {
			made.Timeout = time.Minute
		}
		tools = append(tools, made)
	}
	h := newHost(t, toolhost.Options{MaxResult: 50}, tools...)
	for name, want := range map[string][2]string{
		"refuses": {"upstream", "away"}, "breaks": {"tool_error", ""}, "panics": {"tool_error", "panic"},
		"hangs": {"timeout", "timeout"}, "long": {"tool_error", "limit"},
	} {
		_, failed := h.Call(t.Context(), toolhost.Request{Tool: name})
		require.NotNil(t, failed, name)
		require.Equal(t, want[0], string(failed.Code), name)
		if want[1] != "" {
			require.Equal(t, want[1], failed.Detail, name)
		}
	}
}

// Inner tools are reached from within a call, and take arguments as they were sent.
func TestInnerTools(t *testing.T) {
	inner := typed(t)
	inner.Name, inner.Inner, inner.AsSent = "away.typed", true, true
	inner.Native = func(_ context.Context, args any) (tooldef.Output, error) {
		text, err := jsonvalue.Encode(args)
		return tooldef.Output{JSON: text}, err
	}
	outer := native(t, "outer", func(ctx context.Context, args any) (tooldef.Output, error) {
		calling, _ := toolhost.CallingOf(ctx)
		text, err := jsonvalue.Encode(args)
		require.NoError(t, err)
		answer, failed := calling.Call(ctx, "away.typed", text, toolhost.InnerFace)
		if failed != nil {
			return tooldef.Output{}, failed
		}
		return tooldef.Output{JSON: answer.JSON}, nil
	})
	h := newHost(t, toolhost.Options{}, inner, outer)
	answer, failed := h.Call(t.Context(), toolhost.Request{Tool: "outer", Args: []byte(`{"n":1,"more":[]}`)})
	require.Nil(t, failed)
	require.Equal(t, `{"more":[],"n":1}`, string(answer.JSON))
	_, failed = h.Call(t.Context(), toolhost.Request{Tool: "outer", Args: []byte(`{"n":"x"}`)})
	require.Equal(t, toolhost.BadRequest, failed.Code)
	require.Equal(t, "/n", failed.Path)
	_, failed = h.Call(t.Context(), toolhost.Request{Tool: "away.typed", Args: []byte(`{"n":1}`)})
	require.Equal(t, toolhost.NotFound, failed.Code)
}

// askedSink is of a client whose user approves what they are asked.
type askedSink struct {
	toolhost.Sink
	approves, decides bool
	asked             []string
}

func (a *askedSink) Approve(_ context.Context, tool string, needs *toolhost.Error) (approved, decided bool) {
	a.asked = append(a.asked, tool)
	return a.approves, a.decides
}

// What a call makes within itself and needs approval is asked of the user, and else waits for an operator: the same
// call finds the approval when it was given.
func TestApprovalsWithinACall(t *testing.T) {
	s, err := store.Open(context.Background(), store.Options{Path: store.Memory})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, s.Close()) })
	runs := 0
	inner := native(t, "away.pay", func(context.Context, any) (tooldef.Output, error) {
		runs++
		return tooldef.Output{JSON: []byte("1")}, nil
	})
	inner.Inner, inner.Approve = true, true
	outer := native(t, "outer", func(ctx context.Context, args any) (tooldef.Output, error) {
		calling, _ := toolhost.CallingOf(ctx)
		answer, failed := calling.Call(ctx, "away.pay", []byte(`{"sum":1}`), toolhost.InnerFace)
		if failed != nil {
			return tooldef.Output{}, failed
		}
		return tooldef.Output{JSON: answer.JSON}, nil
	})
	h := newHost(t, toolhost.Options{Store: s}, inner, outer)
	call := func(sink toolhost.Sink) *toolhost.Error {
		_, failed := h.Call(t.Context(), toolhost.Request{Tool: "outer", Caller: toolhost.Caller{Name: "bob"}, Sink: sink})
		return failed
	}
	user := &askedSink{approves: true, decides: true}
	require.Nil(t, call(user))
	require.Equal(t, []string{"away.pay"}, user.asked)
	require.Equal(t, 1, runs)
	failed := call(&askedSink{decides: true})
	require.Equal(t, []any{toolhost.Permission, "denied"}, []any{failed.Code, failed.Detail})
	failed = call(&askedSink{})
	require.Equal(t, toolhost.NeedsApproval, failed.Code)
	require.Equal(t, 1, runs)
	require.Nil(t, h.DecideApproval(t.Context(), failed.ID, true, "ann"))
	require.Nil(t, call(nil))
	require.Equal(t, 2, runs)
}
