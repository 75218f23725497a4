package toolhost_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/hukilau/hukilau/go/internal/store"
	"github.com/hukilau/hukilau/go/internal/toolhost"
)

// follower is a sink that follows its call.
type follower struct {
	sink
	accepted chan struct{}
	refuse   *toolhost.Error
}

func (f *follower) Accepted(context.Context) *toolhost.Error {
	close(f.accepted)
	return f.refuse
}

func followed(h *toolhost.Host, ctx context.Context, name, args string, f *follower) *toolhost.Error {
	f.accepted = make(chan struct{})
	_, failed := h.Call(ctx, toolhost.Request{Tool: name, Args: []byte(args), Sink: f})
	return failed
}

func (f *follower) wasAccepted() bool {
	select {
	case <-f.accepted:
		return true
	default:
		return false
	}
}

func TestFollowerHearsWhatWasAccepted(t *testing.T) {
	h := newHost(t, toolhost.Options{}, tool(t, "one", `function invoke() return 1 end`), tool(t, "fails", `function invoke() error("no") end`))
	for name, c := range map[string]struct {
		args     string
		accepted bool
	}{"one": {"{}", true}, "fails": {"{}", true}, "nothing": {"{}", false}} {
		var f follower
		followed(h, t.Context(), name, c.args, &f)
		require.Equal(t, c.accepted, f.wasAccepted(), name)
	}
	var f follower
	require.Equal(t, toolhost.BadRequest, followed(h, t.Context(), "one", "[", &f).Code)
	require.False(t, f.wasAccepted())
}

// A follower that refuses ends the call before it runs, and its place is free.
func TestFollowerThatRefuses(t *testing.T) {
	h := newHost(t, toolhost.Options{MaxRuns: 1}, tool(t, "counts", `function invoke(ctx) ctx.state.n = (ctx.state.n or 0) + 1 return ctx.state.n end`))
	for range 3 {
		f := follower{refuse: &toolhost.Error{Code: toolhost.Busy, Message: "no"}}
		require.Equal(t, "no", followed(h, t.Context(), "counts", "{}", &f).Message)
	}
	result, failed := call(h, "counts", "{}")
	require.Nil(t, failed)
	require.Equal(t, "1", result)
	require.Zero(t, h.Stats().Running)
}

// One that waits for a place was accepted before; when it goes, nothing of it is left.
func TestFollowerOfACallThatWaits(t *testing.T) {
	h := newHost(t, toolhost.Options{MaxRuns: 1, Timeout: time.Hour}, tool(t, "loops", `function invoke() while true do end end`))
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	var first, second follower
	first.accepted, second.accepted = make(chan struct{}), make(chan struct{})
	done := make(chan *toolhost.Error, 2)
	run := func(ctx context.Context, f *follower) {
		_, failed := h.Call(ctx, toolhost.Request{Tool: "loops", Sink: f})
		done <- failed
	}
	go run(ctx, &first)
	<-first.accepted
	waits, leave := context.WithCancel(t.Context())
	go run(waits, &second)
	<-second.accepted
	require.Eventually(t, func() bool { return h.Stats().Waiting == 1 }, 10*time.Second, time.Millisecond)
	leave()
	require.Equal(t, toolhost.Cancelled, (<-done).Code)
	require.Equal(t, []int{1, 0}, []int{h.Stats().Running, h.Stats().Waiting})
	stop()
	require.Equal(t, toolhost.Cancelled, (<-done).Code)
}

func TestLogIsRedactedForClients(t *testing.T) {
	h := newHost(t, toolhost.Options{Redact: func(text string) string { return strings.ReplaceAll(text, "sk-1", "[redacted]") }},
		tool(t, "logs", `function invoke(ctx) __native.log("info", "key sk-1") end`))
	var f follower
	require.Nil(t, followed(h, t.Context(), "logs", "{}", &f))
	require.Equal(t, []string{"INFO key [redacted]"}, f.logs)
}

// Whatever a tool tells meanwhile is without secrets, and so are the errors of tools that it calls.
func TestWhatAToolTellsHasNoSecrets(t *testing.T) {
	outer := tool(t, "outer", `function invoke(ctx)
		ctx.emit({ ["sk-1"] = { "sk-1" }, percent = 5 }) ctx.emit("is sk-1") ctx.progress(1, 2, "at sk-1")
		local ok, err = pcall(ctx.tools.inner)
		return { err.message, err.detail, tostring(err) }
	end`)
	outer.Permissions.Tools = []string{"inner"}
	h := newHost(t, toolhost.Options{Redact: func(text string) string { return strings.ReplaceAll(text, "sk-1", "[redacted]") }},
		outer, tool(t, "inner", `function invoke() error({ code = "sk-1", message = "no sk-1" }) end`))
	var s sink
	answer, failed := h.Call(t.Context(), toolhost.Request{Tool: "outer", Sink: &s})
	require.Nil(t, failed)
	require.Equal(t, []string{`{"[redacted]":["[redacted]"],"percent":5}`, `{"text":"is [redacted]"}`}, s.chunks)
	require.Equal(t, []string{"at [redacted]"}, s.logs)
	require.Equal(t, `["no [redacted]","[redacted]","no [redacted]"]`, string(answer.JSON))
}

func TestStats(t *testing.T) {
	slow := tool(t, "slow", `function invoke() while true do end end`)
	slow.Timeout = 30 * time.Millisecond
	outer := tool(t, "outer", `function invoke(ctx) return ctx.tools.one({}) end`)
	outer.Permissions.Tools = []string{"one"}
	h := newHost(t, toolhost.Options{}, slow, outer, tool(t, "one", `function invoke() return 1 end`))
	for _, name := range []string{"outer", "one", "slow", "nothing"} {
		_, _ = call(h, name, "{}")
	}
	_, _ = call(h, "one", "[")
	stats := h.Stats()
	require.Len(t, stats.Tools, 3)
	require.Equal(t, "one", stats.Tools[0].Tool)
	require.Equal(t, map[string]uint64{"ok": 2, "bad_request": 1}, stats.Tools[0].Status)
	require.Equal(t, map[string]uint64{"timeout": 1}, stats.Tools[2].Status)
	require.GreaterOrEqual(t, stats.Tools[2].Took, 30*time.Millisecond)
	h.Serve(set{})
	require.Len(t, h.Stats().Tools, 3, "counts outlive a reload")
}

// The log has the arguments as the tool got them: with what the schema adds.
func TestLogOfArguments(t *testing.T) {
	s, err := store.Open(context.Background(), store.Options{Path: store.Memory})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, s.Close()) })
	made := tool(t, "echo", `function invoke(ctx, args) return args end`)
	made.Params = object(t, map[string]any{"a": map[string]any{"default": 1.0}})
	h := newHost(t, toolhost.Options{Store: s}, made)
	for _, args := range []string{`{ "a": 2 }`, `{}`, ``, `{"b":true}`} {
		_, failed := call(h, "echo", args)
		require.Nil(t, failed)
	}
	require.NoError(t, s.Log.Flush(t.Context()))
	entries, err := s.Log.List(t.Context(), store.Filter{})
	require.NoError(t, err)
	var logged []string
	for _, e := range entries {
		logged = append(logged, e.Arguments.Text)
	}
	require.Equal(t, []string{`{"a":1,"b":true}`, `{"a":1}`, `{"a":1}`, `{ "a": 2 }`}, logged)
}

// No part of a secret is in the log, wherever a long text is cut, and the log knows how long it was.
func TestLogOfLongArgumentsHasNoSecrets(t *testing.T) {
	const secret = "sk-0123456789"
	s, err := store.Open(context.Background(), store.Options{Path: store.Memory})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, s.Close()) })
	h := newHost(t, toolhost.Options{Store: s, Redact: func(text string) string { return strings.ReplaceAll(text, secret, "*") }},
		tool(t, "any", `function invoke(ctx, args) return 1 end`))
	many := strings.Repeat(secret, 64<<10/len(secret))
	for _, before := range []int{0, 1 << 10, store.MaxLogText - 10, store.MaxLogText + 16<<10 - 10} {
		args := `{"a":"` + strings.Repeat("x", before) + many + `"}`
		_, failed := call(h, "any", args)
		require.Nil(t, failed)
		require.NoError(t, s.Log.Flush(t.Context()))
		entries, err := s.Log.List(t.Context(), store.Filter{Limit: 1})
		require.NoError(t, err)
		entry, err := s.Log.Get(t.Context(), entries[0].ID)
		require.NoError(t, err)
		require.NotContains(t, entry.Arguments.Text, "sk-0")
		require.NotContains(t, entry.Arguments.Text, "s")
		if len(args) > store.MaxLogText+16<<10 {
			require.Equal(t, len(args), entry.Arguments.Size)
		}
	}
}
